import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ChangedFile, Changes } from '$lib/backend/types';
import { fakeBackend, refuse } from '../../../testing/fake-backend';
import { session } from '../../../testing/fixtures';
import { Events } from '../events';
import { ChangesRegistry, ChangesStore, inTurn, lastTurn, sinceStart } from './changes.svelte';
import { marksOf, modeText, revertWords } from './marks';

const file = (path: string, change: Partial<ChangedFile> = {}): ChangedFile => ({
  path, op: 'update', kind: 'file', oldSize: 10, newSize: 12, added: 1, removed: 0, counted: true, ...change,
});
const changes = (...files: ChangedFile[]): Changes => ({ from: 'x', files, count: files.length, added: files.length, removed: 0 });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});
const pass = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

describe('marks', () => {
  test('files have letters, folders with changes a dot', () => {
    const marks = marksOf(changes(file('a/b/new.ts', { op: 'add' }), file('a/old.ts', { op: 'delete' }), file('top.ts'), file('run.sh', { op: 'mode' })));
    expect(Object.fromEntries(marks)).toEqual({ 'a/b/new.ts': 'A', 'a/b': '•', a: '•', 'a/old.ts': 'D', 'top.ts': 'M', 'run.sh': 'P' });
    expect(marksOf(null).size).toBe(0);
  });

  test('a folder that was added keeps its own mark', () => {
    expect(marksOf(changes(file('lib', { op: 'add', kind: 'dir' }), file('lib/a', { op: 'add' }))).get('lib')).toBe('A');
  });

  test('the question before a file is put back says what happens', () => {
    expect(revertWords(file('a', { op: 'add' }), true)).toBe('a was added: it is deleted.');
    expect(revertWords(file('a', { op: 'delete' }), true)).toContain('comes back');
    expect(revertWords(file('a'), false)).toContain('later goes, too');
    expect(modeText(0o100755)).toBe('755');
  });
});

describe('the changes of a session', () => {
  test('are read when they are shown, and not while they are not', async () => {
    const backend = fakeBackend();
    const store = new ChangesStore(backend, 's');
    store.touched();
    await pass(5000);
    expect(backend.callsOf('changes')).toEqual([]);
    const hide = store.show();
    await pass();
    expect(backend.callsOf('changes')).toEqual([['s', lastTurn]]);
    hide();
    store.touched();
    await pass(5000);
    expect(backend.callsOf('changes')).toHaveLength(1);
    // What was missed is read when it is shown again.
    store.show();
    await pass();
    expect(backend.callsOf('changes')).toHaveLength(2);
  });

  test('follow the files: once they are quiet, and at times while they are not', async () => {
    const backend = fakeBackend();
    const store = new ChangesStore(backend, 's');
    store.show();
    await pass();
    for (let i = 0; i < 5; i++) {
      store.touched();
      await pass(100);
    }
    await pass(600);
    expect(backend.callsOf('changes')).toHaveLength(2);
    for (let i = 0; i < 45; i++) {
      store.touched();
      await pass(100);
    }
    expect(backend.callsOf('changes').length).toBeGreaterThan(2);
  });

  test('of a turn that is over stay as they are', async () => {
    const backend = fakeBackend();
    const store = new ChangesStore(backend, 's');
    store.setScope(inTurn('s.2'));
    store.show();
    await pass();
    store.touched();
    await pass(5000);
    expect(backend.callsOf('changes')).toEqual([['s', { turn: 's.2' }]]);
  });

  test('an answer for another scope is dropped', async () => {
    const answers: ((c: Changes) => void)[] = [];
    const store = new ChangesStore(fakeBackend({ changes: () => new Promise((resolve) => answers.push(resolve)) }), 's');
    store.show();
    store.setScope(sinceStart);
    answers[1]?.(changes(file('new')));
    answers[0]?.(changes(file('old')));
    await pass();
    expect(store.changes?.files[0]?.path).toBe('new');
    expect(store.loading).toBe(false);
  });

  test('the same answer draws nothing again; the shown difference follows its file, or closes', async () => {
    let now = changes(file('a'), file('b'));
    const backend = fakeBackend({ changes: () => Promise.resolve(structuredClone(now)), fileDiff: (_i, _s, path) => Promise.resolve({ path, new: { kind: 'text', size: 1, mode: 0, text: String(now.added) } }) });
    const store = new ChangesStore(backend, 's');
    store.show();
    await pass();
    const first = store.changes;
    store.select(first!.files[1]!);
    await pass();
    await store.reload();
    expect(store.changes).toBe(first);
    expect(backend.callsOf('fileDiff')).toHaveLength(1);
    now = changes(file('b', { added: 7 }));
    await store.reload();
    await pass();
    expect(store.file?.added).toBe(7);
    expect(store.diff?.new?.text).toBe('1');
    now = changes();
    await store.reload();
    expect([store.selected, store.diff]).toEqual(['', null]);
  });

  test('a file is put back in the scope that is shown, and the list is read again', async () => {
    const backend = fakeBackend({ changes: () => Promise.resolve(changes(file('a'))) });
    const store = new ChangesStore(backend, 's');
    store.show();
    await pass();
    const reverting = store.revert(store.changes!.files[0]!);
    expect(store.reverting.has('a')).toBe(true);
    await reverting;
    expect(store.reverting.size).toBe(0);
    expect(backend.callsOf('revert')).toEqual([[{ id: 's', scope: lastTurn, path: 'a' }]]);
    await pass();
    expect(backend.callsOf('changes')).toHaveLength(2);
  });

  test('a failure is told, and what was read stays', async () => {
    let broken = false;
    const store = new ChangesStore(fakeBackend({ changes: () => (broken ? refuse()() : Promise.resolve(changes(file('a')))) }), 's');
    store.show();
    await pass();
    broken = true;
    await store.reload();
    expect(store.fault?.happened).toBe('It broke.');
    expect(store.changes?.files).toHaveLength(1);
  });
});

test('a turn’s end, a rewind and a switch are seen in the record', async () => {
  const backend = fakeBackend();
  const events = new Events();
  const registry = new ChangesRegistry(backend);
  registry.listen(events);
  const store = registry.of('s');
  store.setScope(inTurn('s.1'));
  store.show();
  await pass();
  const tell = async (change: object) => {
    events.emit([{ type: 'session', sessionId: 's', session: session('s', change) }]);
    await pass(600);
  };
  await tell({ head: 'h1' });
  await tell({ head: 'h1', title: 'Other' });
  await tell({ head: 'h2', snapshot: 'x' });
  expect(backend.callsOf('changes')).toHaveLength(3);
});
