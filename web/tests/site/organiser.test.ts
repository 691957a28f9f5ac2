// An organiser runs competitions with the dashboard: three phases with new versions between them, a knockout, a disqualification.

import { createHash } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../needs.mjs';
import { ApiUser, PASSWORD, SiteServer } from './server.mjs';
import { launch, open, signIn, type Open } from './browser';

const PHASES = `
[settings]
turns = 4

[[phase]]
name = "Seeding"
format = "groups"
matches = 4

[[phase]]
name = "Adaptation"
format = "groups"
matches = 4
resubmit = true

[[phase]]
name = "Finals"
format = "groups"
matches = 4
resubmit = true
`;
const submission = (move: string): string => `def get_action(state, match_history):\n    return "${move}"\n`;

let server: SiteServer;
let browser: Browser;
let dashboard: Open;
let page: Page;

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(), launch()]);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Creates a competition with the form of the dashboard. */
async function create(game: string, name: string, phases: string, house: string[]): Promise<void> {
  await page.goto('/admin');
  await page.getByLabel(game, { exact: true }).check();
  await page.getByRole('button', { name: 'None' }).click();
  for (const bot of house) await page.getByRole('checkbox', { name: new RegExp(`^${bot} `) }).check();
  await page.getByText(new RegExp(`^${house.length} of \\d+ selected`)).waitFor();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByText('View and edit the file').click();
  const editor = page.getByLabel('Competition file');
  const text = await editor.inputValue();
  // The head of the preset, with other phases.
  await editor.fill(text.slice(0, text.search(/^\[/m)) + phases);
  await page.getByRole('button', { name: 'Create competition' }).click();
  await page.waitForURL('**/admin/c/*');
  await page.getByText('Only organisers can see this draft.').waitFor();
}

/** Runs an action of the dashboard and confirms it if necessary. */
async function runAction(name: string, confirm: string, done: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
  if (confirm !== '') await page.getByRole('dialog').getByRole('button', { name: confirm }).click();
  await page.getByText(done).waitFor();
}

describe.skipIf(!hasBrowser)('an organiser', () => {
  test('signs up with the link that the server prints', async () => {
    dashboard = await open(browser, server, server.invitation);
    page = dashboard.page;
    await page.getByText('You are invited as an organiser').waitFor();
    await page.getByLabel('Name').fill('Olga');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/me');
    await page.getByRole('link', { name: 'Dashboard' }).click();
    await page.getByText('No competitions yet.').waitFor();
  });

  test('an error in the file is shown with its line', async () => {
    await page.getByLabel('Solitude Scramble', { exact: true }).check();
    await page.getByText('View and edit the file').click();
    const editor = page.getByLabel('Competition file');
    const text = await editor.inputValue();
    await editor.fill(text.replace('"groups"', '"heaps"'));
    await page.getByRole('button', { name: 'Create competition' }).click();
    await page.getByText('1 error in the file').waitFor();
    await page.getByRole('button', { name: /^Line \d+/ }).click();
    await expect.poll(() => page.evaluate(() => getSelection()?.toString())).toContain('heaps');
  });

  test('three phases of Solitude with a new version; the seed matches its hash', async () => {
    await create('Solitude Scramble', 'Three Phases', PHASES, ['greedy', 'random', 'left']);
    await runAction('Open submissions', '', 'Submissions are open.');

    await page.goto('/admin/users');
    await page.getByRole('button', { name: 'Create invitation' }).click();
    const link = await page.getByText(/\/signup\?invite=/).first().innerText();
    const ada = await ApiUser.signUp(server.url, 'Ada', new URL(link).searchParams.get('invite') ?? '');
    await ada.submitBot('three-phases', 'Wanderer', { 'Submission.py': submission('LEFT') });

    await page.goto('/admin/c/three-phases');
    await page.getByText('Wanderer').first().waitFor();
    await runAction('Close submissions', 'Close submissions', 'Submissions are closed.');
    await runAction('Start', 'Start competition', 'Competition started.');
    await page.getByText('A phase is published. Authors can submit new versions').waitFor();
    const spectator = await open(browser, server, '/c/three-phases/proof');
    await spectator.page.getByText('SHA-256 of the seed, published before the first game').waitFor();
    const hash = await spectator.page.locator('dl.facts div', { hasText: 'SHA-256 of the seed' }).locator('code').innerText();
    expect(await spectator.page.getByText('The seed is revealed').count()).toBe(0);

    // The author uses the pages.
    const author = await open(browser, server, '/signin');
    await signIn(author.page, 'Ada');
    await author.page.getByRole('link', { name: 'Submit a new version' }).click();
    await author.page.getByRole('heading', { name: 'New version of Wanderer' }).waitFor();
    await author.page.locator('input[type=file][multiple]').setInputFiles({ name: 'Submission.py', mimeType: 'text/x-python', buffer: Buffer.from(submission('RIGHT')) });
    await author.page.getByRole('button', { name: 'Submit', exact: true }).click();
    await author.page.getByText('The bot takes part as version 2.').waitFor();

    await runAction('Start next phase', 'Start next phase', 'Next phase started.');
    await page.getByText('phase 2 of 3', { exact: false }).or(page.getByText('A phase is published.')).first().waitFor();
    const organiser = page.context().request;
    await expect.poll(async () => (await (await organiser.get('/api/v1/competitions/three-phases')).json()).phases[1].state).toBe('published');
    await page.getByText('A phase is published. Authors can submit new versions').waitFor();
    await runAction('Start next phase', 'Start next phase', 'Next phase started.');
    await page.getByText('All phases are finished. The seed is revealed.').waitFor();

    // Versions and the phases they play in.
    await author.page.getByRole('link', { name: 'Open bot page' }).click();
    const versions = author.page.getByRole('table', { name: 'Versions' }).locator('tbody tr');
    await expect.poll(() => versions.count()).toBe(2);
    const rows = (await versions.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    expect(rows.some((text) => /^2 phase 2 /.test(text)), rows.join('\n')).toBe(true);
    expect(rows.some((text) => /^1 phase 1 /.test(text)), rows.join('\n')).toBe(true);

    // The spectator's page updates automatically. The seed matches the published hash.
    await spectator.page.getByText('The seed is revealed').waitFor();
    const seed = await spectator.page.locator('dl.facts div', { hasText: 'Revealed seed' }).filter({ hasNotText: 'SHA-256' }).locator('code').innerText();
    expect(createHash('sha256').update(seed).digest('hex')).toBe(hash);
    expect([author.problems, spectator.problems]).toEqual([[], []]);
    await author.context.close();
    await spectator.context.close();
  });

  test('a knockout is drawn, and a disqualification is in the table and in the audit log', async () => {
    const knockout = '[[phase]]\nname = "Seeding"\nformat = "round-robin"\n\n[[phase]]\nname = "Knockout"\nformat = "knockout"\ntop = 4\nthird = true\nresubmit = true\n';
    await create('Word Racer', 'The Knockout', knockout, ['random', 'filler', 'rows', 'crossword', 'z-racer']);
    await runAction('Start', 'Start competition', 'Competition started.');
    await page.getByText('A phase is published.').waitFor();

    await page.getByRole('button', { name: 'Disqualify crossword' }).click();
    await page.getByRole('button', { name: 'Disqualify bot' }).click();
    await page.getByText('Enter a reason.').waitFor();
    await page.getByLabel('Reason').fill('It read <b>the other</b> board.');
    await page.getByRole('button', { name: 'Disqualify bot' }).click();
    await page.getByText('crossword is disqualified.').first().waitFor();
    await runAction('Start next phase', 'Start next phase', 'Next phase started.');
    await page.getByText('All phases are finished. The seed is revealed.').waitFor();

    const spectator = await open(browser, server, '/c/the-knockout/standings?phase=1');
    const table = spectator.page.getByRole('table').first();
    await table.getByText('disqualified').waitFor();
    expect(await table.locator('tbody tr').last().innerText(), 'last, without a place').toContain('crossword');
    await spectator.page.getByText('It read <b>the other</b> board.').first().waitFor();

    await spectator.page.getByRole('link', { name: 'Bracket' }).click();
    const drawing = spectator.page.getByRole('group', { name: /^Bracket/ });
    await drawing.waitFor();
    // Two semi-finals, the final, and the match for third place, without the disqualified bot.
    await expect.poll(() => drawing.locator('rect.tie').count()).toBe(4);
    // Each box leads to its match.
    expect(await drawing.locator('a.match').count()).toBe(4);
    const words = await drawing.innerText().catch(() => drawing.textContent());
    expect(words).not.toContain('crossword');
    expect(await drawing.locator('text.won').count(), 'each match has a winner').toBeGreaterThanOrEqual(4);
    const places = spectator.page.getByRole('table', { name: 'Final places' }).locator('tbody tr');
    expect(await places.count()).toBeGreaterThanOrEqual(4);
    expect(spectator.problems).toEqual([]);
    await spectator.context.close();

    await page.getByRole('link', { name: 'Audit log of this competition' }).click();
    await page.waitForURL('**/admin/audit?competition=the-knockout');
    await page.getByText('It read <b>the other</b> board.').waitFor();
    expect(dashboard.problems).toEqual([]);
  });
});
