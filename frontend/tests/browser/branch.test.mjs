// Sessions as branches: fork, switch, rewind and its undoing, changes and putting
// them back, files that are dropped in.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { App, patience } from './app.mjs';

let app;
let page;
before(async () => {
  app = await App.start();
  page = app.page;
});
after(() => app?.stop());
afterEach(() => assert.deepEqual(app.errors.splice(0), [], 'errors in the page'));

const sessions = () => page.getByRole('list', { name: 'Sessions' });
const workspacePane = () => page.getByRole('complementary', { name: 'Workspace' });
const tab = (name) => workspacePane().getByRole('tab', { name });
const changed = (name) => workspacePane().getByRole('option', { name });
const footer = (n) => app.chat.locator('.footer').filter({ hasText: new RegExp(`^\\s*turn ${n}\\b`) });

async function until(what, check) {
  for (const end = Date.now() + patience; Date.now() < end; ) {
    // A file that is just being replaced can't be read for a moment.
    if (await Promise.resolve().then(check).catch(() => false)) return;
    await page.waitForTimeout(100);
  }
  assert.fail(`waited too long: ${what}`);
}

/** The folder that the shown session works in. */
async function workspace() {
  await page.getByRole('button', { name: /^Backend/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Backend of this session' });
  const path = await dialog.locator('.path').getAttribute('title');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached', timeout: patience });
  return path;
}

const read = (folder, name) => readFileSync(join(folder, name), 'utf8').trim();

let folder;

test('a turn’s footer says what it changed, and leads to it', async () => {
  await app.newSession('Branches');
  await app.send('create notes.txt with first');
  await app.turns(1);
  await app.send('create notes.txt with second');
  await app.turns(2);
  await app.send('create extra.txt with more');
  await app.turns(3);
  folder = await workspace();
  assert.equal(read(folder, 'notes.txt'), 'second');
  await footer(2).getByRole('button', { name: '1 change' }).click();
  await changed(/^notes\.txt, changed/).waitFor({ timeout: patience });
  await changed(/^notes\.txt/).click();
  const difference = workspacePane().getByRole('region', { name: /Changes of notes\.txt/ });
  await difference.getByText('second').waitFor({ timeout: patience });
  await difference.getByText('first').waitFor({ timeout: patience });
  await app.screenshot('branch-changes');
  await difference.getByRole('button', { name: 'Side by side' }).click();
  await page.locator('.cm-mergeView').waitFor({ timeout: patience });
  await app.screenshot('branch-split');
  await difference.getByRole('button', { name: 'Side by side' }).click();
});

test('the menu of a turn is at its button and at the right mouse button', async () => {
  await footer(2).getByRole('button', { name: 'More for turn 2' }).click();
  const menu = page.getByRole('menu', { name: 'Turn 2' });
  await menu.getByRole('menuitem', { name: 'Fork from here…' }).waitFor({ timeout: patience });
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached', timeout: patience });
  await footer(2).click({ button: 'right' });
  await menu.getByRole('menuitem', { name: 'Rewind to here…' }).waitFor({ timeout: patience });
  await app.screenshot('branch-menu');
  await page.keyboard.press('Escape');
  await menu.waitFor({ state: 'detached', timeout: patience });
  await app.chat.getByText('create notes.txt with second').click({ button: 'right' });
  await menu.getByRole('menuitem', { name: 'New session from these files…' }).waitFor({ timeout: patience });
  await page.keyboard.press('Escape');
});

test('a fork from a turn has its files and conversation, and the original is left alone', async () => {
  await footer(1).getByRole('button', { name: 'Fork from here' }).click();
  const dialog = page.getByRole('dialog', { name: 'Fork this session' });
  await dialog.getByText(/^Carries the conversation and 1 file or folder/).waitFor({ timeout: patience });
  await dialog.getByLabel('Title').fill('The other way');
  await app.screenshot('branch-fork');
  await dialog.getByRole('button', { name: /^Fork/ }).click();
  await dialog.waitFor({ state: 'detached', timeout: patience });
  await sessions().getByRole('button', { name: /The other way/ }).first().waitFor({ timeout: patience });
  await app.shows(/^Forked after turn 1 to this computer/);
  assert.equal(await footer(2).count(), 0, 'turn 2 is in the fork');
  const other = await workspace();
  assert.notEqual(other, folder);
  assert.equal(read(other, 'notes.txt'), 'first');
  assert.equal(read(folder, 'notes.txt'), 'second');
  await app.shows(/Open the original/);
  await app.screenshot('branch-forked');
  // The list shows it under its parent, and can put it away.
  const parent = sessions().getByRole('button', { name: /Branches/ }).first();
  await parent.click();
  await app.shows(/extra\.txt/);
  await parent.press('ArrowLeft');
  await sessions().getByText('The other way').waitFor({ state: 'detached', timeout: patience });
  await parent.press('ArrowRight');
  await sessions().getByText('The other way').waitFor({ timeout: patience });
});

test('/fork takes a title, and files alone make a session without conversation', async () => {
  await app.composer.fill('/fork From the files');
  await app.composer.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Fork this session' });
  assert.equal(await dialog.getByLabel('Title').inputValue(), 'From the files');
  await dialog.getByRole('checkbox', { name: /^Leave the conversation behind/ }).check({ force: true });
  const files = page.getByRole('dialog', { name: 'New session from these files' });
  await files.getByText(/^Carries 2 files and folders/).waitFor({ timeout: patience });
  await files.getByRole('button', { name: /^Make session/ }).click();
  await files.waitFor({ state: 'detached', timeout: patience });
  await app.shows(/from the files of another session/);
  assert.equal(await app.chat.locator('.footer').count(), 0, 'the conversation came along');
  assert.equal(read(await workspace(), 'extra.txt'), 'more');
  await sessions().getByRole('button', { name: /Branches/ }).first().click();
  await app.shows(/extra\.txt/);
});

test('a rewind takes turns and files back, and undo brings them again', async () => {
  await footer(1).getByRole('button', { name: 'Rewind' }).click();
  const dialog = page.getByRole('dialog', { name: 'Rewind' });
  await dialog.getByText('Turns 2 and 3 leave the conversation, and the files go back to how they were after turn 1.').waitFor({ timeout: patience });
  await app.screenshot('branch-rewind');
  await dialog.getByRole('button', { name: /^Rewind/ }).click();
  await dialog.waitFor({ state: 'detached', timeout: patience });
  await until('the files go back', () => read(folder, 'notes.txt') === 'first' && !existsSync(join(folder, 'extra.txt')));
  await footer(2).waitFor({ state: 'detached', timeout: patience });
  await app.shows(/were rewound to the end of turn 1: 2 changes$/);
  await app.screenshot('branch-rewound');
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await footer(3).waitFor({ timeout: patience });
  await until('the files are there again', () => existsSync(join(folder, 'extra.txt')) && read(folder, 'notes.txt') === 'second');
  // Undone, it can be done again, and undone once more.
  await app.chat.getByRole('button', { name: 'Redo', exact: true }).click();
  await until('the files go back again', () => !existsSync(join(folder, 'extra.txt')) && read(folder, 'notes.txt') === 'first');
  await footer(2).waitFor({ state: 'detached', timeout: patience });
  await app.chat.locator('.receipt').filter({ hasText: /^\s*Done again/ }).getByRole('button', { name: 'Undo', exact: true }).click();
  await footer(3).waitFor({ timeout: patience });
  await until('the files are there once more', () => existsSync(join(folder, 'extra.txt')) && read(folder, 'notes.txt') === 'second');
});

test('what is changed by hand is seen at once, and put back', async () => {
  await tab('Changes').click();
  await workspacePane().getByRole('combobox', { name: 'Which changes' }).selectOption({ label: 'Last turn until now' });
  await changed(/^extra\.txt, added/).waitFor({ timeout: patience });
  writeFileSync(join(folder, 'notes.txt'), 'by hand\n');
  mkdirSync(join(folder, 'deep'));
  writeFileSync(join(folder, 'deep', 'new.txt'), 'new\n');
  await changed(/^notes\.txt, changed/).waitFor({ timeout: patience });
  await changed(/^deep\/new\.txt, added/).waitFor({ timeout: patience });
  await app.screenshot('branch-live');
  await changed(/^notes\.txt/).click();
  await workspacePane().getByRole('region', { name: /Changes of notes\.txt/ }).getByRole('button', { name: /^Put it back/ }).click();
  const confirm = page.getByRole('dialog', { name: 'Put it back?' });
  await confirm.getByText('notes.txt goes back to how it was before.').waitFor({ timeout: patience });
  await confirm.getByRole('button', { name: 'Put it back' }).click();
  await confirm.waitFor({ state: 'detached', timeout: patience });
  await until('the file is as it was', () => read(folder, 'notes.txt') === 'second');
  await changed(/^notes\.txt/).waitFor({ state: 'detached', timeout: patience });
  assert.equal(read(folder, 'deep/new.txt'), 'new', 'another file was put back, too');
  await tab('Files').click();
  await workspacePane().getByRole('treeitem', { name: /^extra\.txt.*, added/ }).waitFor({ timeout: patience });
  await app.screenshot('branch-marks');
});

test('files that are dropped on a folder are put into it', async () => {
  const row = workspacePane().getByRole('treeitem', { name: /^deep/ });
  await row.waitFor({ timeout: patience });
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['from outside'], 'dropped.txt', { type: 'text/plain' }));
    return data;
  });
  await row.dispatchEvent('dragenter', { dataTransfer: transfer });
  await row.dispatchEvent('dragover', { dataTransfer: transfer });
  await workspacePane().getByText('Put into deep').waitFor({ timeout: patience });
  await app.screenshot('branch-drop');
  await row.dispatchEvent('drop', { dataTransfer: transfer });
  await until('the file is in the folder', () => existsSync(join(folder, 'deep', 'dropped.txt')));
  assert.equal(read(folder, 'deep/dropped.txt'), 'from outside');
  await workspacePane().getByRole('treeitem', { name: /^deep\/dropped\.txt/ }).waitFor({ timeout: patience });
});

test('/switch takes the session to another folder, and says what it carried', async () => {
  const target = join(app.dir, 'target');
  mkdirSync(target);
  writeFileSync(join(target, 'theirs.txt'), 'keep me');
  await app.composer.fill('/switch');
  await app.composer.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Switch backend' });
  await dialog.getByRole('radio', { name: /^Local/ }).check({ force: true });
  await dialog.getByText('Existing folder').click();
  await dialog.getByLabel('Path of the folder').fill(target);
  await dialog.getByText(/^1 item is in it already/).waitFor({ timeout: patience });
  await app.screenshot('branch-switch');
  const go = dialog.getByRole('button', { name: /^(Switch|Try again)/ });
  // As it is: a folder with something else in it is left alone, and it says so.
  await go.click();
  await dialog.getByRole('alert').waitFor({ timeout: patience });
  assert.equal(read(target, 'theirs.txt'), 'keep me');
  assert.ok(!existsSync(join(target, 'notes.txt')));
  await app.screenshot('branch-refused');
  await dialog.getByText('Add to it').click();
  await go.click();
  await dialog.waitFor({ state: 'detached', timeout: patience });
  await app.shows(/^Switched to another place on this computer/);
  await until('the session works there', async () => (await workspace()) === target);
  assert.equal(read(target, 'notes.txt'), 'second');
  assert.equal(read(target, 'deep/dropped.txt'), 'from outside');
  assert.equal(read(target, 'theirs.txt'), 'keep me');
  const receipt = app.chat.getByRole('button', { name: /^Switched to another place/ });
  await receipt.click();
  await app.chat.getByText(`local ${target}`).waitFor({ timeout: patience });
  await app.screenshot('branch-switched');
  await app.send('create after.txt with there');
  await until('the next turn works there', () => existsSync(join(target, 'after.txt')));
});

test('a fork during a turn leaves that alone', async () => {
  await app.newSession('Busy');
  await app.send('create one.txt with 1');
  await app.turns(1);
  await app.send('wait 20');
  await page.getByRole('button', { name: /^Stop/ }).waitFor({ timeout: patience });
  await page.keyboard.press('Control+Shift+F');
  const dialog = page.getByRole('dialog', { name: 'Fork this session' });
  await dialog.getByText('As of the last finished turn').waitFor({ timeout: patience });
  await dialog.getByLabel('Title').fill('Beside it');
  await dialog.getByRole('button', { name: /^Fork/ }).click();
  await dialog.waitFor({ state: 'detached', timeout: patience });
  await app.shows(/^Forked after turn 1/);
  assert.equal(read(await workspace(), 'one.txt'), '1');
  await sessions().getByRole('button', { name: /Busy/ }).first().click();
  await page.getByRole('button', { name: /^Stop/ }).waitFor({ timeout: patience });
});
