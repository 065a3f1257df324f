import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { alias } from './vite.config.ts';

export default defineConfig({
  plugins: [svelte()],
  // Components are mounted in tests as in a browser.
  resolve: { alias, conditions: ['browser'] },
  test: {
    environment: 'jsdom',
    include: ['src/**/*.test.ts'],
    setupFiles: ['src/testing/setup.ts'],
    restoreMocks: true,
    // Sanitising in jsdom is slow; machines that build are busy.
    testTimeout: 30_000,
    // Starting a DOM for each file costs more than the tests.
    isolate: false,
  },
});
