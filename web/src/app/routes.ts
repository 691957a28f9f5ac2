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

/** Tabs of a competition, in order. */
export const TABS = ['overview', 'watch', 'standings', 'rules', 'analysis', 'proof'] as const;
export type Tab = (typeof TABS)[number];

/** Views of a competition: their tab, and their address below `/c/ID`. A tab with several views has links to all of them. */
export const VIEWS = {
  overview: { tab: 'overview', path: '' },
  live: { tab: 'watch', path: 'watch' },
  games: { tab: 'watch', path: 'watch/games' },
  standings: { tab: 'standings', path: 'standings' },
  bracket: { tab: 'standings', path: 'standings/bracket' },
  schedule: { tab: 'standings', path: 'standings/schedule' },
  rules: { tab: 'rules', path: 'rules' },
  analysis: { tab: 'analysis', path: 'analysis' },
  proof: { tab: 'proof', path: 'proof' },
} as const satisfies { [view: string]: { tab: Tab; path: string } };
export type View = keyof typeof VIEWS;
export const VIEW_NAMES = Object.keys(VIEWS) as View[];

const competition = (view: View): Route => ({
  pattern: VIEWS[view].path === '' ? '/c/:id' : `/c/:id/${VIEWS[view].path}`,
  load: () => import('./pages/Competition.svelte'),
  key: (params) => `competition ${params.id}`,
  extra: { view },
  section: 'competitions',
});

export const routes: Route[] = [
  { pattern: '/', load: () => import('./pages/Home.svelte'), section: 'competitions' },
  ...VIEW_NAMES.map(competition),
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

/** Addresses below `/c/ID` that had another name, and their views. */
const RENAMED_VIEWS: { [name: string]: View } = { table: 'standings', live: 'live', games: 'games', phases: 'schedule', charts: 'analysis', bracket: 'bracket', downloads: 'proof' };

/** Current address of a page: some pages had other addresses in earlier versions. */
export function currentPath(path: string): string {
  const tab = /^(\/c\/[^/]+)\/([a-z]+)\/?$/.exec(path);
  const view = Object.hasOwn(RENAMED_VIEWS, tab?.[2] ?? '') ? RENAMED_VIEWS[tab?.[2] ?? ''] : undefined;
  if (tab && view) return `${tab[1]}/${VIEWS[view].path}`;
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
