// The big screen of a competition in a real browser: from the waiting room to the podium, hidden games, keys, lost connections, sizes.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seriousFindings } from '../axe';
import { hasBrowser } from '../needs.mjs';
import { slowBot } from './bots.mjs';
import { launch, open, overflow, type Open } from './browser';
import { SiteServer, until, type ApiUser } from './server.mjs';

const HD = { width: 1920, height: 1080 };
/** Smallest type for names that can be read from ten metres on a large screen. */
const MIN_NAME_PX = 32;

/** It lasts for hours, and its games stay on their boards for minutes. */
const LONG_PHASE = '[[phase]]\nname = "League"\nformat = "round-robin"\nlegs = 50\nparts = [{ games = 9, seconds = 1 }]';
/** It lasts for hours, too. Its matches are short, so that it soon leaves the cores to the next one when it is paused. */
const SHORT_MATCHES = '[[phase]]\nname = "League"\nformat = "round-robin"\nlegs = 900\nparts = [{ games = 1, seconds = 1 }]';
/** Matches of a round of four bots. */
const BOARDS = 2;

let server: SiteServer;
let browser: Browser;
let organiser: ApiUser;

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(['--jobs', '6']), launch()]);
  organiser = await server.signUpOrganiser();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Creates a competition with slow bots beside house bots. */
async function create(id: string, game: string, file: string, house: string[], ms: number, bots = ['Thinker'], role?: string): Promise<void> {
  await organiser.createCompetition(game, id, file, house);
  await organiser.act(id, 'open');
  for (const bot of bots) await organiser.submitBot(id, bot, slowBot(game, ms), role);
}

/** Opens the big screen and records all event streams of the page, so that a test can count and cut them. */
async function openScreen(id: string, query = '', options: Parameters<typeof open>[3] = {}): Promise<Open> {
  const opened = await open(browser, server, 'about:blank', { viewport: HD, ...options });
  await opened.page.addInitScript(() => {
    const all: EventSource[] = [];
    (window as unknown as { streams: EventSource[] }).streams = all;
    window.EventSource = class extends EventSource {
      constructor(url: string | URL, init?: EventSourceInit) {
        super(url, init);
        all.push(this);
      }
    };
  });
  await opened.page.goto(`/c/${id}/screen${query}`);
  return opened;
}
/** Addresses of the open streams. */
const openStreams = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    (window as unknown as { streams: EventSource[] }).streams
      .filter((stream) => stream.readyState !== EventSource.CLOSED)
      .map((stream) => new URL(stream.url).pathname)
      .sort(),
  );
const scene = (page: Page): Promise<string | undefined> => page.locator('.screen').evaluate((screen: HTMLElement) => screen.dataset.scene);
/** Number of the board that is shown; null while another scene is shown. */
const board = (page: Page): Promise<string | null> => page.evaluate(() => document.querySelector('.board-scene')?.getAttribute('data-board') ?? null);

describe.skipIf(!hasBrowser)('the big screen', () => {
  test('goes from the waiting room to the games, with result, standings and next matches, and to a pause', async () => {
    await create('cup', 'connect-five', SHORT_MATCHES, ['random'], 60, ['Thinker', 'Dreamer', 'Sleeper']);
    const start = new Date(Date.now() + 3_600_000).toISOString();
    const { page, context, problems } = await openScreen('cup', `?rotate=5&start=${start}`);
    await page.getByText('Submissions are open').waitFor();
    await page.getByText('The competition starts in').waitFor();
    await page.getByText('4 bots').waitFor();
    await organiser.act('cup', 'start');
    // A game is shown to its end, with its result.
    await page.locator('.board-scene .replay').waitFor();
    await page.locator('.board-scene[data-finished="true"]').waitFor();
    await page.locator('.result').getByText(/ wins?|^Draw/).waitFor();
    await page.getByRole('heading', { name: 'Next', exact: true }).waitFor();
    await page.locator('.standings li').first().waitFor();
    await organiser.act('cup', 'pause');
    await page.getByText('The competition continues soon.').waitFor();
    await expect.poll(() => scene(page)).toBe('standings');
    await expect.poll(() => openStreams(page)).toEqual(['/api/v1/competitions/cup/events']);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('announces the winner, and shows the podium', async () => {
    await organiser.createCompetition('connect-five', 'short', '[[phase]]\nformat = "round-robin"\nparts = [{ games = 1, seconds = 1 }]', ['random', 'stacker', 'tactician']);
    await organiser.act('short', 'open');
    const { page, context, problems } = await openScreen('short', '?rotate=5');
    await page.getByText('3 bots').waitFor();
    await organiser.act('short', 'start');
    await page.locator('[data-moment="champion"]').waitFor();
    await page.locator('.podium .place-1 .name').waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });

  test('shows who plays while games are hidden, but no board', async () => {
    await create('secret', 'hide-and-seek', '[settings]\nsteps = 60\n[[phase]]\nformat = "cross"\nboards = 20', ['running-hider'], 30, ['Thinker'], 'seeker');
    const { page, context, problems } = await openScreen('secret');
    await organiser.act('secret', 'start');
    await page.getByText('Games are hidden').waitFor();
    await page.getByText(/^Thinker – running-hider$/).first().waitFor();
    expect(await page.locator('.replay').count()).toBe(0);
    expect(await openStreams(page)).toEqual(['/api/v1/competitions/secret/events']);
    expect(problems).toEqual([]);
    await organiser.act('secret', 'pause');
    await context.close();
  });

  test('shows the bracket with its rounds to come, and can be reached from the competition', async () => {
    await create('ties', 'connect-five', '[[phase]]\nname = "Cup"\nformat = "knockout"\nseeding = "file"\nparts = [{ games = 5, seconds = 1 }]', ['random', 'stacker', 'tactician'], 20);
    await organiser.act('ties', 'start');
    const { page, context, problems } = await open(browser, server, '/c/ties', { viewport: HD });
    await page.getByRole('link', { name: 'Big screen' }).click();
    await page.waitForURL('**/c/ties/screen');
    await page.goto('/c/ties/screen?rotate=5&show=bracket');
    await page.getByRole('heading', { name: /^Semi-finals/ }).waitFor();
    await page.getByRole('heading', { name: /^Final/ }).waitFor();
    expect(await page.locator('.tie').count()).toBe(3);
    await organiser.waitForState('ties', 'over');
    await expect.poll(() => page.locator('.tie .won').count()).toBe(3);
    await page.mouse.move(200, 200);
    await page.mouse.move(240, 240);
    await page.getByRole('link', { name: 'Leave the big screen' }).click();
    await page.waitForURL('**/c/ties');
    // The page has its own colours again.
    expect(await page.evaluate(() => document.documentElement.className)).toBe('');
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe.skipIf(!hasBrowser)('the big screen of a long competition', () => {
  beforeAll(async () => {
    await create('long', 'connect-five', LONG_PHASE, ['random'], 300, ['Thinker', 'Dreamer', 'Sleeper']);
    await organiser.act('long', 'start');
    // Its round is being played, so the boards do not change for a while.
    await until(() => organiser.get('/competitions/long/boards'), (boards) => boards.items.length === BOARDS);
  });

  test('changes boards with one viewer and one stream for the board, and keys hold and move it', async () => {
    const { page, context, problems } = await openScreen('long', '?rotate=5&show=board,standings,next');
    await page.locator('.board-scene .replay').waitFor();
    // Boards are shown in turn.
    const seen = new Set<string>();
    const boardsSeen = async (): Promise<number> => {
      const now = await board(page);
      if (now !== null) seen.add(now);
      return seen.size;
    };
    await expect.poll(boardsSeen).toBeGreaterThan(1);
    await page.keyboard.press(' ');
    await page.getByText('Rotation paused').waitFor();
    // The rotation may have been stopped at another scene.
    const step = async (key: string): Promise<string | null> => {
      await page.keyboard.press(key);
      return board(page);
    };
    await expect.poll(async () => (await board(page)) ?? step('ArrowRight')).not.toBeNull();
    const held = await board(page);
    // A board is left out while it is between two games, so it may take several steps.
    await expect.poll(() => step('ArrowRight')).not.toBe(held);
    await expect.poll(() => step('ArrowLeft')).toBe(held);
    for (let i = 0; i < 20; i += 1) await page.keyboard.press('ArrowRight');
    await expect.poll(async () => (await board(page)) ?? step('ArrowRight')).not.toBeNull();
    await page.locator('.board-scene .replay').waitFor();
    expect(await page.locator('.agon-replay').count()).toBe(1);
    await expect.poll(() => openStreams(page)).toEqual([`/api/v1/competitions/long/boards/${await board(page)}/watch`, '/api/v1/competitions/long/events']);
    // The viewer does not get the keys.
    await page.keyboard.press('Home');
    await page.keyboard.press(' ');
    await expect.poll(() => page.getByText('Rotation paused').count()).toBe(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('says when the connection is lost and when it is back, and goes on', async () => {
    const { page, context, problems } = await openScreen('long');
    await page.locator('.board-scene .replay').waitFor();
    await page.evaluate(() => {
      for (const stream of (window as unknown as { streams: EventSource[] }).streams) stream.onerror?.(new Event('error'));
    });
    await page.getByText('Connection lost. Reconnecting …').waitFor();
    await page.getByText('Connected again').waitFor();
    await expect.poll(async () => (await openStreams(page)).length).toBe(2);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('fits every screen, can be read from a distance, and has no serious axe findings', async () => {
    const { page, context } = await openScreen('long', '?rotate=600');
    await page.locator('.board-scene .replay').waitFor();
    await page.locator('.standings li').first().waitFor();
    const wrong: string[] = [];
    for (const [width, height] of [[1280, 720], [1280, 800], [1366, 768], [1920, 1080], [2560, 1440], [3840, 2160]] as const) {
      await page.setViewportSize({ width, height });
      const size = `${width} x ${height}`;
      const factor = Math.min(width / HD.width, height / HD.height);
      const names = await page.locator('.big-screen .name').evaluateAll((all) => all.filter((one) => one.checkVisibility()).map((one) => parseFloat(getComputedStyle(one).fontSize)));
      expect(names.length, size).toBeGreaterThan(3);
      if (Math.min(...names) < MIN_NAME_PX * factor) wrong.push(`${size}: a name of ${Math.min(...names)} pixels`);
      const page_height = await page.evaluate(() => document.documentElement.scrollHeight);
      if ((await overflow(page)) > 0 || page_height > height) wrong.push(`${size}: the page scrolls`);
      const box = await page.locator('.stage-viewer svg[role="img"]').first().boundingBox();
      if (!box || box.width < 100 || box.x < 0 || box.y < 0 || box.x + box.width > width || box.y + box.height > height) wrong.push(`${size}: the board is cut: ${JSON.stringify(box)}`);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    if ((await overflow(page)) > 0) wrong.push('a phone: the page is wider than the screen');
    for (const viewport of [HD, { width: 390, height: 844 }]) {
      await page.setViewportSize(viewport);
      // The controls are transparent until the pointer moves.
      await page.mouse.move(200, 200);
      await page.mouse.move(240, 240);
      await page.locator('.controls.visible').waitFor();
      await page.locator('.controls.visible').evaluate((controls) => Promise.all(controls.getAnimations({ subtree: true }).map((fade) => fade.finished)));
      for (const finding of await seriousFindings(page)) wrong.push(`${viewport.width}: ${finding}`);
    }
    expect(wrong).toEqual([]);
    await context.close();
  });

  test('respects reduced motion', async () => {
    const { page, context } = await openScreen('long', '', { reducedMotion: 'reduce' });
    await page.locator('.board-scene .replay').waitFor();
    const moving = await page.evaluate(() => document.getAnimations().length);
    expect(moving).toBe(0);
    await context.close();
  });
});
