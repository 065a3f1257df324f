// Takes the picture of README from the real app: node tests/browser/picture.mjs FILE
// (TSA_DEV_BIN as for the tests). The demo answers.
import { App, patience } from './app.mjs';

const out = process.argv[2];
if (!out) throw new Error('which file?');
const app = await App.start();
const { page } = app;

async function turn(n, text) {
  await app.send(text);
  await app.turns(n);
}

async function fork(title) {
  await page.keyboard.press('Control+Shift+F');
  const dialog = page.getByRole('dialog', { name: 'Fork this session' });
  await dialog.getByLabel('Title').fill(title);
  await dialog.getByRole('button', { name: /^Fork/ }).click();
  await dialog.waitFor({ state: 'detached', timeout: patience });
}

const allow = app.chat.getByRole('button', { name: /^Allow once/ });
const sessions = page.getByRole('list', { name: 'Sessions' });
const program = `#!/bin/sh
# Greets whoever is named.
name=\${1:-world}
echo "Hello, $name."`;

try {
  await page.keyboard.press('Control+,');
  const settings = page.getByRole('dialog', { name: /Settings/ });
  await settings.getByText('Appearance', { exact: true }).first().click();
  await settings.getByText('Light', { exact: true }).first().click();
  await page.keyboard.press('Escape');
  await app.newSession('Shopping list');
  await turn(1, 'create list.md with # Shopping');
  await app.newSession('What can you do?');
  await turn(1, 'help');
  await app.newSession('Start a repository');
  await app.send('run git init site');
  await allow.waitFor({ timeout: patience });
  await app.newSession('A friendly greeting');
  await turn(1, `create greet.sh with ${program}`);
  await fork('In French');
  await turn(2, 'replace "Hello" with "Bonjour" in greet.sh');
  await sessions.getByRole('button', { name: /A friendly greeting/ }).first().click();
  await turn(2, 'replace "Hello" with "Good morning" in greet.sh');
  await fork('With the time of day');
  await sessions.getByRole('button', { name: /A friendly greeting/ }).first().click();
  await app.chat.getByRole('button').filter({ hasText: 'Edit' }).filter({ hasText: 'greet.sh' }).first().waitFor({ timeout: patience });
  await app.send('run sh greet.sh everybody');
  await allow.click();
  await app.turns(3);
  const pane = page.getByRole('complementary', { name: 'Workspace' });
  await app.chat.locator('.footer').filter({ hasText: /^\s*turn 2\b/ }).getByRole('button', { name: '1 change' }).click();
  await pane.locator('.row').filter({ hasText: 'greet.sh' }).click();
  await page.locator('.cm-content').getByText('Good morning').first().waitFor({ timeout: patience });
  await app.composer.focus();
  await page.mouse.move(720, 880);
  // What was told has gone.
  for (const toast of await page.locator('.toast').all()) await toast.getByRole('button', { name: 'Dismiss' }).click().catch(() => {});
  await app.composer.focus();
  await page.waitForTimeout(1000);
  await page.screenshot({ path: out, animations: 'disabled' });
} finally {
  await app.stop();
}
