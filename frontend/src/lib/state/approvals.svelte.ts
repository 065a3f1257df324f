import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { Decision, Fault } from '$lib/backend/types';

/** The longest note with a denial, in bytes: as in backend/protocol/approval.go. */
export const noteMax = 4096;

/** Answers to approvals: which are on their way, and which could not be given. */
export class Approvals {
  readonly #backend: Backend;
  #busy = $state.raw<ReadonlyMap<string, Decision>>(new Map());
  #faults = $state.raw<ReadonlyMap<string, Fault>>(new Map());

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** The answer that is being given to an approval. */
  busy(id: string): Decision | undefined {
    return this.#busy.get(id);
  }

  /** Why the last answer was not taken. */
  fault(id: string): Fault | undefined {
    return this.#faults.get(id);
  }

  /** Answers an approval; true when the answer is durable. */
  async resolve(session: string, id: string, decision: Decision, note = ''): Promise<boolean> {
    if (this.#busy.has(id)) return false;
    this.#busy = new Map(this.#busy).set(id, decision);
    this.#faults = without(this.#faults, id);
    try {
      await this.#backend.resolve(session, note === '' ? { id, decision } : { id, decision, note });
      return true;
    } catch (err) {
      this.#faults = new Map(this.#faults).set(id, faultOf(err));
      return false;
    } finally {
      this.#busy = without(this.#busy, id);
    }
  }
}

function without<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
  if (!map.has(key)) return map;
  const next = new Map(map);
  next.delete(key);
  return next;
}
