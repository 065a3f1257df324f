import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { CreateRequest, Fault, SendRequest, Session } from '$lib/backend/types';
import type { Events } from '../events';
import { uploads, type DraftFile } from './files';

/** A message on its way: shown until its durable self is there. */
export interface Pending {
  id: string;
  /** "" while its session is being made. */
  session: string;
  text: string;
  files: readonly DraftFile[];
  /** When it was sent, in ms. */
  at: number;
  /** The program has it: it is durable. */
  acknowledged: boolean;
  /** It waits for the turn under way. */
  queued: boolean;
}

export type Sent = { ok: true } | { ok: false; fault: Fault };

/**
 * Messages from the moment they leave the composer until they are seen in the
 * conversation or in the queue. None is dropped before that.
 */
export class Outbox {
  readonly #backend: Backend;
  #pending = $state.raw<readonly Pending[]>([]);

  constructor(backend: Backend, events: Events) {
    this.#backend = backend;
    events.on('item', (e) => e.item.kind === 'user' && this.settle([e.item.user.messageId]));
    events.on('session', (e) => this.settleQueue(e.session));
    events.on('removed', (e) => this.#drop((p) => p.session === e.sessionId));
  }

  get all(): readonly Pending[] {
    return this.#pending;
  }

  /** Messages of a session that are on their way. */
  of(session: string): readonly Pending[] {
    return this.#pending.filter((p) => p.session === session);
  }

  /** Sends into a session. The message is shown from now on. */
  async send(session: string, id: string, text: string, files: readonly DraftFile[], steer: boolean): Promise<Sent> {
    this.#add({ id, session, text, files });
    return this.#deliver(id, async () => {
      const result = await this.#backend.send(session, await request(id, text, files, steer));
      this.#patch(id, { acknowledged: true, queued: result.queued });
    });
  }

  /** Makes a session with its first message. */
  async start(
    make: (req: CreateRequest) => Promise<Session>,
    req: CreateRequest,
    id: string,
    text: string,
    files: readonly DraftFile[],
  ): Promise<Sent> {
    this.#add({ id, session: '', text, files });
    return this.#deliver(id, async () => {
      const session = await make({ ...req, first: await request(id, text, files, false) });
      this.#patch(id, { session: session.id, acknowledged: true });
    });
  }

  /** These messages were seen where they belong. */
  settle(ids: Iterable<string>): void {
    const seen = new Set(ids);
    this.#drop((p) => seen.has(p.id));
  }

  settleQueue(session: Session): void {
    if (this.#pending.length > 0 && session.queue?.length) this.settle(session.queue.map((q) => q.id));
  }

  async #deliver(id: string, work: () => Promise<void>): Promise<Sent> {
    try {
      await work();
      return { ok: true };
    } catch (err) {
      this.#drop((p) => p.id === id);
      return { ok: false, fault: faultOf(err) };
    }
  }

  #add(message: Pick<Pending, 'id' | 'session' | 'text' | 'files'>): void {
    const fresh: Pending = { ...message, at: Date.now(), acknowledged: false, queued: false };
    this.#pending = [...this.#pending.filter((p) => p.id !== message.id), fresh];
  }

  #patch(id: string, change: Partial<Pending>): void {
    this.#pending = this.#pending.map((p) => (p.id === id ? { ...p, ...change } : p));
  }

  #drop(which: (p: Pending) => boolean): void {
    if (this.#pending.some(which)) this.#pending = this.#pending.filter((p) => !which(p));
  }
}

async function request(id: string, text: string, files: readonly DraftFile[], steer: boolean): Promise<SendRequest> {
  const req: SendRequest = { id, text };
  if (files.length > 0) req.files = await uploads(files);
  if (steer) req.steer = true;
  return req;
}
