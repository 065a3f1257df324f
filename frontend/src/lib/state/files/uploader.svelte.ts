import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import { base64 } from '$lib/util/base64';
import { plural } from '$lib/util/format';
import type { UiStore } from '../ui.svelte';
import { batches, refusal, uploadedWords, type Dropped } from './upload';

/** Puts dropped files into the workspace, and tells how far it is. */
export class Uploader {
  done = $state(0);
  total = $state(0);
  readonly #backend: Pick<Backend, 'putFiles'>;
  readonly #ui: Pick<UiStore, 'toast'>;

  constructor(backend: Pick<Backend, 'putFiles'>, ui: Pick<UiStore, 'toast'>) {
    this.#backend = backend;
    this.#ui = ui;
  }

  get busy(): boolean {
    return this.total > 0;
  }

  /** Puts files into a folder of a session; says so, or why it stopped. Gives their paths. */
  async put(session: string, dir: string, dropped: readonly Dropped[]): Promise<string[]> {
    const why = this.busy ? 'Other files are being put into the workspace. Wait for their end.' : refusal(dropped);
    if (why) {
      this.#ui.toast(why, { tone: 'bad' });
      return [];
    }
    this.done = 0;
    this.total = dropped.length;
    const written: string[] = [];
    try {
      for (const batch of batches(dir, dropped)) {
        const files = await Promise.all(batch.files.map(async (f) => ({ name: f.name, mime: f.type, base64: await base64(f, f.name) })));
        written.push(...(await this.#backend.putFiles(session, batch.dir, files)));
        this.done += batch.files.length;
      }
      this.#ui.toast(uploadedWords(written.length, dir));
    } catch (err) {
      const fault = faultOf(err);
      const kept = `${written.length.toLocaleString('en')} of ${plural(dropped.length, 'file')} ${written.length === 1 ? 'is' : 'are'} in the workspace.`;
      this.#ui.toast(fault.happened, { tone: 'bad', detail: [kept, fault.remedy].filter(Boolean).join(' ') });
    } finally {
      this.total = 0;
    }
    return written;
  }
}
