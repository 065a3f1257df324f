import { untrack } from 'svelte';
import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { Carry, Fault, ForkRequest, Receipt, Session, Target, Turn, When } from '$lib/backend/types';
import { uuid } from '$lib/util/uuid';

export type ForkBackend = Pick<Backend, 'forkSession' | 'carry' | 'turns'>;

/** One fork that was asked for. */
export interface ForkJob {
  /** The id of the new session. */
  id: string;
  backend: string;
  state: 'waiting' | 'running' | 'done' | 'failed';
  session: Session | null;
  receipt: Receipt | null;
  fault: Fault | null;
}

export interface ForkStart {
  session: string;
  /** The turn after which it forks; "" is now. */
  turn?: string;
  title?: string;
  filesOnly?: boolean;
}

/** What the fork dialog asks, and the forks that come of it. They go on when the dialog is closed. */
export class ForkForm {
  readonly session: string;
  title = $state('');
  filesOnly = $state(false);
  /** What to do when a turn is under way. */
  when = $state<'last' | 'end'>('last');
  carry = $state.raw<Carry | null>(null);
  turns = $state.raw<readonly Turn[]>([]);
  /** Why it is not known what would be carried. */
  fault = $state.raw<Fault | null>(null);
  jobs = $state.raw<readonly ForkJob[]>([]);
  #turn = $state('');
  #asked = 0;
  readonly #backend: ForkBackend;

  constructor(backend: ForkBackend, start: ForkStart) {
    this.#backend = backend;
    this.session = start.session;
    untrack(() => {
      this.#turn = start.turn ?? '';
      this.title = start.title ?? '';
      this.filesOnly = start.filesOnly ?? false;
    });
  }

  // These are asked for when the dialog is gone, too: a $derived would be its own,
  // and end with it.
  get running(): boolean {
    return this.jobs.some((j) => j.state === 'running' || j.state === 'waiting');
  }

  get made(): readonly ForkJob[] {
    return this.jobs.filter((j) => j.state === 'done');
  }

  get failed(): readonly ForkJob[] {
    return this.jobs.filter((j) => j.state === 'failed');
  }

  /** The turn after which it forks; "" is now. */
  get turn(): string {
    return this.#turn;
  }

  set turn(turn: string) {
    if (turn === this.#turn) return;
    this.#turn = turn;
    void this.#readCarry();
  }

  /** Reads what can be chosen and what would be carried. */
  async load(): Promise<void> {
    await Promise.all([this.#readTurns(), this.#readCarry()]);
  }

  /** Forks to each target, one after the other; true when all were made. busy: a turn is under way. */
  async run(targets: readonly Target[], busy: boolean): Promise<boolean> {
    if (this.running || targets.length === 0) return false;
    const kept = this.jobs.filter((j) => j.state === 'done');
    const todo = targets.filter((t) => !kept.some((j) => j.backend === t.backend));
    const several = targets.length > 1;
    const jobs = todo.map((t): ForkJob => ({ id: uuid(), backend: t.backend, state: 'waiting', session: null, receipt: null, fault: null }));
    this.jobs = [...kept, ...jobs];
    for (const [i, target] of todo.entries()) await this.#fork(this.#request(jobs[i]?.id ?? '', target, several, busy));
    return this.failed.length === 0;
  }

  #request(newId: string, target: Target, several: boolean, busy: boolean): ForkRequest {
    const title = this.title.trim();
    const req: ForkRequest = { id: this.session, newId, target };
    if (title) req.title = several ? `${title} [${target.backend}]` : title;
    if (this.#turn) req.turn = this.#turn;
    // An earlier turn is not changed by the one under way.
    const when: When = !busy ? '' : this.#turn ? 'last' : this.when;
    if (when) req.when = when;
    if (this.filesOnly) req.filesOnly = true;
    return req;
  }

  async #fork(req: ForkRequest): Promise<void> {
    const id = req.newId ?? '';
    this.#patch(id, { state: 'running' });
    try {
      const { session, receipt } = await this.#backend.forkSession(req);
      const fault = receipt.fault ?? null;
      this.#patch(id, { state: fault ? 'failed' : 'done', session, receipt, fault });
    } catch (err) {
      this.#patch(id, { state: 'failed', fault: faultOf(err) });
    }
  }

  #patch(id: string, change: Partial<ForkJob>): void {
    this.jobs = this.jobs.map((j) => (j.id === id ? { ...j, ...change } : j));
  }

  async #readTurns(): Promise<void> {
    try {
      this.turns = await this.#backend.turns(this.session);
    } catch {
      // Without the list, it forks from now or from the turn that was chosen.
      this.turns = [];
    }
  }

  async #readCarry(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const carry = await this.#backend.carry(this.session, this.#turn);
      if (asked !== this.#asked) return;
      this.carry = carry;
      this.fault = null;
    } catch (err) {
      if (asked !== this.#asked) return;
      this.carry = null;
      this.fault = faultOf(err);
    }
  }
}
