import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { alias } from '../vite.config.ts';

// The gallery shows the real components with made-up data. It is no part of
// the product's build.
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [svelte({ configFile: fileURLToPath(new URL('../svelte.config.js', import.meta.url)) })],
  resolve: { alias },
  server: { host: '127.0.0.1', port: 5199, fs: { allow: ['..'] } },
  preview: { host: '127.0.0.1' },
  build: { outDir: '../.vite/gallery', emptyOutDir: true, target: 'safari16.4', minify: process.env.GALLERY_PLAIN ? false : undefined },
  cacheDir: '../.vite/gallery-cache',
});
