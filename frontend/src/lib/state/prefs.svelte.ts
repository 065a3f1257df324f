import type { Backend } from '$lib/backend/backend';
import { defaults, parsePrefs, type Prefs } from './prefs';

const settle = 400;

/** The page's own preferences: kept by the program a moment after they change. */
export class PrefsStore {
  #value = $state.raw<Prefs>(defaults);
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  get value(): Prefs {
    return this.#value;
  }

  load(raw: unknown): void {
    this.#value = parsePrefs(raw);
  }

  update(change: (prefs: Prefs) => Prefs): void {
    const next = change(this.#value);
    if (next === this.#value) return;
    this.#value = next;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), settle);
  }

  set<K extends keyof Prefs>(key: K, value: Prefs[K]): void {
    this.update((p) => (p[key] === value ? p : { ...p, [key]: value }));
  }

  /** Saves now what still waits to be saved. */
  flush(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // A failed save costs a pane width or a draft; the next change tries again.
    this.#backend.savePrefs(JSON.stringify(this.#value)).catch(() => {});
  }
}
