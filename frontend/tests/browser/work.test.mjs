// What a user does between the first message and the end of a session: answers
// questions, changes what waits, attaches and looks at files, finds things again.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { App, patience } from './app.mjs';

// A red square of 8 × 8 px.
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGO4o6GBFTEMLQkA1f5DAXWkmKIAAAAASUVORK5CYII=',
  'base64',
);

let app;
let page;
before(async () => {
  app = await App.start();
  page = app.page;
});
after(() => app?.stop());
afterEach(() => assert.deepEqual(app.errors.splice(0), [], 'errors in the page'));

const card = () => app.chat.getByRole('group').filter({ hasText: 'Allow once' });
const sessions = () => page.getByRole('list', { name: 'Sessions' });

const allowFocused = () =>
  page.waitForFunction(() => /^Allow once/.test(document.activeElement?.textContent?.trim() ?? ''), undefined, { timeout: patience });

/** The folder that the shown session works in. */
async function workspace() {
  await page.getByRole('button', { name: /^Backend/ }).click();
  const path = await page.getByRole('dialog', { name: 'Backend of this session' }).locator('.path').getAttribute('title');
  await page.keyboard.press('Escape');
  return path;
}

test('a question has the focus, is answered by Enter, and shows who waits', async () => {
  await app.newSession();
  await app.send('approve');
  await card().waitFor({ timeout: patience });
  await sessions().getByText('Needs you · 1').waitFor({ timeout: patience });
  assert.ok(await sessions().getByText('approve').isVisible());
  await allowFocused();
  // A key that was on its way to the message field runs nothing.
  await page.waitForTimeout(600);
  await page.keyboard.press('Enter');
  await app.turns(1);
  await app.shows(/It ran once/);
  await sessions().getByText(/^Needs you/).waitFor({ state: 'detached', timeout: patience });
  await page.getByRole('treeitem', { name: /approved\.txt/ }).waitFor({ timeout: patience });
});

test('Esc denies, with a reason that stays readable', async () => {
  await app.newSession();
  await app.send('approve');
  await card().waitFor({ timeout: patience });
  await allowFocused();
  await page.keyboard.press('Escape');
  await page.getByPlaceholder('What to do instead (optional)').waitFor({ timeout: patience });
  await page.keyboard.type('use the cache instead');
  await app.screenshot('deny');
  await page.keyboard.press('Enter');
  await app.turns(1);
  await app.shows(/You denied it/);
  const denied = app.chat.getByText('sh -c', { exact: false }).first();
  await denied.click();
  await app.shows(/use the cache instead/);
  await app.screenshot('denied');
});

test('what is always allowed is not asked about again', async () => {
  await app.newSession();
  await app.send('run git init one');
  await card().waitFor({ timeout: patience });
  await app.screenshot('always');
  await card().getByRole('button', { name: /^Always allow “git init”/ }).click();
  await app.turns(1);
  await app.send('run git init two');
  await app.turns(2);
  assert.equal(await card().count(), 0);
  await page.getByRole('treeitem', { name: /^two/ }).waitFor({ timeout: patience });
});

test('queued messages are changed, removed and sent into the turn', async () => {
  await app.newSession();
  await app.send('wait 45 seconds');
  await page.getByRole('button', { name: /^Stop/ }).waitFor({ timeout: patience });
  for (const text of ['run echo alpha', 'run echo beta', 'run echo gamma']) await app.send(text);
  const queue = page.getByRole('region', { name: 'Queued messages' });
  await queue.getByText('3 queued').waitFor({ timeout: patience });
  await queue.getByRole('button', { name: 'Edit' }).first().click();
  await queue.getByRole('textbox', { name: 'Queued message' }).fill('run echo changed');
  await page.keyboard.press('Enter');
  await queue.getByText('run echo changed').waitFor({ timeout: patience });
  await queue.getByRole('listitem').filter({ hasText: 'beta' }).getByRole('button', { name: 'Remove' }).click();
  await queue.getByText('2 queued').waitFor({ timeout: patience });
  await app.screenshot('queue');
  await queue.getByRole('listitem').filter({ hasText: 'gamma' }).getByRole('button', { name: /^Send now/ }).click();
  await app.turns(2);
  await queue.waitFor({ state: 'detached', timeout: patience });
  const said = await app.chat.innerText();
  const at = (text) => said.indexOf(text);
  assert.ok(at('run echo gamma') > 0 && at('run echo gamma') < said.search(/turn 1\b/i), 'steered after the turn');
  assert.ok(at('run echo changed') > said.search(/turn 1\b/i), 'the changed message was not worked');
  assert.equal(at('beta'), -1, 'the removed message was worked');
});

test('/title names a session', async () => {
  await app.newSession();
  await app.send('create notes.md with # Plan for the northern lights');
  await app.turns(1);
  await app.composer.fill('/title Trip to Tromsø');
  await app.composer.press('Enter');
  await sessions().getByText('Trip to Tromsø').waitFor({ timeout: patience });
  await page.getByRole('banner').or(page.locator('header')).getByText('Trip to Tromsø').first().waitFor({ timeout: patience });
});

test('a pasted image is shown before and after it is sent', async () => {
  await app.composer.focus();
  await app.composer.evaluate((field, data) => {
    const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
    const clipboard = new DataTransfer();
    clipboard.items.add(new File([bytes], 'shot.png', { type: 'image/png' }));
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: clipboard, bubbles: true, cancelable: true }));
  }, png.toString('base64'));
  await page.getByRole('list', { name: 'Attached files' }).getByAltText('shot.png').waitFor({ timeout: patience });
  await app.screenshot('paste');
  await app.send('hello, what is in this picture?');
  await app.turns(2);
  const picture = app.chat.locator('img').first();
  await picture.waitFor({ timeout: patience });
  await page.waitForFunction((img) => img.complete && img.naturalWidth === 8, await picture.elementHandle(), { timeout: patience });
});

test('text, pictures and large files are shown, as they come', async () => {
  const folder = await workspace();
  writeFileSync(join(folder, 'red.png'), png);
  const lines = Array.from({ length: 300_000 }, (_, i) => `line ${i + 1} of a large file`);
  writeFileSync(join(folder, 'large.log'), lines.join('\n') + '\n');
  const open = async (name) => {
    const row = page.getByRole('treeitem', { name });
    await row.waitFor({ timeout: patience });
    await row.click();
  };
  await open(/notes\.md/);
  await page.locator('.cm-content').getByText('Plan for the northern lights').waitFor({ timeout: patience });
  await app.screenshot('view-text');
  await open(/red\.png/);
  await page.waitForFunction(() => [...document.querySelectorAll('aside img')].some((img) => img.naturalWidth === 8), undefined, { timeout: patience });
  await app.screenshot('view-image');
  await open(/large\.log/);
  await page.locator('.cm-content').getByText('line 1 of a large file', { exact: true }).waitFor({ timeout: patience });
  await app.screenshot('view-large');
  await page.getByRole('button', { name: 'End', exact: true }).click();
  await page.locator('.cm-content').getByText('line 300000 of a large file').waitFor({ timeout: patience });
  const drawn = await page.locator('.cm-line').count();
  assert.ok(drawn < 2000, `${drawn} lines are drawn`);
});

test('a model is chosen by keys', async () => {
  await page.getByRole('button', { name: /^Model/ }).click();
  const dialog = page.getByRole('dialog', { name: 'Choose a model' });
  await dialog.getByText('Scripted demo, no AI').waitFor({ timeout: patience });
  await app.screenshot('models');
  await page.keyboard.type('scripted');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached', timeout: patience });
  await page.getByRole('button', { name: /^Model.*Demo/ }).waitFor({ timeout: patience });
});

test('search finds older text and shows where it was said', async () => {
  const first = app.chat.getByText('approve', { exact: true });
  await page.keyboard.press('Control+k');
  await page.keyboard.type('northern lights');
  const found = page.getByRole('option').filter({ hasText: 'Tromsø' }).first();
  await found.waitFor({ timeout: patience });
  await app.screenshot('search');
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('It ran once');
  const other = page.getByRole('option').first();
  await other.filter({ hasText: 'approve' }).waitFor({ timeout: patience });
  await other.click();
  await app.shows(/It ran once/);
  await first.waitFor({ timeout: patience });
  await page.getByRole('searchbox', { name: 'Search sessions' }).fill('');
});

test('nothing is cut off in a small window', async () => {
  const size = page.viewportSize();
  const wide = () =>
    page.evaluate(() => {
      const { scrollWidth } = document.documentElement;
      const out = [...document.querySelectorAll('button, textarea, input:not([hidden]), [role=log]')].filter((e) => {
        const box = e.getBoundingClientRect();
        return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
      });
      return [...(scrollWidth > innerWidth ? [`the page is ${scrollWidth} px wide`] : []), ...out.map((e) => e.getAttribute('aria-label') ?? e.textContent?.trim())];
    });
  for (const [width, height] of [[1024, 700], [720, 500], [400, 600]]) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(400);
    assert.deepEqual(await wide(), [], `at ${width} × ${height}`);
    assert.ok((await app.composer.boundingBox()).width > 200, `the message field is too narrow at ${width} px`);
    await app.screenshot(`small-${width}`);
  }
  await page.keyboard.press('Control+b');
  await sessions().waitFor({ timeout: patience });
  await app.screenshot('small-sessions');
  assert.deepEqual(await wide(), [], 'with the sessions');
  await sessions().getByText('wait 45 seconds').click();
  await sessions().waitFor({ state: 'detached', timeout: patience });
  await page.keyboard.press('Control+j');
  await page.getByRole('complementary', { name: 'Workspace' }).waitFor({ timeout: patience });
  await app.screenshot('small-workspace');
  assert.deepEqual(await wide(), [], 'with the workspace');
  await page.keyboard.press('Control+j');
  await page.setViewportSize(size);
});

test('the dark theme is as complete as the light one', async () => {
  const theme = async (name) => {
    await page.keyboard.press('Control+,');
    const dialog = page.getByRole('dialog', { name: /Settings/ });
    await dialog.getByText('Appearance', { exact: true }).first().click();
    await dialog.getByText(name, { exact: true }).first().click();
    await page.keyboard.press('Escape');
    await page.waitForFunction((t) => document.documentElement.dataset.theme === t, name.toLowerCase(), { timeout: patience });
  };
  await theme('Dark');
  await page.waitForTimeout(300);
  await app.screenshot('dark');
  for (const [width, height] of [[1920, 1200], [400, 600]]) {
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(300);
    await app.screenshot(`dark-${width}`);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await theme('Light');
});

test('/done keeps a session, or destroys it with its folder', async () => {
  await sessions().getByText('Trip to Tromsø').click();
  await app.shows(/northern lights/);
  const folder = await workspace();
  const done = async () => {
    await app.composer.fill('/done');
    await app.composer.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Done with this session?' });
    await dialog.waitFor({ timeout: patience });
    return dialog;
  };
  await (await done()).getByRole('button', { name: 'Keep it' }).click();
  await page.getByRole('heading', { name: 'Start a session' }).waitFor({ timeout: patience });
  await sessions().getByText('Trip to Tromsø').click();
  await app.shows(/northern lights/);
  assert.ok(existsSync(folder));

  const dialog = await done();
  await dialog.getByRole('checkbox').check({ force: true });
  await app.screenshot('done');
  await dialog.getByRole('button', { name: 'Destroy session and folder' }).click();
  await dialog.waitFor({ state: 'detached', timeout: patience });
  await sessions().getByText('Trip to Tromsø').waitFor({ state: 'detached', timeout: patience });
  for (const end = Date.now() + patience; existsSync(folder) && Date.now() < end; ) await page.waitForTimeout(100);
  assert.ok(!existsSync(folder), `${folder} is still there`);
});
