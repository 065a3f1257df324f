import { untrack } from 'svelte';
import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { Fault, FolderSize, SnapshotAsk, SnapshotPolicy } from '$lib/backend/types';

/** Tells whether a path is one of some folders, or in one of them. */
export function within(path: string, folders: Iterable<string>): boolean {
  for (const folder of folders) if (path === folder || path.startsWith(`${folder}/`)) return true;
  return false;
}

/** What is left of a workspace without some of its largest folders. */
export function remaining(ask: SnapshotAsk, excluded: ReadonlySet<string>): { files: number; bytes: number } {
  let { files, bytes } = ask;
  for (const folder of ask.largest) {
    if (!excluded.has(folder.path)) continue;
    // A folder in another that is left out is counted with that.
    const others = [...excluded].filter((path) => path !== folder.path);
    if (within(folder.path, others)) continue;
    files -= folder.files;
    bytes -= folder.bytes;
  }
  return { files: Math.max(0, files), bytes: Math.max(0, bytes) };
}

/** A path as it is left out: relative, without what says nothing; "" when it can't be. */
export function cleanPath(path: string): string {
  const parts = path.trim().split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? '' : parts.join('/');
}

/** What a session's snapshots hold, as it is being chosen. */
export class SnapshotChoice {
  readonly session: string;
  excluded = $state.raw<ReadonlySet<string>>(new Set());
  mode = $state<'capture' | 'off'>('capture');
  busy = $state(false);
  fault = $state.raw<Fault | null>(null);
  #whole = $state(false);
  readonly #backend: Pick<Backend, 'setSnapshots'>;

  constructor(backend: Pick<Backend, 'setSnapshots'>, session: string, policy: SnapshotPolicy | undefined) {
    this.#backend = backend;
    this.session = session;
    untrack(() => {
      this.excluded = new Set(policy?.exclude);
      this.mode = policy?.off ? 'off' : 'capture';
      this.#whole = policy?.whole ?? false;
    });
  }

  get whole(): boolean {
    return this.#whole;
  }

  set whole(on: boolean) {
    this.#whole = on;
  }

  toggle(path: string, on: boolean): void {
    const next = new Set(this.excluded);
    if (on) next.add(path);
    else next.delete(path);
    this.excluded = next;
  }

  /** Leaves out a path that was typed; false when it is none. */
  add(typed: string): boolean {
    const path = cleanPath(typed);
    if (path === '') return false;
    this.toggle(path, true);
    return true;
  }

  /** Keeps the choice; true when it is kept. */
  async save(change: Partial<SnapshotPolicy> = {}): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.fault = null;
    const policy: SnapshotPolicy = {};
    const exclude = [...this.excluded].sort();
    if (exclude.length > 0) policy.exclude = exclude;
    if (change.whole ?? this.#whole) policy.whole = true;
    if (change.off ?? this.mode === 'off') policy.off = true;
    try {
      await this.#backend.setSnapshots(this.session, policy);
      return true;
    } catch (err) {
      this.fault = faultOf(err);
      return false;
    } finally {
      this.busy = false;
    }
  }
}

/** The folders to choose from: the largest, and those that are left out already. */
export function offered(ask: SnapshotAsk | null | undefined, excluded: ReadonlySet<string>): FolderSize[] {
  const largest = ask?.largest ?? [];
  const known = new Set(largest.map((f) => f.path));
  const others = [...excluded].filter((path) => !known.has(path)).sort();
  return [...largest, ...others.map((path) => ({ path, files: 0, bytes: 0 }))];
}
