import type { AppEvent, EventOf } from '$lib/backend/types';

type Receive<T extends AppEvent['type']> = (event: EventOf<T>) => void;

/** Hands each event of a batch to those who asked for its type, in order. */
export class Events {
  readonly #receivers = new Map<AppEvent['type'], Set<(event: AppEvent) => void>>();

  /** Calls receive for each event of a type until the returned function is called. */
  on<T extends AppEvent['type']>(type: T, receive: Receive<T>): () => void {
    let set = this.#receivers.get(type);
    if (!set) this.#receivers.set(type, (set = new Set()));
    const entry = (event: AppEvent) => receive(event as EventOf<T>);
    set.add(entry);
    return () => set.delete(entry);
  }

  emit(batch: readonly AppEvent[]): void {
    for (const event of batch) {
      for (const receive of this.#receivers.get(event.type) ?? []) receive(event);
    }
  }
}
