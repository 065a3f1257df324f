import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export const alias = { $lib: here('./src/lib'), $features: here('./src/features') };

// The page loads nothing from the network and runs no text as code. Inline
// style attributes are allowed: the virtual list positions its rows with them.
const policy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

// contentPolicy is added to the build only: the dev server needs inline code.
function contentPolicy(): Plugin {
  return {
    name: 'content-policy',
    apply: 'build',
    transformIndexHtml: () => [
      {
        tag: 'meta',
        attrs: { 'http-equiv': 'Content-Security-Policy', content: policy },
        injectTo: 'head-prepend',
      },
    ],
  };
}

export default defineConfig({
  plugins: [svelte(), contentPolicy()],
  resolve: { alias },
  base: './',
  server: { host: '127.0.0.1' },
  build: {
    outDir: 'dist',
    // Go embeds dist even before a build: public/.gitkeep keeps it in place.
    emptyOutDir: true,
    // WebKitGTK 2.40 is as old as Safari 16.4.
    target: 'safari16.4',
    modulePreload: { polyfill: false },
    sourcemap: false,
    assetsInlineLimit: 0,
  },
});
