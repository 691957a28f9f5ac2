// Addresses and routes of the app.

import { describe, expect, test } from 'vitest';
import { matchPath, path, safeRedirect, signPath, withQuery } from '../../src/app/path_pattern';
import { currentPath, findRoute, routes, TABS, VIEWS, VIEW_NAMES } from '../../src/app/routes';

describe('matchPath', () => {
  test('returns the parameters of a path', () => {
    expect(matchPath('/c/:id/bots/:bot', '/c/spring-cup/bots/12')).toEqual({ id: 'spring-cup', bot: '12' });
    expect(matchPath('/c/:id', '/c/a/')).toEqual({ id: 'a' });
    expect(matchPath('/c/:id', '/c')).toBeUndefined();
    expect(matchPath('/c/:id', '/c/a/b')).toBeUndefined();
    expect(matchPath('/games', '/game')).toBeUndefined();
  });

  test('decodes parameters with special characters', () => {
    for (const id of ['a b', 'ä/ö', '100%', '?x#y', '..']) expect(matchPath('/c/:id', path('c', id))).toEqual({ id });
  });

  test('an invalid escape does not match', () => {
    expect(matchPath('/c/:id', '/c/%E0%A4%A')).toBeUndefined();
  });
});

describe('routes', () => {
  test('all views of a competition share one page', () => {
    const keys = VIEW_NAMES.map((view) => findRoute(`/c/cup/${VIEWS[view].path}`)?.key);
    expect(new Set(keys)).toEqual(new Set(['competition cup']));
    expect(findRoute('/c/cup')?.params).toEqual({ id: 'cup', view: 'overview' });
    expect(findRoute('/c/cup/standings/bracket')?.params).toEqual({ id: 'cup', view: 'bracket' });
    expect(findRoute('/c/other')?.key).not.toBe('competition cup');
  });

  test('every tab has a view, and its first view is at the address of the tab', () => {
    for (const tab of TABS) {
      const first = VIEW_NAMES.find((view) => VIEWS[view].tab === tab);
      expect(first && VIEWS[first].path, tab).toBe(tab === 'overview' ? '' : tab);
    }
  });

  test.each([
    ['table', '/standings', 'standings'],
    ['live', '/watch', 'live'],
    ['games', '/watch/games', 'games'],
    ['phases', '/standings/schedule', 'schedule'],
    ['charts', '/analysis', 'analysis'],
    ['bracket', '/standings/bracket', 'bracket'],
    ['rules', '/rules', 'rules'],
    ['downloads', '/proof', 'proof'],
  ])('the earlier tab %s leads to %s', (old, address, view) => {
    expect(currentPath(`/c/a%20cup/${old}`)).toBe(`/c/a%20cup${address}`);
    expect(currentPath(`/c/a%20cup/${old}/`)).toMatch(address);
    expect(findRoute(currentPath(`/c/cup/${old}`))?.params).toEqual({ id: 'cup', view });
  });

  test('pages with the same pattern have different keys', () => {
    expect(findRoute('/c/cup/bots/1')?.key).not.toBe(findRoute('/c/cup/bots/2')?.key);
    expect(findRoute('/c/cup/p/1/m/2-15/g/1')?.params).toMatchObject({ phase: '1', match: '2-15', game: '1' });
  });

  test('the submission page is not a tab', () => {
    expect(findRoute('/c/cup/submit')?.route.pattern).toBe('/c/:id/submit');
    expect(findRoute('/c/cup/nothing')).toBeUndefined();
    expect(findRoute('/admin/c/cup')?.route.section).toBe('admin');
  });

  test.each([
    ['/desk', '/admin'],
    ['/desk/', '/admin'],
    ['/desk/c/cup', '/admin/c/cup'],
    ['/desk/people', '/admin/users'],
    ['/desk/machine', '/admin/system'],
    ['/desk/workers', '/admin/workers'],
    ['/desk/audit', '/admin/audit'],
  ])('old address %s redirects to %s', (old, current) => {
    expect(currentPath(old)).toBe(current);
    expect(findRoute(current)?.route.section).toBe('admin');
  });

  test.each(['/', '/desktop', '/c/desk', '/admin/users', '/c/table', '/c/cup/bots/1', '/c/cup/constructor', '/games/table', '/c/cup/watch/games'])('address %s is not redirected', (path) => {
    expect(currentPath(path)).toBe(path);
  });

  test('only the embedded replay and the big screen have no header', () => {
    expect(routes.filter((route) => route.bare).map((route) => route.pattern)).toEqual(['/embed/:id/:phase/:match/:game', '/c/:id/screen']);
  });
});

test('withQuery omits empty values', () => {
  expect(withQuery('/x', {})).toBe('/x');
  expect(withQuery('/x', { a: 1, b: null, c: undefined, d: '', e: false, f: 'ä&=' })).toBe('/x?a=1&f=%C3%A4%26%3D');
  expect(withQuery('/x', { after: 0, faulty: true })).toBe('/x?after=0&faulty=true');
});

test('signPath returns to the page of the link, and keeps the target of a sign page', () => {
  expect(signPath('signup', '/', '')).toBe('/signup?to=%2F');
  expect(signPath('signin', '/c/cup', '?phase=2')).toBe('/signin?to=%2Fc%2Fcup%3Fphase%3D2');
  expect(signPath('signup', '/signin', '?to=%2Fc%2Fcup')).toBe('/signup?to=%2Fc%2Fcup');
  expect(signPath('signin', '/signup', '?invite=x')).toBe('/signin');
});

test('safeRedirect accepts only paths of this site', () => {
  expect(safeRedirect('/c/cup?phase=2')).toBe('/c/cup?phase=2');
  expect(safeRedirect('/signing-rules')).toBe('/signing-rules');
  for (const bad of [null, '', 'c/cup', 'https://evil.example', '//evil.example', '/\\evil.example', '/x\\y', 'javascript:alert(1)', '/a\nb', '/signin', '/signup?invite=x']) expect(safeRedirect(bad), String(bad)).toBe('/me');
});
