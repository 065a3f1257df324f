import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Backend } from '$lib/backend/backend';
import type { Item, Session } from '$lib/backend/types';
import { fakeBackend, refuse } from '../../../testing/fake-backend';
import { boot, session } from '../../../testing/fixtures';
import { App } from '../app.svelte';

async function setUp(methods: Partial<Backend> = {}, shown: Session | null = session('s')) {
  const backend = fakeBackend({
    boot: () => Promise.resolve(boot({ sessions: shown ? [shown] : [] })),
    transcript: (id) => Promise.resolve({ items: [], session: shown ?? session(id) }),
    ...methods,
  });
  const app = new App(backend);
  await app.start();
  if (shown) app.select(shown.id);
  await vi.advanceTimersByTimeAsync(0);
  return { backend, app, composer: app.composer };
}

function userItem(messageId: string, text = 'hi'): Item {
  return { id: 's.1/000001', turn: 's.1', seq: 1, time: '2026-01-10T08:00:00Z', kind: 'user', user: { messageId, text } };
}

const working = (change: Partial<Session> = {}) =>
  session('s', {
    state: 'working',
    turn: { id: 's.1', index: 1, step: 1, started: '2026-01-10T08:00:00Z', doing: 'Thinking', stopping: false },
    ...change,
  });

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

describe('sending', () => {
  test('the message is shown at once, until its durable self arrives', async () => {
    let acknowledge: () => void = () => {};
    const { app, composer, backend } = await setUp({
      send: (_, req) => new Promise((resolve) => (acknowledge = () => resolve({ id: req.id, duplicate: false, queued: false }))),
    });
    composer.setText('hello');
    const sent = composer.submit();
    expect(composer.text).toBe('');
    expect(app.outbox.of('s').map((p) => [p.text, p.acknowledged])).toEqual([['hello', false]]);
    await vi.advanceTimersByTimeAsync(0);
    acknowledge();
    await sent;
    expect(app.outbox.of('s').map((p) => p.acknowledged)).toEqual([true]);
    const [, req] = backend.callsOf('send')[0] as [string, { id: string }];
    backend.emit({ type: 'item', sessionId: 's', item: userItem(req.id) });
    expect(app.outbox.of('s')).toEqual([]);
  });

  test('a queued message is shown until the queue has it', async () => {
    const { app, composer, backend } = await setUp({ send: (_, req) => Promise.resolve({ id: req.id, duplicate: false, queued: true }) }, working());
    composer.setText('next');
    await composer.submit();
    const [pending] = app.outbox.of('s');
    expect(pending).toMatchObject({ acknowledged: true, queued: true });
    const queue = [{ id: pending?.id ?? '', content: 'o', preview: 'next', sent: '' }];
    backend.emit({ type: 'session', sessionId: 's', session: working({ version: 2, queue }) });
    expect(app.outbox.of('s')).toEqual([]);
  });

  test('what could not be sent is back in the field with the reason', async () => {
    const { app, composer, backend } = await setUp({ send: refuse({ happened: 'The engine is gone.', remedy: 'Start it again.' }) });
    composer.setText('precious');
    await composer.submit();
    expect(composer.text).toBe('precious');
    expect(composer.note).toEqual({ tone: 'bad', text: 'Not sent: The engine is gone.', more: 'Start it again.' });
    expect(app.outbox.of('s')).toEqual([]);
    await composer.submit();
    const ids = backend.callsOf('send').map(([, req]) => (req as { id: string }).id);
    expect(new Set(ids).size).toBe(1);
  });

  test('it comes back before what was typed since, under a new id', async () => {
    let fail: () => void = () => {};
    const { composer, backend } = await setUp({ send: () => new Promise((_, reject) => (fail = () => reject(new Error('cut')))) });
    composer.setText('first');
    const sent = composer.submit();
    composer.setText('second');
    await vi.advanceTimersByTimeAsync(0);
    fail();
    await sent;
    expect(composer.text).toBe('first\n\nsecond');
    void composer.submit();
    await vi.advanceTimersByTimeAsync(0);
    const ids = backend.callsOf('send').map(([, req]) => (req as { id: string }).id);
    expect(new Set(ids).size).toBe(2);
  });

  test('it goes back to its own session, not to the one shown now', async () => {
    let fail: () => void = () => {};
    const { app, composer } = await setUp({ send: () => new Promise((_, reject) => (fail = () => reject(new Error('cut')))) });
    composer.setText('for s');
    const sent = composer.submit();
    await vi.advanceTimersByTimeAsync(0);
    app.sessions.put(session('other'));
    app.select('other');
    fail();
    await sent;
    expect(composer.text).toBe('');
    app.select('s');
    expect(composer.text).toBe('for s');
  });

  test('a message thought lost that arrives takes its text out of the field', async () => {
    const { composer, backend } = await setUp({ send: refuse() });
    composer.setText('once');
    await composer.submit();
    const [, req] = backend.callsOf('send')[0] as [string, { id: string }];
    backend.emit({ type: 'item', sessionId: 's', item: userItem(req.id, 'once') });
    expect(composer.text).toBe('');
    expect(composer.note).toBeNull();
  });

  test('one whose event was missed is looked for', async () => {
    const { app, composer, backend } = await setUp();
    backend.transcript = (id) => Promise.resolve({ items: [userItem(String((backend.callsOf('send')[0]?.[1] as { id: string }).id))], session: session(id) });
    composer.setText('hello');
    await composer.submit();
    expect(app.outbox.of('s')).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(5000);
    expect(app.outbox.of('s')).toEqual([]);
  });

  test('the first message makes its session and goes with it', async () => {
    const { app, composer, backend } = await setUp({}, null);
    composer.setText('begin');
    await composer.submit();
    const [req] = backend.callsOf('create')[0] as [{ id: string; first: { text: string } }];
    expect(req.first.text).toBe('begin');
    expect(app.sessions.selectedId).toBe(req.id);
    expect(app.outbox.of(req.id)).toHaveLength(1);
    expect(composer.starting).toBe(false);
  });

  test('a session that can not be made leaves the text where it was', async () => {
    const { app, composer } = await setUp({ create: refuse({ happened: 'No space is left.' }) }, null);
    composer.setText('begin');
    await composer.submit();
    expect(composer.text).toBe('begin');
    expect(composer.note?.text).toBe('Not sent: No space is left.');
    expect(app.outbox.all).toEqual([]);
  });

  test('steering is for a turn under way', async () => {
    const { composer, backend } = await setUp({}, working());
    composer.setText('now');
    await composer.submit(true);
    expect(backend.callsOf('send')[0]?.[1]).toMatchObject({ text: 'now', steer: true });
    backend.emit({ type: 'session', sessionId: 's', session: session('s', { version: 2 }) });
    composer.setText('idle');
    await composer.submit(true);
    expect(backend.callsOf('send')[1]?.[1]).not.toHaveProperty('steer');
  });
});

describe('limits', () => {
  test('a text that is too long is refused, and kept whole', async () => {
    const { composer, backend } = await setUp();
    const text = 'é'.repeat(600_000);
    composer.setText(text);
    expect(composer.block).toBe('This message is 1.2 MB; the most is 1 MB. Attach it as a file instead.');
    await composer.submit();
    expect(composer.text).toBe(text);
    expect(composer.note?.text).toBe(composer.block);
    expect(backend.callsOf('send')).toHaveLength(0);
  });

  test('a full queue and a stopped engine say so', async () => {
    const queue = Array.from({ length: 100 }, (_, i) => ({ id: `q${i}`, content: '', preview: '', sent: '' }));
    const { app, composer, backend } = await setUp({}, working({ queue }));
    composer.setText('x');
    expect(composer.block).toContain('100 messages wait');
    await composer.submit();
    expect(composer.text).toBe('x');
    app.engine = { state: 'failed', role: 'owner', since: '' };
    expect(composer.block).toContain('engine has stopped');
    expect(backend.callsOf('send')).toHaveLength(0);
  });

  test('files: size and number', async () => {
    const { composer } = await setUp();
    const file = (name: string, size: number) => Object.defineProperty(new File(['x'], name), 'size', { value: size });
    composer.attach([file('big.iso', 21 << 20)]);
    expect(composer.files).toEqual([]);
    expect(composer.note?.text).toBe('big.iso is 22 MB. The most is 21 MB a file.');
    composer.attach(Array.from({ length: 22 }, (_, i) => file(`f${i}`, 1)));
    expect(composer.files).toHaveLength(20);
    expect(composer.note?.text).toBe('2 files were left out: a message takes 20.');
    composer.detach(composer.files[0]?.id ?? '');
    expect(composer.files).toHaveLength(19);
  });

  test('files go with the message, and come back with it', async () => {
    const { composer, backend } = await setUp({ send: refuse() });
    composer.attach([new File(['hi'], 'a.txt', { type: 'text/plain' })]);
    vi.useRealTimers();
    await composer.submit();
    expect(backend.callsOf('send')[0]?.[1]).toMatchObject({ files: [{ name: 'a.txt', mime: 'text/plain', base64: 'aGk=' }] });
    expect(composer.files.map((f) => f.name)).toEqual(['a.txt']);
  });

  test('a long pasted text becomes a file', async () => {
    const { composer } = await setUp();
    expect(composer.attachLongText('short')).toBe(false);
    expect(composer.attachLongText('x'.repeat(70_000))).toBe(true);
    expect(composer.files.map((f) => f.name)).toEqual(['pasted.txt']);
  });
});

describe('commands', () => {
  test('do what they say', async () => {
    const { app, composer, backend } = await setUp();
    for (const text of ['/title  New name ', '/done', '/model gpt-x']) {
      composer.setText(text);
      await composer.submit();
    }
    expect(backend.callsOf('rename')).toEqual([['s', 'New name']]);
    expect(app.ui.dialog).toEqual({ kind: 'done', session: 's' });
    expect(backend.callsOf('setOptions')).toEqual([['s', { model: 'gpt-x' }]]);
    expect(backend.callsOf('send')).toHaveLength(0);
    expect(composer.text).toBe('');
  });

  test('what does not fit now says why and keeps the text', async () => {
    const { composer, backend } = await setUp();
    for (const [text, answer] of [
      ['/stop', 'Nothing is running.'],
      ['/retry', 'The last turn did not fail: there is nothing to retry.'],
      ['/title', 'Write the new name after /title.'],
      ['/nope x', 'There is no command /nope. To send it as text, put a space before it.'],
    ] as const) {
      composer.setText(text);
      await composer.submit();
      expect(composer.note).toEqual({ tone: 'bad', text: answer });
      expect(composer.text).toBe(text);
    }
    expect(backend.callsOf('send')).toHaveLength(0);
  });

  test('/stop and /retry work when they can', async () => {
    const { composer, backend } = await setUp({}, working());
    composer.setText('/stop');
    await composer.submit();
    expect(backend.callsOf('stop')).toEqual([['s']]);
    backend.emit({ type: 'session', sessionId: 's', session: session('s', { version: 2, state: 'failed' }) });
    composer.setText('/retry');
    await composer.submit();
    expect(backend.callsOf('retryTurn')).toEqual([['s']]);
  });

  test('a refused command says why and stays to be tried again', async () => {
    const no = refuse({ happened: 'It was refused.', remedy: 'Try later.' });
    const { app, composer, backend } = await setUp({ rename: no, setOptions: no, stop: no, retryTurn: no }, working());
    const commands = ['/title New', '/model gpt-x', '/stop'];
    for (const text of commands) {
      composer.setText(text);
      await composer.submit();
      expect(composer.note).toEqual({ tone: 'bad', text: 'It was refused.', more: 'Try later.' });
      expect(composer.text).toBe(text);
    }
    backend.emit({ type: 'session', sessionId: 's', session: session('s', { version: 2, state: 'failed' }) });
    composer.setText('/retry');
    await composer.submit();
    expect(composer.text).toBe('/retry');
    expect(app.ui.toasts).toEqual([]);
  });

  test('/model says from when on', async () => {
    const { composer, backend } = await setUp({}, working());
    composer.setText('/model gpt-x');
    await composer.submit();
    expect(composer.note?.text).toBe('gpt-x answers from the next turn on.');
    backend.emit({ type: 'session', sessionId: 's', session: session('s', { version: 2 }) });
    composer.setText('/model gpt-y');
    await composer.submit();
    expect(composer.note?.text).toBe('The next answer comes from gpt-y.');
  });

  test('/fork and /switch open their dialogs', async () => {
    const { app, composer } = await setUp();
    for (const text of ['/switch', '/fork', '/fork with a grammar']) {
      composer.setText(text);
      await composer.submit();
    }
    expect(app.ui.dialogs).toEqual([
      { kind: 'switch', session: 's' },
      { kind: 'fork', session: 's', title: 'with a grammar' },
    ]);
    expect(composer.text).toBe('');
  });

  test('a session that is being moved can’t be moved again', async () => {
    const { app, backend, composer } = await setUp();
    const moving = { what: 'switch' as const, to: { backend: 'docker', workspace: '' }, since: '' };
    backend.emit({ type: 'session', sessionId: 's', session: session('s', { version: 2, moving }) });
    composer.setText('/switch');
    await composer.submit();
    expect(composer.note?.tone).toBe('bad');
    expect(app.ui.dialogs).toEqual([]);
  });
});

describe('the field', () => {
  test('drafts belong to their session and are kept', async () => {
    const { app, composer, backend } = await setUp();
    composer.setText('draft of s');
    app.sessions.put(session('t'));
    app.select('t');
    expect(composer.text).toBe('');
    composer.setText('draft of t');
    app.select('s');
    expect(composer.text).toBe('draft of s');
    await vi.advanceTimersByTimeAsync(500);
    const kept = JSON.parse(String(backend.callsOf('savePrefs').at(-1)?.[0])) as { drafts: object };
    expect(kept.drafts).toEqual({ s: 'draft of s', t: 'draft of t' });
  });

  test('earlier messages are recalled, and the draft comes back after them', async () => {
    const { composer } = await setUp();
    for (const text of ['one', 'two', 'one']) {
      composer.setText(text);
      await composer.submit();
    }
    composer.setText('draft');
    expect(composer.recall(-1)).toBe(true);
    expect(composer.text).toBe('one');
    composer.recall(-1);
    expect(composer.text).toBe('two');
    expect(composer.recall(-1)).toBe(false);
    composer.recall(1);
    composer.recall(1);
    expect(composer.text).toBe('draft');
    expect(composer.recall(1)).toBe(false);
  });

  test('the second Esc stops the turn, a late one does not', async () => {
    const { composer, backend } = await setUp({}, working());
    composer.escape();
    expect(composer.stopArmed).toBe(true);
    await vi.advanceTimersByTimeAsync(2000);
    expect(composer.stopArmed).toBe(false);
    composer.escape();
    expect(backend.callsOf('stop')).toHaveLength(0);
    composer.escape();
    expect(backend.callsOf('stop')).toEqual([['s']]);
  });
});
