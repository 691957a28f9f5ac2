// An organiser runs competitions by the desk's pages: three phases with new versions between them, a knockout, a disqualification.

import { createHash } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Person, PASSWORD, Place } from './place.mjs';
import { launch, open, signIn, there, type Open } from './window';

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

let place: Place;
let browser: Browser;
let desk: Open;
let page: Page;

beforeAll(async () => {
  if (!there) return;
  [place, browser] = await Promise.all([Place.start(), launch()]);
});
afterAll(async () => {
  await browser?.close();
  await place?.stop();
});

/** Makes a competition by the desk's form. */
async function create(game: string, name: string, phases: string, house: string[]): Promise<void> {
  await page.goto('/desk');
  await page.getByLabel(game, { exact: true }).check();
  await page.getByRole('button', { name: 'None' }).click();
  for (const bot of house) await page.getByRole('checkbox', { name: new RegExp(`^${bot} `) }).check();
  await page.getByText(new RegExp(`^${house.length} of \\d+ chosen`)).waitFor();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByText('Look at the file and change it').click();
  const editor = page.getByLabel('Competition file');
  const text = await editor.inputValue();
  // The preset's head, with phases of our own.
  await editor.fill(text.slice(0, text.search(/^\[/m)) + phases);
  await page.getByRole('button', { name: 'Create it' }).click();
  await page.waitForURL('**/desk/c/*');
  await page.getByText('Only organisers see it.').waitFor();
}

/** Presses a button of the desk, and says yes if it asks. */
async function deed(name: string, yes: string, done: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
  if (yes !== '') await page.getByRole('dialog').getByRole('button', { name: yes }).click();
  await page.getByText(done).waitFor();
}

describe.skipIf(!there)('an organiser', () => {
  test('comes by the link that the server printed', async () => {
    desk = await open(browser, place, place.invitation);
    page = desk.page;
    await page.getByText('You are invited as an organiser').waitFor();
    await page.getByLabel('Name').fill('Olga');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/me');
    await page.getByRole('link', { name: 'Desk' }).click();
    await page.getByText('No competitions yet.').waitFor();
  });

  test('a mistake in the file is told with its line', async () => {
    await page.getByLabel('Solitude Scramble', { exact: true }).check();
    await page.getByText('Look at the file and change it').click();
    const editor = page.getByLabel('Competition file');
    const text = await editor.inputValue();
    await editor.fill(text.replace('"groups"', '"heaps"'));
    await page.getByRole('button', { name: 'Create it' }).click();
    await page.getByText('1 mistake in the file').waitFor();
    await page.getByRole('button', { name: /^Line \d+/ }).click();
    await expect.poll(() => page.evaluate(() => getSelection()?.toString())).toContain('heaps');
  });

  test('three phases of Solitude, a new version between them, and the seed fits its hash', async () => {
    await create('Solitude Scramble', 'Three Phases', PHASES, ['greedy', 'random', 'left']);
    await deed('Open for bots', '', 'It is open for bots.');

    await page.goto('/desk/people');
    await page.getByRole('button', { name: 'Make an invitation' }).click();
    const link = await page.getByText(/\/signup\?invite=/).first().innerText();
    const ada = await Person.signUp(place.url, 'Ada', new URL(link).searchParams.get('invite') ?? '');
    await ada.handIn('three-phases', 'Wanderer', { 'Submission.py': submission('LEFT') });

    await page.goto('/desk/c/three-phases');
    await page.getByText('Wanderer').first().waitFor();
    await deed('Close for bots', 'Close it', 'It is closed for bots.');
    await deed('Start', 'Start it', 'It is started.');
    await page.getByText('A phase is published. Authors can hand in new versions').waitFor();
    const spectator = await open(browser, place, '/c/three-phases');
    await spectator.page.getByText('SHA-256 of the seed, published before the first game').waitFor();
    const hash = await spectator.page.locator('dl.facts div', { hasText: 'SHA-256 of the seed' }).locator('code').innerText();
    expect(await spectator.page.getByText('The seed is revealed').count()).toBe(0);

    // The author, by the pages.
    const author = await open(browser, place, '/signin');
    await signIn(author.page, 'Ada');
    await author.page.getByRole('link', { name: 'Hand in a new version' }).click();
    await author.page.getByRole('heading', { name: 'A new version of Wanderer' }).waitFor();
    await author.page.locator('input[type=file][multiple]').setInputFiles({ name: 'Submission.py', mimeType: 'text/x-python', buffer: Buffer.from(submission('RIGHT')) });
    await author.page.getByRole('button', { name: 'Hand it in' }).click();
    await author.page.getByText('It takes part as version 2.').waitFor();

    await deed('Start the next phase', 'Start it', 'The next phase is started.');
    await page.getByText('phase 2 of 3', { exact: false }).or(page.getByText('A phase is published.')).first().waitFor();
    const olga = page.context().request;
    await expect.poll(async () => (await (await olga.get('/api/v1/competitions/three-phases')).json()).phases[1].state).toBe('published');
    await page.getByText('A phase is published. Authors can hand in new versions').waitFor();
    await deed('Start the next phase', 'Start it', 'The next phase is started.');
    await page.getByText('All phases are played, the seed is revealed.').waitFor();

    // Which version played when.
    await author.page.getByRole('link', { name: 'See the bot’s page' }).click();
    const versions = author.page.getByRole('table', { name: 'Versions' }).locator('tbody tr');
    await expect.poll(() => versions.count()).toBe(2);
    const rows = (await versions.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    expect(rows.some((text) => /^2 phase 2 /.test(text)), rows.join('\n')).toBe(true);
    expect(rows.some((text) => /^1 phase 1 /.test(text)), rows.join('\n')).toBe(true);

    // The spectator's page knows by itself; what was promised is kept.
    await spectator.page.getByText('The seed is revealed').waitFor();
    const seed = await spectator.page.locator('dl.facts div', { hasText: 'The seed' }).filter({ hasNotText: 'SHA-256' }).locator('code').innerText();
    expect(createHash('sha256').update(seed).digest('hex')).toBe(hash);
    expect([author.complaints, spectator.complaints]).toEqual([[], []]);
    await author.context.close();
    await spectator.context.close();
  });

  test('a knockout is drawn, and a disqualification stands in the table and in the log', async () => {
    const knockout = '[[phase]]\nname = "Seeding"\nformat = "round-robin"\n\n[[phase]]\nname = "Knockout"\nformat = "knockout"\ntop = 4\nthird = true\nresubmit = true\n';
    await create('Word Racer', 'The Knockout', knockout, ['random', 'filler', 'rows', 'crossword', 'z-racer']);
    await deed('Start', 'Start it', 'It is started.');
    await page.getByText('A phase is published.').waitFor();

    await page.getByRole('button', { name: 'Disqualify crossword' }).click();
    await page.getByRole('button', { name: 'Disqualify it' }).click();
    await page.getByText('Write the reason').waitFor();
    await page.getByLabel('Reason').fill('It read <b>the other</b> board.');
    await page.getByRole('button', { name: 'Disqualify it' }).click();
    await page.getByText('crossword is disqualified.').first().waitFor();
    await deed('Start the next phase', 'Start it', 'The next phase is started.');
    await page.getByText('All phases are played, the seed is revealed.').waitFor();

    const spectator = await open(browser, place, '/c/the-knockout?phase=1');
    const table = spectator.page.getByRole('table').first();
    await table.getByText('disqualified').waitFor();
    expect(await table.locator('tbody tr').last().innerText(), 'at the end, without a place').toContain('crossword');
    await spectator.page.getByText('It read <b>the other</b> board.').first().waitFor();

    await spectator.page.getByRole('link', { name: 'Bracket' }).click();
    const drawing = spectator.page.getByRole('img', { name: /^Bracket/ });
    await drawing.waitFor();
    // Two semi-finals, the final, and the match for the third place; who is out for good is not in it.
    await expect.poll(() => drawing.locator('rect.tie').count()).toBe(4);
    const words = await drawing.innerText().catch(() => drawing.textContent());
    expect(words).not.toContain('crossword');
    expect(await drawing.locator('text.won').count(), 'each tie has its winner').toBeGreaterThanOrEqual(4);
    const places = spectator.page.getByRole('table', { name: 'Final places' }).locator('tbody tr');
    expect(await places.count()).toBeGreaterThanOrEqual(4);
    expect(spectator.complaints).toEqual([]);
    await spectator.context.close();

    await page.getByRole('link', { name: 'Log of this competition' }).click();
    await page.waitForURL('**/desk/audit?competition=the-knockout');
    await page.getByText('It read <b>the other</b> board.').waitFor();
    expect(desk.complaints).toEqual([]);
  });
});
