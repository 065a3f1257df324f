import { newMemory, type ListMemory } from '$lib/virtual/memory';
import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { AppEvent, Approval, Fault, Item, Session, TurnEndItem } from '$lib/backend/types';
import type { Events } from '../events';
import type { SessionsStore } from '../sessions.svelte';
import { buildRows, patchRows, strayApprovals, turnText, type Row } from './rows';
import {
  applyDelta,
  applyItem,
  applyOutput,
  dropStreams,
  emptyTranscript,
  mergeNewest,
  prependPage,
  type Entry,
  type Transcript,
} from './transcript';

const noApprovals: readonly Approval[] = [];

export const pageSize = 80;
const cacheSize = 12;
// How many pages are read at most to find an item that search has named.
const revealPages = 50;
// How long to wait for more before reading again what was missed.
const reloadDelay = 120;
// A session that was just made is written a moment later: how often it is
// looked for before it counts as gone.
const newTries = 25;

// The height of a row, in px, before any was measured.
const rowGuess = 90;

/** The conversation that is shown. */
export class Chat {
  readonly #backend: Backend;
  readonly #sessions: SessionsStore;
  readonly #seen: (messages: string[]) => void;
  // Conversations shown before, newest last, so that going back is instant.
  readonly #cache = new Map<string, Transcript>();
  readonly #memories = new Map<string, ListMemory>();
  #id = $state('');
  #transcript = $state.raw(emptyTranscript);
  #loading = $state(false);
  #loadingOlder = $state(false);
  #fault = $state.raw<Fault | null>(null);
  #reveal = $state('');
  #announcement = $state('');
  // The questions that were announced.
  #told: ReadonlySet<string> = new Set();
  // The rows as they were last, and what they were made of.
  #built: { rows: readonly Row[]; of: readonly Entry[]; approvals: readonly Approval[] } = { rows: [], of: [], approvals: [] };
  #timer: ReturnType<typeof setTimeout> | undefined;
  // Grows with each session shown: answers for an earlier one are dropped.
  #generation = 0;
  #tries = 0;
  // The last rewind of each session, as its loaded conversation knows it.
  readonly #rewinds = new Map<string, string>();
  // The shown conversation went back: what was loaded until then gives way to
  // what is read next; what came since stays.
  #outdated: ReadonlySet<string> | null = null;

  readonly #approvals: readonly Approval[] = $derived.by(() => this.#sessions.get(this.#id)?.approvals ?? noApprovals);
  readonly rows: readonly Row[] = $derived.by(() => {
    const { entries } = this.#transcript;
    const { rows, of, approvals } = this.#built;
    const patched = approvals === this.#approvals ? patchRows(rows, of, entries) : null;
    this.#built = { rows: patched ?? buildRows(entries, this.#approvals, rows), of: entries, approvals: this.#approvals };
    return this.#built.rows;
  });
  /** Questions whose call is not among the loaded rows. */
  readonly stray = $derived(strayApprovals(this.#transcript.entries, this.#approvals));
  readonly hasOlder = $derived(this.#transcript.before !== '');

  /** seen is told the ids of the user messages that a page had. */
  constructor(backend: Backend, sessions: SessionsStore, events: Events, seen: (messages: string[]) => void = () => {}) {
    this.#backend = backend;
    this.#sessions = sessions;
    this.#seen = seen;
    events.on('item', (e) => this.#live(e, (t) => applyItem(t, e.item)));
    events.on('delta', (e) => this.#live(e, (t) => applyDelta(t, e.delta)));
    events.on('output', (e) => this.#live(e, (t) => applyOutput(t, e.output)));
    events.on('session', (e) => this.#turnMayBeOver(e.session));
    events.on('session', (e) => this.#asked(e.session));
    events.on('session', (e) => this.#mayHaveGoneBack(e.session));
    events.on('removed', (e) => this.#forget(e.sessionId));
    events.on('gap', (e) => (!e.sessionId || e.sessionId === this.#id) && this.#reloadSoon());
  }

  get id(): string {
    return this.#id;
  }

  get transcript(): Transcript {
    return this.#transcript;
  }

  /** True until the first page is there. */
  get loading(): boolean {
    return this.#loading;
  }

  get loadingOlder(): boolean {
    return this.#loadingOlder;
  }

  /** Why the conversation could not be read. */
  get fault(): Fault | null {
    return this.#fault;
  }

  /** The item to scroll to; "" when there is none. */
  get reveal(): string {
    return this.#reveal;
  }

  /** What a screen reader is told: once, at a turn's end and when the agent asks. */
  get announcement(): string {
    return this.#announcement;
  }

  /** Shows a session's conversation, "" for none; item is scrolled to. */
  async open(id: string, item = ''): Promise<void> {
    if (id !== this.#id) this.#change(id);
    this.#reveal = '';
    if (id === '') return;
    const generation = this.#generation;
    try {
      // First watch, then read: what happens in between comes as events.
      await this.#backend.watch(id);
    } catch {
      // Without live events the conversation can still be read.
    }
    if (generation !== this.#generation) return;
    await this.reload();
    if (item !== '') await this.#find(item, generation);
  }

  /** Reads the newest page again. */
  async reload(): Promise<void> {
    const id = this.#id;
    if (id === '') return;
    const generation = this.#generation;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#loading = !this.#transcript.loaded;
    try {
      const page = await this.#backend.transcript(id, '', pageSize);
      this.#sessions.put(page.session);
      if (generation !== this.#generation) return;
      const known = this.#rewinds.get(id);
      if (known !== undefined && known !== lastRewind(page.session)) this.#outdate();
      this.#rewinds.set(id, lastRewind(page.session));
      this.#transcript = mergeNewest(this.#current(), page);
      this.#outdated = null;
      this.#seen(page.items.flatMap((item) => (item.kind === 'user' ? [item.user.messageId] : [])));
      this.#fault = null;
    } catch (err) {
      if (generation !== this.#generation) return;
      const fault = faultOf(err);
      if (fault.class === 'not_found' && !this.#transcript.loaded && this.#tries++ < newTries) return this.#reloadSoon();
      this.#fault = fault;
    } finally {
      if (generation === this.#generation) this.#loading = !this.#transcript.loaded && this.#timer !== undefined;
    }
  }

  /** Reads the page before the oldest that is loaded; false when there is none or it failed. */
  async loadOlder(): Promise<boolean> {
    const { before } = this.#transcript;
    if (before === '' || this.#loadingOlder) return false;
    const generation = this.#generation;
    this.#loadingOlder = true;
    try {
      const page = await this.#backend.transcript(this.#id, before, pageSize);
      if (generation !== this.#generation) return false;
      this.#transcript = prependPage(this.#transcript, page, before);
      return true;
    } catch (err) {
      if (generation === this.#generation) this.#fault = faultOf(err);
      return false;
    } finally {
      if (generation === this.#generation) this.#loadingOlder = false;
    }
  }

  /** The item was scrolled to. */
  revealed(): void {
    this.#reveal = '';
  }

  /** What the list remembers of the shown conversation: heights, and where the reader was. */
  get memory(): ListMemory {
    const known = this.#memories.get(this.#id) ?? newMemory(rowGuess);
    this.#memories.delete(this.#id);
    this.#memories.set(this.#id, known);
    if (this.#memories.size > cacheSize) this.#memories.delete(this.#memories.keys().next().value as string);
    return known;
  }

  /** What the assistant said in a turn. */
  textOf(turn: string): string {
    return turnText(this.#transcript.entries, turn);
  }

  /** How a turn ended; null while it has not, or that is not loaded. */
  endOf(turn: string): TurnEndItem | null {
    const { entries } = this.#transcript;
    const item = entries.findLast((e) => e.turn === turn && e.item?.kind === 'turn_end')?.item;
    return item?.kind === 'turn_end' ? item.turnEnd : null;
  }

  #change(id: string): void {
    if (this.#id !== '' && this.#transcript.loaded) {
      this.#cache.delete(this.#id);
      this.#cache.set(this.#id, this.#transcript);
      if (this.#cache.size > cacheSize) this.#cache.delete(this.#cache.keys().next().value as string);
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#generation++;
    this.#tries = 0;
    this.#outdated = null;
    this.#id = id;
    this.#built = { rows: [], of: [], approvals: [] };
    this.#transcript = this.#cache.get(id) ?? emptyTranscript;
    this.#fault = null;
    this.#loading = id !== '' && !this.#transcript.loaded;
    this.#loadingOlder = false;
    this.#announcement = '';
    this.#told = new Set(this.#sessions.get(id)?.approvals?.map((a) => a.id));
  }

  async #find(item: string, generation: number): Promise<void> {
    const has = () => this.#transcript.entries.some((e) => e.id === item);
    for (let i = 0; i < revealPages && !has(); i++) {
      if (!(await this.loadOlder()) || generation !== this.#generation) return;
    }
    if (has() && generation === this.#generation) this.#reveal = item;
  }

  #live(event: Extract<AppEvent, { type: 'item' | 'delta' | 'output' }>, apply: (t: Transcript) => Transcript): void {
    if (event.sessionId !== this.#id) return;
    const next = apply(this.#transcript);
    if (next === this.#transcript) return;
    this.#transcript = next;
    if (next.stale) this.#reloadSoon();
    if (event.type === 'item') this.#announce(event.item);
  }

  #asked(session: Session): void {
    if (session.id !== this.#id) return;
    const asked = session.approvals ?? [];
    const fresh = asked.find((a) => !this.#told.has(a.id));
    this.#told = new Set(asked.map((a) => a.id));
    if (fresh) this.#announcement = `The agent asks: ${fresh.ask.title}`;
  }

  // A rewind, or the undoing of one, takes turns out of the conversation or
  // brings them back: what was loaded is no longer what there is.
  #mayHaveGoneBack(session: Session): void {
    const known = this.#rewinds.get(session.id);
    if (known === undefined || known === lastRewind(session)) return;
    if (session.id !== this.#id) return this.#forget(session.id);
    this.#rewinds.set(session.id, lastRewind(session));
    this.#outdate();
    this.#reloadSoon();
  }

  #outdate(): void {
    this.#outdated ??= new Set(this.#transcript.entries.map((e) => e.id));
  }

  // What of the transcript still counts.
  #current(): Transcript {
    const outdated = this.#outdated;
    if (!outdated) return this.#transcript;
    return { ...emptyTranscript, entries: this.#transcript.entries.filter((e) => !outdated.has(e.id)) };
  }

  #forget(id: string): void {
    this.#cache.delete(id);
    this.#rewinds.delete(id);
  }

  #announce(item: Item): void {
    if (item.kind !== 'turn_end') return;
    const said = this.textOf(item.turn).slice(-400);
    const how = { done: 'done', interrupted: 'stopped', failed: 'failed' }[item.turnEnd.outcome];
    this.#announcement = `Turn ${item.turnEnd.index} ${how}. ${said}`;
  }

  // A turn that is over without its last item: the item was missed.
  #turnMayBeOver(session: Session): void {
    if (session.id !== this.#id || session.turn) return;
    const last = this.#transcript.entries.at(-1);
    if (!last || endsTurn(last.item) || session.state === 'needs_you') return;
    this.#transcript = dropStreams(this.#transcript, last.turn);
    this.#reloadSoon();
  }

  #reloadSoon(): void {
    this.#timer ??= setTimeout(() => void this.reload(), reloadDelay);
  }
}

function lastRewind(session: Session): string {
  return session.rewinds?.at(-1)?.id ?? '';
}

// A fork, switch or rewind leaves its receipt as a commit of its own.
function endsTurn(item: Item | null): boolean {
  return item?.kind === 'turn_end' || (item?.kind === 'notice' && Boolean(item.notice.receipt));
}
