// An organiser whose games are played on other machines: a worker comes, is seen at the desk, its games are watched, it is told to leave.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seriousFindings } from '../axe';
import { thinker } from './bots.mjs';
import { installed, Machines } from './machines.mjs';
import { Place, type Person } from './place.mjs';
import { launch, open, signIn, there, overflow } from './window';

const ready = there && installed;
let machines: Machines;
let place: Place;
let browser: Browser;
let olga: Person;

beforeAll(async () => {
  if (!ready) return;
  [machines, browser] = await Promise.all([Machines.start(), launch()]);
  place = await Place.start(['--nats', machines.url]);
  olga = await place.organiser();
  await olga.compete('word-racer', 'words', '[[phase]]\nformat = "round-robin"\nlegs = 500', ['filler', 'random']);
  await olga.act('words', 'open');
  await olga.handIn('words', 'Thinker', thinker('word-racer', 40));
  await olga.act('words', 'close');
});
afterAll(async () => {
  await browser?.close();
  await machines?.dismiss();
  await place?.stop();
  await machines?.stop();
});

describe.skipIf(!ready)('workers', () => {
  test('a worker comes, plays before everybody’s eyes, and is drained', async () => {
    const desk = await open(browser, place, '/');
    await signIn(desk.page, 'Olga', '/desk/workers');
    await desk.page.getByText('No worker is there.').waitFor();
    await olga.act('words', 'start');

    machines.worker('w1');
    const row = desk.page.getByRole('row', { name: /^w1/ });
    await row.getByText('playing').waitFor();
    await expect.poll(() => row.locator('td').nth(2).innerText()).toBe('1 of 1');
    expect(await seriousFindings(desk.page)).toEqual([]);

    const live = await open(browser, place, '/c/words/live');
    await live.page.waitForSelector('.replay');
    // It moves: what is told of the game grows or another game begins.
    const story = live.page.locator('.story').first();
    const before = await story.innerText();
    await expect.poll(() => story.innerText()).not.toBe(before);
    expect(live.complaints).toEqual([]);
    await live.context.close();

    await row.getByRole('button', { name: 'Drain w1' }).click();
    const dialog = desk.page.getByRole('dialog');
    await dialog.getByText('takes no new ones').waitFor();
    await dialog.getByRole('button', { name: 'Drain the worker' }).click();
    await desk.page.getByText('w1 finishes what it plays and leaves.').waitFor();
    expect(await machines.ended('w1')).toBe(0);
    await desk.page.getByText('No worker is there.').waitFor();
    await desk.page.goto('/desk/audit');
    await desk.page.getByText('worker drain').waitFor();
    expect(desk.complaints).toEqual([]);
    await desk.context.close();
    expect((await olga.get('/competitions/words')).state).toBe('running');
  });

  test.each([
    ['light', 1280],
    ['dark', 360],
  ] as const)('the page in %s, %i wide', async (scheme, width) => {
    machines.worker(`w-${scheme}`);
    const desk = await open(browser, place, '/', { colorScheme: scheme, viewport: { width, height: 800 } });
    await signIn(desk.page, 'Olga', '/desk/workers');
    await desk.page.getByRole('row', { name: new RegExp(`^w-${scheme}`) }).waitFor();
    expect(await overflow(desk.page)).toBeLessThanOrEqual(0);
    expect(await seriousFindings(desk.page)).toEqual([]);
    if (process.env.AGON_PICTURES) await desk.page.screenshot({ path: `${process.env.AGON_PICTURES}/workers-${scheme}.png`, fullPage: true });
    await desk.context.close();
  });
});
