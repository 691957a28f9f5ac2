// Report pages in a real browser, from disk: no errors, no overflow, no network requests.

import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHROMIUM, FLAGS, Pages } from './agon.mjs';
import { seriousFindings } from './axe';
import { hasBrowser } from './needs.mjs';
import { WAIT_TIMEOUT } from './timeouts.mjs';

const FILE = `
name = "Spring <i>Cup</i>"
game = "word-racer"
[[phase]]
name = "Round robin"
format = "round-robin"
letters = "A"
swap = true
[[phase]]
name = "Knockout"
format = "knockout"
top = 4
pairs = 1
[[entrant]]
bot = "house:random"
[[entrant]]
bot = "house:filler"
[[entrant]]
bot = "house:rows"
[[entrant]]
bot = "house:z-racer"
name = "<img src=x onerror=alert(1)> quite a long name"
contributor = "<b>Bobby</b>"
`;

describe.skipIf(!hasBrowser)('a report in the browser', () => {
  let pages: Pages;
  let browser: Browser;
  let files: string[];
  let root: string;

  beforeAll(async () => {
    pages = new Pages();
    const file = join(pages.folder, 'cup.toml');
    writeFileSync(file, FILE);
    root = join(pages.folder, 'out');
    execFileSync(pages.agon, ['run', file], { stdio: 'pipe' });
    execFileSync(pages.agon, ['report', file, root, '--games', '2'], { stdio: 'pipe' });
    files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html'));
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  });

  afterAll(async () => {
    await browser?.close();
    pages?.remove();
  });

  test.each([
    { colorScheme: 'light' as const, viewport: { width: 1100, height: 860 } },
    { colorScheme: 'dark' as const, viewport: { width: 320, height: 640 } },
  ])('all pages have no errors and no serious axe findings ($colorScheme, $viewport.width wide)', async (options) => {
    expect(files).toContain('phase-2.html');
    expect(files.filter((name) => name.startsWith('games/'))).toHaveLength(4);
    // Axe is slow, so it checks one page of each kind.
    const checkedByAxe = new Set(['bots/', 'games/'].flatMap((kind) => files.filter((name) => name.startsWith(kind)).slice(0, 1)));
    checkedByAxe.add('summary.html').add('phase-2.html');
    const context = await browser.newContext(options);
    context.setDefaultTimeout(WAIT_TIMEOUT);
    for (const file of files) {
      const page = await context.newPage();
      const problems: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
      });
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('request', (request) => {
        const known = request.url().startsWith(`file://${root}/`) || request.url() === 'data:,';
        if (!known) problems.push(`asked for ${request.url()}`);
      });
      await page.goto(`file://${root}/${file}`);
      if (file.startsWith('games/')) await page.waitForSelector('.replay');
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(wide, `${file}: no horizontal overflow`).toBeLessThanOrEqual(0);
      if (checkedByAxe.has(file)) expect(await seriousFindings(page), file).toEqual([]);
      expect(problems, file).toEqual([]);
      await page.close();
    }
    await context.close();
  });
});
