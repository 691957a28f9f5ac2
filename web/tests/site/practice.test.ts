// Practice: an accepted bot on the ladder of its competition, and a challenge from the form to its replays.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seriousFindings } from '../axe';
import { hasBrowser } from '../needs.mjs';
import { launch, open, overflow, pageLoaded, signIn, type Open } from './browser';
import { PASSWORD, SiteServer, until, type ApiUser } from './server.mjs';

const PAINTER = `
from bot_control import Move


class Painter:
    def get_name(self):
        return "Painter"

    def get_contributor(self):
        return "Ada"

    def determine_next_move(self, grid, enemies, game_info):
        self.turn = getattr(self, "turn", 0) + 1
        return (Move.UP, Move.RIGHT, Move.DOWN, Move.LEFT)[self.turn // 5 % 4]
`;

interface LadderAnswer {
  players: { bot: number | null; games: number; rating: number | null }[];
}

let server: SiteServer;
let browser: Browser;
let organiser: ApiUser;
let ada: Open;
let page: Page;

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(['--practice', 'all']), launch()]);
  organiser = await server.signUpOrganiser();
  await organiser.createCompetition('colour-battle', 'cup', '[settings]\nrounds = 60\n[[phase]]\nname = "League"\nformat = "round-robin"', [], 'The Cup');
  await organiser.act('cup', 'open');
  ada = await open(browser, server, `/signup?invite=${await organiser.invite('author')}`);
  page = ada.page;
  await page.getByLabel('Name').fill('Ada');
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/me');
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Accessibility and width of the page that is shown, wide and on a phone. */
async function looksRight(): Promise<void> {
  await pageLoaded(page);
  for (const viewport of [{ width: 390, height: 844 }, { width: 1280, height: 900 }]) {
    await page.setViewportSize(viewport);
    expect(await overflow(page), page.url()).toBeLessThanOrEqual(0);
    expect(await seriousFindings(page), page.url()).toEqual([]);
  }
}

describe.skipIf(!hasBrowser)('practice', () => {
  test('ladder without bots invites, and shows an accepted bot with a rating', async () => {
    await page.goto('/c/cup/standings/practice');
    await page.getByText('No bot is on the ladder yet.').waitFor();
    await looksRight();
    await page.goto('/c/cup/submit');
    await page.locator('input[type=file][multiple]').setInputFiles({ name: 'painter.py', mimeType: 'text/plain', buffer: Buffer.from(PAINTER) });
    await page.getByLabel('Bot name').fill('Painter');
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await until(
      (): Promise<LadderAnswer> => organiser.get('/competitions/cup/practice'),
      ({ players }) => players.some((one) => one.bot !== null && one.games >= 4 && one.rating !== null),
    );
    await page.goto('/c/cup/standings/practice');
    await page.getByRole('rowheader', { name: /Painter/ }).waitFor();
    await page.getByRole('link', { name: /Replay of .*Painter/ }).first().waitFor();
    await looksRight();
  });

  test('bot page has the versions on the ladder and leads to a challenge', async () => {
    await page.getByRole('link', { name: 'Painter' }).first().click();
    await page.getByRole('heading', { name: 'Practice', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Challenge this bot' }).click();
    await page.waitForURL('**/challenges/new?**');
    await expect.poll(() => page.getByLabel('Bot 1').locator('option:checked').textContent()).toContain('Painter');
    await looksRight();
  });

  test('form names what is missing, and the challenge shows its result and replays', async () => {
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Choose a bot for each seat.').waitFor();
    await page.getByLabel('Bot 2').selectOption('house:random');
    await page.getByLabel('Number of games').fill('101');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByText('Enter a whole number from 1 to 100.').waitFor();
    await page.getByLabel('Number of games').fill('4');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL(/\/challenges\/[0-9a-f]{16}$/);
    await page.getByText('finished', { exact: true }).first().waitFor();
    await expect.poll(() => page.getByRole('link', { name: /Replay of Game \d/ }).count()).toBe(4);
    await looksRight();
    await page.goto('/challenges');
    await page.getByRole('link', { name: /Painter against random/ }).waitFor();
    await looksRight();
    expect(ada.problems).toEqual([]);
  });

  test('organiser switches the ladder off', async () => {
    const olga = await open(browser, server, 'about:blank');
    await signIn(olga.page, 'Olga', '/c/cup/standings/practice');
    await olga.page.getByRole('button', { name: 'Switch the ladder off' }).click();
    await olga.page.getByText('An organiser has switched the ladder off.').waitFor();
    await olga.page.getByRole('button', { name: 'Switch the ladder on' }).waitFor();
    await olga.context.close();
  });
});
