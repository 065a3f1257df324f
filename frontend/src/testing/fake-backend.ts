import type { Backend } from '$lib/backend/backend';
import { BackendError } from '$lib/backend/errors';
import type { AppEvent, Fault } from '$lib/backend/types';
import { boot, carry, receipt, session, settings } from './fixtures';

type Method = keyof Backend;
type Calls = { method: Method; args: unknown[] }[];

export interface FakeBackend extends Backend {
  /** Every call so far, in order. */
  readonly calls: Calls;
  /** The arguments of each call of one method. */
  callsOf(method: Method): unknown[][];
  /** Sends events as the program would. */
  emit(...batch: AppEvent[]): void;
}

/** A fault for tests of what failing looks like. */
export function refuse(change: Partial<Fault> = {}): () => Promise<never> {
  return () => Promise.reject(new BackendError({ class: 'internal', happened: 'It broke.', ...change }));
}

/**
 * A Backend that answers every call with something empty and sound, records
 * the calls, and lets a test replace methods and send events.
 */
export function fakeBackend(methods: Partial<Backend> = {}): FakeBackend {
  const calls: Calls = [];
  const receivers = new Set<(batch: AppEvent[]) => void>();
  const nothing = () => Promise.resolve();

  const base: Backend = {
    boot: () => Promise.resolve(boot()),
    sessions: () => Promise.resolve([]),
    create: (req) =>
      Promise.resolve(
        session(req.id ?? 'new', { title: req.title ?? 'New session', backend: req.backend ?? 'local', options: req.options }),
      ),
    rename: nothing,
    destroy: nothing,
    send: (_id, req) => Promise.resolve({ id: req.id, duplicate: false, queued: false }),
    queuedText: () => Promise.resolve(''),
    editQueued: nothing,
    removeQueued: nothing,
    moveQueued: nothing,
    steerQueued: nothing,
    keepWindowSize: nothing,
    stop: nothing,
    stopCommands: nothing,
    retryTurn: nothing,
    resolve: nothing,
    setOptions: nothing,
    forkSession: (req) =>
      Promise.resolve({
        session: session(req.newId ?? 'fork', { title: req.title ?? 'Fork', parent: req.id, backend: req.target.backend }),
        receipt: receipt({ what: req.filesOnly ? 'new' : 'fork', to: { backend: req.target.backend, workspace: req.target.workspace ?? '' } }),
      }),
    switchSession: (req) => Promise.resolve(receipt({ what: 'switch', to: { backend: req.target.backend, workspace: req.target.workspace ?? '' } })),
    rewind: (req) => Promise.resolve(receipt({ what: 'rewind', undo: req.undo ? 'r2' : 'r1', rewindWhat: req.what })),
    carry: () => Promise.resolve(carry()),
    turns: () => Promise.resolve([]),
    setSnapshots: nothing,
    changes: () => Promise.resolve({ from: 'x', to: 'y', files: [], count: 0, added: 0, removed: 0 }),
    fileDiff: (_id, _scope, path) => Promise.resolve({ path }),
    revert: () => Promise.resolve(receipt({ what: 'revert', undo: 'u1' })),
    putFiles: (_id, dir, files) => Promise.resolve(files.map((f) => (dir ? `${dir}/${f.name}` : f.name))),
    saveFile: (_id, path) => Promise.resolve(`/home/user/${path.split('/').pop() ?? ''}`),
    openFile: nothing,
    revealFile: nothing,
    exportSession: () => Promise.resolve('/home/user/session.tsa'),
    exportMarkdown: () => Promise.resolve('/home/user/session.md'),
    importSession: () => Promise.resolve(session('imported', { title: 'Imported' })),
    storeUse: () => Promise.resolve({ bytes: 0, free: 0, objects: 0, files: 0, conversations: 0, unused: 0, sessions: [] }),
    cleanStore: () => Promise.resolve({ objects: 0, bytes: 0 }),
    localImages: () => Promise.resolve([]),
    transcript: (id) => Promise.resolve({ items: [], session: session(id) }),
    toolLog: () => Promise.resolve({ offset: 0, bytes: 0, text: '', size: 0, ended: true }),
    object: () => Promise.resolve('data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='),
    search: () => Promise.resolve([]),
    backends: () => Promise.resolve([]),
    providers: () => Promise.resolve([]),
    models: () => Promise.resolve([]),
    pickFolder: () => Promise.resolve(''),
    folderInfo: (path) => Promise.resolve({ path, exists: true, entries: 0, writable: true, git: false }),
    listDir: () => Promise.resolve([]),
    readFile: (_id, path) =>
      Promise.resolve({ path, size: 0, offset: 0, bytes: 0, text: '', mime: 'text/plain', kind: 'text', modified: '2026-01-10T08:00:00Z' }),
    openExternal: nothing,
    openURL: nothing,
    copyText: nothing,
    saveSettings: (s) => Promise.resolve(s),
    savePrefs: nothing,
    keys: () => Promise.resolve([]),
    setKey: nothing,
    deleteKey: nothing,
    testProvider: () => Promise.resolve({ ok: true, text: 'It answers.' }),
    testBackend: () => Promise.resolve({ ok: true, text: `It answers with ${settings.backend || 'local'}.` }),
    watch: nothing,
    openDevUI: nothing,
    retryStart: nothing,
    doctor: () => Promise.resolve([]),
    quit: nothing,
    setTitle: () => {},
    onEvents: (receive) => {
      receivers.add(receive);
      return () => receivers.delete(receive);
    },
  };

  const all = { ...base, ...methods };
  const recorded = Object.fromEntries(
    Object.entries(all).map(([method, fn]) => [
      method,
      (...args: unknown[]) => {
        calls.push({ method: method as Method, args });
        return (fn as (...a: unknown[]) => unknown)(...args);
      },
    ]),
  ) as unknown as Backend;

  return {
    ...recorded,
    calls,
    callsOf: (method) => calls.filter((c) => c.method === method).map((c) => c.args),
    emit: (...batch) => receivers.forEach((receive) => receive(batch)),
  };
}
