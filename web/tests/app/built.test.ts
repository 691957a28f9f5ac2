// What the server hands out: nothing inline (its Content-Security-Policy forbids it), and a first view that is small.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

const DIST = resolve(import.meta.dirname, '../../dist/app');
const SOURCE = resolve(import.meta.dirname, '../../src/app');
const MOST = 200_000;

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sources(path) : [path];
  });
}

describe('the sources', () => {
  test('never make markup of a text, and have no inline style', () => {
    const bad = sources(SOURCE)
      .filter((path) => path.endsWith('.svelte') || path.endsWith('.html'))
      .filter((path) => /\{@html|\sstyle=|<script(?![^>]*(src=|lang="ts"))/.test(readFileSync(path, 'utf8')));
    expect(bad).toEqual([]);
  });
});

describe('the build', () => {
  test('is there', () => {
    expect(existsSync(join(DIST, 'index.html')), 'run `npm run build` (or `make web`) first').toBe(true);
  });

  test('has a page without anything inline or from elsewhere', () => {
    const page = readFileSync(join(DIST, 'index.html'), 'utf8');
    expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i);
    for (const [, attributes, inner] of page.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)) {
      expect(attributes).toContain('src="/assets/');
      expect(inner).toBe('');
    }
    for (const [, address] of page.matchAll(/(?:src|href)="([^"]*)"/g)) expect(address).toMatch(/^\/assets\//);
  });

  test('needs less than 200 KB, packed, for the first view', () => {
    const assets = join(DIST, 'assets');
    const names = readdirSync(assets);
    const wanted = new Set<string>();
    const take = (name: string): void => {
      if (wanted.has(name)) return;
      wanted.add(name);
      // Static imports of a module; what it loads later is named otherwise.
      for (const [, other] of readFileSync(join(assets, name), 'utf8').matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) if (other) take(other);
    };
    for (const [, name] of readFileSync(join(DIST, 'index.html'), 'utf8').matchAll(/\/assets\/([^"]+\.js)/g)) if (name) take(name);
    names.filter((name) => /^Home-.*\.js$/.test(name)).forEach(take);
    names.filter((name) => name.endsWith('.css')).forEach((name) => wanted.add(name));
    expect([...wanted].some((name) => name.startsWith('Home-'))).toBe(true);
    const size = [...wanted].reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0);
    expect(size).toBeGreaterThan(10_000);
    expect(size).toBeLessThan(MOST);
  });
});
