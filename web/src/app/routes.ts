// Every address of the app and the page behind it. Pages are loaded when they are needed.

import type { Component } from 'svelte';
import { matchPath, type Params } from './match';

export interface PageProps {
  params: Params;
}

export interface Route {
  pattern: string;
  load: () => Promise<{ default: Component<PageProps> }>;
  /** Addresses with the same key are one page: going between them moves neither focus nor what is shown already. */
  key?: (params: Params) => string;
  /** Given to the page besides what the address says. */
  extra?: Params;
  /** Without header and footer. */
  bare?: boolean;
  /** Which entry of the header it belongs to. */
  section?: 'competitions' | 'games' | 'me' | 'desk';
}

/** The tabs of a competition, in order; the first has no word in the address. */
export const TABS = ['table', 'live', 'games', 'phases', 'charts', 'bracket', 'rules', 'downloads'] as const;
export type Tab = (typeof TABS)[number];

const competition = (tab: Tab): Route => ({
  pattern: tab === 'table' ? '/c/:id' : `/c/:id/${tab}`,
  load: () => import('./pages/Competition.svelte'),
  key: (params) => `competition ${params.id}`,
  extra: { tab },
  section: 'competitions',
});

export const routes: Route[] = [
  { pattern: '/', load: () => import('./pages/Home.svelte'), section: 'competitions' },
  ...TABS.map(competition),
  { pattern: '/c/:id/bots/:bot', load: () => import('./pages/Bot.svelte'), section: 'competitions' },
  { pattern: '/c/:id/p/:phase/m/:match/g/:game', load: () => import('./pages/Replay.svelte'), section: 'competitions' },
  { pattern: '/embed/:id/:phase/:match/:game', load: () => import('./pages/Embed.svelte'), bare: true },
  { pattern: '/games', load: () => import('./pages/Games.svelte'), section: 'games' },
  { pattern: '/games/:game', load: () => import('./pages/Game.svelte'), section: 'games' },
  { pattern: '/signin', load: () => import('./pages/SignIn.svelte') },
  { pattern: '/signup', load: () => import('./pages/SignUp.svelte') },
  { pattern: '/me', load: () => import('./pages/Me.svelte'), section: 'me' },
  { pattern: '/c/:id/submit', load: () => import('./pages/Submit.svelte'), section: 'competitions' },
  { pattern: '/s/:submission', load: () => import('./pages/SubmissionPage.svelte'), section: 'me' },
  { pattern: '/desk', load: () => import('./pages/desk/Desk.svelte'), section: 'desk' },
  { pattern: '/desk/c/:id', load: () => import('./pages/desk/DeskCompetition.svelte'), section: 'desk' },
  { pattern: '/desk/people', load: () => import('./pages/desk/People.svelte'), section: 'desk' },
  { pattern: '/desk/machine', load: () => import('./pages/desk/Machine.svelte'), section: 'desk' },
  { pattern: '/desk/workers', load: () => import('./pages/desk/Workers.svelte'), section: 'desk' },
  { pattern: '/desk/audit', load: () => import('./pages/desk/Audit.svelte'), section: 'desk' },
];

export interface Found {
  route: Route;
  params: Params;
  key: string;
}

/** The page of a path, or nothing. */
export function find(path: string): Found | undefined {
  for (const route of routes) {
    const params = matchPath(route.pattern, path);
    if (params) return { route, params: { ...params, ...route.extra }, key: route.key?.(params) ?? path };
  }
  return undefined;
}
