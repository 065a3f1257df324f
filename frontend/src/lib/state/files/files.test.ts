// @vitest-environment node
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BackendError } from '$lib/backend/errors';
import type { FileContent, FileEntry, Item, ToolStatus } from '$lib/backend/types';
import { noUsage } from '../../../testing/fixtures';
import { Events } from '../events';
import { FilesRegistry, FilesStore } from './files.svelte';
import { ROOT, flatten } from './tree';
import { WINDOW_BYTES } from './windows';

function entry(path: string, kind: FileEntry['kind'] = 'file', size = 1): FileEntry {
  return { name: path.split('/').pop()!, path, kind, size, mode: 0o644, modified: '2026-01-01T00:00:00Z' };
}

/** A disk that a test can change; counts what is read. */
class Disk {
  dirs: Record<string, FileEntry[]> = { '': [entry('src', 'dir'), entry('a.txt')], src: [entry('src/b.txt')] };
  files: Record<string, string> = { 'a.txt': 'hello' };
  listed: string[] = [];
  reads: [string, number][] = [];

  listDir = async (_id: string, path: string): Promise<FileEntry[]> => {
    this.listed.push(path);
    const dir = this.dirs[path];
    if (!dir) throw new BackendError({ class: 'not_found', happened: 'There is no such folder.' });
    return dir.map((e) => ({ ...e }));
  };

  readFile = async (_id: string, path: string, _raw: string, offset: number, max: number): Promise<FileContent> => {
    this.reads.push([path, offset]);
    const all = this.files[path];
    if (all === undefined) throw new BackendError({ class: 'not_found', happened: 'There is no such file.' });
    const text = all.slice(offset, offset + max);
    return { path, size: all.length, offset, bytes: text.length, text, mime: 'text/plain', kind: 'text', modified: String(all.length) };
  };
}

const settle = () => vi.advanceTimersByTimeAsync(1000);
const names = (store: FilesStore) =>
  flatten(store.folders, store.expanded, true).map((row) => (row.kind === 'entry' ? row.entry.path : row.kind));

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('folders are read when they are opened, once', async () => {
  const disk = new Disk();
  const store = new FilesStore(disk, 's');
  store.show();
  expect(names(store)).toEqual(['loading']);
  await settle();
  expect(names(store)).toEqual(['src', 'a.txt']);
  expect(disk.listed).toEqual(['']);
  store.expand('src');
  await settle();
  store.collapse('src');
  store.expand('src');
  await settle();
  expect(disk.listed).toEqual(['', 'src']);
  expect(names(store)).toEqual(['src', 'src/b.txt', 'a.txt']);
});

test('a change draws nothing again when the listing is the same', async () => {
  const disk = new Disk();
  const store = new FilesStore(disk, 's');
  store.show();
  await settle();
  const before = store.folders;
  store.changed({ dirs: ['.'] });
  expect(store.folders).toBe(before);
  await settle();
  expect(disk.listed).toEqual(['', '']);
  expect(store.folders).toBe(before);
});

test('a new file appears, and what is open stays open', async () => {
  const disk = new Disk();
  const store = new FilesStore(disk, 's');
  store.show();
  await settle();
  store.expand('src');
  await settle();
  disk.dirs['src'] = [entry('src/b.txt'), entry('src/c.txt')];
  store.changed({ dirs: ['src'] });
  await settle();
  expect(names(store)).toEqual(['src', 'src/b.txt', 'src/c.txt', 'a.txt']);
});

test('many changes at once make few readings, and the last state wins', async () => {
  const disk = new Disk();
  const store = new FilesStore(disk, 's');
  store.show();
  await settle();
  disk.listed = [];
  for (let i = 0; i < 50; i++) {
    disk.dirs[''] = [entry(`f${i}`)];
    store.changed({ dirs: [''] });
    await vi.advanceTimersByTimeAsync(10);
  }
  await settle();
  expect(disk.listed.length).toBeLessThanOrEqual(5);
  expect(names(store)).toEqual(['f49']);
});

test('a closed folder waits until it is opened again', async () => {
  const disk = new Disk();
  const store = new FilesStore(disk, 's');
  store.show();
  await settle();
  store.expand('src');
  await settle();
  store.collapse('src');
  disk.dirs['src'] = [entry('src/new.txt')];
  store.changed({});
  await settle();
  expect(disk.listed).toEqual(['', 'src', '']);
  store.expand('src');
  await settle();
  expect(names(store)).toEqual(['src', 'src/new.txt', 'a.txt']);
});

test('a hidden pane reads nothing until it is shown', async () => {
  const disk = new Disk();
  const store = new FilesStore(disk, 's');
  store.show();
  await settle();
  store.hide();
  disk.dirs[''] = [];
  store.changed({});
  await settle();
  expect(disk.listed).toEqual(['']);
  store.show();
  await settle();
  expect(names(store)).toEqual(['empty']);
});

test('a folder that is gone goes; a failing root says why and can be tried again', async () => {
  const disk = new Disk();
  const store = new FilesStore(disk, 's');
  store.show();
  await settle();
  store.expand('src');
  await settle();
  delete disk.dirs['src'];
  disk.dirs[''] = [entry('a.txt')];
  store.changed({});
  await settle();
  expect(names(store)).toEqual(['a.txt']);

  const root = disk.dirs['']!;
  delete disk.dirs[''];
  store.changed({});
  await settle();
  expect(store.folders.get(ROOT)).toMatchObject({ state: 'failed', fault: { happened: 'There is no such folder.' } });
  disk.dirs[''] = root;
  store.retry(ROOT);
  await settle();
  expect(names(store)).toEqual(['a.txt']);
});

test('the shown file follows the disk, also when it goes and comes back', async () => {
  const disk = new Disk();
  const store = new FilesStore(disk, 's');
  store.show();
  await settle();
  store.open(entry('a.txt'));
  await settle();
  expect(store.viewer.content?.text).toBe('hello');

  const before = store.viewer.content;
  store.changed({ dirs: [''] });
  await settle();
  expect(store.viewer.content).toBe(before);

  disk.files['a.txt'] = 'hello world';
  store.changed({ dirs: ['.'] });
  await settle();
  expect(store.viewer.content?.text).toBe('hello world');

  delete disk.files['a.txt'];
  store.changed({});
  await settle();
  expect(store.viewer).toMatchObject({ gone: true, content: { text: 'hello world' } });

  disk.files['a.txt'] = 'back';
  store.changed({});
  await settle();
  expect(store.viewer).toMatchObject({ gone: false, content: { text: 'back' } });
});

test('a file shown from elsewhere opens the tree down to it', async () => {
  const disk = new Disk();
  disk.files['src/b.txt'] = 'b';
  const store = new FilesStore(disk, 's');
  store.show();
  store.open(entry('src/b.txt'));
  await settle();
  expect(names(store)).toEqual(['src', 'src/b.txt', 'a.txt']);
  expect(store.selected).toBe('src/b.txt');
});

test('a change elsewhere does not read the file again', async () => {
  const disk = new Disk();
  const store = new FilesStore(disk, 's');
  store.show();
  await settle();
  store.open(entry('a.txt'));
  await settle();
  store.changed({ dirs: ['src'] });
  await settle();
  expect(disk.reads).toHaveLength(1);
});

test('a large file is read in windows, and shrinking goes back to its end', async () => {
  const disk = new Disk();
  disk.files['big'] = 'x'.repeat(WINDOW_BYTES * 2 + 10);
  const store = new FilesStore(disk, 's');
  store.show();
  store.open(entry('big'));
  await settle();
  await store.viewer.page('next');
  await store.viewer.page('next');
  expect(store.viewer.content).toMatchObject({ offset: WINDOW_BYTES * 2, bytes: 10 });
  expect(store.viewer.arrivedFrom).toBe('above');
  await store.viewer.page('previous');
  expect(store.viewer.arrivedFrom).toBe('below');
  await store.viewer.page('last');
  expect(store.viewer.arrivedFrom).toBe('below');
  disk.files['big'] = 'short';
  store.changed({});
  await settle();
  expect(store.viewer.content).toMatchObject({ offset: 0, text: 'short' });
});

test('the answer for an earlier file never shows under a later one', async () => {
  const waiting: (() => void)[] = [];
  const disk = new Disk();
  const slow = {
    listDir: disk.listDir,
    readFile: (...args: Parameters<Disk['readFile']>) =>
      new Promise<FileContent>((resolve, reject) => waiting.push(() => disk.readFile(...args).then(resolve, reject))),
  };
  disk.files['b'] = 'second';
  const store = new FilesStore(slow, 's');
  store.open(entry('a.txt'));
  store.open(entry('b'));
  waiting[1]!();
  await settle();
  waiting[0]!();
  await settle();
  expect(store.viewer.content?.text).toBe('second');
});

test('each session keeps its own tree, and events find it', async () => {
  const disk = new Disk();
  const events = new Events();
  const registry = new FilesRegistry(disk);
  registry.listen(events);
  const store = registry.of('s');
  store.show();
  await settle();
  expect(registry.of('s')).toBe(store);
  expect(registry.of('other')).not.toBe(store);
  disk.dirs[''] = [entry('new')];
  events.emit([{ type: 'files', sessionId: 's', files: {} }]);
  await settle();
  expect(names(store)).toEqual(['new']);
  events.emit([{ type: 'removed', sessionId: 's' }]);
  expect(registry.of('s')).not.toBe(store);
});

test('what a step or a turn changed is seen without being told of the files', async () => {
  const disk = new Disk();
  const events = new Events();
  const registry = new FilesRegistry(disk);
  registry.listen(events);
  const store = registry.of('s');
  disk.dirs[''] = [];
  store.show();
  await settle();
  expect(names(store)).toEqual(['empty']);

  const head = { id: 's.1/000002', turn: 's.1', seq: 2, time: '2026-01-10T08:00:00Z' };
  const tool = (status: ToolStatus): Item => ({
    ...head,
    kind: 'tool',
    tool: {
      callId: 'c',
      name: 'apply_patch',
      args: '{}',
      ask: { acts: true, risky: false, title: '', detail: '' },
      status,
      result: { output: '', durationMs: 1, outputBytes: 0 },
      started: head.time,
    },
  });
  disk.dirs[''] = [entry('made')];
  events.emit([{ type: 'item', sessionId: 's', item: tool('running') }]);
  await settle();
  expect(names(store)).toEqual(['empty']);
  events.emit([{ type: 'item', sessionId: 's', item: tool('done') }]);
  await settle();
  expect(names(store)).toEqual(['made']);

  disk.dirs[''] = [entry('later')];
  const end = { index: 1, outcome: 'done', durationMs: 1, steps: 1, usage: noUsage, provider: 'demo', model: 'demo', backend: 'local' } as const;
  events.emit([{ type: 'item', sessionId: 's', item: { ...head, kind: 'turn_end', turnEnd: end } }]);
  await settle();
  expect(names(store)).toEqual(['later']);

  disk.dirs[''] = [entry('by hand')];
  registry.refresh();
  await settle();
  expect(names(store)).toEqual(['by hand']);
});
