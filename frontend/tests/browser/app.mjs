// The real app for a browser: a build with Wails' dev server (TSA_DEV_BIN), which
// serves the built page and carries its calls to Go. Its own window opens on a
// display in memory.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

// The machines that run this are slow and shared.
export const patience = Number(process.env.PATIENCE ?? 60_000);

const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

// TSA_CHROMIUM: the browser that build/setup.sh found or fetched.
function browserPath() {
  const places = [process.env.CHROMIUM, process.env.TSA_CHROMIUM, '/usr/bin/chromium'];
  const found = places.find((path) => path && existsSync(path));
  if (!found) throw new Error('no Chromium; build/setup.sh test brings one');
  return found;
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** A display in memory; the X server chooses its number. */
async function startDisplay() {
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const number = await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', () => reject(new Error('Xvfb ended at once')));
    server.stdio[3].once('data', (data) => resolve(String(data).trim()));
  });
  return { name: `:${number}`, stop: () => server.kill('SIGTERM') };
}

/** The app with a data folder of its own; it can be killed and started again. */
export class App {
  static async start() {
    const app = new App();
    app.dir = mkdtempSync(join(tmpdir(), 'tsa-browser-'));
    try {
      await app.begin();
    } catch (error) {
      await app.stop(); // what was started would keep the test's process from ending
      throw error;
    }
    return app;
  }

  async begin() {
    this.display = await startDisplay();
    await this.open();
    this.browser = await chromium.launchPersistentContext(join(this.dir, 'profile'), {
      executablePath: browserPath(),
      args: chromiumArgs,
      viewport: { width: 1440, height: 900 },
    });
    this.page = await this.browser.newPage();
    this.errors = [];
    this.page.on('pageerror', (error) => this.note(error));
    await this.load();
  }

  // Wails' own script for pages looks at <body> before it is there; that is not ours.
  note(error) {
    if (!String(error.stack).includes('/wails/')) this.errors.push(String(error.stack ?? error));
  }

  async open() {
    this.port = await freePort();
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^(OPENAI_|TSA_|EXAMPLES_TEMPORAL_|WAYLAND_DISPLAY)/.test(name)),
    );
    const home = join(this.dir, 'home');
    mkdirSync(home, { recursive: true });
    this.process = spawn(process.env.TSA_DEV_BIN, [], {
      cwd: home,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...env,
        HOME: home,
        DISPLAY: this.display.name,
        TSA_DATA_DIR: join(this.dir, 'data'),
        assetdir: fileURLToPath(new URL('../../dist', import.meta.url)),
        devserver: `127.0.0.1:${this.port}`,
      },
    });
    this.log = '';
    for (const stream of [this.process.stdout, this.process.stderr]) stream.on('data', (data) => (this.log += data));
    const deadline = Date.now() + patience;
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${this.port}/`).catch(() => undefined);
      if (answer?.ok) return;
      if (this.process.exitCode !== null || Date.now() > deadline) throw new Error(`the app did not start:\n${this.log}`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async load() {
    await this.page.goto(`http://127.0.0.1:${this.port}/`);
    await this.composer.waitFor({ timeout: patience });
  }

  /** Ends the app as a crash does. */
  async kill() {
    if (!this.process || this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGKILL');
    await ended;
  }

  async stop() {
    await this.browser?.close();
    await this.kill();
    this.display?.stop();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  get composer() {
    return this.page.getByLabel('Message', { exact: true });
  }

  get chat() {
    return this.page.getByRole('log');
  }

  async send(text) {
    await this.composer.fill(text);
    await this.composer.press('Enter');
  }

  async newSession(title = '') {
    await this.page.getByRole('button', { name: /^New session/ }).first().click();
    const dialog = this.page.getByRole('dialog', { name: 'New session' });
    if (title) await dialog.getByLabel('Title').fill(title);
    await dialog.getByRole('button', { name: /^Create session/ }).click();
    await dialog.waitFor({ state: 'hidden', timeout: patience });
  }

  /** Waits until the conversation shows a text. */
  async shows(text) {
    await this.chat.getByText(text).first().waitFor({ timeout: patience });
  }

  /** Waits until n turns have ended. */
  async turns(n) {
    await this.chat.getByText(new RegExp(`^turn ${n}\\b`, 'i')).first().waitFor({ timeout: patience });
  }

  async screenshot(name) {
    const dir = process.env.TSA_SCREENSHOTS;
    if (dir) await this.page.screenshot({ path: join(dir, `${name}.png`), animations: 'disabled' });
  }
}
