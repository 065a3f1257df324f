// A day's work in one window: turns with real commands and files, questions,
// stopping, reloading, searching, settings, and a crash.
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { App, patience } from './app.mjs';

let app;
before(async () => {
  app = await App.start();
});
after(() => app?.stop());
afterEach(() => assert.deepEqual(app.errors.splice(0), [], 'errors in the page'));

test('the first message makes a session and works a turn', async () => {
  await app.screenshot('empty');
  await app.send('create hello.txt with hi there');
  await app.turns(1);
  await app.shows('hello.txt');
  await app.screenshot('turn');
  const file = app.page.getByRole('treeitem', { name: /hello\.txt/ });
  await file.waitFor({ timeout: patience });
  await file.click();
  await app.page.getByText('hi there', { exact: true }).last().waitFor({ timeout: patience });
  await app.screenshot('viewer');
});

test('a risky step asks first and runs when it is allowed', async () => {
  await app.newSession();
  await app.send('approve');
  const card = app.page.getByRole('group').filter({ hasText: 'Allow once' }).first();
  await card.waitFor({ timeout: patience });
  await app.screenshot('approval');
  await card.getByRole('button', { name: /Allow once/ }).click();
  await app.turns(1);
});

test('a denied step does not run', async () => {
  await app.newSession();
  await app.send('approve');
  const card = app.page.getByRole('group').filter({ hasText: 'Allow once' }).first();
  await card.waitFor({ timeout: patience });
  await card.getByRole('button', { name: /^Deny/ }).click();
  await app.page.getByPlaceholder('What to do instead (optional)').fill('not today');
  await app.page.keyboard.press('Enter');
  await app.turns(1);
  await app.shows(/denied/i);
});

test('stop ends a running command', async () => {
  await app.newSession();
  await app.send('wait 60 seconds');
  const stop = app.page.getByRole('button', { name: /^Stop/ });
  await stop.waitFor({ timeout: patience });
  // The command is under way once its card counts.
  await app.page.waitForTimeout(1500);
  await stop.click();
  await app.turns(1);
  await stop.waitFor({ state: 'hidden', timeout: patience });
});

test('messages sent during a turn wait and are worked in order', async () => {
  await app.newSession();
  await app.send('wait 4 seconds');
  await app.page.getByRole('button', { name: /^Stop/ }).waitFor({ timeout: patience });
  await app.send('create second.txt with two');
  await app.turns(2);
  await app.page.getByRole('treeitem', { name: /second\.txt/ }).waitFor({ timeout: patience });
});

test('a reload shows the same conversation', async () => {
  await app.load();
  await app.page.getByRole('treeitem', { name: /create hello\.txt/ }).or(app.page.getByText('create hello.txt with hi there')).first().click();
  await app.shows('create hello.txt with hi there');
  await app.turns(1);
});

test('search finds a session by what was said in it', async () => {
  const box = app.page.getByRole('searchbox', { name: 'Search sessions' }).or(app.page.getByPlaceholder('Search sessions')).first();
  await box.fill('second.txt');
  await app.page.getByText(/second\.txt/).first().waitFor({ timeout: patience });
  await box.fill('');
});

test('the theme is chosen in the settings and kept', async () => {
  await app.page.keyboard.press('Control+,');
  const dialog = app.page.getByRole('dialog', { name: /Settings/ });
  await dialog.waitFor({ timeout: patience });
  await dialog.getByText('Appearance', { exact: true }).first().click();
  await dialog.getByText('Light', { exact: true }).first().click();
  await app.page.waitForFunction(() => document.documentElement.dataset.theme === 'light', undefined, { timeout: patience });
  await app.screenshot('settings');
  await app.page.keyboard.press('Escape');
  await app.page.waitForTimeout(1000);
  await app.load();
  await app.page.waitForFunction(() => document.documentElement.dataset.theme === 'light', undefined, { timeout: patience });
});

test('killed in the middle of a command, the turn goes on by itself', async () => {
  await app.newSession();
  await app.send('wait 6 seconds');
  await app.page.getByRole('button', { name: /^Stop/ }).waitFor({ timeout: patience });
  await app.page.waitForTimeout(1000);
  await app.kill();
  await app.open();
  await app.load();
  await app.page.getByText('wait 6 seconds').first().click();
  await app.turns(1);
  await app.screenshot('recovered');
});
