// Tries dialogs, pickers and the file pane as a reader with a keyboard would.
// node gallery/check-panes.mjs [part of a name]
import assert from 'node:assert/strict';
import { withGallery } from './browser.mjs';

const settle = (page, ms = 250) => page.waitForTimeout(ms);
const focused = (page) =>
  page.evaluate(() => {
    const e = document.activeElement;
    return e?.getAttribute('aria-label') || e?.getAttribute('placeholder') || e?.textContent?.trim() || e?.tagName;
  });
const calls = (page, method) => page.evaluate((m) => window.galleryScene.backend.callsOf(m), method);
const emit = (page, ...batch) => page.evaluate((b) => window.galleryApp.events.emit(b), batch);
const dialogs = (page) => page.locator('dialog[open]').count();
// The row that the keyboard is on, by its name.
const activeRow = (page) =>
  page.evaluate(() => {
    const id = document.querySelector('[role=tree]')?.getAttribute('aria-activedescendant');
    return id ? document.getElementById(id)?.getAttribute('aria-label') : null;
  });

const checks = {
  async 'Ctrl N opens the new session dialog, Enter makes it, and the defaults are sent'(open) {
    const page = await open('no-session');
    await page.keyboard.press('Control+n');
    await page.getByRole('dialog', { name: 'New session' }).waitFor();
    await page.getByRole('button', { name: 'Create session' }).and(page.locator(':enabled')).waitFor();
    assert.equal(await focused(page), 'Named after your first message');
    await page.keyboard.type('A title');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => window.galleryScene.backend.callsOf('create').length > 0);
    const [[request]] = await calls(page, 'create');
    assert.equal(request.title, 'A title');
    assert.equal(request.backend, 'local');
    assert.equal(request.workspace, undefined);
    assert.equal(request.options.approve, 'auto');
    await settle(page);
    assert.equal(await dialogs(page), 0);
    return page;
  },

  async 'a picked folder is explained before, sent, and remembered'(open) {
    const page = await open('new-session');
    await page.getByText('Existing folder').click();
    await page.getByLabel('Path of the folder').fill('/home/user');
    await page.getByText('This is your home folder').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Create session' }).isDisabled(), 'a refused folder can be used');
    await page.getByRole('button', { name: 'Choose…' }).click();
    await page.getByText('41 items, not under Git.').waitFor();
    await page.getByRole('button', { name: 'Create session' }).click();
    await page.waitForFunction(() => window.galleryScene.backend.callsOf('saveSettings').length > 0);
    const [[request]] = await calls(page, 'create');
    assert.equal(request.workspace, '/srv/csv');
    const [[saved]] = await calls(page, 'saveSettings');
    assert.equal(saved.recentFolders[0], '/srv/csv');
    assert.equal(saved.recentFolders.filter((f) => f === '/srv/csv').length, 1);
    return page;
  },

  async 'a backend that can’t be used says why and makes no session'(open) {
    const page = await open('new-session-docker');
    await page.getByText('Start it, or set DOCKER_HOST.').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Create session' }).isDisabled());
    await page.getByPlaceholder('Named after your first message').press('Enter');
    await settle(page);
    assert.deepEqual(await calls(page, 'create'), []);
    return page;
  },

  async 'a session that can’t be made leaves the dialog as it was, with the reason'(open) {
    const page = await open('new-session-refused');
    await page.getByRole('alert').filter({ hasText: 'the disk is full' }).waitFor();
    assert.equal(await dialogs(page), 1);
    await page.getByRole('button', { name: 'Create session' }).click();
    await page.waitForFunction(() => window.galleryScene.backend.callsOf('create').length > 1);
    const [[first], [second]] = await calls(page, 'create');
    assert.equal(first.id, second.id, 'a second try is another session');
    return page;
  },

  async 'Esc closes every dialog and the focus goes back'(open) {
    const page = await open('files');
    const composer = page.locator('[data-focus=composer]');
    for (const kind of ['new-session', 'settings', 'palette', 'shortcuts', 'inbox', 'about', 'trace']) {
      await composer.focus();
      await page.evaluate((k) => window.galleryApp.ui.open({ kind: k }), kind);
      await page.locator('dialog[open]').waitFor();
      await settle(page, 100);
      assert.ok(await page.evaluate(() => document.activeElement?.closest('dialog') !== null), `${kind}: the focus is outside`);
      assert.ok(await page.getByRole('dialog').first().getAttribute('aria-labelledby'), `${kind}: no name`);
      await page.keyboard.press('Escape');
      await page.locator('dialog[open]').waitFor({ state: 'detached' });
      assert.ok(await composer.evaluate((e) => e === document.activeElement), `${kind}: the focus did not come back`);
    }
    return page;
  },

  async 'settings over the form of a new session leave it as it is'(open) {
    const page = await open('new-session');
    await page.getByPlaceholder('Named after your first message').fill('Half a title');
    await page.evaluate(() => window.galleryApp.ui.open({ kind: 'settings', section: 'models' }));
    await page.getByRole('dialog', { name: 'Settings' }).waitFor();
    assert.equal(await dialogs(page), 2);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog', { name: 'Settings' }).waitFor({ state: 'detached' });
    assert.equal(await page.getByPlaceholder('Named after your first message').inputValue(), 'Half a title');
    return page;
  },

  async 'what went wrong is told over an open dialog, and can be dismissed there'(open) {
    const page = await open('toast-over-dialog');
    const toast = page.getByRole('alert').filter({ hasText: 'the disk is full' });
    await toast.waitFor();
    await toast.getByRole('button', { name: 'Dismiss' }).click();
    await toast.waitFor({ state: 'detached' });
    await page.evaluate(() => window.galleryApp.ui.toast('Still there.'));
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    await page.getByText('Still there.').waitFor();
    return page;
  },

  async 'the menu leads to settings, the Web UI and the report'(open) {
    const page = await open('files');
    const choose = async (name) => {
      await page.getByRole('button', { name: 'Menu', exact: true }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await choose('Temporal Web UI');
    await page.waitForFunction(() => window.galleryScene.backend.callsOf('openDevUI').length === 1);
    await choose('Check this computer');
    await page.getByText('Keyring').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+b');
    await choose('Settings');
    await page.getByRole('dialog', { name: 'Settings' }).waitFor();
    return page;
  },

  async 'a notice stays until it is dismissed, and keys change the size of the text'(open) {
    const page = await open('recovering');
    const notices = page.getByRole('list', { name: 'Notices' }).first();
    await notices.getByRole('button', { name: 'Dismiss' }).click();
    await notices.getByRole('button', { name: 'Dismiss' }).waitFor({ state: 'detached' });
    assert.equal((await page.evaluate(() => window.galleryApp.prefs.value.dismissed)).length, 1);
    const size = () => page.evaluate(() => parseFloat(getComputedStyle(document.body).fontSize));
    const before = await size();
    await page.keyboard.press('Control+=');
    await settle(page, 100);
    assert.ok((await size()) > before);
    await page.keyboard.press('Control+0');
    await settle(page, 100);
    assert.equal(await size(), before);
    return page;
  },

  async 'Tab never leaves a dialog'(open) {
    const page = await open('settings-models');
    await page.getByRole('button', { name: 'Replace OpenAI key' }).waitFor();
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press('Tab');
      const where = await page.evaluate(() => {
        const e = document.activeElement;
        // The browser's own bar comes between the last stop and the first.
        return e === document.body || e?.closest('dialog') !== null;
      });
      assert.ok(where, `after ${i + 1} times`);
    }
    return page;
  },

  async 'the palette finds a session and shows it'(open) {
    const page = await open('files');
    await page.locator('[data-focus=composer]').focus();
    await page.keyboard.press('Control+Shift+p');
    await page.getByRole('combobox', { name: 'Search commands' }).fill('csv');
    await page.keyboard.press('Enter');
    await settle(page);
    assert.equal(await page.evaluate(() => window.galleryApp.sessions.selectedId), 'c');
    return page;
  },

  async 'a question mark types in a field and opens the shortcuts elsewhere'(open) {
    const page = await open('files');
    await page.locator('[data-focus=composer]').focus();
    await page.keyboard.press('?');
    await settle(page);
    assert.equal(await dialogs(page), 0);
    await page.getByRole('tree').focus();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys and commands' }).waitFor();
    return page;
  },

  async 'destroying sends the folder’s fate, and only for a folder of ours'(open) {
    const page = await open('done');
    await page.getByLabel('Also delete the folder').check();
    await page.getByRole('button', { name: 'Destroy session and folder' }).click();
    await page.waitForFunction(() => window.galleryScene.backend.callsOf('destroy').length > 0);
    assert.deepEqual(await calls(page, 'destroy'), [['b', true]]);
    await page.close();
    const theirs = await open('destroy');
    await theirs.getByText('The folder is yours and stays').waitFor();
    assert.equal(await theirs.getByRole('checkbox').count(), 0);
    await theirs.getByRole('button', { name: 'Destroy session' }).click();
    await theirs.waitForFunction(() => window.galleryScene.backend.callsOf('destroy').length > 0);
    assert.deepEqual(await calls(theirs, 'destroy'), [['a', false]]);
    return theirs;
  },

  async 'a session that ends elsewhere closes the question about it'(open) {
    const page = await open('done');
    await page.getByRole('dialog').waitFor();
    await emit(page, { type: 'removed', sessionId: 'b' });
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    return page;
  },

  async 'never asking is asked about first'(open) {
    const page = await open('files');
    await page.getByRole('button', { name: 'Permission mode' }).click();
    await page.getByRole('menuitemradio', { name: 'Never ask' }).click();
    const confirm = page.getByRole('dialog', { name: 'Never ask on this computer?' });
    await confirm.waitFor();
    assert.equal(await focused(page), 'Cancel');
    await page.keyboard.press('Escape');
    await confirm.waitFor({ state: 'detached' });
    assert.deepEqual(await calls(page, 'setOptions'), []);
    await page.getByRole('button', { name: 'Permission mode' }).click();
    await page.getByRole('menuitemradio', { name: 'Never ask' }).click();
    await confirm.getByRole('button', { name: 'Never ask' }).click();
    await page.waitForFunction(() => window.galleryScene.backend.callsOf('setOptions').length > 0);
    assert.deepEqual(await calls(page, 'setOptions'), [['a', { approve: 'never' }]]);
    return page;
  },

  async 'a model is found, chosen and sent by keys alone'(open) {
    const page = await open('files');
    const chip = page.locator('.header').getByRole('button', { name: 'Model' });
    await chip.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('combobox', { name: 'Search models' }).waitFor();
    await page.getByRole('option', { name: 'qwen3-coder:30b' }).waitFor();
    await page.keyboard.type('qwen');
    await page.keyboard.press('Enter');
    await settle(page);
    assert.deepEqual(await calls(page, 'setOptions'), [['a', { provider: 'ollama', model: 'qwen3-coder:30b' }]]);
    assert.ok(await chip.evaluate((e) => e === document.activeElement), 'the focus did not come back');
    return page;
  },

  async 'a title is changed with Enter and left with Esc'(open) {
    const page = await open('files');
    await page.getByRole('button', { name: 'Fix the flaky date parser, rename' }).click();
    await page.keyboard.type('Other');
    await page.keyboard.press('Escape');
    await settle(page);
    assert.deepEqual(await calls(page, 'rename'), []);
    await page.getByRole('button', { name: 'Fix the flaky date parser, rename' }).click();
    await page.keyboard.type('Another');
    await page.keyboard.press('Enter');
    await settle(page);
    assert.deepEqual(await calls(page, 'rename'), [['a', 'Another']]);
    return page;
  },

  async 'a key is set, and its value is nowhere in the page'(open) {
    const page = await open('settings-models');
    await page.getByRole('button', { name: 'Set Gateway key' }).click();
    await page.keyboard.type('not-a-real-value');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => window.galleryScene.backend.callsOf('setKey').length > 0);
    assert.deepEqual(await calls(page, 'setKey'), [['GATEWAY_API_KEY', 'not-a-real-value']]);
    await settle(page);
    assert.ok(!(await page.content()).includes('not-a-real-value'));
    return page;
  },

  async 'test buttons answer'(open) {
    const page = await open('settings-models');
    await page.getByRole('button', { name: 'Test OpenAI key' }).click();
    await page.getByText('Answers in 0.4 s').waitFor({ timeout: 5000 });
    await page.getByRole('button', { name: 'Test vLLM on the server' }).click();
    await page.getByText('Nothing listens').waitFor({ timeout: 5000 });
    return page;
  },

  async 'the tree is walked with keys, also far down a folder of 10,000'(open) {
    const page = await open('files-many');
    await page.getByRole('treeitem', { name: 'testdata/f0.json' }).waitFor();
    await page.getByRole('tree').focus();
    await page.keyboard.press('Home');
    assert.equal(await activeRow(page), '.git');
    for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowDown');
    assert.equal(await activeRow(page), 'testdata');
    await page.keyboard.press('ArrowRight');
    assert.equal(await activeRow(page), 'testdata/f0.json, 0 B');
    await page.keyboard.press('End');
    await settle(page, 100);
    await page.keyboard.press('PageUp');
    await settle(page, 100);
    assert.match(await activeRow(page), /^testdata\/f99/);
    assert.ok(await page.getByRole('tree').evaluate((e) => e === document.activeElement), 'the tree lost the focus');
    assert.ok((await page.getByRole('treeitem').count()) < 120, 'all rows are drawn');
    await page.keyboard.press('ArrowLeft');
    await settle(page, 100);
    assert.equal(await activeRow(page), 'testdata');
    await page.keyboard.press('ArrowLeft');
    await settle(page, 100);
    assert.ok((await page.getByRole('treeitem').count()) < 40, 'the folder did not close');
    return page;
  },

  async 'a click on a row leaves the keys to the tree'(open) {
    const page = await open('files-many');
    await page.getByRole('treeitem', { name: 'testdata/f3.json' }).click();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowUp');
    await settle(page, 100);
    assert.ok(await activeRow(page), 'the keys went nowhere');
    return page;
  },

  async 'a change on disk keeps what is open and where the reader is'(open) {
    const page = await open('files');
    await page.getByRole('treeitem', { name: 'internal/date/case30.go' }).waitFor();
    const list = page.locator('[role=tree] .viewport');
    await list.evaluate((e) => (e.scrollTop = 240));
    await settle(page, 100);
    await page.evaluate(() => {
      const { backend } = window.galleryScene;
      window.before = document.querySelector('[aria-label^="internal/date/case20.go"]');
      return backend.listDir;
    });
    await emit(page, { type: 'files', sessionId: 'a', files: { dirs: ['internal/date'] } });
    await settle(page, 600);
    assert.equal(await list.evaluate((e) => e.scrollTop), 240);
    assert.ok(
      await page.evaluate(() => window.before?.isConnected && window.before === document.querySelector('[aria-label^="internal/date/case20.go"]')),
      'rows were drawn again',
    );
    return page;
  },

  async 'a large file is paged to its end and back'(open) {
    const page = await open('files-large');
    await page.locator('.cm-content').waitFor();
    await page.getByRole('button', { name: 'End', exact: true }).click();
    await page.getByText(/to 52.4 MB of 52.4 MB/).waitFor();
    assert.ok(await page.getByRole('button', { name: 'Next part' }).isDisabled());
    await page.getByRole('button', { name: 'Part before' }).click();
    await settle(page);
    await page.getByRole('button', { name: 'Beginning' }).click();
    await page.getByText(/^0 B to/).waitFor();
    await page.locator('.cm-lineNumbers').waitFor();
    return page;
  },

  async 'text, bytes and pictures are shown as what they are'(open) {
    const page = await open('files-code');
    await page.locator('.cm-content').filter({ hasText: 'package parser' }).waitFor();
    await page.getByRole('treeitem', { name: 'app.bin' }).click();
    await page.getByText('00000008', { exact: true }).waitFor();
    await page.getByRole('treeitem', { name: 'logo.svg' }).click();
    await page.getByText('320 × 200').waitFor();
    await page.getByRole('treeitem', { name: '.gitignore' }).click();
    await page.getByText('This file is empty.').waitFor();
    await page.getByRole('treeitem', { name: 'go.sum' }).click();
    await page.getByText('This file is gone.').waitFor();
    return page;
  },

  async 'the first-run card takes a found server and goes'(open) {
    const page = await open('first-run');
    await page.getByText('Ollama runs on this computer').waitFor();
    await page.getByRole('heading', { name: 'This is a scripted demo, no AI' }).waitFor();
    await page.locator('.servers').getByRole('button', { name: 'Use it' }).click();
    await page.getByRole('heading', { name: 'This is a scripted demo, no AI' }).waitFor({ state: 'detached' });
    const [[saved]] = await calls(page, 'saveSettings');
    assert.equal(saved.provider, 'ollama');
    assert.equal(saved.model, 'qwen3-coder:30b');
    assert.equal(saved.firstRunDone, true);
    return page;
  },

  async 'the tracing question is asked once and sends nothing by itself'(open) {
    const page = await open('trace');
    await page.getByRole('dialog', { name: 'Record traces with OpenAI?' }).waitFor();
    assert.equal(await focused(page), 'Don’t record');
    assert.deepEqual(await calls(page, 'saveSettings'), []);
    await page.keyboard.press('Escape');
    await settle(page);
    assert.equal(await dialogs(page), 0);
    assert.deepEqual(await calls(page, 'saveSettings'), []);
    return page;
  },

  async 'nothing is wider than the window, at any size'(open) {
    for (const [width, height] of [[1024, 700], [720, 450]]) {
      for (const scene of ['long-title', 'new-session-folder', 'settings-models', 'palette', 'shortcuts', 'inbox', 'engine-failed', 'usage', 'backend']) {
        const page = await open(scene, { width, height });
        await settle(page, 600);
        const wide = await page.evaluate(() => {
          const bad = [];
          if (document.documentElement.scrollWidth > innerWidth) bad.push('the page');
          for (const e of document.querySelectorAll('dialog, .popover, .header > *, .bar > *')) {
            const box = e.getBoundingClientRect();
            if (box.right > innerWidth + 1 || box.bottom > innerHeight + 1) bad.push(e.className || e.tagName);
          }
          return bad;
        });
        assert.deepEqual(wide, [], `${scene} at ${width}`);
        await page.close();
      }
    }
  },
};

let failed = 0;
const only = process.argv.slice(2).join(' ');
await withGallery(async (open) => {
  for (const [name, check] of Object.entries(checks)) {
    if (only && !name.includes(only)) continue;
    let page;
    try {
      page = await check(open);
      console.log(`ok      ${name}`);
    } catch (err) {
      failed++;
      console.log(`FAILED  ${name}\n        ${err.message?.split('\n').slice(0, 6).join('\n        ')}`);
    }
    await page?.close();
  }
});
process.exitCode = failed > 0 ? 1 : 0;
