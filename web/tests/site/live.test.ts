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
  { game: 'solitude-scramble', file: '[settings]\nturns = 12\n[[phase]]\nformat = "groups"\nmatches = 3', house: ['greedy', 'random', 'left'], ms: 40 },
  { game: 'colour-battle', file: '[settings]\nrounds = 120\n[[phase]]\nformat = "arena"\ngames = 3', house: ['drawn', 'seeker', 'sweeper'], ms: 15 },
  { game: 'connect-five', file: '[[phase]]\nformat = "round-robin"\nlegs = 2\nparts = [{ games = 1, seconds = 1 }]', house: ['random'], ms: 70 },
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
});
afterAll(async () => {
  await browser?.close();
  await place?.stop();
});

const turn = async (page: Page): Promise<number> => Number(await page.locator('.replay').getAttribute('data-turn'));
/** The number in the table's facts. */
const matches = async (page: Page): Promise<number> => Number(await page.locator('dl.facts div', { hasText: 'Matches' }).locator('dd').innerText());

describe.skipIf(!there)('live', () => {
  test.each(CUPS)('$game', async ({ game, file, house, ms, role, hidden }) => {
    await olga.compete(game, game, file, house);
    await olga.act(game, 'open');
    await olga.handIn(game, 'Thinker', thinker(game, ms), role);
    await olga.act(game, 'close');
    const live = await open(browser, place, `/c/${game}/live`);
    await live.page.getByText('It has not begun: games are shown here as they are played.').waitFor();
    const table = await live.context.newPage();
    await table.goto(`/c/${game}`);
    await table.getByText('No games have been played yet.').waitFor();
    await olga.act(game, 'start');
    if (hidden) {
      await live.page.getByText('Boards of this phase are a secret until its end.').waitFor();
      expect(await live.page.locator('.replay').count()).toBe(0);
    } else await watch(live.page);

    // Nobody has touched the table since.
    const first = await expect.poll(() => matches(table).catch(() => 0), { timeout: 20_000 }).toBeGreaterThan(0).then(() => matches(table));
    await expect.poll(() => matches(table), { timeout: 20_000 }).toBeGreaterThan(first);
    expect(await table.locator('main table').first().locator('tbody tr').count()).toBe(hidden ? 1 : house.length + 1);
    await olga.reaches(game, 'over');
    await table.getByText('The seed is revealed', { exact: false }).waitFor();
    await live.page.getByText('It is over.').waitFor();
    if (hidden) {
      // What could not be seen is there now.
      await live.page.getByRole('link', { name: 'To the games' }).click();
      await live.page.getByRole('link', { name: /^Replay of match/ }).first().click();
      await live.page.waitForSelector('.replay');
      await live.page.keyboard.press('End');
      await expect.poll(() => live.page.locator('.story').innerText()).toContain('Ended:');
    }
    expect(live.complaints).toEqual([]);
    await live.context.close();
  });
});

/** From the first frames to the end of a game. */
async function watch(page: Page): Promise<void> {
  await page.waitForSelector('.replay');
  await expect.poll(() => page.locator('.live').innerText().catch(() => '')).toBe('Live');
  const begun = await turn(page);
  await expect.poll(() => turn(page), { timeout: 20_000 }).toBeGreaterThan(begun);
  const later = await turn(page);
  await expect.poll(() => turn(page), { timeout: 20_000 }).toBeGreaterThan(later);
  await page.getByText('This game is over.').waitFor();
  await expect.poll(() => page.locator('.story').innerText()).toContain('Ended:');
  const last = Number(await page.getByRole('slider').getAttribute('max'));
  expect(await turn(page), 'shown to its last turn').toBe(last);
  await page.getByRole('link', { name: 'Its replay' }).waitFor();
}
