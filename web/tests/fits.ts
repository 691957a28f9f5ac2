// Whether the boards of a page and their controls are inside the window.

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Sizes of windows, from a phone to a large screen. */
export const SIZES = [[390, 844], [768, 1024], [1280, 800], [1366, 768], [1920, 1080], [2560, 1440]] as const;

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Places of an element's parts in the window. */
export const boxes = (page: Page, selector: string): Promise<Box[]> =>
  page.locator(selector).evaluateAll((all) =>
    all.map((element) => {
      const { left, top, right, bottom } = element.getBoundingClientRect();
      return { left, top, right, bottom };
    }),
  );

/** Checks that boards and controls are inside the window, that nothing covers a board, and returns the boards. */
export async function expectToFit(page: Page, width: number, height: number): Promise<Box[]> {
  const boards = await boxes(page, '.drawing');
  const drawings = await boxes(page, '.drawing svg, .drawing canvas');
  const controls = await boxes(page, '.controls button:visible, .controls input[type="range"], .controls .turn');
  expect(boards.length).toBeGreaterThan(0);
  expect(controls.length).toBeGreaterThan(8);
  for (const box of [...boards, ...drawings, ...controls]) {
    expect(box.left).toBeGreaterThanOrEqual(0);
    expect(box.top).toBeGreaterThanOrEqual(0);
    expect(box.right).toBeLessThanOrEqual(width + 0.5);
    expect(box.bottom).toBeLessThanOrEqual(height + 0.5);
  }
  for (const board of boards) {
    for (const control of controls) {
      const apart = control.top >= board.bottom || control.bottom <= board.top || control.left >= board.right || control.right <= board.left;
      expect(apart, 'no control covers the board').toBe(true);
    }
    const covered = await page.evaluate(({ left, top, right, bottom }) => {
      const points = [0.02, 0.25, 0.5, 0.75, 0.98].flatMap((a) => [0.02, 0.5, 0.98].map((b) => [left + a * (right - left), top + b * (bottom - top)] as const));
      return points.filter(([x, y]) => !document.elementFromPoint(x, y)?.closest('.drawing'));
    }, board);
    expect(covered, 'nothing lies on the board').toEqual([]);
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 'no horizontal overflow').toBeLessThanOrEqual(0);
  return boards;
}

/** Waits until the viewer has its final height. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('.replay');
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}
