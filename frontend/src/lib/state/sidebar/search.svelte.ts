import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { Fault, SearchHit, Session } from '$lib/backend/types';
import { matches, words } from '$lib/util/words';
import { activity } from './groups';

const debounce = 180;
const minLength = 2;

export interface Found {
  session: Session;
  /** The item whose text was found; "" when the title was. */
  item: string;
  snippet: string;
}

/** The search of the session list: titles at once, contents a moment later. */
export class SessionSearch {
  readonly #backend: Backend;
  readonly #sessions: () => readonly Session[];
  #query = $state('');
  #hits = $state.raw<readonly SearchHit[]>([]);
  #pending = $state(false);
  #fault = $state.raw<Fault | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  readonly active: boolean = $derived(this.#query.trim() !== '');
  readonly words: readonly string[] = $derived(words(this.#query));
  readonly results: readonly Found[] = $derived.by(() => this.#collect());

  constructor(backend: Backend, sessions: () => readonly Session[]) {
    this.#backend = backend;
    this.#sessions = sessions;
  }

  get query(): string {
    return this.#query;
  }

  /** True while the contents are being searched. */
  get pending(): boolean {
    return this.#pending;
  }

  get fault(): Fault | null {
    return this.#fault;
  }

  set(query: string): void {
    this.#query = query;
    clearTimeout(this.#timer);
    this.#asked++;
    const text = query.trim();
    this.#fault = null;
    if (text.length < minLength) {
      this.#hits = [];
      this.#pending = false;
      return;
    }
    this.#pending = true;
    this.#timer = setTimeout(() => void this.#ask(text, this.#asked), debounce);
  }

  async #ask(text: string, asked: number): Promise<void> {
    let hits: readonly SearchHit[] = [];
    let fault: Fault | null = null;
    try {
      hits = await this.#backend.search(text);
    } catch (err) {
      fault = faultOf(err);
    }
    // Only the answer to what is in the field now counts.
    if (asked !== this.#asked) return;
    this.#hits = hits;
    this.#fault = fault;
    this.#pending = false;
  }

  #collect(): Found[] {
    if (!this.active) return [];
    const sessions = [...this.#sessions()].sort((a, b) => activity(b) - activity(a));
    const titled = sessions.filter((s) => matches(this.words, s.title));
    const found: Found[] = titled.map((session) => ({ session, item: '', snippet: '' }));
    const known = new Map(sessions.map((s) => [s.id, s]));
    const byTitle = new Set(titled.map((s) => s.id));
    for (const hit of this.#hits) {
      const session = known.get(hit.sessionId);
      if (!session || (!hit.item && byTitle.has(session.id))) continue;
      found.push({ session, item: hit.item ?? '', snippet: hit.snippet ?? '' });
    }
    return found;
  }
}
