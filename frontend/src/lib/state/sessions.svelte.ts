import type { Session } from '$lib/backend/types';
import type { Events } from './events';
import { needsYou, remove, replaceAll, upsert, type SessionMap } from './sessions';

/** The records of all sessions and which one is shown. */
export class SessionsStore {
  #map = $state.raw<SessionMap>(new Map());
  #selectedId = $state('');

  /** Unordered: the sidebar sorts them. */
  readonly all: readonly Session[] = $derived([...this.#map.values()]);
  readonly selected: Session | undefined = $derived(this.#map.get(this.#selectedId));
  /** Those with a pending approval or a failed turn, longest waiting first. */
  readonly waiting: readonly Session[] = $derived(
    this.all.filter(needsYou).sort((a, b) => a.updated.localeCompare(b.updated)),
  );
  readonly working: number = $derived(this.all.filter((s) => s.state === 'working').length);

  get selectedId(): string {
    return this.#selectedId;
  }

  get(id: string): Session | undefined {
    return this.#map.get(id);
  }

  /** Shows a session; "" shows none. */
  select(id: string): void {
    this.#selectedId = id;
  }

  load(list: readonly Session[]): void {
    this.#map = replaceAll(this.#map, list);
  }

  put(session: Session): void {
    this.#map = upsert(this.#map, session);
  }

  drop(id: string): void {
    this.#map = remove(this.#map, id);
    if (this.#selectedId === id) this.#selectedId = '';
  }

  listen(events: Events): void {
    events.on('session', (e) => (e.session.state === 'ended' ? this.drop(e.session.id) : this.put(e.session)));
    events.on('removed', (e) => this.drop(e.sessionId));
  }
}
