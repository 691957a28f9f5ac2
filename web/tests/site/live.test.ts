// A spectator watches live games of all five games to their end. Tables update automatically.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../needs.mjs';
import { slowBot } from './bots.mjs';
import { SiteServer, type ApiUser } from './server.mjs';
import { launch, open } from './browser';

interface LiveCompetition {
  /** Id of the competition; by default the id of the game. */
  id?: string;
  game: string;
  file: string;
  house: string[];
  ms: number;
  role?: string;
  /** Whether seeds are hidden until the end. */
  hidden?: boolean;
}
// A game may end early (a hider is caught at once), so each competition has enough matches to be paused after its first one.
const COMPETITIONS: LiveCompetition[] = [
  { game: 'solitude-scramble', file: '[settings]\nturns = 12\n[[phase]]\nformat = "groups"\nmatches = 12', house: ['greedy', 'random', 'left'], ms: 60 },
  { game: 'colour-battle', file: '[settings]\nrounds = 120\n[[phase]]\nformat = "arena"\ngames = 5', house: ['drawn', 'seeker', 'sweeper'], ms: 15 },
  { game: 'connect-five', file: '[[phase]]\nformat = "round-robin"\nlegs = 5\nparts = [{ games = 1, seconds = 1 }]', house: ['random'], ms: 200 },
  { game: 'hide-and-seek', file: '[settings]\nsteps = 24\n[[phase]]\nformat = "cross"\nboards = 12', house: ['running-hider'], ms: 30, role: 'seeker', hidden: true },
  { id: 'open-hide-and-seek', game: 'hide-and-seek', file: '[settings]\nsteps = 24\n[[phase]]\nformat = "cross"\nboards = 12\nhidden = false', house: ['running-hider'], ms: 30, role: 'seeker' },
  { game: 'word-racer', file: '[[phase]]\nformat = "round-robin"\nlegs = 3', house: ['filler'], ms: 40 },
];

let server: SiteServer;
let browser: Browser;
let organiser: ApiUser;

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(['--jobs', '1']), launch()]);
  organiser = await server.signUpOrganiser();
  await Promise.all(
    COMPETITIONS.map(async ({ game, id = game, file, house, ms, role }) => {
      await organiser.createCompetition(game, id, file, house);
      await organiser.act(id, 'open');
      await organiser.submitBot(id, 'Thinker', slowBot(game, ms), role);
      await organiser.act(id, 'close');
    }),
  );
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

describe.skipIf(!hasBrowser)('live', () => {
  test.each(COMPETITIONS)('$game $id', async ({ game, id = game, house, role, hidden }) => {
    const live = await open(browser, server, `/c/${id}/live`);
    await live.page.getByText('The competition has not started. Live games appear here.').waitFor();
    await recordTurns(live.page);
    await recordText(live.page, HIDDEN_TEXT);
    const table = await live.context.newPage();
    await table.goto(`/c/${id}/standings`);
    await table.getByText('No games have been played yet.').waitFor();
    await recordMatchCounts(table);
    await organiser.act(id, 'start');
    const seen = hidden ? expect.poll(() => wasShown(live.page, HIDDEN_TEXT)).toBe(true) : watch(live.page);
    await Promise.all([seen, holdUntilShown(id, table).then(() => tableGrows(table))]);
    if (hidden) expect(await live.page.locator('.replay').count()).toBe(0);
    expect(await table.locator('main table').first().locator('tbody tr').count()).toBe(role ? 1 : house.length + 1);
    await organiser.waitForState(id, 'over');
    await table.goto(`/c/${id}/proof`);
    await table.getByText('The seed is revealed', { exact: false }).waitFor();
    await live.page.getByText('The competition is finished.').waitFor();
    if (hidden) {
      // The replay is available now.
      await live.page.getByRole('link', { name: 'All games' }).click();
      await live.page.getByRole('link', { name: /^Replay of match/ }).first().click();
      await live.page.waitForSelector('.replay');
      await live.page.getByRole('button', { name: 'Go to end' }).click();
      await expect.poll(() => live.page.locator('.story').innerText()).toContain('Ended:');
    }
    expect(live.problems).toEqual([]);
    await live.context.close();
  });
});

/** A game as it was shown: its turns in order, and the number of the last turn. */
interface Shown {
  turns: number[];
  last: number;
}

/** Records every turn that is shown, game by game. */
const recordTurns = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const shown: Shown[] = [];
    (window as unknown as { shown: Shown[] }).shown = shown;
    requestAnimationFrame(function look() {
      const replay = document.querySelector<HTMLElement>('.replay');
      if (replay) {
        const turn = Number(replay.dataset.turn);
        const game = shown.at(-1);
        if (!game || turn < (game.turns.at(-1) ?? 0)) shown.push({ turns: [turn], last: 0 });
        else if (game.turns.at(-1) !== turn) game.turns.push(turn);
        const now = shown.at(-1);
        if (now) now.last = Number(replay.querySelector<HTMLInputElement>('input[type=range]')?.max);
      }
      requestAnimationFrame(look);
    });
  });

/** Watches a live game to its end. */
async function watch(page: Page): Promise<void> {
  await page.waitForSelector('.replay .live');
  await page.getByText('Game finished.').waitFor();
  // The viewer may still play earlier turns, and the next game may start.
  await expect.poll(() => page.locator('.story').innerText()).toContain('Ended:');
  await page.getByRole('link', { name: 'View replay' }).waitFor();
  const seen = (): Promise<boolean> =>
    page.evaluate(() => (window as unknown as { shown: Shown[] }).shown.some(({ turns, last }) => turns.length >= 3 && turns.at(-1) === last));
  await expect.poll(seen, { message: 'a game moved, to its last turn' }).toBe(true);
}

const HIDDEN_TEXT = 'Seeds of this phase are hidden until the competition ends';

/** Records whether the page shows a text, even if only for a moment. */
const recordText = (page: Page, text: string): Promise<void> =>
  page.evaluate((wanted) => {
    const all = window as unknown as { texts: { [text: string]: boolean } };
    all.texts = { ...all.texts, [wanted]: false };
    const look = (): void => {
      if (document.body.innerText.includes(wanted)) all.texts[wanted] = true;
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    look();
  }, text);

const wasShown = (page: Page, text: string): Promise<boolean> =>
  page.evaluate((wanted) => (window as unknown as { texts: { [text: string]: boolean } }).texts[wanted] === true, text);

/** Records every number of matches that the table page shows. */
const recordMatchCounts = (table: Page): Promise<void> =>
  table.evaluate(() => {
    const numbers: number[] = [];
    (window as unknown as { numbers: number[] }).numbers = numbers;
    const look = (): void => {
      const fact = [...document.querySelectorAll('dl.facts div')].find((one) => one.textContent?.includes('Matches'));
      const number = Number(fact?.querySelector('dd')?.textContent ?? 0);
      if (number > 0 && number !== numbers.at(-1)) numbers.push(number);
    };
    new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    look();
  });

const matchCounts = (table: Page): Promise<number[]> => table.evaluate(() => (window as unknown as { numbers: number[] }).numbers);

/** Pauses the competition after its first match until the table shows that match. Otherwise it could end before a slow browser shows anything. */
async function holdUntilShown(id: string, table: Page): Promise<void> {
  await expect.poll(async () => (await organiser.get(`/competitions/${id}`)).matches).toBeGreaterThan(0);
  await organiser.act(id, 'pause');
  await organiser.waitForState(id, 'paused');
  await expect.poll(async () => (await matchCounts(table)).length).toBeGreaterThan(0);
  await organiser.act(id, 'resume');
}

/** Waits until the number of matches has increased more than once without interaction. */
async function tableGrows(table: Page): Promise<void> {
  await expect.poll(async () => (await matchCounts(table)).length).toBeGreaterThan(1);
  const seen = await matchCounts(table);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
}
