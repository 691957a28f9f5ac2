// Checks for every page: accessibility, no overflow, no requests to other sites, small first view.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seriousFindings } from '../axe';
import { WAIT_TIMEOUT } from '../timeouts.mjs';
import { hasBrowser } from '../needs.mjs';
import { fillSite, type SampleSite } from './sample_site.mjs';
import { SiteServer } from './server.mjs';
import { launch, recordProblems, open, overflow, pageLoaded, signIn } from './browser';

const WIDE = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };
/** All axe rules for two looks, colour contrast for the two others. */
const LOOKS = [
  ['wide and light', WIDE, 'light', undefined],
  ['wide and dark', WIDE, 'dark', ['color-contrast']],
  ['a phone in the light', PHONE, 'light', ['color-contrast']],
  ['a phone in the dark', PHONE, 'dark', undefined],
] as const;

let server: SiteServer;
let browser: Browser;
let sample: SampleSite;

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(), launch()]);
  sample = await fillSite(server);
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

describe.skipIf(!hasBrowser)('every page', () => {
  test.each([null, 'Ada', 'Olga'] as const)('for user %s: no serious axe findings, no overflow, no console errors', async (who) => {
    const wrong: string[] = [];
    const context = await browser.newContext({ baseURL: server.url, viewport: WIDE, reducedMotion: 'reduce' });
    context.setDefaultTimeout(WAIT_TIMEOUT);
    const page = await context.newPage();
    const problems = recordProblems(page, server.url);
    if (who !== null) await signIn(page, who);
    for (const { name, path, shows } of sample.pages.filter((one) => one.who === who)) {
      await page.goto(path);
      await pageLoaded(page);
      if (shows !== undefined) await page.locator(shows).first().waitFor().catch(() => wrong.push(`${name}: ${shows} not found`));
      for (const [look, viewport, colorScheme, rules] of LOOKS) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        const out = await overflow(page);
        if (out > 0) wrong.push(`${name}, ${look}: ${out} pixels overflow`);
        for (const finding of await seriousFindings(page, rules && [...rules])) wrong.push(`${name}, ${look}: ${finding}`);
      }
      await page.setViewportSize(WIDE);
      for (const problem of problems.splice(0)) wrong.push(`${name}: ${problem}`);
      if ((await page.title()) === '') wrong.push(`${name}: no title`);
    }
    await context.close();
    expect(wrong).toEqual([]);
  });

  test('the first view transfers less than 200 KB, without cookies and requests to other sites', async () => {
    for (const path of ['/', '/c/connect-five', '/c/word-racer/standings/bracket']) {
      const { page, context, problems } = await open(browser, server, 'about:blank');
      const network = await context.newCDPSession(page);
      await network.send('Network.enable');
      let bytes = 0;
      network.on('Network.loadingFinished', (event) => (bytes += event.encodedDataLength));
      await page.goto(path);
      await pageLoaded(page);
      await page.locator('main a').first().waitFor();
      expect(bytes, path).toBeGreaterThan(20_000);
      expect(bytes, path).toBeLessThan(200_000);
      expect(await context.cookies()).toEqual([]);
      expect(problems).toEqual([]);
      await context.close();
    }
  });

  test('unknown pages and pages without access show a message', async () => {
    const { page, context } = await open(browser, server, '/nowhere');
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.goto('/c/no-such');
    await page.getByRole('alert').waitFor();
    for (const path of ['/admin', '/me', '/admin/audit']) {
      await page.goto(path);
      await page.locator('main').getByRole('link', { name: 'Sign in' }).waitFor();
    }
    await signIn(page, 'Ada', '/admin');
    await page.getByText('You do not have access to this page.').waitFor();
    await context.close();
  });
});

describe.skipIf(!hasBrowser)('in a frame of another site', () => {
  let other: Server;
  beforeAll(async () => {
    other = createServer((request, answer) => {
      const path = new URL(request.url ?? '/', 'http://x').searchParams.get('path') ?? '';
      answer.setHeader('Content-Type', 'text/html');
      answer.end(`<!doctype html><title>A blog</title><iframe src="${server.url}${path}" width="900" height="700"></iframe>`);
    });
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done));
  });
  afterAll(() => void other?.close());

  test('a replay can be embedded, other pages refuse to be framed', async () => {
    const blog = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { page, context } = await open(browser, server, 'about:blank');
    const messages: string[] = [];
    page.on('console', (message) => messages.push(message.text()));
    await page.goto(`${blog}/?path=${sample.embed}`);
    const frame = page.frameLocator('iframe');
    await frame.locator('.replay').waitFor();
    await frame.getByRole('button', { name: 'Go to end' }).click();
    await expect.poll(() => frame.locator('.story').innerText()).toContain('Ended:');
    expect(messages).toEqual([]);
    for (const path of ['/', '/signin', sample.replay]) {
      messages.splice(0);
      await page.goto(`${blog}/?path=${path}`);
      await expect.poll(() => messages.join('\n')).toMatch(/frame-ancestors/);
      expect(page.frames()[1]?.url(), path).toBe('chrome-error://chromewebdata/');
    }
    await context.close();
  });
});
