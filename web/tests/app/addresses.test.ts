// Addresses and the pages behind them.

import { describe, expect, test } from 'vitest';
import { matchPath, path, safeReturn, withQuery } from '../../src/app/match';
import { find, routes, TABS } from '../../src/app/routes';

describe('patterns', () => {
  test('name the parts of a path', () => {
    expect(matchPath('/c/:id/bots/:bot', '/c/spring-cup/bots/12')).toEqual({ id: 'spring-cup', bot: '12' });
    expect(matchPath('/c/:id', '/c/a/')).toEqual({ id: 'a' });
    expect(matchPath('/c/:id', '/c')).toBeUndefined();
    expect(matchPath('/c/:id', '/c/a/b')).toBeUndefined();
    expect(matchPath('/games', '/game')).toBeUndefined();
  });

  test('read what was written, whatever it holds', () => {
    for (const id of ['a b', 'ä/ö', '100%', '?x#y', '..']) expect(matchPath('/c/:id', path('c', id))).toEqual({ id });
  });

  test('an address that cannot be read fits nothing', () => {
    expect(matchPath('/c/:id', '/c/%E0%A4%A')).toBeUndefined();
  });
});

describe('routes', () => {
  test('every address of a competition has its page, and all tabs are one page', () => {
    const keys = TABS.map((tab) => find(tab === 'table' ? '/c/cup' : `/c/cup/${tab}`)?.key);
    expect(new Set(keys)).toEqual(new Set(['competition cup']));
    expect(find('/c/cup/charts')?.params).toEqual({ id: 'cup', tab: 'charts' });
    expect(find('/c/other')?.key).not.toBe('competition cup');
  });

  test('pages with the same pattern are told apart', () => {
    expect(find('/c/cup/bots/1')?.key).not.toBe(find('/c/cup/bots/2')?.key);
    expect(find('/c/cup/p/1/m/2-15/g/1')?.params).toMatchObject({ phase: '1', match: '2-15', game: '1' });
  });

  test('submitting is a page of its own, and no tab', () => {
    expect(find('/c/cup/submit')?.route.pattern).toBe('/c/:id/submit');
    expect(find('/c/cup/nothing')).toBeUndefined();
    expect(find('/desk/c/cup')?.route.section).toBe('desk');
  });

  test('only what is embedded has no header', () => {
    expect(routes.filter((route) => route.bare).map((route) => route.pattern)).toEqual(['/embed/:id/:phase/:match/:game']);
  });
});

test('a query leaves out what is not said', () => {
  expect(withQuery('/x', {})).toBe('/x');
  expect(withQuery('/x', { a: 1, b: null, c: undefined, d: '', e: false, f: 'ä&=' })).toBe('/x?a=1&f=%C3%A4%26%3D');
  expect(withQuery('/x', { after: 0, faulty: true })).toBe('/x?after=0&faulty=true');
});

test('after signing in one comes back to this site, and to no other', () => {
  expect(safeReturn('/c/cup?phase=2')).toBe('/c/cup?phase=2');
  for (const bad of [null, '', 'https://evil.example', '//evil.example', '/\\evil.example', 'javascript:alert(1)', '/a\nb']) expect(safeReturn(bad)).toBe('/');
});
