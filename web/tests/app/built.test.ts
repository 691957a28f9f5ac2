// The built app: nothing inline (the Content-Security-Policy forbids it), and a small first view.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';

const DIST = resolve(import.meta.dirname, '../../dist/app');
const SOURCE = resolve(import.meta.dirname, '../../src/app');
const MAX_FIRST_VIEW_BYTES = 150_000;

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sources(path) : [path];
  });
}

describe('sources', () => {
  test('have no raw HTML and no inline styles', () => {
    const bad = sources(SOURCE)
      .filter((path) => path.endsWith('.svelte') || path.endsWith('.html'))
      .filter((path) => /\{@html|\sstyle=|<script(?![^>]*(src=|lang="ts"))/.test(readFileSync(path, 'utf8')));
    expect(bad).toEqual([]);
  });
});

describe('build', () => {
  test('exists', () => {
    expect(existsSync(join(DIST, 'index.html')), 'run `npm run build` (or `make web`) first').toBe(true);
  });

  test('page has nothing inline and nothing from other sites', () => {
    const page = readFileSync(join(DIST, 'index.html'), 'utf8');
    expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i);
    for (const [, attributes, inner] of page.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)) {
      expect(attributes).toContain('src="/assets/');
      expect(inner).toBe('');
    }
    for (const [, address] of page.matchAll(/(?:src|href)="([^"]*)"/g)) expect(address).toMatch(/^\/assets\//);
  });

  test('first view is smaller than 150 KB compressed', () => {
    const assets = join(DIST, 'assets');
    const names = readdirSync(assets);
    const needed = new Set<string>();
    const add = (name: string): void => {
      if (needed.has(name)) return;
      needed.add(name);
      // Static imports only; dynamic imports have another form.
      for (const [, other] of readFileSync(join(assets, name), 'utf8').matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) if (other) add(other);
    };
    for (const [, name] of readFileSync(join(DIST, 'index.html'), 'utf8').matchAll(/\/assets\/([^"]+\.js)/g)) if (name) add(name);
    names.filter((name) => /^Home-.*\.js$/.test(name)).forEach(add);
    names.filter((name) => name.endsWith('.css')).forEach((name) => needed.add(name));
    expect([...needed].some((name) => name.startsWith('Home-'))).toBe(true);
    const size = [...needed].reduce((sum, name) => sum + gzipSync(readFileSync(join(assets, name))).length, 0);
    expect(size).toBeGreaterThan(10_000);
    expect(size).toBeLessThan(MAX_FIRST_VIEW_BYTES);
  });
});
