import type { Backend } from '$lib/backend/backend';
import type { Left } from './state';

/** What has become of a command that was running when its turn ended. */
export class LeftCommand {
  state = $state<Left>('unknown');
  stopping = $state(false);
  readonly #backend: Pick<Backend, 'toolLog' | 'stopCommands'>;

  constructor(backend: Pick<Backend, 'toolLog' | 'stopCommands'>) {
    this.#backend = backend;
  }

  /** Asks whether it still runs; log is the id of its output. */
  async look(session: string, log: string): Promise<void> {
    if (this.state === 'ended' || log === '') return;
    try {
      const { ended } = await this.#backend.toolLog(session, log, -1, 1);
      this.state = ended ? 'ended' : 'runs';
    } catch {
      // Its output is no longer kept, or nobody can tell: what was known stays.
      this.state = 'unknown';
    }
  }

  /** Ends it, with all else that the session has left running. Rejects when it can't. */
  async stop(session: string, log: string): Promise<void> {
    this.stopping = true;
    try {
      await this.#backend.stopCommands(session);
      await this.look(session, log);
    } finally {
      this.stopping = false;
    }
  }
}
