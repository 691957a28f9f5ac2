// A person plays all five games in the browser to their end, by mouse, by touch and by keyboard. Nothing hidden arrives in the stream of a seat.

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { patch, type Json } from '../../src/delta';
import { seriousFindings } from '../axe';
import { hasBrowser } from '../needs.mjs';
import { WAIT_TIMEOUT } from '../timeouts.mjs';
import { SiteServer, until, type ApiUser } from './server.mjs';
import { launch, open, overflow, pageLoaded, type Open } from './browser';

interface PlayedGame {
  game: string;
  seats: ({ person: true } | { house: string })[];
  settings: { [name: string]: string };
}

const GAMES: PlayedGame[] = [
  { game: 'connect-five', seats: [{ person: true }, { house: 'random' }], settings: {} },
  { game: 'colour-battle', seats: [{ house: 'random' }, { person: true }], settings: { rounds: '12' } },
  { game: 'hide-and-seek', seats: [{ house: 'running-seeker' }, { person: true }], settings: { steps: '24' } },
  { game: 'solitude-scramble', seats: [{ person: true }, { house: 'greedy' }, { house: 'left' }, { house: 'random' }], settings: { turns: '4' } },
  { game: 'word-racer', seats: [{ person: true }, { house: 'filler' }], settings: {} },
];
const DEVICES = ['mouse', 'touch', 'keyboard'] as const;
type Device = (typeof DEVICES)[number];
/** No game of the test has more answers of a person. */
const MAX_ANSWERS = 80;

let server: SiteServer;
let browser: Browser;
let organiser: ApiUser;

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(['--jobs', '1']), launch()]);
  organiser = await server.signUpOrganiser();
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function houseBots(game: string): Promise<{ name: string; roles: string[] }[]> {
  const { house_bots: bots } = await organiser.get(`/games/${game}`);
  return bots;
}

/** The seats, with a house bot of the role where the game has none of this name. */
async function seatsOf({ game, seats }: PlayedGame): Promise<PlayedGame['seats']> {
  const bots = await houseBots(game);
  const roles: string[] = (await organiser.get(`/games/${game}`)).roles;
  return seats.map((seat, i) => {
    if ('person' in seat || bots.some((bot) => bot.name === seat.house)) return seat;
    const role = roles.length > 1 ? (roles[i] ?? '') : '';
    return { house: bots.find((bot) => bot.roles.length === 0 || bot.roles.includes(role))?.name ?? '' };
  });
}

/** Creates a game through the API and opens it in a page, as a link of the program does. */
async function openGame(played: PlayedGame, options: Parameters<Browser['newContext']>[0] = {}, clock = 'none'): Promise<Open & { id: string }> {
  const ticket = await organiser.ask('POST', '/play', { game: played.game, seats: await seatsOf(played), clock, settings: played.settings, name: 'Ada' });
  const opened = await open(browser, server, `/play/s/${ticket.id}#seat=${ticket.seat}&key=${ticket.key}`, { reducedMotion: 'reduce', ...options });
  opened.page.on('dialog', (dialog) => void dialog.accept());
  await opened.page.locator('.replay[data-filled], .replay').first().waitFor();
  return { ...opened, id: ticket.id };
}

const isOver = (page: Page): Promise<boolean> => page.locator('#result-title').isVisible();
const asked = (page: Page): Promise<unknown> => page.waitForFunction(() => document.querySelector('#result-title, svg.input [data-target]') !== null);
/** Number of the newest turn that the viewer shows. */
const turnOf = (page: Page): Promise<string | null> => page.locator('.replay').getAttribute('data-turn');

/** Waits until the answer was taken: another turn is shown, or the game is over. */
const answered = (page: Page, before: string | null): Promise<unknown> =>
  page.waitForFunction((turn) => document.querySelector('#result-title') !== null || document.querySelector('.replay')?.getAttribute('data-turn') !== turn, before);

/** Chooses a target on the board by a pointer. */
async function choose(page: Page, device: Device, number: number): Promise<void> {
  const targets = page.locator('svg.input [data-target] .area');
  const target = targets.nth(number % (await targets.count()));
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  if (!box) throw new Error('the target has no place on the page');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  if (device === 'touch') await page.touchscreen.tap(x, y);
  else await page.mouse.click(x, y);
}

/** Answers once. The letter of a call is chosen in the second step. */
async function answer(page: Page, device: Device, number: number): Promise<void> {
  if (device === 'keyboard') {
    const keys = await page.locator('[aria-labelledby="your-answer"] > p').first().innerText();
    // Games whose steps are arrows take them directly. Others move over the board.
    if (keys.includes('↑') || keys.includes('←')) {
      await page.keyboard.press(['ArrowLeft', 'ArrowUp', 'ArrowRight', 'ArrowUp'][number % 4] ?? 'ArrowUp');
      return;
    }
    await page.keyboard.press('ArrowRight');
    await page.locator('svg.input .current').waitFor({ state: 'attached' });
    await page.keyboard.press('Enter');
    if (await page.locator('.letters').isVisible()) await page.keyboard.press('e');
    return;
  }
  await choose(page, device, number);
  const letters = page.locator('.letters button');
  if (await page.locator('.letters').isVisible()) {
    if (device === 'touch') await letters.nth(4).tap();
    else await letters.nth(4).click();
  }
}

async function playToTheEnd(page: Page, device: Device): Promise<number> {
  for (let i = 0; i < MAX_ANSWERS; i += 1) {
    await asked(page);
    if (await isOver(page)) return i;
    const before = await turnOf(page);
    await answer(page, device, i);
    // A refused step, such as one into a wall, is asked again: the next key is another one.
    await Promise.race([answered(page, before), page.locator('.refused strong').waitFor()]);
  }
  throw new Error(`the game is not over after ${MAX_ANSWERS} answers`);
}

describe.skipIf(!hasBrowser)('a person plays to the end', () => {
  describe.each(DEVICES)('by %s', (device) => {
    test.each(GAMES)('$game', async (played) => {
      const options = device === 'touch' ? { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } } : {};
      const { page, context, problems } = await openGame(played, options);
      await playToTheEnd(page, device);
      await page.getByRole('link', { name: 'Replay' }).click();
      await page.waitForURL('**/played/*');
      await page.locator('.replay').waitFor();
      await page.getByRole('cell', { name: /Ada/ }).or(page.getByRole('rowheader', { name: /Ada/ })).first().waitFor();
      expect(problems).toEqual([]);
      await context.close();
    });
  });
});

describe.skipIf(!hasBrowser)('the page of a game', () => {
  test('looks and works well: no findings, no overflow, the board without scrolling', async () => {
    const { page, context, problems } = await openGame(GAMES[0] as PlayedGame);
    await asked(page);
    for (const [width, height] of [[390, 844], [768, 1024], [1280, 800], [1920, 1080], [2560, 1440]] as const) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        expect(await overflow(page), `${width} wide`).toBeLessThanOrEqual(0);
        expect(await seriousFindings(page, width === 1280 ? undefined : ['color-contrast']), `${width} ${colorScheme}`).toEqual([]);
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await expect.poll(async () => {
      const box = await page.locator('.table .board').boundingBox();
      return box !== null && box.y >= 0 && box.y + box.height <= 800;
    }).toBe(true);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('an answer that is not legal is explained, and a reload goes on', async () => {
    const { page, context } = await openGame(GAMES[0] as PlayedGame);
    await asked(page);
    await page.getByText('Type an answer').click();
    await page.getByLabel('Your answer', { exact: true }).last().fill('12');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').getByText('Not allowed.').waitFor();
    expect(await page.locator('.turn .state').innerText()).toContain('Your turn.');
    await page.reload();
    await asked(page);
    expect(new URL(page.url()).hash, 'the key is not in the address').toBe('');
    await page.getByRole('button', { name: 'Column 4' }).click();
    await answered(page, '0');
    await context.close();
  });

  test('leaving ends the game, after a confirmation', async () => {
    const { page, context } = await openGame(GAMES[0] as PlayedGame);
    await asked(page);
    await page.getByRole('button', { name: 'Leave the game' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Leave the game' }).click();
    await page.getByText('You have left the game.').or(page.locator('#result-title')).first().waitFor();
    await context.close();
  });

  test('the clock of the rules is shown, and an answer that is too late is a fault', async () => {
    const { page, context } = await openGame({ ...(GAMES[0] as PlayedGame), settings: { seconds: '2' } }, {}, 'rules');
    await page.getByRole('timer').waitFor();
    await page.locator('#result-title').waitFor();
    expect(await page.locator('.result').innerText()).toMatch(/lost/);
    await context.close();
  });
});

describe.skipIf(!hasBrowser)('a new game', () => {
  test('is chosen by game, opponent and clock, and played again with swapped sides', async () => {
    const { page, context, problems } = await open(browser, server, '/play', { reducedMotion: 'reduce' });
    page.on('dialog', (dialog) => void dialog.accept());
    await pageLoaded(page);
    expect(await seriousFindings(page)).toEqual([]);
    await page.locator('a[href="/play/connect-five"]').click();
    await page.waitForURL('**/play/connect-five');
    await page.getByRole('radio', { name: /^random/ }).check();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel(/^Your name/).fill('Ada');
    await page.getByRole('button', { name: 'Start the game' }).click();
    await page.waitForURL('**/play/s/*');
    await playToTheEnd(page, 'mouse');
    const first = page.url();
    await page.getByRole('button', { name: 'Swap sides' }).click();
    await page.waitForURL((url) => url.href !== first);
    await asked(page);
    expect(problems).toEqual([]);
    await context.close();
  });

  test('a second person joins by the link', async () => {
    const { page, context } = await open(browser, server, '/play/connect-five', { reducedMotion: 'reduce' });
    await page.getByRole('radio', { name: /^Another person/ }).check();
    await page.getByRole('button', { name: 'Create the game and get the link' }).click();
    await page.waitForURL('**/play/s/*');
    const link = await page.getByRole('group', { name: 'Link for the other players' }).innerText();
    const guest = await open(browser, server, new URL(link).pathname, { reducedMotion: 'reduce' });
    await guest.page.getByLabel(/^Your name/).fill('Bob');
    await guest.page.getByRole('button', { name: /^Take this seat/ }).click();
    const pages = [page, guest.page];
    for (const one of pages) {
      one.on('dialog', (dialog) => void dialog.accept());
      await one.locator('.replay').waitFor();
    }
    for (let i = 0; i < 6; i += 1) {
      const mover = pages[i % 2] as Page;
      await asked(mover);
      await choose(mover, 'mouse', i % 2 === 0 ? 0 : 4);
      await Promise.all(pages.map((one) => one.locator(`.replay[data-turn="${i + 1}"]`).waitFor()));
    }
    expect(await guest.page.locator('.table').innerText()).toContain('Waiting for');
    const third = await open(browser, server, new URL(link).pathname);
    await third.page.getByText('This game is being played.').waitFor();
    for (const one of [context, guest.context, third.context]) await one.close();
  });
});

/** Events of a seat's stream, as the server sends them. */
async function readEvents(id: string, key: string, onEvent: (name: string, data: Json) => Promise<void>): Promise<void> {
  const stop = AbortSignal.timeout(WAIT_TIMEOUT);
  const response = await fetch(`${server.url}/api/v1/play/${id}/events?key=${key}`, { signal: stop, headers: { Accept: 'text/event-stream' } });
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) throw new Error('the stream has no end event');
    text += decoder.decode(value, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const lines = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      const name = lines.find((line) => line.startsWith('event:'))?.slice(6).trim() ?? '';
      const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5)).join('\n');
      await onEvent(name, data.trim() === '' ? null : (JSON.parse(data) as Json));
      if (name !== 'end') continue;
      await reader?.cancel();
      return;
    }
  }
}

type Fields = { [name: string]: Json };
/** What a frame must not show to a seat while the game runs: descriptions of what it shows. */
const HIDDEN: { [game: string]: (frame: Fields, seat: number) => unknown[] } = {
  'connect-five': (frame) => [(frame.special as Json[]).length > 0, frame.p !== null, frame.q !== null],
  'hide-and-seek': (frame, seat) => {
    const other = frame[seat === 0 ? 'hider' : 'seeker'] as Fields;
    return [other.pos !== null && other.enemy_is_visible !== true, (other.view as Json[]).length > 0, other.enemy_pos !== null, frame.map_seed !== null, frame.game_seed !== null];
  },
  'word-racer': (frame, seat) => {
    const other = 1 - seat;
    const letters = String((frame.boards as Json[])[other]).replaceAll('.', '');
    return [letters.length > 1, ((frame.words as Json[][])[other] ?? []).length > 0, ((frame.places as Json[][])[other] ?? []).length > 0, (frame.points as Json[])[other] !== null];
  },
  'colour-battle': () => [],
  'solitude-scramble': (frame) => [frame.next !== undefined],
};

describe.skipIf(!hasBrowser)('what a seat receives', () => {
  test.each(GAMES)('$game: nothing hidden before the end', async (played) => {
    const ticket = await organiser.ask('POST', '/play', { game: played.game, seats: await seatsOf(played), clock: 'none', settings: played.settings });
    const shown: unknown[] = [];
    const wrong: string[] = [];
    let frame: Json = null;
    let asks = 0;
    await readEvents(ticket.id, ticket.key, async (name, data) => {
      const fields = data as Fields;
      // The last frame belongs to the end, when everything is shown.
      if (name === 'head') frame = fields.first ?? null;
      if (name === 'head' && fields.seed !== undefined && fields.seed !== null) wrong.push('the seed');
      if (name === 'part') {
        for (const turn of fields.turns as Fields[]) {
          frame = patch(frame, turn.delta ?? null);
          if (turn.answers !== undefined) wrong.push('answers of all seats');
          if (((turn.standing as Json[] | undefined) ?? []).length > 0) wrong.push('values of the chart');
        }
      }
      if (name !== 'ask') return;
      asks += 1;
      shown.push(...(HIDDEN[played.game]?.(frame as Fields, ticket.seat) ?? []));
      const legal = fields.legal as string[];
      const answer = await fetch(`${server.url}/api/v1/play/${ticket.id}/answers`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Agon-Seat': ticket.key },
        body: JSON.stringify({ turn: fields.turn, answer: legal[asks % legal.length] }),
      });
      if (answer.status !== 204) wrong.push(`${answer.status} for a legal answer`);
    });
    expect(wrong).toEqual([]);
    // A hider may be caught at once.
    expect(asks).toBeGreaterThan(0);
    expect(shown.filter(Boolean)).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)('an author allows it', () => {
  test('anybody may play against the bot after the author switched it on', async () => {
    await organiser.createCompetition('connect-five', 'cup', '[[phase]]\nformat = "round-robin"\nparts = [{ games = 1, seconds = 1 }]', ['random'], 'The Cup');
    await organiser.act('cup', 'open');
    const bot = 'class Climber:\n    def get_move(self, board, player, T, N):\n        return next(c for c in range(9) if board[0][c] == 0)\n';
    await organiser.submitBot('cup', 'Climber', { 'Climber.py': bot });
    const [own] = (await organiser.get('/me/bots')).items ?? (await organiser.get('/me/bots'));
    const visitor: BrowserContext = await browser.newContext({ baseURL: server.url });
    const page = await visitor.newPage();
    await page.goto('/play/connect-five');
    await page.getByText('No author allows it yet for this game.').waitFor();
    await organiser.ask('PUT', `/competitions/cup/bots/${own.bot}/practice`, { allowed: true });
    await until(() => organiser.get('/play/opponents?game=connect-five'), (answer) => answer.bots.length === 1);
    await page.goto(`/c/cup/bots/${own.bot}`);
    await page.getByRole('link', { name: 'Play against this bot' }).click();
    await page.waitForURL(/\/play\/connect-five\?bot=/);
    await page.getByRole('radio', { name: /^Climber/, checked: true }).waitFor();
    await visitor.close();
  });
});
