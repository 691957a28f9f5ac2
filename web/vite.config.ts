import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { TEST_TIMEOUT, WAIT_TIMEOUT } from './tests/timeouts.mjs';

// The viewer: one classic script and one style sheet with fixed names, so that the program can embed them and pages work from disk.
export default defineConfig({
  plugins: [svelte()],
  build: {
    target: 'es2022',
    lib: { entry: 'src/main.ts', name: 'Agon', formats: ['iife'], fileName: () => 'viewer.js', cssFileName: 'viewer' },
    reportCompressedSize: true,
  },
  test: {
    include: ['tests/**/*.test.ts'],
    testTimeout: TEST_TIMEOUT,
    hookTimeout: TEST_TIMEOUT,
    // Tests of pages mostly wait: two files at once, also where one core would be left for them.
    maxWorkers: 2,
    expect: { poll: { timeout: WAIT_TIMEOUT } },
    reporters: ['default', './tests/skipped.ts'],
  },
});
