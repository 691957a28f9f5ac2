// A spectator watches live games of all five games to their end. Tables update automatically.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { thinker } from './bots.mjs';
import { Place, type Person } from './place.mjs';
import { launch, open, there } from './window';

interface Cup {
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
const CUPS: Cup[] = [
  { game: 'solitude-scramble', file: '[settings]\nturns = 12\n[[phase]]\nformat = "groups"\nmatches = 12', house: ['greedy', 'random', 'left'], ms: 60 },
  { game: 'colour-battle', file: '[settings]\nrounds = 120\n[[phase]]\nformat = "arena"\ngames = 3', house: ['drawn', 'seeker', 'sweeper'], ms: 15 },
  { game: 'connect-five', file: '[[phase]]\nformat = "round-robin"\nlegs = 3\nparts = [{ games = 1, seconds = 1 }]', house: ['random'], ms: 200 },
  { game: 'hide-and-seek', file: '[settings]\nsteps = 40\n[[phase]]\nformat = "cross"\nboards = 3', house: ['running-hider'], ms: 30, role: 'seeker', hidden: true },
  { id: 'open-hide-and-seek', game: 'hide-and-seek', file: '[settings]\nsteps = 40\n[[phase]]\nformat = "cross"\nboards = 3\nhidden = false', house: ['running-hider'], ms: 30, role: 'seeker' },
  { game: 'word-racer', file: '[[phase]]\nformat = "round-robin"\nlegs = 3', house: ['filler'], ms: 40 },
];

let place: Place;
let browser: Browser;
let olga: Person;

beforeAll(async () => {
  if (!there) return;
  [place, browser] = await Promise.all([Place.start(['--jobs', '1']), launch()]);
  olga = await place.organiser();
  await Promise.all(
    CUPS.map(async ({ game, id = game, file, house, ms, role }) => {
      await olga.compete(game, id, file, house);
      await olga.act(id, 'open');
      await olga.submitBot(id, 'Thinker', thinker(game, ms), role);
      await olga.act(id, 'close');
    }),
  );
});
afterAll(async () => {
  await browser?.close();
  await place?.stop();
});

/** The number in the table's facts. */
const matches = async (page: Page): Promise<number> =>
  Number(await page.locator('dl.facts div', { hasText: 'Matches' }).locator('dd').innerText({ timeout: 1_000 }));

describe.skipIf(!there)('live', () => {
  test.each(CUPS)('$game $id', async ({ game, id = game, house, role, hidden }) => {
    const live = await open(browser, place, `/c/${id}/live`);
    await live.page.getByText('The competition has not started. Live games appear here.').waitFor();
    await keepWhatIsShown(live.page);
    const table = await live.context.newPage();
    await table.goto(`/c/${id}`);
    await table.getByText('No games have been played yet.').waitFor();
    await olga.act(id, 'start');
    const seen = hidden ? live.page.getByText('Seeds of this phase are hidden until the competition ends').waitFor() : watch(live.page);
    await Promise.all([seen, grows(table)]);
    if (hidden) expect(await live.page.locator('.replay').count()).toBe(0);
    expect(await table.locator('main table').first().locator('tbody tr').count()).toBe(role ? 1 : house.length + 1);
    await olga.reaches(id, 'over');
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
    expect(live.complaints).toEqual([]);
    await live.context.close();
  });
});

/** A game as it was shown: its turns in order, and the number of the last turn. */
interface Shown {
  turns: number[];
  last: number;
}

/** Records every turn that is shown, game by game. */
const keepWhatIsShown = (page: Page): Promise<void> =>
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
  await expect.poll(() => page.locator('.story').innerText(), { timeout: 20_000 }).toContain('Ended:');
  await page.getByRole('link', { name: 'View replay' }).waitFor();
  const seen = (): Promise<boolean> =>
    page.evaluate(() => (window as unknown as { shown: Shown[] }).shown.some(({ turns, last }) => turns.length >= 3 && turns.at(-1) === last));
  await expect.poll(seen, { timeout: 20_000, message: 'a game moved, to its last turn' }).toBe(true);
}

/** The table is left alone: its number of matches rises by itself, more than once. */
async function grows(table: Page): Promise<void> {
  const played = (): Promise<number> => matches(table).catch(() => 0);
  await expect.poll(played, { timeout: 20_000 }).toBeGreaterThan(0);
  const first = await played();
  await expect.poll(played, { timeout: 20_000 }).toBeGreaterThan(first);
}
