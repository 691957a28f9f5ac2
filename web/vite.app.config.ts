import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// The app of `agon serve`: one page with hashed assets. Nothing is inline, because the server forbids inline scripts and styles.
export default defineConfig({
  root: fileURLToPath(new URL('src/app', import.meta.url)),
  plugins: [svelte({ configFile: fileURLToPath(new URL('svelte.config.js', import.meta.url)) })],
  build: {
    target: 'es2022',
    outDir: fileURLToPath(new URL('dist/app', import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
});
