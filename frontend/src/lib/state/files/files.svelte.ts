import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { FileEntry, FilesChanged, Item } from '$lib/backend/types';
import type { Events } from '../events';
import { ROOT, keyOf, mergeEntries, parentPath, partsOfKey, touched, visible, type Folder, type Folders } from './tree';
import { ViewerStore } from './viewer.svelte';

type Reader = Pick<Backend, 'listDir' | 'readFile'>;

/** Between two readings of the same folder, so that a busy build does not flood. */
const pause = 200;

/** The workspace of one session: which folders are loaded and open, and the file shown. */
export class FilesStore {
  folders = $state.raw<Folders>(new Map());
  expanded = $state.raw<ReadonlySet<string>>(new Set());
  /** Key of the row that the keyboard is on. */
  selected = $state('');
  readonly viewer: ViewerStore;
  readonly #backend: Reader;
  readonly #session: string;
  /** Folders being read or read just now; true when something changed meanwhile. */
  readonly #reading = new Map<string, boolean>();
  #shown = false;

  constructor(backend: Reader, session: string) {
    this.#backend = backend;
    this.#session = session;
    this.viewer = new ViewerStore(backend, session);
  }

  /** The pane is on show: read what may have changed since. */
  show(): void {
    this.#shown = true;
    this.#refresh([...this.folders.keys()]);
    if (!this.folders.has(ROOT)) void this.#read(ROOT);
    void this.viewer.refresh();
  }

  hide(): void {
    this.#shown = false;
  }

  reload(): void {
    this.#refresh([...this.folders.keys()]);
    void this.viewer.refresh();
  }

  expand(key: string): void {
    if (!this.expanded.has(key)) this.expanded = new Set(this.expanded).add(key);
    const folder = this.folders.get(key);
    if (!folder || folder.state === 'failed' || folder.stale) void this.#read(key);
  }

  collapse(key: string): void {
    if (!this.expanded.has(key)) return;
    const next = new Set(this.expanded);
    next.delete(key);
    this.expanded = next;
  }

  retry(key: string): void {
    void this.#read(key);
  }

  /** Shows a file, and the tree opened down to it. */
  open(entry: FileEntry): void {
    for (let at = parentPath(entry.path); at !== ROOT && !entry.rawPath; at = parentPath(at)) {
      if (!this.expanded.has(at)) this.expand(at);
    }
    this.selected = keyOf(entry);
    void this.viewer.open(entry);
  }

  /** Something changed on disk. */
  changed(files: FilesChanged): void {
    const keys = touched(this.folders, files.dirs);
    this.#refresh(keys);
    const file = this.viewer.file;
    if (!file || !this.#shown) return;
    const folder = parentPath(file.path);
    const concerned = !files.dirs?.length || files.dirs.some((dir) => dir.replace(/^\.?\/?|\/+$/g, '') === folder);
    if (concerned) void this.viewer.refresh();
  }

  // What is on show is read now, the rest when it is opened.
  #refresh(keys: readonly string[]): void {
    const later: string[] = [];
    for (const key of keys) {
      if (this.#shown && visible(key, this.expanded, this.folders)) void this.#read(key);
      else later.push(key);
    }
    if (later.length === 0) return;
    const next = new Map(this.folders);
    for (const key of later) {
      const folder = next.get(key);
      if (folder) next.set(key, { ...folder, stale: true });
    }
    this.folders = next;
  }

  async #read(key: string): Promise<void> {
    if (this.#reading.has(key)) {
      this.#reading.set(key, true);
      return;
    }
    this.#reading.set(key, false);
    const before = this.folders.get(key);
    // A folder that is shown stays as it is until the answer: no flicker.
    if (before?.state !== 'ready') this.#put(key, { state: 'loading', entries: before?.entries ?? [] });
    try {
      const { path, rawPath } = partsOfKey(key);
      const listing = await this.#backend.listDir(this.#session, path, rawPath);
      this.#listed(key, listing);
    } catch (err) {
      const fault = faultOf(err);
      if (fault.class === 'not_found' && key !== ROOT) this.#drop(key);
      else this.#put(key, { state: 'failed', entries: [], fault });
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    const again = this.#reading.get(key);
    this.#reading.delete(key);
    if (again && this.folders.has(key)) await this.#read(key);
  }

  #listed(key: string, listing: readonly FileEntry[]): void {
    const now = this.folders.get(key);
    const entries = mergeEntries(now?.entries ?? [], listing);
    if (now?.state === 'ready' && !now.stale && entries === now.entries) return;
    this.#put(key, { state: 'ready', entries });
  }

  #put(key: string, folder: Folder): void {
    this.folders = new Map(this.folders).set(key, folder);
  }

  #drop(key: string): void {
    const next = new Map(this.folders);
    next.delete(key);
    this.folders = next;
  }
}

/** Tells whether files may have changed when an item was written. */
export function mayChangeFiles(item: Item): boolean {
  if (item.kind === 'turn_end') return true;
  return item.kind === 'tool' && item.tool.status !== 'pending' && item.tool.status !== 'running' && item.tool.status !== 'denied';
}

const kept = 16;

/** The file panes of the sessions seen last: open folders are as they were left. */
export class FilesRegistry {
  readonly #backend: Reader;
  readonly #stores = new Map<string, FilesStore>();

  constructor(backend: Reader) {
    this.#backend = backend;
  }

  of(session: string): FilesStore {
    const store = this.#stores.get(session) ?? new FilesStore(this.#backend, session);
    // Again at the newest place.
    this.#stores.delete(session);
    this.#stores.set(session, store);
    for (const oldest of this.#stores.keys()) {
      if (this.#stores.size <= kept) break;
      this.#stores.delete(oldest);
    }
    return store;
  }

  /** Reads again what is on show: changes may have been missed. */
  refresh(): void {
    for (const store of this.#stores.values()) store.changed({});
  }

  listen(events: Events): void {
    events.on('files', (e) => this.#stores.get(e.sessionId)?.changed(e.files));
    // Not all sandboxes tell of changes, and not all that they tell arrives.
    events.on('item', (e) => mayChangeFiles(e.item) && this.#stores.get(e.sessionId)?.changed({}));
    events.on('removed', (e) => this.#stores.delete(e.sessionId));
    events.on('gap', (e) => {
      for (const [session, store] of this.#stores) if (!e.sessionId || e.sessionId === session) store.changed({});
    });
  }
}
