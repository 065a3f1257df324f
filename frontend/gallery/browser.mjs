// The built gallery in a headless Chromium, for the scripts beside this file.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { build, preview } from 'vite';

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Builds and serves the gallery and calls work with open(scene, options), which gives a page. */
export async function withGallery(work) {
  const configFile = fileURLToPath(new URL('./vite.config.ts', import.meta.url));
  const outDir = mkdtempSync(join(tmpdir(), 'gallery-build-'));
  const profile = mkdtempSync(join(tmpdir(), 'gallery-profile-'));
  let server;
  let browser;
  try {
    await build({ configFile, logLevel: 'error', build: { outDir } });
    server = await preview({ configFile, preview: { port: 0 }, build: { outDir }, logLevel: 'error' });
    browser = await chromium.launchPersistentContext(profile, {
      executablePath: [process.env.CHROMIUM, process.env.TSA_CHROMIUM, '/usr/bin/chromium'].find((path) => path && existsSync(path)),
      args,
    });
    const open = async (scene, { width = 1440, height = 900, theme = 'dark' } = {}) => {
      const page = await browser.newPage();
      page.on('pageerror', (err) => console.error(`${scene}: ${err}`));
      page.on('console', (m) => ['error', 'warning'].includes(m.type()) && console.error(`${scene}: ${m.text()}`));
      await page.setViewportSize({ width, height });
      await page.goto(`${server.resolvedUrls.local[0]}?scene=${scene}&theme=${theme}`);
      await page.waitForFunction(() => 'galleryApp' in window, undefined, { timeout: 60_000 });
      return page;
    };
    await work(open);
  } finally {
    await browser?.close();
    await server?.close();
    for (const dir of [outDir, profile]) rmSync(dir, { recursive: true, force: true });
  }
}
