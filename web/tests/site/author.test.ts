// An author signs up by invitation, submits good and bad bots, sees the results, and reproduces a fault locally.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../needs.mjs';
import { environment, PASSWORD, SiteServer, type ApiUser } from './server.mjs';
import { launch, open, type Open } from './browser';
import { unzip, zip } from './zip.mjs';

/** Crashes in the third game of a match, which the trial game does not reach. */
const CLIMBER = `
from lib.order import ORDER


class Climber:
    def get_move(self, board, player, T, N):
        print("game", N)
        if N == 2:
            raise RuntimeError(f"game {N} is one too many")
        return next(column for column in ORDER if board[0][column] == 0)
`;
const ORDER = 'ORDER = (4, 3, 5, 2, 6, 1, 7, 0, 8)\n';

let server: SiteServer;
let browser: Browser;
let organiser: ApiUser;
let ada: Open;
let page: Page;
let climber = '';

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(), launch()]);
  organiser = await server.signUpOrganiser();
  // Of five games the third is always played; of three it is not if one side wins the first two.
  await organiser.createCompetition('connect-five', 'cup', '[[phase]]\nname = "League"\nformat = "round-robin"\nparts = [{ games = 5, first_to = 5, seconds = 1 }]', ['random', 'stacker'], 'The <b>Cup</b>');
  await organiser.act('cup', 'open');
  ada = await open(browser, server, `/signup?invite=${await organiser.invite('author')}`);
  page = ada.page;
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Submits the chosen files. */
async function submitBot(name: string): Promise<void> {
  await page.getByLabel('Bot name').fill(name);
  await page.getByRole('button', { name: 'Submit', exact: true }).click();
}

async function choose(name: string, file: string, content: string | Buffer): Promise<void> {
  await page.goto('/c/cup/submit');
  await page.locator('input[type=file][multiple]').setInputFiles({ name: file, mimeType: 'text/plain', buffer: Buffer.from(content) });
  await submitBot(name);
}

describe.skipIf(!hasBrowser)('an author', () => {
  test('signs up with an invitation', async () => {
    await page.getByText('You are invited as an author').waitFor();
    await page.getByLabel('Name').fill('Ada <i>L.</i>');
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.keyboard.press('Enter');
    await page.getByText('Use at least 10 characters. This password has 5.').waitFor();
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/me');
    await page.getByText('Signed in as Ada <i>L.</i>, author.').waitFor();
    await page.getByText('You have not submitted a bot yet.').waitFor();
  });

  test('drops a folder, and the bot plays a trial game', async () => {
    climber = server.writeFiles('Climber', { 'Climber.py': CLIMBER, 'lib/order.py': ORDER, 'lib/__init__.py': '# here\n', '__pycache__/order.pyc': 'x' });
    await page.goto('/');
    await page.getByRole('link', { name: 'The <b>Cup</b>', exact: true }).click();
    await page.getByRole('link', { name: 'Submit a bot' }).first().click();
    const box = (await page.locator('.zone').boundingBox()) as { x: number; y: number };
    const pointer = await ada.context.newCDPSession(page);
    const drag = { x: box.x + 40, y: box.y + 40, data: { items: [], files: [climber], dragOperationsMask: 1 } };
    for (const type of ['dragEnter', 'dragOver'] as const) await pointer.send('Input.dispatchDragEvent', { type, ...drag });
    await page.getByText('Release to add the files').waitFor();
    await pointer.send('Input.dispatchDragEvent', { type: 'drop', ...drag });
    await page.getByText('1 file ignored').waitFor();
    expect((await page.locator('.zone li code').allInnerTexts()).sort()).toEqual(['Climber.py', 'lib/__init__.py', 'lib/order.py']);
    expect(await page.getByLabel('Bot name').inputValue()).toBe('Climber');
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.waitForURL('**/s/*');
    await page.getByText('The bot takes part as version 1.').waitFor();
    await page.getByRole('button', { name: 'Trial game 1' }).click();
    await page.waitForSelector('.replay');
    await page.getByRole('button', { name: 'Go to end' }).click();
    await expect.poll(() => page.locator('.story').innerText()).toContain('Ended:');
  });

  test('bad bots are rejected with a problem, its place and a hint', async () => {
    const broken = 'class Broken:\n    def get_move(self, board, player, T, N):\n        return (4\n';
    await choose('Broken', 'Broken.py', broken);
    await page.getByText(/^Rejected\./).waitFor();
    await page.locator('.step.no .place', { hasText: 'Broken.py, line 3' }).waitFor();

    await choose('Mute', 'Mute.py', 'class Mute:\n    def move(self):\n        return 4\n');
    await page.getByText(/^Rejected\./).waitFor();
    expect(await page.locator('.step.no').innerText()).toContain('get_move');

    await choose('Slip', 'Slip.zip', zip({ '../Slip.py': 'class Slip:\n    pass\n' }));
    await page.locator('.zone').getByText('leaves the archive').waitFor();
    expect(page.url(), 'nothing was submitted').toMatch(/\/c\/cup\/submit$/);

    await choose('Heavy', 'Heavy.py', `# ${'x'.repeat(70_000)}\n`);
    await page.getByText('exceeds the limit of 64 KiB').waitFor();

    await choose('Wild', 'Wild.py', 'class Wild:\n    def get_move(self, board, player, T, N):\n        print("help")\n        return board[7][0]\n');
    await page.getByText(/^Rejected\./).waitFor();
    await page.locator('.step.no .place', { hasText: 'Wild.py, line 4' }).first().waitFor();
    expect(await page.locator('.step.no').innerText()).toContain('IndexError');
    await page.getByText('agon check connect-five Wild.py').waitFor();
  });

  test('only the author sees the bot output', async () => {
    await organiser.act('cup', 'start');
    await organiser.waitForState('cup', 'over');
    await page.goto('/me');
    await page.getByRole('link', { name: 'Climber', exact: true }).click();
    await page.getByRole('heading', { name: 'Opponents in League' }).waitFor();
    await page.getByRole('link', { name: /^Repro bundle of match/ }).first().waitFor();
    await expect.poll(() => page.locator('main').innerText()).toMatch(/[1-9] crash/);
    await page.getByText('RuntimeError: game 2 is one too many').first().waitFor();
    await page.getByRole('button', { name: /^Output of match \d+-\d+, game 1$/ }).first().click();
    await page.getByRole('dialog').getByText('game 0').first().waitFor();
    await page.keyboard.press('Escape');
    expect(await page.evaluate(() => document.querySelector('main b, main i'))).toBe(null);

    const other = await open(browser, server, new URL(page.url()).pathname);
    await other.page.getByText('RuntimeError: game 2 is one too many').first().waitFor();
    expect(await other.page.getByRole('link', { name: /^Repro bundle/ }).count()).toBe(0);
    expect(await other.page.getByRole('button', { name: /^Output of/ }).count()).toBe(0);
    expect(other.problems).toEqual([]);
    await other.context.close();
  });

  test('a repro bundle reproduces the fault locally', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: /^Repro bundle of match/ }).first().click()]);
    const files = unzip(readFileSync(await download.path()));
    const inside = Object.fromEntries(Object.entries(files).map(([path, content]) => [path.replace(/^[^/]+\//, ''), content]));
    expect(Object.keys(inside).sort()).toEqual(['README.txt', 'game.agon', 'log.txt']);
    expect(inside['log.txt']?.toString()).toContain('game 2');
    const folder = server.writeFiles('home', inside);
    const command = /^ {4}agon (debug game\.agon .* --bot BOT .*)$/m.exec(inside['README.txt']?.toString() ?? '')?.[1] ?? '';
    const words = command.replace('BOT', climber).split(' ');
    const reproduced = spawnSync(server.agon, words, { cwd: folder, env: environment(), encoding: 'utf8' });
    expect([reproduced.status, reproduced.stderr.includes('error')], reproduced.stdout + reproduced.stderr).toEqual([0, false]);
    expect(reproduced.stdout).toContain('game 2 is one too many');
    // A fixed bot does not reproduce the fault.
    const fixed = server.writeFiles('fixed/Climber', { 'Climber.py': CLIMBER.replace('N == 2', 'N == 99'), 'lib/order.py': ORDER });
    const other = spawnSync(server.agon, command.replace('BOT', fixed).split(' '), { cwd: folder, env: environment(), encoding: 'utf8' });
    expect(other.status, other.stdout + other.stderr).toBe(1);
  });

  test('no console errors and no requests to other sites', () => {
    expect(ada.problems).toEqual([]);
  });
});
