// A spectator watches a live game to its end, for each of the five games; tables are new by themselves.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { thinker } from './bots.mjs';
import { Place, type Person } from './place.mjs';
import { launch, open, there } from './window';

interface Cup {
  game: string;
  file: string;
  house: string[];
  ms: number;
  role?: string;
  /** Its boards are a secret until the end. */
  hidden?: boolean;
}
const CUPS: Cup[] = [
  { game: 'solitude-scramble', file: '[settings]\nturns = 12\n[[phase]]\nformat = "groups"\nmatches = 3', house: ['greedy', 'random', 'left'], ms: 150 },
  { game: 'colour-battle', file: '[settings]\nrounds = 120\n[[phase]]\nformat = "arena"\ngames = 3', house: ['drawn', 'seeker', 'sweeper'], ms: 15 },
  { game: 'connect-five', file: '[[phase]]\nformat = "round-robin"\nlegs = 3\nparts = [{ games = 1, seconds = 1 }]', house: ['random'], ms: 200 },
  { game: 'hide-and-seek', file: '[settings]\nsteps = 40\n[[phase]]\nformat = "cross"\nboards = 3', house: ['running-hider'], ms: 30, role: 'seeker', hidden: true },
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
    CUPS.map(async ({ game, file, house, ms, role }) => {
      await olga.compete(game, game, file, house);
      await olga.act(game, 'open');
      await olga.handIn(game, 'Thinker', thinker(game, ms), role);
      await olga.act(game, 'close');
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
  test.each(CUPS)('$game', async ({ game, house, hidden }) => {
    const live = await open(browser, place, `/c/${game}/live`);
    await live.page.getByText('It has not begun: games are shown here as they are played.').waitFor();
    const table = await live.context.newPage();
    await table.goto(`/c/${game}`);
    await table.getByText('No games have been played yet.').waitFor();
    await olga.act(game, 'start');
    const seen = hidden ? live.page.getByText('Boards of this phase are a secret until its end.').waitFor() : watch(live.page);
    await Promise.all([seen, grows(table)]);
    if (hidden) expect(await live.page.locator('.replay').count()).toBe(0);
    expect(await table.locator('main table').first().locator('tbody tr').count()).toBe(hidden ? 1 : house.length + 1);
    await olga.reaches(game, 'over');
    await table.getByText('The seed is revealed', { exact: false }).waitFor();
    await live.page.getByText('It is over.').waitFor();
    if (hidden) {
      // What could not be seen is there now.
      await live.page.getByRole('link', { name: 'To the games' }).click();
      await live.page.getByRole('link', { name: /^Replay of match/ }).first().click();
      await live.page.waitForSelector('.replay');
      await live.page.getByRole('button', { name: 'To the end' }).click();
      await expect.poll(() => live.page.locator('.story').innerText()).toContain('Ended:');
    }
    expect(live.complaints).toEqual([]);
    await live.context.close();
  });
});

/** From the first frames to the end of a game. */
async function watch(page: Page): Promise<void> {
  await page.waitForSelector('.replay .live');
  // Every turn that is shown, as it is shown.
  await page.evaluate(() => {
    const all = window as unknown as { shown: number[]; last: number };
    [all.shown, all.last] = [[], 0];
    requestAnimationFrame(function look() {
      const turn = Number(document.querySelector<HTMLElement>('.replay')?.dataset.turn);
      // The next game has followed.
      if (turn < (all.shown.at(-1) ?? 0)) return;
      if (all.shown.at(-1) !== turn) all.shown.push(turn);
      all.last = Number(document.querySelector<HTMLInputElement>('.replay input[type=range]')?.max);
      requestAnimationFrame(look);
    });
  });
  await page.getByText('This game is over.').waitFor();
  await expect.poll(() => page.locator('.story').innerText()).toContain('Ended:');
  const { shown, last } = await page.evaluate(() => {
    const all = window as unknown as { shown: number[]; last: number };
    return { shown: all.shown, last: all.last };
  });
  expect(shown.at(-1), `shown to its last turn: ${shown.join(' ')}`).toBe(last);
  expect(shown.length, `turns that were shown: ${shown.join(' ')}`).toBeGreaterThanOrEqual(3);
  await page.getByRole('link', { name: 'Its replay' }).waitFor();
}

/** Nobody touches the table: its number of matches rises by itself. */
async function grows(table: Page): Promise<void> {
  const played = (): Promise<number> => matches(table).catch(() => 0);
  await expect.poll(played, { timeout: 20_000 }).toBeGreaterThan(0);
  const first = await played();
  await expect.poll(played, { timeout: 20_000 }).toBeGreaterThan(first);
}
