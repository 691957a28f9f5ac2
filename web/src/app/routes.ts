// All addresses of the app and their pages. Pages are loaded on demand.

import type { Component } from 'svelte';
import { matchPath, type Params } from './path_pattern';

export interface PageProps {
  params: Params;
}

export interface Route {
  pattern: string;
  load: () => Promise<{ default: Component<PageProps> }>;
  /** Addresses with the same key share one page: navigation between them keeps the page and the focus. */
  key?: (params: Params) => string;
  /** Additional parameters for the page. */
  extra?: Params;
  /** Whether the page has no header and footer. */
  bare?: boolean;
  /** Entry of the header that is highlighted. */
  section?: 'competitions' | 'games' | 'me' | 'admin';
}

/** Tabs of a competition, in order. The first has no segment in the address. */
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
  { pattern: '/c/:id/screen', load: () => import('./pages/Screen.svelte'), bare: true },
  { pattern: '/games', load: () => import('./pages/Games.svelte'), section: 'games' },
  { pattern: '/games/:game', load: () => import('./pages/Game.svelte'), section: 'games' },
  { pattern: '/signin', load: () => import('./pages/SignIn.svelte') },
  { pattern: '/signup', load: () => import('./pages/SignUp.svelte') },
  { pattern: '/me', load: () => import('./pages/Me.svelte'), section: 'me' },
  { pattern: '/c/:id/submit', load: () => import('./pages/Submit.svelte'), section: 'competitions' },
  { pattern: '/s/:submission', load: () => import('./pages/SubmissionPage.svelte'), section: 'me' },
  { pattern: '/admin', load: () => import('./pages/admin/Dashboard.svelte'), section: 'admin' },
  { pattern: '/admin/c/:id', load: () => import('./pages/admin/AdminCompetition.svelte'), section: 'admin' },
  { pattern: '/admin/users', load: () => import('./pages/admin/Users.svelte'), section: 'admin' },
  { pattern: '/admin/system', load: () => import('./pages/admin/System.svelte'), section: 'admin' },
  { pattern: '/admin/workers', load: () => import('./pages/admin/Workers.svelte'), section: 'admin' },
  { pattern: '/admin/audit', load: () => import('./pages/admin/AuditLog.svelte'), section: 'admin' },
];

export interface RouteMatch {
  route: Route;
  params: Params;
  key: string;
}

/** Addresses below `/admin` that had another name below `/desk`. */
const RENAMED: { [path: string]: string } = { '/people': '/users', '/machine': '/system' };

/** Current address of a page; addresses of earlier versions started with `/desk`. */
export function currentPath(path: string): string {
  const old = /^\/desk(\/.*)?$/.exec(path);
  if (!old) return path;
  const rest = (old[1] ?? '').replace(/\/$/, '');
  return `/admin${RENAMED[rest] ?? rest}`;
}

/** Route of a path, or undefined. */
export function findRoute(path: string): RouteMatch | undefined {
  for (const route of routes) {
    const params = matchPath(route.pattern, path);
    if (params) return { route, params: { ...params, ...route.extra }, key: route.key?.(params) ?? path };
  }
  return undefined;
}
