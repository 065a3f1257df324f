import type { FileEntry } from '$lib/backend/types';
import type { App } from '$lib/state/app.svelte';
import { completeCommands, typedModel, type Command } from '$lib/state/composer/commands';
import { FolderCache } from '$lib/state/composer/folders';
import { completeFiles, insertMention, mentionAt, type Mention } from '$lib/state/composer/mentions';

export type Completion =
  | { kind: 'command'; command: Command }
  | { kind: 'model'; id: string; provider: string; label: string }
  | { kind: 'file'; entry: FileEntry };

export interface Chosen {
  text: string;
  caret: number;
  /** It is complete: run it. */
  submit: boolean;
}

/** What is offered while a command, a model or a file name is typed. */
export class Completions {
  readonly #app: App;
  readonly #folders: FolderCache;
  items = $state.raw<readonly Completion[]>([]);
  active = $state(0);
  #mention: Mention | null = null;
  #asked = 0;

  constructor(app: App) {
    this.#app = app;
    this.#folders = new FolderCache(app.backend);
  }

  get open(): boolean {
    return this.items.length > 0;
  }

  close(): void {
    this.#asked++;
    if (this.items.length > 0) this.items = [];
  }

  move(step: 1 | -1): void {
    const count = this.items.length;
    this.active = (this.active + step + count) % count;
  }

  /** Looks at the text up to the caret and offers what fits. */
  update(text: string, caret: number): void {
    const asked = ++this.#asked;
    const commands = caret === text.length ? completeCommands(text) : [];
    if (commands.length > 0) return this.#show(commands.map((command) => ({ kind: 'command', command })));
    const model = caret === text.length ? typedModel(text) : null;
    if (model !== null) return void this.#models(model, asked);
    const mention = mentionAt(text, caret);
    const session = this.#app.sessions.selectedId;
    if (!mention || session === '') return this.close();
    void this.#files(session, mention, asked);
  }

  /** The text after choosing an item. */
  choose(index: number, text: string): Chosen | null {
    const item = this.items[index];
    if (!item) return null;
    switch (item.kind) {
      case 'command': {
        const { name, arg } = item.command;
        const done = `/${name}${arg ? ' ' : ''}`;
        return { text: done, caret: done.length, submit: arg === '' };
      }
      case 'model':
        return { text: `/model ${item.id}`, caret: item.id.length + 7, submit: true };
      case 'file':
        return this.#mention ? { ...insertMention(text, this.#mention, item.entry), submit: false } : null;
    }
  }

  #show(items: readonly Completion[]): void {
    this.items = items;
    this.active = 0;
  }

  async #models(typed: string, asked: number): Promise<void> {
    const { catalog } = this.#app;
    if (catalog.providers.length === 0) await catalog.refreshProviders();
    if (asked !== this.#asked) return;
    const want = typed.trim().toLowerCase();
    const provider = this.#app.sessions.selected?.options.provider || this.#app.boot?.defaultProvider || '';
    const models = catalog.models[provider] ?? catalog.provider(provider)?.models ?? [];
    this.#show(
      models
        .filter((m) => `${m.id} ${m.label ?? ''}`.toLowerCase().includes(want))
        .slice(0, 12)
        .map((m) => ({ kind: 'model', id: m.id, provider, label: m.label ?? '' })),
    );
  }

  async #files(session: string, mention: Mention, asked: number): Promise<void> {
    const entries = await this.#folders.list(session, mention.dir);
    if (asked !== this.#asked) return;
    this.#mention = mention;
    const fitting = completeFiles(entries, mention.name);
    // What is written out in full needs no list.
    const [only] = fitting;
    const complete = fitting.length === 1 && only?.kind !== 'dir' && only?.name === mention.name;
    this.#show(complete ? [] : fitting.map((entry) => ({ kind: 'file', entry })));
  }
}
