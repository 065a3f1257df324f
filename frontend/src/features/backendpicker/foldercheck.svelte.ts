import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import { folderVerdict, type FolderVerdict, type Purpose } from './folder';

const settle = 200;

/** Asks what a folder would mean as a workspace, once the typing has settled. */
export class FolderCheck {
  /** Null while nothing is known. */
  verdict = $state.raw<FolderVerdict | null>(null);
  checking = $state(false);
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #backend: Pick<Backend, 'folderInfo'>;
  readonly #purpose: Purpose;

  constructor(backend: Pick<Backend, 'folderInfo'>, purpose: Purpose = 'new') {
    this.#backend = backend;
    this.#purpose = purpose;
  }

  check(path: string, wait = settle): void {
    clearTimeout(this.#timer);
    const ask = ++this.#asked;
    this.verdict = null;
    this.checking = path !== '';
    if (path === '') return;
    if (!path.startsWith('/')) {
      this.checking = false;
      this.verdict = { tone: 'bad', text: 'Give the whole path, beginning with /.', usable: false };
      return;
    }
    this.#timer = setTimeout(() => void this.#ask(path, ask), wait);
  }

  async #ask(path: string, ask: number): Promise<void> {
    let verdict: FolderVerdict;
    try {
      verdict = folderVerdict(await this.#backend.folderInfo(path), this.#purpose);
    } catch (err) {
      const fault = faultOf(err);
      verdict = { tone: 'bad', text: fault.happened, more: fault.remedy, usable: false };
    }
    // The answer about an earlier path says nothing about this one.
    if (ask !== this.#asked) return;
    this.verdict = verdict;
    this.checking = false;
  }
}
