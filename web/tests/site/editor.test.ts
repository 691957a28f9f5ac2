// An author writes a bot in the browser: starter, draft, check with findings, trial game, submission, versions.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../needs.mjs';
import { focused, launch, open, overflow, type Open } from './browser';
import { PASSWORD, SiteServer } from './server.mjs';

const GOOD = 'def get_action(state, match_history):\n    return "LEFT"\n';
const BAD = 'def get_action(state, match_history):\n    number = 1\n    return number / 0\n';

let server: SiteServer;
let browser: Browser;
let ada: Open;
let page: Page;

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(), launch()]);
  const olga = await server.signUpOrganiser();
  await olga.createCompetition('solitude-scramble', 'cup', '[settings]\nturns = 4\n[[phase]]\nformat = "groups"\nmatches = 4', ['greedy', 'random'], 'Cup');
  await olga.act('cup', 'open');
  ada = await open(browser, server, `/signup?invite=${await olga.invite('author')}`);
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

const code = (): ReturnType<Page['locator']> => page.locator('.editor .cm-content');
const codeText = async (): Promise<string> => (await page.locator('.editor .cm-line').allInnerTexts()).join('\n');

/** Replaces the code as an author does: select all, paste. */
async function write(text: string): Promise<void> {
  await code().click();
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.insertText(text);
}

describe.skipIf(!hasBrowser)('the editor', () => {
  test('begins with the starter and keeps the draft', async () => {
    await page.goto('/c/cup/submit');
    await page.getByRole('link', { name: 'Open the editor' }).click();
    await page.waitForURL('**/c/cup/edit');
    await page.getByText('Begins with the starter of the game').waitFor();
    expect(await codeText()).toContain('def ');
    await write(BAD);
    await page.getByText('All changes are saved.').waitFor();
    await page.getByText('Your draft').waitFor();
    await page.reload();
    await expect.poll(codeText).toContain('return number / 0');
  });

  test('a check marks the line of a finding', async () => {
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByText('The bot would be rejected.').waitFor();
    await page.getByRole('button', { name: /\.py:3$/ }).first().click();
    await expect.poll(() => page.locator('.editor .cm-lint-marker').count()).toBeGreaterThan(0);
    await expect.poll(() => page.locator('.editor .cm-activeLine').innerText()).toContain('number / 0');
  });

  test('the trial game of a good bot can be watched, and the bot submitted', async () => {
    await write(GOOD);
    await page.getByText('You have changed the bot since this check.').waitFor();
    await page.getByRole('button', { name: 'Check', exact: true }).click();
    await page.getByText('The bot would be accepted.').waitFor();
    await page.getByRole('button', { name: /^Watch/ }).first().click();
    await page.locator('.replay').waitFor();
    await page.getByLabel('Name of the bot').fill('Typist');
    await page.getByRole('button', { name: 'Submit', exact: true }).click();
    await page.waitForURL('**/s/*');
    await page.getByText('version 1').first().waitFor();
  });

  test('versions are compared and restored', async () => {
    await page.goto('/me');
    await page.getByRole('link', { name: /^Open the editor/ }).click();
    await page.getByText('Begins with the newest version').waitFor();
    await write(GOOD.replace('LEFT', 'RIGHT'));
    await page.getByText('All changes are saved.').waitFor();
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.locator('.difference .cm-changedLine, .difference .cm-insertedLine').first().waitFor();
    expect(await page.locator('.difference').innerText()).toContain('RIGHT');
    await page.getByRole('button', { name: 'Restore version 1' }).click();
    await expect.poll(codeText).toContain('LEFT');
  });

  test('files can be added, renamed and removed', async () => {
    await page.getByRole('button', { name: 'Add a file' }).click();
    await page.getByLabel('File name').fill('../bad.py');
    await page.keyboard.press('Enter');
    await page.getByText('Use letters, digits').waitFor();
    await page.getByLabel('File name').fill('lib/helper.py');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'lib/helper.py', pressed: true }).waitFor();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'lib/helper.py' }).waitFor({ state: 'detached' });
    await page.getByText('All changes are saved.').waitFor();
  });

  test('Tab indents; Escape, then Tab leaves the editor', async () => {
    await code().click();
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.press('Tab');
    await expect.poll(codeText).toMatch(/^ {4}/);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await expect.poll(() => focused(page)).not.toContain('DIV');
  });

  test('two tabs do not overwrite each other', async () => {
    const other = await ada.context.newPage();
    await other.goto(page.url());
    await other.locator('.editor .cm-content').waitFor();
    await write('# from the first tab\n' + GOOD);
    await page.getByText('All changes are saved.').waitFor();
    await other.locator('.editor .cm-content').click();
    await other.keyboard.insertText('# from the second tab\n');
    await other.getByText('This draft was changed in another tab').waitFor();
    await other.getByRole('button', { name: 'Load the other' }).click();
    await expect.poll(async () => (await other.locator('.editor .cm-line').allInnerTexts()).join('\n')).toContain('from the first tab');
    await other.close();
  });

  test('fits a phone, light and dark', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await overflow(page)).toBe(0);
      await code().click();
    }
    expect(ada.problems).toEqual([]);
  });

  test('another author does not see the draft or the files of a version', async () => {
    const status = await page.evaluate(async () => (await fetch('/api/v1/competitions/cup/draft')).status);
    expect(status).toBe(200);
    const stranger = await open(browser, server, '/c/cup/edit');
    await stranger.page.locator('main').getByRole('link', { name: 'Sign in' }).waitFor();
    expect(await stranger.page.evaluate(async () => (await fetch('/api/v1/competitions/cup/draft')).status)).toBe(401);
    await stranger.context.close();
  });
});
