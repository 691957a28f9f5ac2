// Addresses and routes of the app.

import { describe, expect, test } from 'vitest';
import { matchPath, path, safeRedirect, withQuery } from '../../src/app/path_pattern';
import { currentPath, findRoute, routes, TABS } from '../../src/app/routes';

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
  test('all tabs of a competition share one page', () => {
    const keys = TABS.map((tab) => findRoute(tab === 'table' ? '/c/cup' : `/c/cup/${tab}`)?.key);
    expect(new Set(keys)).toEqual(new Set(['competition cup']));
    expect(findRoute('/c/cup/charts')?.params).toEqual({ id: 'cup', tab: 'charts' });
    expect(findRoute('/c/other')?.key).not.toBe('competition cup');
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

  test.each(['/', '/desktop', '/c/desk', '/admin/users'])('address %s is not redirected', (path) => {
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

test('safeRedirect accepts only paths of this site', () => {
  expect(safeRedirect('/c/cup?phase=2')).toBe('/c/cup?phase=2');
  expect(safeRedirect('/signing-rules')).toBe('/signing-rules');
  for (const bad of [null, '', 'c/cup', 'https://evil.example', '//evil.example', '/\\evil.example', '/x\\y', 'javascript:alert(1)', '/a\nb', '/signin', '/signup?invite=x']) expect(safeRedirect(bad), String(bad)).toBe('/me');
});
