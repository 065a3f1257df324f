// Tries forks, moves, rewinds and changes as a reader with a keyboard would.
// node gallery/check-branch.mjs [part of a name]
import assert from 'node:assert/strict';
import { withGallery } from './browser.mjs';

const settle = (page, ms = 250) => page.waitForTimeout(ms);
const calls = (page, method) => page.evaluate((m) => window.galleryScene.backend.callsOf(m), method);
const called = (page, method, n = 1) => page.waitForFunction(([m, count]) => window.galleryScene.backend.callsOf(m).length >= count, [method, n]);
const emit = (page, ...batch) => page.evaluate((b) => window.galleryApp.events.emit(b), batch);
const dialog = (page) => page.locator('dialog[open]');

const checks = {
  async 'keys fork and switch the session that is shown, and never over a dialog'(open) {
    const page = await open('changes');
    await page.keyboard.press('Control+Shift+F');
    await page.getByRole('dialog', { name: 'Fork this session' }).waitFor();
    await page.keyboard.press('Control+Shift+S');
    assert.equal(await dialog(page).count(), 1);
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Shift+S');
    await page.getByRole('dialog', { name: 'Switch backend' }).waitFor();
    return page;
  },

  async 'a fork to several backends is asked of each, and each can be opened'(open) {
    const page = await open('fork');
    await page.getByText('Carries the conversation and 1,214 files and folders, 48.2 MB.').waitFor();
    await page.getByLabel('Title').fill('Two ways');
    await page.getByRole('checkbox', { name: /^Docker/ }).check({ force: true });
    await page.getByRole('button', { name: 'alpine:3.20' }).click();
    await page.getByRole('button', { name: /^Make 2 forks/ }).click();
    await called(page, 'forkSession', 2);
    const requests = (await calls(page, 'forkSession')).map(([request]) => request);
    assert.deepEqual(requests.map((r) => [r.title, r.target]), [
      ['Two ways [local]', { backend: 'local' }],
      ['Two ways [docker]', { backend: 'docker', image: 'alpine:3.20' }],
    ]);
    const list = page.getByRole('list', { name: 'Forks' });
    await list.getByRole('button', { name: 'Open' }).nth(1).waitFor();
    await list.getByRole('button', { name: 'Open' }).nth(1).click();
    await dialog(page).waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => window.galleryApp.sessions.selectedId), requests[1].newId);
    return page;
  },

  async 'what comes later can’t be chosen, and nothing chosen makes nothing'(open) {
    const page = await open('fork');
    await page.getByText('Comes with a later version').first().waitFor();
    assert.ok(await page.getByRole('checkbox', { name: /^E2B/ }).isDisabled());
    await page.getByRole('checkbox', { name: /^Local/ }).uncheck({ force: true });
    await page.getByText('Choose where.').waitFor();
    assert.ok(await page.getByRole('button', { name: /^Fork/ }).last().isDisabled());
    return page;
  },

  async 'a folder with something in it is left alone unless the user says otherwise'(open) {
    const page = await open('switch');
    await page.getByRole('radio', { name: /^Local/ }).check({ force: true });
    await page.getByText('Existing folder').click();
    const path = page.getByLabel('Path of the folder');
    await path.fill('/srv/full');
    await page.getByText('Replace what is in it').click();
    await path.fill('/srv/other');
    await page.getByText('41 items are in it already.').waitFor();
    // The choice was about another folder.
    assert.ok(await page.getByRole('radio', { name: /^Leave it alone/ }).isChecked());
    await page.getByText('Add to it').click();
    await page.getByRole('button', { name: /^Switch to Local/ }).click();
    await called(page, 'switchSession');
    const [[request]] = await calls(page, 'switchSession');
    assert.deepEqual(request, { id: 's', target: { backend: 'local', workspace: '/srv/other', onto: 'merge' } });
    await dialog(page).waitFor({ state: 'detached' });
    return page;
  },

  async 'the folder that it works in is no place to switch to'(open) {
    const page = await open('switch');
    await page.getByRole('radio', { name: /^Local/ }).check({ force: true });
    await page.getByText('Existing folder').click();
    await page.getByLabel('Path of the folder').fill('/home/user/date-parser/');
    await page.getByText('The session works there already.').waitFor();
    assert.ok(await page.getByRole('button', { name: /^Switch/ }).last().isDisabled());
    return page;
  },

  async 'a switch that fails stays in the dialog with the reason; closing it stops nothing'(open) {
    const page = await open('switch-failed');
    await page.getByText('The disk of the Docker engine is full.').waitFor();
    await page.getByText('The session is where it was, with all its files.', { exact: false }).waitFor();
    await page.close();
    const running = await open('switch-running');
    await running.getByText('Putting the files into the container').last().waitFor();
    await running.keyboard.press('Escape');
    await dialog(running).waitFor({ state: 'detached' });
    await running.getByRole('log').getByText(/^Switching to Docker/).waitFor();
    return running;
  },

  async 'a rewind is offered undone, and undo sends its id'(open) {
    const page = await open('rewind');
    await page.getByText('Turns 2 to 4 leave the conversation; the files stay as they are now.').waitFor();
    await page.getByText('Conversation only').click();
    await page.getByRole('button', { name: /^Rewind/ }).last().click();
    await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
    await called(page, 'rewind', 2);
    assert.deepEqual(await calls(page, 'rewind'), [[{ id: 's', turn: 's.1', what: 'conversation' }], [{ id: 's', what: 'both', undo: 'r1' }]]);
    return page;
  },

  async 'a turn without a snapshot takes back its conversation only'(open) {
    const page = await open('rewind-no-files');
    await page.getByText('No snapshot was taken after turn 2.').first().waitFor();
    assert.ok(await page.getByRole('radio', { name: /^Conversation only/ }).isChecked());
    assert.ok(await page.getByRole('radio', { name: /^Files only/ }).isDisabled());
    return page;
  },

  async 'the changes are walked with keys, shown, and put back after a question'(open) {
    const page = await open('changes');
    const list = page.getByRole('listbox', { name: 'Changed files' });
    await list.waitFor();
    await list.focus();
    await page.keyboard.press('Home');
    await page.getByRole('region', { name: 'Changes of CHANGELOG.md' }).waitFor();
    await page.keyboard.press('End');
    await page.getByRole('region', { name: 'Changes of tests/test_parse.py' }).waitFor();
    await page.locator('.cm-content').getByText('def test_half_hours').waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Delete');
    const question = page.getByRole('dialog', { name: 'Put it back?' });
    await question.getByText('src/parser.py goes back to how it was before.').waitFor();
    assert.ok(await question.getByRole('button', { name: 'Cancel' }).evaluate((e) => e === document.activeElement));
    await question.getByRole('button', { name: 'Put it back' }).click();
    await called(page, 'revert');
    assert.deepEqual(await calls(page, 'revert'), [[{ id: 's', scope: { turn: 'last', live: true }, path: 'src/parser.py' }]]);
    return page;
  },

  async 'a change on disk is seen, and what is open stays'(open) {
    const page = await open('changes');
    await page.getByRole('region', { name: 'Changes of src/parser.py' }).waitFor();
    const before = (await calls(page, 'changes')).length;
    for (let i = 0; i < 5; i++) await emit(page, { type: 'files', sessionId: 's', files: { dirs: ['src'] } });
    await called(page, 'changes', before + 1);
    await settle(page, 900);
    assert.equal((await calls(page, 'changes')).length, before + 1, 'five events are one reading');
    assert.ok(await page.getByRole('region', { name: 'Changes of src/parser.py' }).isVisible());
    return page;
  },

  async 'the question about snapshots is answered in place, and again later'(open) {
    const page = await open('ask');
    const card = page.getByRole('group', { name: 'What snapshots leave out' });
    await card.getByText('Captured after each turn: 9,204 files, 2.9 GB.').waitFor();
    assert.ok(await card.getByRole('checkbox').nth(3).isDisabled(), 'a folder in one that is left out');
    await card.getByRole('button', { name: 'Leave out the chosen' }).click();
    await called(page, 'setSnapshots');
    assert.deepEqual(await calls(page, 'setSnapshots'), [['s', { exclude: ['.venv', 'node_modules'] }]]);
    await page.close();
    const later = await open('snapshots');
    await later.getByLabel('Another folder or file').fill('../out');
    await later.getByRole('button', { name: 'Keep' }).click();
    await later.getByText('Give a path inside the workspace', { exact: false }).waitFor();
    await later.getByLabel('Another folder or file').fill('./dist/');
    await later.getByRole('button', { name: 'Keep' }).click();
    await called(later, 'setSnapshots');
    assert.deepEqual(await calls(later, 'setSnapshots'), [['s', { exclude: ['.venv', 'data/raw', 'dist'] }]]);
    return later;
  },

  async 'forks are walked, put away and shown again with keys'(open) {
    const page = await open('lineage');
    const row = (name) => page.locator('[data-session]').filter({ hasText: name });
    await row('Fix the flaky').focus();
    await page.keyboard.press('ArrowRight');
    await settle(page);
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('data-session')), 'grammar');
    await page.keyboard.press('ArrowLeft');
    await settle(page);
    await page.keyboard.press('ArrowLeft');
    await row('…rewrite as').waitFor({ state: 'detached' });
    assert.equal(await row('Fix the flaky').getAttribute('aria-expanded'), 'false');
    await page.keyboard.press('ArrowRight');
    await row('…rewrite as').waitFor();
    await row('table of').waitFor();
    return page;
  },

  async 'Esc closes every dialog, Tab stays in it, and the focus goes back'(open) {
    const page = await open('changes');
    const composer = page.locator('[data-focus=composer]');
    for (const kind of ['fork', 'switch', 'rewind', 'snapshots']) {
      await composer.focus();
      await page.evaluate((k) => window.galleryApp.ui.open({ kind: k, session: 's' }), kind);
      await dialog(page).waitFor();
      await settle(page, 300);
      for (let i = 0; i < 24; i++) {
        await page.keyboard.press('Tab');
        const inside = await page.evaluate(() => document.activeElement === document.body || document.activeElement?.closest('dialog') !== null);
        assert.ok(inside, `${kind}: Tab left the dialog`);
      }
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
      assert.ok(await composer.evaluate((e) => e === document.activeElement), `${kind}: the focus did not come back`);
    }
    return page;
  },

  async 'nothing is wider than the window or its dialog, at any size'(open) {
    for (const [width, height] of [[1024, 700], [720, 450], [400, 600]]) {
      for (const scene of ['fork-several', 'fork-failed', 'switch-busy', 'rewind', 'snapshots-ask', 'ask', 'receipts', 'changes', 'store', 'engine-down', 'backend-chip']) {
        const page = await open(scene, { width, height });
        await settle(page, 900);
        const wide = await page.evaluate(() => {
          const bad = [];
          if (document.documentElement.scrollWidth > innerWidth) bad.push('the page');
          for (const e of document.querySelectorAll('dialog, .popover, .header > *, .bar > *, .card, .receipt')) {
            const box = e.getBoundingClientRect();
            if (box.width > 0 && (box.right > innerWidth + 1 || (e.matches('dialog, .popover') && box.bottom > innerHeight + 1))) bad.push(e.className || e.tagName);
          }
          for (const e of document.querySelectorAll('dialog .content')) if (e.scrollWidth > e.clientWidth + 1) bad.push('the content of a dialog');
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
