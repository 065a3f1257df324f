import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { Fault, StoreUse } from '$lib/backend/types';
import { bytes, plural } from '$lib/util/format';

type Store = Pick<Backend, 'storeUse' | 'cleanStore'>;

/** What uses the store's space, and what is done about it. */
export class StoreUseView {
  use = $state.raw<StoreUse | null>(null);
  busy = $state<'' | 'reading' | 'cleaning' | 'checking'>('');
  fault = $state.raw<Fault | null>(null);
  /** What the last command found or did, in a sentence. */
  said = $state('');
  readonly #backend: Store;

  constructor(backend: Store) {
    this.#backend = backend;
  }

  read(): Promise<void> {
    return this.#do('reading', async () => {
      this.use = await this.#backend.storeUse(false);
    });
  }

  /** Reads everything, to find what is damaged. */
  check(): Promise<void> {
    return this.#do('checking', async () => {
      this.use = await this.#backend.storeUse(true);
      const damaged = this.use.damaged?.length ?? 0;
      this.said = damaged === 0 ? `All ${plural(this.use.objects, 'object')} can be read.` : '';
    });
  }

  /** Removes what no session needs. */
  clean(): Promise<void> {
    return this.#do('cleaning', async () => {
      const swept = await this.#backend.cleanStore();
      this.said = swept.objects === 0 ? 'There was nothing to remove.' : `${bytes(swept.bytes)} were removed.`;
      const { damaged } = this.use ?? {};
      this.use = { ...(await this.#backend.storeUse(false)), damaged };
    });
  }

  async #do(what: 'reading' | 'cleaning' | 'checking', work: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = what;
    this.fault = null;
    this.said = '';
    try {
      await work();
    } catch (err) {
      this.fault = faultOf(err);
    } finally {
      this.busy = '';
    }
  }
}

export interface Part {
  name: string;
  bytes: number;
  tone: 'files' | 'talk' | 'other' | 'unused';
}

/** The parts of the store, the largest first, without what is empty. */
export function partsOf(use: StoreUse): Part[] {
  const other = Math.max(0, use.bytes - use.free - use.files - use.conversations - use.unused);
  const parts: Part[] = [
    { name: 'Files of snapshots', bytes: use.files, tone: 'files' },
    { name: 'Conversations', bytes: use.conversations, tone: 'talk' },
    { name: 'Output of commands, index and engine', bytes: other, tone: 'other' },
    { name: 'No longer needed', bytes: use.unused + use.free, tone: 'unused' },
  ];
  return parts.filter((p) => p.bytes > 0);
}

/** What destroying a session frees, in a sentence. */
export function ownWords(use: StoreUse | null, session: string): string {
  const own = use?.sessions.find((s) => s.id === session)?.own;
  const what = 'Its snapshots go too, as far as no other session needs them';
  return own ? `${what}: ${bytes(own)}.` : `${what}.`;
}
