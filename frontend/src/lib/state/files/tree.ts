// The file tree without its looks: what is loaded, what is open, which rows
// that makes, and where a key press leads.
import type { FileEntry, Fault } from '$lib/backend/types';

/** The key of the workspace root. */
export const ROOT = '';

export type FolderState = 'loading' | 'ready' | 'failed';

/** A folder that was opened at least once. */
export interface Folder {
  state: FolderState;
  entries: FileEntry[];
  fault?: Fault;
  /** Something in it changed while it was closed: read it when it is opened. */
  stale?: boolean;
}

export type Folders = ReadonlyMap<string, Folder>;

/** One line of the tree. */
export type Row =
  | {
      kind: 'entry';
      key: string;
      depth: number;
      entry: FileEntry;
      expanded: boolean;
      /** Place among its siblings, from 1, and how many they are. */
      position: number;
      siblings: number;
    }
  | { kind: 'loading' | 'empty'; key: string; depth: number; parent: string }
  | { kind: 'failed'; key: string; depth: number; parent: string; fault?: Fault };

export type EntryRow = Extract<Row, { kind: 'entry' }>;

/**
 * keyOf names an entry uniquely: two files may be shown under the same name
 * when one has odd bytes and the other has their escapes as text.
 */
export function keyOf(entry: Pick<FileEntry, 'path' | 'rawPath'>): string {
  return entry.rawPath ? `${entry.path}\u0000${entry.rawPath}` : entry.path;
}

/** The path as it is shown, of a key. */
export function pathOfKey(key: string): string {
  return partsOfKey(key).path;
}

/** The path and raw path that a key was made of, as the program wants them. */
export function partsOfKey(key: string): { path: string; rawPath: string } {
  const cut = key.indexOf('\u0000');
  return cut < 0 ? { path: key, rawPath: '' } : { path: key.slice(0, cut), rawPath: key.slice(cut + 1) };
}

/** The folder part of a path, ROOT for what is directly in the workspace. */
export function parentPath(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash < 0 ? ROOT : path.slice(0, slash);
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** Folders first, then by name as a reader counts: file2 before file10. */
export function sortEntries(entries: readonly FileEntry[]): FileEntry[] {
  return [...entries].sort((a, b) => {
    const folders = Number(b.kind === 'dir') - Number(a.kind === 'dir');
    return folders || collator.compare(a.name, b.name) || (a.name < b.name ? -1 : 1);
  });
}

function same(a: FileEntry, b: FileEntry): boolean {
  return (
    a.kind === b.kind &&
    a.size === b.size &&
    a.mode === b.mode &&
    a.modified === b.modified &&
    a.target === b.target
  );
}

/**
 * mergeEntries sorts a fresh listing and keeps the objects of what did not
 * change; it returns `before` itself when nothing did, so that nothing is
 * drawn again.
 */
export function mergeEntries(before: readonly FileEntry[], listing: readonly FileEntry[]): FileEntry[] {
  const known = new Map(before.map((entry) => [keyOf(entry), entry]));
  const merged = sortEntries(listing).map((entry) => {
    const old = known.get(keyOf(entry));
    return old && same(old, entry) ? old : entry;
  });
  const unchanged = merged.length === before.length && merged.every((entry, i) => entry === before[i]);
  return unchanged ? (before as FileEntry[]) : merged;
}

export function isHidden(entry: Pick<FileEntry, 'name'>): boolean {
  return entry.name.startsWith('.');
}

/** flatten makes the visible rows, top to bottom. */
export function flatten(folders: Folders, expanded: ReadonlySet<string>, showHidden: boolean): Row[] {
  const rows: Row[] = [];
  const walk = (folderKey: string, depth: number) => {
    const folder = folders.get(folderKey);
    if (!folder || (folder.state === 'loading' && folder.entries.length === 0)) {
      rows.push({ kind: 'loading', key: `${folderKey}\u0000loading`, depth, parent: folderKey });
      return;
    }
    if (folder.state === 'failed') {
      rows.push({ kind: 'failed', key: `${folderKey}\u0000failed`, depth, parent: folderKey, fault: folder.fault });
      return;
    }
    const shown = showHidden ? folder.entries : folder.entries.filter((entry) => !isHidden(entry));
    if (shown.length === 0) {
      rows.push({ kind: 'empty', key: `${folderKey}\u0000empty`, depth, parent: folderKey });
      return;
    }
    shown.forEach((entry, i) => {
      const key = keyOf(entry);
      const open = entry.kind === 'dir' && expanded.has(key);
      rows.push({
        kind: 'entry',
        key,
        depth,
        entry,
        expanded: open,
        position: i + 1,
        siblings: shown.length,
      });
      if (open) walk(key, depth + 1);
    });
  };
  walk(ROOT, 0);
  return rows;
}

/**
 * touched tells which loaded folders a change concerns. No folders named means
 * that anything may have changed.
 */
export function touched(folders: Folders, dirs: readonly string[] | undefined): string[] {
  if (!dirs || dirs.length === 0) return [...folders.keys()];
  const wanted = new Set(dirs.map((dir) => (dir === '.' || dir === '/' ? ROOT : dir.replace(/^\.\/|\/+$/g, ''))));
  return [...folders.keys()].filter((key) => wanted.has(pathOfKey(key)));
}

/** visible tells whether a folder's content is on show: all above it are open. */
export function visible(key: string, expanded: ReadonlySet<string>, folders: Folders): boolean {
  for (let at = key; at !== ROOT; ) {
    if (!expanded.has(at)) return false;
    const parent = parentOf(at, folders);
    if (parent === undefined) return false;
    at = parent;
  }
  return true;
}

/** parentOf finds the loaded folder in which a key is listed. */
export function parentOf(key: string, folders: Folders): string | undefined {
  const path = parentPath(pathOfKey(key));
  for (const [folderKey, folder] of folders) {
    if (pathOfKey(folderKey) !== path) continue;
    if (folder.entries.some((entry) => keyOf(entry) === key)) return folderKey;
  }
  return undefined;
}

/** What a key press asks for. */
export interface Step {
  select?: string;
  expand?: string;
  collapse?: string;
  open?: string;
}

/**
 * step answers a key as a tree widget does: up and down over rows, right opens
 * and enters, left closes and leaves, Home and End, pages, Enter opens.
 */
export function step(rows: readonly Row[], selected: string | undefined, key: string, pageSize = 20): Step {
  const entries = rows.filter((row): row is EntryRow => row.kind === 'entry');
  if (entries.length === 0) return {};
  const at = entries.findIndex((row) => row.key === selected);
  const current = at < 0 ? undefined : entries[at];
  const go = (index: number): Step => ({
    select: entries[Math.max(0, Math.min(entries.length - 1, index))]!.key,
  });
  switch (key) {
    case 'ArrowDown':
      return go(at + 1);
    case 'ArrowUp':
      return at < 0 ? go(entries.length - 1) : go(at - 1);
    case 'Home':
      return go(0);
    case 'End':
      return go(entries.length - 1);
    case 'PageDown':
      return go((at < 0 ? 0 : at) + pageSize);
    case 'PageUp':
      return go((at < 0 ? 0 : at) - pageSize);
    case 'ArrowRight': {
      if (!current) return go(0);
      if (current.entry.kind !== 'dir') return {};
      if (!current.expanded) return { expand: current.key };
      const next = entries[at + 1];
      return next && next.depth > current.depth ? { select: next.key } : {};
    }
    case 'ArrowLeft': {
      if (!current) return {};
      if (current.expanded) return { collapse: current.key };
      for (let i = at - 1; i >= 0; i--) {
        if (entries[i]!.depth < current.depth) return { select: entries[i]!.key };
      }
      return {};
    }
    case 'Enter':
    case ' ':
      if (!current) return {};
      if (current.entry.kind !== 'dir') return { open: current.key };
      return current.expanded ? { collapse: current.key } : { expand: current.key };
    default:
      return {};
  }
}

/** typeAhead finds the next entry whose name begins with what was typed. */
export function typeAhead(rows: readonly Row[], selected: string | undefined, typed: string): string | undefined {
  const entries = rows.filter((row): row is EntryRow => row.kind === 'entry');
  const wanted = typed.toLocaleLowerCase();
  if (!wanted) return undefined;
  const at = entries.findIndex((row) => row.key === selected);
  // A single letter again goes on to the next match; more letters may keep the row.
  const from = at < 0 ? 0 : wanted.length === 1 ? at + 1 : at;
  for (let i = 0; i < entries.length; i++) {
    const row = entries[(from + i) % entries.length]!;
    if (row.entry.name.toLocaleLowerCase().startsWith(wanted)) return row.key;
  }
  return undefined;
}
