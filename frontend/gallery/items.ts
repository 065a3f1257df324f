import type { FileChange, Item, Receipt, TurnEndItem, ToolItem, UserItem } from '$lib/backend/types';

/** Builds the items of one session, in order. */
export class Talk {
  readonly items: Item[] = [];
  #turn = 0;
  #seq = 0;
  #at: number;

  constructor(
    readonly session: string,
    startedAgo = 3_600_000,
  ) {
    this.#at = Date.now() - startedAgo;
  }

  get turn(): string {
    return `${this.session}.${this.#turn}`;
  }

  nextId(): string {
    return `${this.turn}/${String(this.#seq + 1).padStart(6, '0')}`;
  }

  user(text: string, more: Partial<UserItem> = {}): this {
    if (!more.steered) {
      this.#turn++;
      this.#seq = 0;
    }
    return this.#add({ kind: 'user', user: { messageId: `m${this.#turn}-${this.#seq}`, text, ...more } });
  }

  say(text: string, partial = false): this {
    return this.#add({ kind: 'assistant', assistant: { text, partial } });
  }

  think(summary: string): this {
    return this.#add({ kind: 'reasoning', reasoning: { summary } });
  }

  notice(text: string, detail?: string): this {
    return this.#add({ kind: 'notice', notice: { code: 'x', text, detail } });
  }

  tool(name: string, args: object, change: Partial<Omit<ToolItem, 'result'>> = {}, result: Partial<ToolItem['result']> = {}): this {
    const cmd = (args as { cmd?: string }).cmd ?? '';
    return this.#add({
      kind: 'tool',
      tool: {
        callId: `c${this.#seq}`,
        name,
        args: JSON.stringify(args),
        ask: { acts: true, risky: false, title: cmd.split('\n')[0] || name },
        status: 'done',
        started: new Date(this.#at).toISOString(),
        ...change,
        result: { output: '', durationMs: 400, outputBytes: (result.display ?? '').length, ...result },
      },
    });
  }

  run(cmd: string, display = '', exitCode = 0, durationMs = 400, more: Partial<ToolItem['result']> = {}): this {
    return this.tool('exec_command', { cmd }, {}, { display, exitCode, durationMs, log: `log-${this.#turn}-${this.#seq}`, ...more });
  }

  patch(changes: FileChange[]): this {
    return this.tool('apply_patch', { patch: '' }, {}, { display: 'Done', changes });
  }

  fault(fault: Extract<Item, { kind: 'fault' }>['fault']): this {
    return this.#add({ kind: 'fault', fault });
  }

  /** A fork, move or rewind leaves its receipt as a turn of its own. */
  receipt(receipt: Receipt): this {
    return this.#add({ kind: 'notice', notice: { code: receipt.what, text: receipt.what === 'rewind' ? 'Conversation and files were rewound to the end of turn 1' : receipt.what, receipt } });
  }

  summary(text: string, beforeTokens: number): this {
    return this.#add({ kind: 'summary', summary: { text, beforeTokens } });
  }

  end(change: Partial<TurnEndItem> = {}): this {
    const usage = { inputTokens: 17_100, cachedTokens: 12_000, outputTokens: 1300, reasoningTokens: 400, costMicros: 110_000 };
    return this.#add({
      kind: 'turn_end',
      turnEnd: {
        index: this.#turn,
        outcome: 'done',
        durationMs: 72_000,
        steps: 4,
        usage,
        provider: 'openai',
        model: 'gpt-5.6-sol',
        backend: 'local',
        ...change,
      },
    });
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  #add(part: any): this {
    this.#seq++;
    this.#at += 4000;
    const id = `${this.turn}/${String(this.#seq).padStart(6, '0')}`;
    this.items.push({ id, turn: this.turn, seq: this.#seq, time: new Date(this.#at).toISOString(), ...part } as Item);
    return this;
  }
}
