import type { Backend } from './backend';
import { BackendError, faultOf } from './errors';
import type * as t from './types';

// The bridge that Wails puts into the window: one function per method of the
// App struct in Go. It is looked up at the call, not at import, because the
// runtime may be injected after this module was loaded.
type Bridge = Record<string, (...args: unknown[]) => Promise<unknown>>;

interface WailsWindow {
  go?: { main?: { App?: Bridge } };
  runtime?: {
    EventsOn(name: string, receive: (...data: unknown[]) => void): () => void;
    WindowSetTitle?(title: string): void;
    ClipboardSetText?(text: string): Promise<boolean>;
  };
}

const page = window as unknown as WailsWindow;

async function call<T>(method: string, ...args: unknown[]): Promise<T> {
  const fn = page.go?.main?.App?.[method];
  if (!fn) {
    throw new BackendError({
      class: 'internal',
      happened: 'This page is not connected to the program.',
      remedy: 'Open it with the app, not in a browser alone.',
      detail: `${method} is not bound`,
    });
  }
  try {
    return (await fn(...args)) as T;
  } catch (err) {
    throw new BackendError(faultOf(err));
  }
}

// Go sends null for an empty list.
async function list<T>(method: string, ...args: unknown[]): Promise<T[]> {
  return (await call<T[] | null>(method, ...args)) ?? [];
}

function settings(s: t.Settings): t.Settings {
  return { ...s, endpoints: s.endpoints ?? [], recentFolders: s.recentFolders ?? [] };
}

function on(name: string, receive: (data: unknown) => void): () => void {
  if (!page.runtime) return () => {};
  return page.runtime.EventsOn(name, receive);
}

// The page's own clipboard needs a secure page and a permission; the window's
// does not.
async function copyText(text: string): Promise<void> {
  try {
    if (page.runtime?.ClipboardSetText) {
      if (await page.runtime.ClipboardSetText(text)) return;
    } else return await navigator.clipboard.writeText(text);
  } catch (err) {
    throw new BackendError({ class: 'unavailable', happened: 'The clipboard does not take it.', detail: String(err) });
  }
  throw new BackendError({ class: 'unavailable', happened: 'The clipboard does not take it.' });
}

/** The backend of the real window. */
export const wails: Backend = {
  async boot() {
    const boot = await call<t.Boot>('Boot');
    return { ...boot, sessions: boot.sessions ?? [], settings: settings(boot.settings) };
  },
  sessions: () => list('Sessions'),
  create: (req) => call('Create', req),
  rename: (id, title) => call('Rename', id, title),
  destroy: (id, removeWorkspace) => call('Destroy', id, removeWorkspace),

  send: (id, req) => call('Send', id, req),
  queuedText: (id, message) => call('QueuedText', id, message),
  editQueued: (id, message, text) => call('EditQueued', id, message, text),
  removeQueued: (id, message) => call('RemoveQueued', id, message),
  moveQueued: (id, message, to) => call('MoveQueued', id, message, to),
  steerQueued: (id, message) => call('SteerQueued', id, message),

  keepWindowSize: (width, height) => call('KeepWindowSize', width, height),
  stop: (id) => call('Stop', id),
  stopCommands: (id) => call('StopCommands', id),
  retryTurn: (id) => call('RetryTurn', id),
  resolve: (id, resolution) => call('Resolve', id, resolution),
  setOptions: (id, change) => call('SetOptions', id, change),

  forkSession: (req) => call('ForkSession', req),
  switchSession: (req) => call('SwitchSession', req),
  rewind: (req) => call('Rewind', req),
  carry: (id, turn) => call('Carry', id, turn),
  turns: async (id) => (await list<t.Turn>('Turns', id)).sort((a, b) => a.index - b.index),
  setSnapshots: (id, policy) => call('SetSnapshots', id, policy),
  async changes(id, scope) {
    const changes = await call<t.Changes>('Changes', id, scope);
    return { ...changes, files: changes.files ?? [] };
  },
  fileDiff: (id, scope, path, rawPath) => call('FileDiff', id, scope, path, rawPath),
  revert: (req) => call('Revert', req),
  putFiles: (id, dir, files) => list('PutFiles', id, dir, files),
  saveFile: (id, path, rawPath) => call('SaveFile', id, path, rawPath),
  openFile: (id, path, rawPath) => call('OpenFile', id, path, rawPath),
  revealFile: (id, path, rawPath) => call('RevealFile', id, path, rawPath),
  exportSession: (id) => call('ExportSession', id),
  exportMarkdown: (id) => call('ExportMarkdown', id),
  importSession: () => call('ImportSession'),
  async storeUse(check) {
    const use = await call<t.StoreUse>('StoreUse', check);
    return { ...use, sessions: use.sessions ?? [] };
  },
  cleanStore: () => call('CleanStore'),
  localImages: () => list('LocalImages'),

  async transcript(id, before, limit) {
    const p = await call<t.Page>('Transcript', id, before, limit);
    return { ...p, items: p.items ?? [] };
  },
  toolLog: (id, log, offset, max) => call('ToolLog', id, log, offset, max),
  object: (id, mime) => call('Object', id, mime),
  search: (query) => list('Search', query),

  backends: () => list('Backends'),
  providers: () => list('Providers'),
  models: (provider) => list('Models', provider),

  pickFolder: (start) => call('PickFolder', start),
  folderInfo: (path) => call('FolderInfo', path),
  listDir: (id, path, rawPath = '') => list('ListDir', id, path, rawPath),
  readFile: (id, path, rawPath, offset, max) => call('ReadFile', id, path, rawPath, offset, max),
  openExternal: (id, path, rawPath = '') => call('OpenExternal', id, path, rawPath),
  openURL: (url) => call('OpenURL', url),
  copyText,

  saveSettings: async (s) => settings(await call<t.Settings>('SaveSettings', s)),
  savePrefs: (json) => call('SavePrefs', json),
  keys: () => list('Keys'),
  setKey: (name, value) => call('SetKey', name, value),
  deleteKey: (name) => call('DeleteKey', name),
  testProvider: (name) => call('TestProvider', name),
  testBackend: (name) => call('TestBackend', name),

  watch: (id) => call('Watch', id),
  openDevUI: () => call('OpenDevUI'),
  retryStart: () => call('RetryStart'),
  doctor: () => list('Doctor'),
  quit: () => call('Quit'),
  setTitle: (title) => {
    document.title = title;
    page.runtime?.WindowSetTitle?.(title);
  },

  onEvents: (receive) => on('events', (batch) => receive((batch as t.AppEvent[]) ?? [])),
};
