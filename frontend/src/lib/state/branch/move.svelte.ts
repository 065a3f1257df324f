import { untrack } from 'svelte';
import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { Carry, Fault, Receipt, RewindRequest, RewindWhat, SwitchRequest, Target, Turn } from '$lib/backend/types';

/** What to do with a turn that is under way. */
export type Busy = 'end' | 'stop';

/** What the switch dialog asks, and the switch. It goes on when the dialog is closed. */
export class SwitchForm {
  readonly session: string;
  when = $state<Busy>('end');
  carry = $state.raw<Carry | null>(null);
  running = $state(false);
  /** Why it did not happen: the session is where it was. */
  fault = $state.raw<Fault | null>(null);
  receipt = $state.raw<Receipt | null>(null);
  readonly #backend: Pick<Backend, 'switchSession' | 'carry'>;

  constructor(backend: Pick<Backend, 'switchSession' | 'carry'>, session: string) {
    this.#backend = backend;
    this.session = session;
  }

  /** Reads what would be carried. It is only told: a switch works without. */
  async load(): Promise<void> {
    try {
      this.carry = await this.#backend.carry(this.session, '');
    } catch {
      this.carry = null;
    }
  }

  /** Switches; the receipt when it did, null when all stayed as it was. */
  async run(target: Target, busy: boolean): Promise<Receipt | null> {
    if (this.running) return null;
    this.running = true;
    this.fault = null;
    try {
      const req: SwitchRequest = { id: this.session, target };
      if (busy) req.when = this.when;
      const receipt = await this.#backend.switchSession(req);
      this.receipt = receipt;
      this.fault = receipt.fault ?? null;
      return receipt.fault ? null : receipt;
    } catch (err) {
      this.fault = faultOf(err);
      return null;
    } finally {
      this.running = false;
    }
  }
}

/** What the rewind dialog asks, and the rewind. */
export class RewindForm {
  readonly session: string;
  /** To the end of this turn; "" is the beginning. */
  turn = $state('');
  what = $state<RewindWhat>('both');
  when = $state<Busy>('end');
  turns = $state.raw<readonly Turn[]>([]);
  loaded = $state(false);
  running = $state(false);
  fault = $state.raw<Fault | null>(null);
  readonly #backend: Pick<Backend, 'rewind' | 'turns' | 'carry'>;
  #first = $state(false);
  // No turn was named: the one before the last is what is most likely meant.
  readonly #open: boolean;

  readonly chosen: Turn | undefined = $derived(this.turns.find((t) => t.id === this.turn));
  /** Its number; 0 is the beginning. */
  readonly index: number = $derived(this.chosen?.index ?? 0);
  readonly last: number = $derived(this.turns.at(-1)?.index ?? 0);
  /** There is a snapshot to take files back to. */
  readonly files: boolean = $derived(this.turn === '' ? this.#first : Boolean(this.chosen?.snapshot));

  constructor(backend: Pick<Backend, 'rewind' | 'turns' | 'carry'>, session: string, turn?: string) {
    this.#backend = backend;
    this.session = session;
    this.#open = turn === undefined;
    untrack(() => (this.turn = turn ?? ''));
  }

  async load(): Promise<void> {
    try {
      this.turns = await this.#backend.turns(this.session);
      // The files of the beginning are before the first turn that has any.
      this.#first = this.turns.some((t) => t.snapshot);
      if (this.#open && !this.loaded) this.turn = this.turns.at(-2)?.id ?? '';
      this.loaded = true;
      this.fault = null;
    } catch (err) {
      this.fault = faultOf(err);
    }
  }

  async run(busy: boolean): Promise<Receipt | null> {
    if (this.running) return null;
    this.running = true;
    this.fault = null;
    try {
      const req: RewindRequest = { id: this.session, what: this.what };
      if (this.turn) req.turn = this.turn;
      if (busy) req.when = this.when;
      const receipt = await this.#backend.rewind(req);
      this.fault = receipt.fault ?? null;
      return receipt.fault ? null : receipt;
    } catch (err) {
      this.fault = faultOf(err);
      return null;
    } finally {
      this.running = false;
    }
  }
}
