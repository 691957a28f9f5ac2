// The organiser's forms beside the file, prizes and sponsors, the scoreboard freeze, the printable sheet.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../needs.mjs';
import { launch, open, signIn, type Open } from './browser';
import { SiteServer, type ApiUser } from './server.mjs';

/** The second phase waits, so that the freeze can begin between the two. */
const PHASES = `prizes = ["a cup", "a book"]

[settings]
turns = 4

[[phase]]
name = "League"
format = "groups"
matches = 4

[[phase]]
name = "Final"
format = "groups"
matches = 4
resubmit = true`;

/** A PNG of one pixel. */
const PIXEL = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

let server: SiteServer;
let browser: Browser;
let olga: ApiUser;
let dashboard: Open;
let page: Page;

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(), launch()]);
  olga = await server.signUpOrganiser();
  dashboard = await open(browser, server, 'about:blank');
  page = dashboard.page;
  await signIn(page, olga.name);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const fileText = (): Promise<string> => page.getByLabel('Competition file').inputValue();

describe.skipIf(!hasBrowser)('a competition is made with the form', () => {
  test('every field changes one value of the file, and comments stay', async () => {
    await page.goto('/admin/new');
    await page.getByLabel('Solitude Scramble', { exact: true }).check();
    await expect.poll(fileText).toContain('game = "solitude-scramble"');
    const comments = (text: string): string[] => text.split('\n').filter((line) => line.startsWith('#'));
    const before = comments(await fileText());
    await page.getByLabel('Name', { exact: true }).first().fill('Form Cup');
    await page.getByLabel('About').fill('Open to *all*.');
    await page.getByLabel('About').blur();
    await expect.poll(fileText).toContain('about = "Open to *all*."');
    await page.getByRole('button', { name: 'Add a phase' }).click();
    await expect.poll(async () => (await fileText()).match(/^\[\[phase\]\]/gm)?.length).toBeGreaterThan(1);
    await page.getByRole('button', { name: 'Add a prize' }).click();
    await page.getByLabel('Prize for place 1').fill('a cup');
    await page.getByLabel('Prize for place 1').blur();
    await expect.poll(fileText).toContain('prizes = ["a cup"]');
    await page.getByRole('button', { name: 'Add a sponsor' }).click();
    await page.getByLabel('Link').fill('https://example.org');
    await page.getByLabel('Link').blur();
    await expect.poll(fileText).toContain('link = "https://example.org"');
    expect(comments(await fileText())).toEqual(before);
    await page.getByText('The file has no errors.').waitFor();
  });

  test('an error is shown at its field, and the form follows the text', async () => {
    const link = page.getByLabel('Link');
    await link.fill('javascript:alert(1)');
    await link.blur();
    await page.getByText('The file has 1 error.').waitFor();
    expect(await link.getAttribute('aria-invalid')).toBe('true');
    await page.getByRole('button', { name: 'Create competition' }).click();
    await page.getByText('Correct the errors first.').waitFor();
    const editor = page.getByLabel('Competition file');
    await editor.fill((await fileText()).replace('javascript:alert(1)', 'https://example.org/new'));
    await expect.poll(() => link.inputValue()).toBe('https://example.org/new');
    await page.getByText('The file has no errors.').waitFor();
    await page.getByRole('button', { name: 'Create competition' }).click();
    await page.waitForURL('**/admin/c/form-cup');
  });

  test('a phase can be moved with the keyboard, and a picture uploaded', async () => {
    await page.getByRole('link', { name: 'Edit with a form' }).click();
    await page.waitForURL('**/edit');
    await page.getByText('The file has no errors.').waitFor();
    const first = (text: string): string => /\[\[phase\]\]\s+(?:#.*\s+)*name = "([^"]+)"/.exec(text)?.[1] ?? '';
    const was = first(await fileText());
    await page.getByRole('button', { name: 'Move phase 1 down' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(async () => first(await fileText())).not.toBe(was);
    await page.locator('input[type=file]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: PIXEL });
    await expect.poll(fileText).toContain('picture = "');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved.').waitFor();
    await olga.act('form-cup', 'open');
    const visitor = await open(browser, server, '/c/form-cup');
    await visitor.page.getByRole('heading', { name: 'Prizes' }).waitFor();
    await expect.poll(() => visitor.page.locator('img[alt]').first().evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);
    expect(visitor.problems).toEqual([]);
    await visitor.context.close();
    expect(dashboard.problems).toEqual([]);
  });
});

describe.skipIf(!hasBrowser)('the scoreboard freeze', () => {
  test('readers see the old standings until the places are revealed', async () => {
    await olga.createCompetition('solitude-scramble', 'final', PHASES, ['greedy', 'random', 'left'], 'Frozen Cup');
    await olga.act('final', 'start');
    await olga.waitForState('final', 'waiting');
    const reader = await open(browser, server, '/c/final');
    const screen = await open(browser, server, '/c/final/screen', { viewport: { width: 1920, height: 1080 } });
    await page.goto('/admin/c/final');
    await page.getByRole('button', { name: 'Freeze now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Freeze now' }).click();
    await page.getByText('The standings are frozen.', { exact: true }).waitFor();
    // The pages learn of it without a reload.
    await reader.page.getByText('The standings are frozen since').waitFor();
    await screen.page.getByText('The standings are frozen since').waitFor();
    await olga.act('final', 'next');
    await olga.waitForState('final', 'over');
    const asReader = (path: string): Promise<{ state: string; seed: string | null; phases: { matches: number }[] }> => reader.page.evaluate(async (url) => (await fetch(url)).json(), `/api/v1${path}`);
    const frozen = await asReader('/competitions/final');
    expect([frozen.state === 'over', frozen.seed, frozen.phases[1]?.matches]).toEqual([false, null, 0]);
    // From the last place upwards, on the big screen too.
    for (const place of [3, 2, 1]) {
      await page.getByRole('button', { name: `Reveal place ${place} ` }).click();
      await screen.page.locator('.reveal li').nth(3 - place).waitFor();
    }
    await page.getByText('All places are revealed.').waitFor();
    await screen.page.locator('.reveal .prize', { hasText: 'a cup' }).waitFor();
    await page.getByRole('button', { name: 'Show everything' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Show everything' }).click();
    await page.getByText('Everybody sees all results.').waitFor();
    await expect.poll(async () => (await asReader('/competitions/final')).state).toBe('over');
    await reader.page.getByText('The standings are frozen since').waitFor({ state: 'detached' });
    expect([...reader.problems, ...screen.problems]).toEqual([]);
    await reader.context.close();
    await screen.context.close();
  });

  test('the sheet has podium, prizes, tables, hashes and a QR code, without the frame of the site on paper', async () => {
    const { page: sheet, context, problems } = await open(browser, server, '/c/final/print');
    await sheet.getByRole('heading', { name: 'Podium' }).waitFor();
    await sheet.getByText('a cup').waitFor();
    expect(await sheet.getByRole('img', { name: /^QR code of .*\/c\/final$/ }).count()).toBe(1);
    await sheet.getByText('SHA-256 of the secret seed').waitFor();
    await sheet.emulateMedia({ media: 'print' });
    expect(await sheet.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe.skipIf(!hasBrowser)('the dashboard', () => {
  test('shows a submission without a reload', async () => {
    await olga.createCompetition('solitude-scramble', 'live', '[settings]\nturns = 4\n[[phase]]\nformat = "groups"\nmatches = 4', ['greedy', 'random'], 'Live Cup');
    await olga.act('live', 'open');
    await page.goto('/admin/c/live');
    await page.getByText('greedy').first().waitFor();
    await olga.submitBot('live', 'Newcomer', { 'Submission.py': 'def get_action(state, match_history):\n    return "LEFT"\n' });
    await page.getByText('Newcomer').first().waitFor();
    expect(dashboard.problems).toEqual([]);
  });
});
