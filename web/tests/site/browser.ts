// Pages of a real server in a real browser, with their console errors and unexpected requests.

import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { CHROMIUM, FLAGS } from '../agon.mjs';
import { WAIT_TIMEOUT } from '../timeouts.mjs';
import { PASSWORD, type SiteServer } from './server.mjs';

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM, args: FLAGS });

export interface Open {
  page: Page;
  context: BrowserContext;
  /** Console errors, including policy violations, and requests to other sites. */
  problems: string[];
}

export async function open(browser: Browser, server: SiteServer, path: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Open> {
  const context = await browser.newContext({ baseURL: server.url, viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(WAIT_TIMEOUT);
  const page = await context.newPage();
  const problems = recordProblems(page, server.url);
  await page.goto(path);
  return { page, context, problems };
}

/** Records console errors and requests to other sites. Responses with a 4xx status are part of the tests and are ignored. */
export function recordProblems(page: Page, url: string): string[] {
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (/the server responded with a status of 4\d\d/.test(message.text())) return;
    problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`) && !/^(data|blob|about):/.test(request.url())) problems.push(`asked for ${request.url()}`);
  });
  return problems;
}

/** Signs in with the form and waits for a path. */
export async function signIn(page: Page, name: string, to = '/me'): Promise<void> {
  await page.goto(`/signin?to=${encodeURIComponent(to)}`);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**${to}`);
}

/** The focused element: its tag, and its name, label or first words. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement;
    return `${element?.tagName} ${element?.getAttribute('name') ?? element?.getAttribute('aria-label') ?? (element?.textContent ?? '').trim().slice(0, 40)}`;
  });

/** Number of pixels by which a page is wider than the window. */
export const overflow = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Waits until a page is loaded. */
export async function pageLoaded(page: Page): Promise<void> {
  await page.waitForSelector('h1');
  await page.waitForFunction(() => document.querySelector('main .loading') === null);
}
