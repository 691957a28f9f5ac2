// People on a site with open sign-up: two authors form a team, comment, search, and are notified; an organiser hides a comment.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasBrowser } from '../needs.mjs';
import { ApiUser, PASSWORD, SiteServer } from './server.mjs';
import { launch, open, signIn, type Open } from './browser';

let server: SiteServer;
let browser: Browser;
let olga: ApiUser;
let ada: Open;
let bob: Open;

beforeAll(async () => {
  if (!hasBrowser) return;
  [server, browser] = await Promise.all([SiteServer.start(['--sign-up', 'open']), launch()]);
  olga = await server.signUpOrganiser();
  await olga.createCompetition('connect-five', 'cup', '[[phase]]\nformat = "round-robin"\nlegs = 2\nparts = [{ games = 9, seconds = 1 }]', ['random', 'tactician'], 'Spring Cup');
  await olga.act('cup', 'open');
});
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

/** Signs up with the button in the header and waits for the page where the visitor was. */
async function signUp(page: Page, name: string, path: string): Promise<void> {
  await page.getByRole('banner').getByRole('link', { name: 'Sign up' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**${path}`);
}

describe.skipIf(!hasBrowser)('people', () => {
  test('a visitor signs up from a competition and returns to it', async () => {
    ada = await open(browser, server, '/c/cup');
    await signUp(ada.page, 'Ada', '/c/cup');
    await ada.page.getByLabel('Your comment').fill('Good luck! See https://example.org');
    await ada.page.getByRole('button', { name: 'Post comment' }).click();
    const link = ada.page.getByRole('link', { name: 'https://example.org' });
    expect(await link.getAttribute('rel')).toContain('nofollow');
    expect(ada.problems).toEqual([]);
  });

  test('another one signs up from an invitation link of a team and joins it', async () => {
    const { page } = ada;
    await page.goto('/me/teams');
    await page.getByLabel('Name', { exact: true }).fill('Engine Room');
    await page.getByRole('button', { name: 'Create team' }).click();
    await page.getByRole('heading', { name: 'Engine Room' }).waitFor();
    await page.getByRole('button', { name: 'Create a link' }).click();
    const link = await page.getByText(/\/join-team\//).first().innerText();
    bob = await open(browser, server, new URL(link).pathname);
    await signUp(bob.page, 'Bob', new URL(link).pathname);
    await bob.page.getByRole('button', { name: 'Join' }).click();
    await bob.page.getByRole('heading', { name: 'Engine Room' }).waitFor();
    await bob.page.getByRole('link', { name: 'Ada' }).waitFor();
    expect(bob.problems).toEqual([]);
  });

  test('an answer rings the bell of the author, and reading it silences the bell', async () => {
    await bob.page.goto('/c/cup');
    await bob.page.getByRole('button', { name: 'Answer Ada' }).click();
    await bob.page.getByLabel('Your answer to Ada').fill('Thank you!');
    await bob.page.getByRole('button', { name: 'Post comment' }).last().click();
    await bob.page.getByText('Thank you!').waitFor();
    await ada.page.goto('/games');
    await ada.page.getByRole('link', { name: 'Notifications: 1 unread' }).click();
    await ada.page.getByRole('link', { name: 'Bob answered your comment in Spring Cup.' }).waitFor();
    await ada.page.getByRole('button', { name: 'Mark all as read' }).click();
    await ada.page.getByRole('link', { name: 'Notifications', exact: true }).waitFor();
    const box = ada.page.getByRole('checkbox', { name: 'Someone answered a comment: on the site' });
    await box.uncheck();
    await ada.page.getByText('Settings saved.').waitFor();
    await ada.page.reload();
    await expect.poll(() => box.isChecked()).toBe(false);
    expect(ada.problems).toEqual([]);
  });

  test('the key / goes to the search, which finds people, teams and competitions', async () => {
    const { page } = ada;
    await page.goto('/games');
    await page.locator('h1').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('engine');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/search?q=engine');
    await page.locator('main').getByRole('link', { name: 'Engine Room' }).click();
    await page.getByRole('link', { name: 'Bob' }).click();
    await page.getByRole('heading', { name: 'Bob' }).waitFor();
    // In a field the key is a letter.
    await page.goto('/search');
    await page.getByRole('searchbox', { name: 'Search' }).last().fill('');
    await page.getByRole('searchbox', { name: 'Search' }).last().press('/');
    expect(await page.getByRole('searchbox', { name: 'Search' }).last().inputValue()).toBe('/');
    expect(ada.problems).toEqual([]);
  });

  test('a profile is edited on the account page', async () => {
    const { page } = ada;
    await page.goto('/me');
    await page.getByLabel('Display name').fill('Countess Ada');
    await page.getByLabel('About you').fill('Engines\nand notes');
    await page.getByRole('button', { name: 'Save profile' }).click();
    await page.getByText('Profile saved.').waitFor();
    await page.getByRole('link', { name: 'View profile' }).click();
    await page.getByRole('heading', { name: 'Countess Ada' }).waitFor();
    await page.getByText('Engines').waitFor();
  });

  test('a reported comment is hidden by an organiser, who also makes a link for a new password', async () => {
    await bob.page.goto('/c/cup');
    await bob.page.getByRole('button', { name: 'Report' }).first().click();
    await bob.page.getByRole('dialog').getByLabel('Reason').fill('Not kind');
    await bob.page.getByRole('dialog').getByRole('button', { name: 'Report' }).click();
    await bob.page.getByText('The comment is reported.').waitFor();
    const { page, context, problems } = await open(browser, server, '/');
    await signIn(page, 'Olga', '/admin/comments');
    await page.getByText('Reports: Not kind').waitFor();
    await page.getByRole('button', { name: 'Hide' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('Rude');
    await page.getByRole('dialog').getByRole('button', { name: 'Hide' }).click();
    await page.getByText('No open reports.').waitFor();
    await bob.page.reload();
    await bob.page.getByText('Hidden by an organiser: Rude').waitFor();
    await page.goto('/admin/users');
    await page.getByRole('button', { name: 'Create a link for a new password of Bob' }).click();
    const link = await page.getByText(/\/reset-password\//).first().innerText();
    expect(problems).toEqual([]);
    await context.close();

    await bob.page.goto(new URL(link).pathname);
    await bob.page.getByLabel('New password').fill('another long sentence');
    await bob.page.getByRole('button', { name: 'Set password' }).click();
    await bob.page.getByText('Your password is changed.').waitFor();
    await bob.page.getByRole('banner').getByRole('link', { name: 'Sign in' }).waitFor();
    expect(bob.problems).toEqual([]);
  });
});
