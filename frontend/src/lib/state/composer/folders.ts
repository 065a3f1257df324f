import type { Backend } from '$lib/backend/backend';
import type { FileEntry } from '$lib/backend/types';

const fresh = 3000;

/** Folders of the workspace, for completing file names: read again after a while. */
export class FolderCache {
  readonly #backend: Backend;
  readonly #entries = new Map<string, { at: number; list: Promise<FileEntry[]> }>();

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** The entries of a folder; none when it can't be read. */
  list(session: string, dir: string): Promise<FileEntry[]> {
    const key = `${session}\n${dir}`;
    const known = this.#entries.get(key);
    if (known && Date.now() - known.at < fresh) return known.list;
    const list = this.#backend.listDir(session, dir).catch((): FileEntry[] => []);
    this.#entries.set(key, { at: Date.now(), list });
    return list;
  }
}
