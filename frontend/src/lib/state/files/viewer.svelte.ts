import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { Fault, FileContent, FileEntry } from '$lib/backend/types';
import { MAX_IMAGE_BYTES, WINDOW_BYTES, isWhole, pageOffset, reloadOffset, type PageTo } from './windows';

/** The file that is shown beside the tree, one window of it at a time. */
export class ViewerStore {
  file = $state.raw<FileEntry | null>(null);
  content = $state.raw<FileContent | null>(null);
  fault = $state.raw<Fault | null>(null);
  loading = $state(false);
  /** The file was deleted: what is shown is what it was. */
  gone = $state(false);
  /** Where the reader comes from, so that paging up, and going to the end, begins at the window's end. */
  arrivedFrom = $state<'above' | 'below'>('above');
  #ask = 0;
  #reading = false;
  #again = false;
  readonly #backend: Pick<Backend, 'readFile'>;
  readonly #session: string;

  constructor(backend: Pick<Backend, 'readFile'>, session: string) {
    this.#backend = backend;
    this.#session = session;
  }

  async open(file: FileEntry): Promise<void> {
    if (this.file?.path === file.path && this.file.rawPath === file.rawPath && !this.fault) return this.refresh();
    this.file = file;
    this.content = null;
    this.gone = false;
    this.arrivedFrom = 'above';
    await this.#load(0);
  }

  close(): void {
    this.#ask++;
    this.file = null;
    this.content = null;
    this.fault = null;
    this.loading = false;
  }

  async page(to: PageTo): Promise<void> {
    if (!this.content) return;
    const offset = pageOffset(this.content, to);
    if (offset === this.content.offset) return;
    this.arrivedFrom = to === 'previous' || to === 'last' ? 'below' : 'above';
    await this.#load(offset);
  }

  retry(): Promise<void> {
    return this.#load(this.content?.offset ?? 0);
  }

  /** Reads again what is shown: it may have changed on disk. One reading at a time. */
  async refresh(): Promise<void> {
    if (!this.file || !this.content) return;
    if (this.#reading) {
      this.#again = true;
      return;
    }
    this.#reading = true;
    try {
      do {
        this.#again = false;
        await this.#reload();
      } while (this.#again);
    } finally {
      this.#reading = false;
    }
  }

  async #load(offset: number): Promise<void> {
    const file = this.file;
    if (!file) return;
    const ask = ++this.#ask;
    this.loading = true;
    try {
      const content = await this.#read(file, offset);
      if (ask !== this.#ask) return;
      this.content = content;
      this.fault = null;
    } catch (err) {
      if (ask !== this.#ask) return;
      this.fault = faultOf(err);
    } finally {
      if (ask === this.#ask) this.loading = false;
    }
  }

  async #reload(): Promise<void> {
    const { file, content: before } = this;
    if (!file || !before) return;
    const ask = this.#ask;
    try {
      let content = await this.#read(file, before.offset);
      if (content.size < before.size && content.bytes === 0 && content.size > 0) {
        content = await this.#read(file, reloadOffset(before, content.size));
      }
      // Another file or window was asked for meanwhile.
      if (ask !== this.#ask) return;
      this.gone = false;
      if (!same(before, content)) this.content = content;
    } catch (err) {
      if (ask !== this.#ask) return;
      const fault = faultOf(err);
      if (fault.class === 'not_found') this.gone = true;
      else this.fault = fault;
    }
  }

  async #read(file: FileEntry, offset: number): Promise<FileContent> {
    const read = (from: number, max: number) =>
      this.#backend.readFile(this.#session, file.path, file.rawPath ?? '', from, max);
    const content = await read(offset, WINDOW_BYTES);
    // A part of an image shows nothing.
    if (content.kind === 'image' && !isWhole(content) && content.size <= MAX_IMAGE_BYTES) return read(0, content.size);
    return content;
  }
}

function same(a: FileContent, b: FileContent): boolean {
  return (
    a.size === b.size &&
    a.offset === b.offset &&
    a.kind === b.kind &&
    a.text === b.text &&
    a.base64 === b.base64 &&
    a.modified === b.modified
  );
}
