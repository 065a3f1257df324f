import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { ChangedFile, Changes, ChangeScope, Fault, FileDiff, Receipt, Turn } from '$lib/backend/types';
import type { Events } from '../events';
import { mayChangeFiles } from '../files/files.svelte';
import { changeKey, marksOf } from './marks';

type Reader = Pick<Backend, 'changes' | 'fileDiff' | 'revert' | 'turns'>;

// Changes are read again once the files have been quiet for a moment, and at
// least this often while they are not.
const settle = 500;
const atLeast = 4000;

export const lastTurn: ChangeScope = { turn: 'last', live: true };
export const sinceStart: ChangeScope = { turn: 'start', live: true };

/** The scope of one turn, as its footer offers it. */
export const inTurn = (turn: string): ChangeScope => ({ turn });

export function sameScope(a: ChangeScope, b: ChangeScope): boolean {
  return a.turn === b.turn && Boolean(a.live) === Boolean(b.live);
}

/** What changed in the workspace of one session, between two moments. */
export class ChangesStore {
  #scope = $state.raw<ChangeScope>(lastTurn);
  changes = $state.raw<Changes | null>(null);
  turns = $state.raw<readonly Turn[]>([]);
  loading = $state(false);
  fault = $state.raw<Fault | null>(null);
  #selected = $state('');
  diff = $state.raw<FileDiff | null>(null);
  diffFault = $state.raw<Fault | null>(null);
  diffLoading = $state(false);
  /** Keys of the files that are being put back. */
  reverting = $state.raw<ReadonlySet<string>>(new Set());
  readonly #backend: Reader;
  readonly #session: string;
  #shown = 0;
  #stale = true;
  #asked = 0;
  #askedDiff = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waitsSince = 0;

  // No $derived: it would belong to the component that asked for this store
  // first, and keep its last value when that is gone.
  #marksFor: Changes | null = null;
  #marks = marksOf(null);

  constructor(backend: Reader, session: string) {
    this.#backend = backend;
    this.#session = session;
  }

  get marks(): ReturnType<typeof marksOf> {
    if (this.changes !== this.#marksFor) {
      this.#marksFor = this.changes;
      this.#marks = marksOf(this.changes);
    }
    return this.#marks;
  }

  get file(): ChangedFile | undefined {
    return this.changes?.files.find((f) => changeKey(f) === this.#selected);
  }

  get scope(): ChangeScope {
    return this.#scope;
  }

  /** Key of the file whose difference is shown; "" for none. */
  get selected(): string {
    return this.#selected;
  }

  /** Something shows it: from now on it is kept fresh. Call the result when that ends. */
  show(): () => void {
    this.#shown++;
    if (this.#stale) void this.reload();
    let over = false;
    return () => {
      if (!over) this.#shown--;
      over = true;
    };
  }

  setScope(scope: ChangeScope): void {
    if (sameScope(scope, this.#scope)) return;
    this.#scope = scope;
    this.changes = null;
    this.fault = null;
    this.#stale = true;
    this.#closeDiff();
    if (this.#shown > 0) void this.reload();
  }

  /** The files may have changed; turns: there may be another turn, too. */
  touched(turns = false): void {
    if (!turns && !this.#scope.live) return;
    this.#stale = true;
    if (this.#shown === 0) return;
    const now = Date.now();
    if (this.#timer === undefined) this.#waitsSince = now;
    clearTimeout(this.#timer);
    const wait = Math.max(0, Math.min(settle, this.#waitsSince + atLeast - now));
    this.#timer = setTimeout(() => void this.reload(), wait);
  }

  async reload(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#stale = false;
    const asked = ++this.#asked;
    const scope = this.#scope;
    this.loading = true;
    void this.#readTurns();
    try {
      const changes = await this.#backend.changes(this.#session, scope);
      if (asked !== this.#asked) return;
      this.fault = null;
      // Keeping the object keeps what is drawn of it.
      if (!this.changes || JSON.stringify(this.changes) !== JSON.stringify(changes)) {
        this.changes = changes;
        this.#refreshDiff();
      }
    } catch (err) {
      if (asked === this.#asked) this.fault = faultOf(err);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }

  /** Shows a file's difference. */
  select(file: ChangedFile): void {
    const key = changeKey(file);
    if (key === this.#selected && this.diff) return;
    this.#selected = key;
    this.diff = null;
    void this.#readDiff(file);
  }

  close(): void {
    this.#closeDiff();
  }

  retryDiff(): void {
    if (this.file) void this.#readDiff(this.file);
  }

  /** Puts a file back; rejects when it can't be. */
  async revert(file: ChangedFile): Promise<Receipt> {
    const key = changeKey(file);
    this.reverting = new Set(this.reverting).add(key);
    try {
      const req = { id: this.#session, scope: this.#scope, path: file.path };
      return await this.#backend.revert(file.rawPath ? { ...req, rawPath: file.rawPath } : req);
    } finally {
      const next = new Set(this.reverting);
      next.delete(key);
      this.reverting = next;
      void this.reload();
    }
  }

  #closeDiff(): void {
    this.#askedDiff++;
    this.#selected = '';
    this.diff = null;
    this.diffFault = null;
    this.diffLoading = false;
  }

  #refreshDiff(): void {
    if (this.#selected === '') return;
    if (this.file) void this.#readDiff(this.file);
    else this.#closeDiff();
  }

  async #readDiff(file: ChangedFile): Promise<void> {
    const asked = ++this.#askedDiff;
    this.diffLoading = true;
    this.diffFault = null;
    try {
      const diff = await this.#backend.fileDiff(this.#session, this.#scope, file.path, file.rawPath ?? '');
      if (asked === this.#askedDiff && JSON.stringify(diff) !== JSON.stringify(this.diff)) this.diff = diff;
    } catch (err) {
      if (asked === this.#askedDiff) this.diffFault = faultOf(err);
    } finally {
      if (asked === this.#askedDiff) this.diffLoading = false;
    }
  }

  async #readTurns(): Promise<void> {
    try {
      this.turns = await this.#backend.turns(this.#session);
    } catch {
      // The list of turns is only there to choose from.
    }
  }
}

const kept = 8;

/** The changes of the sessions seen last. */
export class ChangesRegistry {
  readonly #backend: Reader;
  readonly #stores = new Map<string, ChangesStore>();
  readonly #snapshots = new Map<string, string>();

  constructor(backend: Reader) {
    this.#backend = backend;
  }

  of(session: string): ChangesStore {
    const store = this.#stores.get(session) ?? new ChangesStore(this.#backend, session);
    this.#stores.delete(session);
    this.#stores.set(session, store);
    for (const oldest of this.#stores.keys()) {
      if (this.#stores.size <= kept) break;
      this.#stores.delete(oldest);
    }
    return store;
  }

  listen(events: Events): void {
    events.on('files', (e) => this.#stores.get(e.sessionId)?.touched());
    events.on('item', (e) => mayChangeFiles(e.item) && this.#stores.get(e.sessionId)?.touched(e.item.kind === 'turn_end'));
    events.on('session', ({ session }) => {
      // A turn's end, a rewind or a switch has moved what is compared.
      const at = `${session.head ?? ''} ${session.snapshot ?? ''}`;
      if (this.#snapshots.get(session.id) === at) return;
      this.#snapshots.set(session.id, at);
      this.#stores.get(session.id)?.touched(true);
    });
    events.on('removed', (e) => {
      this.#stores.delete(e.sessionId);
      this.#snapshots.delete(e.sessionId);
    });
    events.on('gap', (e) => {
      for (const [session, store] of this.#stores) if (!e.sessionId || e.sessionId === session) store.touched(true);
    });
  }
}
