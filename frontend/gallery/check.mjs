// Tries in a browser what only a browser can tell: scrolling, focus, completion.
// node gallery/check.mjs
import assert from 'node:assert/strict';
import { withGallery } from './browser.mjs';

const settle = (page, ms = 300) => page.waitForTimeout(ms);
const scroller = '[role=log]';
const left = (page) =>
  page.$eval(scroller, (s) => Math.round(s.scrollHeight - s.scrollTop - s.clientHeight));
// The first row whose top is in view, and where it is.
const anchor = (page) =>
  page.$eval(scroller, (s) => {
    const top = s.getBoundingClientRect().top;
    for (const row of s.querySelectorAll('[data-row]')) {
      const at = row.getBoundingClientRect().top - top;
      if (at >= 0) return { key: row.dataset.row, at: Math.round(at) };
    }
    return null;
  });
const placeOf = (page, key) =>
  page.$eval(
    scroller,
    (s, key) => {
      const row = s.querySelector(`[data-row="${key}"]`);
      return row ? Math.round(row.getBoundingClientRect().top - s.getBoundingClientRect().top) : null;
    },
    key,
  );
const emit = (page, ...batch) => page.evaluate((b) => window.galleryApp.events.emit(b), batch);
const wheel = async (page, y) => {
  await page.mouse.move(600, 400);
  await page.mouse.wheel(0, y);
  await settle(page);
};
const say = (turn, offset, text) => ({
  type: 'delta',
  sessionId: 's',
  delta: { turn, item: `${turn}/000001`, attempt: 1, channel: 'text', offset, text },
});

const checks = {
  async 'a conversation opens at its end'(open) {
    const page = await open('long');
    await settle(page, 800);
    assert.ok((await left(page)) <= 2, `${await left(page)} px below`);
    return page;
  },

  async 'the end stays in view while text streams in'(open) {
    const page = await open('long');
    await settle(page, 800);
    let offset = 0;
    for (let i = 0; i < 60; i++) {
      const text = `line ${i} of the answer\n\n`;
      await emit(page, say('s.9000', offset, text));
      offset += text.length;
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await settle(page);
    assert.ok((await left(page)) <= 2, `${await left(page)} px below`);
    return page;
  },

  async 'a reader who went up is not moved, and is told of what is new'(open) {
    const page = await open('long');
    await settle(page, 800);
    await wheel(page, -700);
    const before = await anchor(page);
    let offset = 0;
    for (let i = 0; i < 40; i++) {
      const text = `line ${i}\n\n`;
      await emit(page, say('s.9000', offset, text));
      offset += text.length;
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await settle(page);
    assert.ok(Math.abs((await placeOf(page, before.key)) - before.at) <= 1, 'moved');
    await page.getByRole('button', { name: 'New below' }).click();
    await settle(page);
    assert.ok((await left(page)) <= 2, `${await left(page)} px below`);
    return page;
  },

  async 'a reader in the middle of the answer that grows is not moved'(open) {
    const page = await open('long');
    await settle(page, 800);
    const text = Array.from({ length: 120 }, (_, i) => `paragraph ${i}`).join('\n\n');
    await emit(page, say('s.9000', 0, text));
    await settle(page);
    await wheel(page, -600);
    const top = () => page.$eval(scroller, (s) => s.scrollTop);
    const before = await top();
    for (let i = 0; i < 30; i++) {
      await emit(page, say('s.9000', text.length + i * 6, '\n\nmore'));
      await page.evaluate(() => new Promise(requestAnimationFrame));
    }
    await settle(page);
    assert.ok(Math.abs((await top()) - before) <= 1, `moved by ${(await top()) - before}`);
    return page;
  },

  async 'older pages come without a jump'(open) {
    const page = await open('long');
    await settle(page, 800);
    let most = 0;
    for (let i = 0; i < 80; i++) {
      const before = await anchor(page);
      const count = await page.evaluate(() => window.galleryApp.chat.transcript.entries.length);
      await page.evaluate(() => window.galleryApp.chat.loadingOlder || null);
      // Move by hand, so that what is expected is known.
      await page.$eval(scroller, (s) => {
        s.dispatchEvent(new WheelEvent('wheel', { deltaY: -1 }));
        s.scrollTop -= 250;
      });
      await settle(page, 60);
      const at = await placeOf(page, before.key);
      if (at !== null) most = Math.max(most, Math.abs(at - before.at - 250));
      const now = await page.evaluate(() => window.galleryApp.chat.transcript.entries.length);
      if (now > count && process.env.VERBOSE) console.log(`  ${count} → ${now} items`);
    }
    const loaded = await page.evaluate(() => window.galleryApp.chat.transcript.entries.length);
    assert.ok(loaded > 160, `only ${loaded} items were loaded`);
    assert.ok(most <= 3, `rows were ${most} px from where they should be`);
    return page;
  },

  async 'opening a card moves nothing above it'(open) {
    const page = await open('everything');
    await settle(page, 800);
    await wheel(page, -120);
    const card = page.locator('.card > .head', { hasText: 'make build' });
    const before = await card.boundingBox();
    await card.click();
    await settle(page);
    const after = await card.boundingBox();
    assert.ok(Math.abs(after.y - before.y) <= 1, `moved by ${after.y - before.y}`);
    return page;
  },

  async 'the full output of 100 MB is read page by page'(open) {
    const page = await open('everything');
    await settle(page, 800);
    await page.locator('.card > .head', { hasText: 'make build' }).click();
    await page.getByRole('button', { name: 'Open full output' }).click();
    const view = page.getByRole('region', { name: 'Output' });
    await view.getByText('1310719 ').waitFor();
    const nodes = () => view.locator('.line').count();
    assert.ok((await nodes()) < 200, `${await nodes()} lines are drawn`);
    for (let i = 0; i < 25; i++) {
      await view.evaluate((v) => (v.scrollTop -= 20_000));
      await settle(page, 60);
    }
    const numbers = await view.locator('.line').allTextContents();
    const lines = numbers.map((t) => Number(t.trim().split(' ')[0]));
    for (let i = 1; i < lines.length; i++) assert.equal(lines[i], lines[i - 1] + 1, 'a line is missing or twice');
    assert.ok(lines[0] < 1_300_000, `still at ${lines[0]}`);
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await view.getByText('       0 ').first().waitFor();
    return page;
  },

  async 'commands are completed and run by keys'(open) {
    const page = await open('everything');
    await settle(page, 800);
    const field = page.getByRole('combobox', { name: 'Message' });
    await field.click();
    await page.keyboard.type('/ti');
    assert.equal(await page.getByRole('option').count(), 1);
    await page.keyboard.press('Tab');
    assert.equal(await field.inputValue(), '/title ');
    await page.keyboard.type('New name');
    await page.keyboard.press('Enter');
    await settle(page, 100);
    const calls = await page.evaluate(() => window.galleryScene.backend.callsOf('rename'));
    assert.deepEqual(calls, [['s', 'New name']]);
    assert.equal(await field.inputValue(), '');
    return page;
  },

  async 'files are completed after @'(open) {
    const page = await open('everything');
    await settle(page, 800);
    const field = page.getByRole('combobox', { name: 'Message' });
    await field.click();
    await page.keyboard.type('look at @pars');
    await page.getByRole('option', { name: 'parser.py' }).waitFor();
    await page.keyboard.press('Enter');
    assert.equal(await field.inputValue(), 'look at @parser.py ');
    return page;
  },

  async 'an approval takes the focus when nothing is being written; keys answer it'(open) {
    const page = await open('workbench');
    await settle(page, 800);
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
    assert.match(await focused(), /^Allow once/);
    await page.keyboard.press('Escape');
    await page.keyboard.type('Use the cache instead');
    await page.keyboard.press('Enter');
    await settle(page, 100);
    const calls = await page.evaluate(() => window.galleryScene.backend.callsOf('resolve'));
    assert.deepEqual(calls.map((c) => c[1].decision), ['deny']);
    assert.equal(calls[0][1].note, 'Use the cache instead');
    assert.equal((await page.evaluate(() => window.galleryScene.backend.callsOf('stop'))).length, 0);
    return page;
  },

  async 'a key that was meant for the message runs no command, and is written'(open) {
    const page = await open('workbench');
    await settle(page, 800);
    const ran = () => page.evaluate(() => window.galleryScene.backend.callsOf('resolve').length);
    // The card takes the focus anew, and the key comes at that moment.
    await page.evaluate(() => {
      const app = window.galleryApp;
      const { selected } = app.sessions;
      document.activeElement.blur();
      document.addEventListener('focusin', (e) => e.target.matches('[data-allow]') && e.target.click(), { once: true });
      const approvals = selected.approvals.map((a) => ({ ...a, id: 'new' }));
      app.sessions.put({ ...selected, approvals: [] });
      setTimeout(() => app.sessions.put({ ...selected, approvals }), 50);
    });
    await page.waitForFunction(() => document.activeElement?.matches('[data-allow]'));
    assert.equal(await ran(), 0);
    await page.keyboard.type('wait');
    assert.equal(await page.getByRole('combobox', { name: 'Message' }).inputValue(), 'wait');
    assert.equal(await ran(), 0);
    return page;
  },

  async 'an approval does not take the focus from what is being written'(open) {
    const page = await open('running');
    await settle(page, 800);
    await page.getByRole('combobox', { name: 'Message' }).click();
    await page.keyboard.type('half a thought');
    await page.evaluate(() => {
      const app = window.galleryApp;
      const ask = { acts: true, risky: true, title: 'curl x', detail: 'curl x' };
      const approval = { id: 'a', turn: 's.1', item: 's.1/000099', tool: 'exec_command', backend: 'local', asked: '', ask };
      app.events.emit([{ type: 'session', sessionId: 's', session: { ...app.sessions.selected, version: 9, state: 'needs_you', approvals: [approval] } }]);
    });
    await page.getByText('Run this command?').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Message');
    return page;
  },

  async 'Esc twice stops'(open) {
    const page = await open('running');
    await settle(page, 800);
    await page.getByRole('combobox', { name: 'Message' }).click();
    await page.keyboard.press('Escape');
    await page.getByText('Press Esc again to stop').waitFor();
    await page.keyboard.press('Escape');
    await settle(page, 100);
    assert.deepEqual(await page.evaluate(() => window.galleryScene.backend.callsOf('stop')), [['s']]);
    return page;
  },

  async 'the field grows with its text, to 40 % of the height'(open) {
    const page = await open('everything');
    await settle(page, 800);
    const field = page.getByRole('combobox', { name: 'Message' });
    const height = async () => (await page.locator('.grow').boundingBox()).height;
    const one = await height();
    await field.fill('a\nb\nc\nd');
    assert.ok((await height()) > one + 40, 'did not grow');
    await field.fill('line\n'.repeat(200));
    const most = await height();
    assert.ok(most <= 0.4 * 900 + 1, `${most} px`);
    await field.fill('');
    assert.equal(await height(), one);
    return page;
  },

  async 'the session list is walked, renamed and searched by keys'(open) {
    const page = await open('many');
    await settle(page, 800);
    assert.ok((await page.locator('[data-session]').count()) < 80, 'all sessions are drawn');
    await page.keyboard.press('Control+k');
    await settle(page, 100);
    await page.keyboard.press('ArrowDown');
    for (let i = 0; i < 60; i++) await page.keyboard.press('ArrowDown');
    await settle(page);
    const id = await page.evaluate(() => document.activeElement?.dataset.session);
    assert.ok(id, 'the focus was lost');
    await page.keyboard.press('F2');
    await page.keyboard.type('Renamed');
    await page.keyboard.press('Enter');
    await settle(page, 200);
    assert.deepEqual(await page.evaluate(() => window.galleryScene.backend.callsOf('rename')), [[id, 'Renamed']]);
    assert.equal(await page.evaluate(() => document.activeElement?.dataset.session), id);
    await page.keyboard.press('Control+k');
    await settle(page, 100);
    await page.keyboard.type('importer');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await settle(page, 300);
    assert.notEqual(await page.evaluate(() => window.galleryApp.sessions.selectedId), 's');
    return page;
  },

  async 'a session that begins to wait is shown at the top, in a short list and in a long one'(open) {
    for (const scene of ['running', 'many']) {
      const page = await open(scene);
      await settle(page, 800);
      const list = page.getByRole('list', { name: 'Sessions' });
      await page.evaluate(() => {
        const app = window.galleryApp;
        const answered = (s) => ({ ...s, version: s.version + 1, state: 'idle', approvals: [], fault: null });
        app.events.emit(app.sessions.waiting.map((s) => ({ type: 'session', sessionId: s.id, session: answered(s) })));
      });
      await settle(page);
      const title = await page.evaluate(() => {
        const app = window.galleryApp;
        // The oldest one: its row comes from the list's other end.
        const idle = app.sessions.all.filter((s) => s.state === 'idle' || s.state === 'working');
        const session = idle.sort((a, b) => a.updated.localeCompare(b.updated))[0];
        const ask = { acts: true, risky: true, title: 'curl x', detail: 'curl x' };
        const approval = { id: 'a', turn: 't', item: 'i', tool: 'exec_command', backend: 'local', asked: '', ask };
        // Before all others that wait.
        const change = { version: session.version + 1, state: 'needs_you', updated: '2020-01-01T00:00:00Z', approvals: [approval] };
        app.events.emit([{ type: 'session', sessionId: session.id, session: { ...session, ...change } }]);
        return session.title;
      });
      await settle(page);
      const group = list.getByText(/^Needs you/);
      const view = await list.boundingBox();
      for (const row of [group, list.getByText(title).first()]) {
        assert.ok(await row.isVisible(), `${scene}: not drawn`);
        const box = await row.boundingBox();
        assert.ok(box.y >= view.y && box.y < view.y + 100, `${scene}: ${box.y - view.y} px from the top`);
      }
      await page.close();
    }
  },

  async 'a window that grows is filled'(open) {
    const page = await open('many', { height: 300 });
    await settle(page, 800);
    await page.setViewportSize({ width: 1440, height: 2400 });
    await settle(page);
    const list = page.getByRole('list', { name: 'Sessions' });
    const view = await list.boundingBox();
    const below = await list.evaluate((l) => Math.max(...[...l.querySelectorAll('[data-key]')].map((r) => r.getBoundingClientRect().bottom)));
    assert.ok(below >= view.y + view.height, `rows end ${view.y + view.height - below} px above the end`);
    return page;
  },

  async 'links show their target and never leave the page'(open) {
    const page = await open('everything');
    await settle(page, 800);
    await page.$eval(scroller, (s) => {
      s.dispatchEvent(new WheelEvent('wheel', { deltaY: -1 }));
      s.scrollTop = 600;
    });
    await settle(page);
    const before = page.url();
    await page.getByRole('link', { name: 'the RFC' }).click();
    await page.getByText('https://www.rfc-editor.org/rfc/rfc3339').waitFor();
    assert.equal(page.url(), before);
    return page;
  },

  async 'nothing is wider than the window, at any size'(open) {
    for (const [width, height] of [[1024, 700], [720, 450], [400, 600], [1920, 1200]]) {
      for (const scene of ['everything', 'words', 'approvals', 'faults', 'running', 'first']) {
        const page = await open(scene, { width, height });
        await settle(page, 500);
        const wide = await page.evaluate(() => {
          const bad = [];
          if (document.documentElement.scrollWidth > innerWidth) bad.push('the page');
          for (const e of document.querySelectorAll('.column, .row, .composer, .sidebar, .chip, .part')) {
            if (e.getBoundingClientRect().right > innerWidth + 1) bad.push(e.className);
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
