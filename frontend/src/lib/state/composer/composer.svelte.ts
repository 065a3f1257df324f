import { isBusy } from '../sessions';
import type { App } from '../app.svelte';
import { withDraft, withHistory } from '../prefs';
import { uuid } from '$lib/util/uuid';
import { faultOf } from '$lib/backend/errors';
import type { Fault, Session } from '$lib/backend/types';
import { isKnown, parseCommand, type ParsedCommand } from './commands';
import { addFiles, pasteMax, release, textFile, type DraftFile } from './files';
import { isEmpty, mergeBack, sendBlock, walkHistory, type HistoryWalk } from './send';

/** A line under the field about what was just tried. */
export interface Note {
  tone: 'plain' | 'bad';
  text: string;
  more?: string;
}

interface Local {
  files: readonly DraftFile[];
  note: Note | null;
  /** A message that may have arrived although sending failed: sent again under its id. */
  retry: { id: string; text: string } | null;
}

const nothing: Local = { files: [], note: null, retry: null };

// How long the first Esc waits for the second.
const stopWindow = 1500;
// How long a sent message may take to be seen in the conversation.
const seenWithin = 4000;

/** What is being written, per session, and what sending it does. */
export class Composer {
  readonly #app: App;
  // Whole texts of this run; the preferences keep them over restarts.
  #texts = $state.raw<Readonly<Record<string, string>>>({});
  #local = $state.raw<Readonly<Record<string, Local>>>({});
  #walk: HistoryWalk | null = null;
  #stopArmed = $state(false);
  #stopTimer: ReturnType<typeof setTimeout> | undefined;
  /** A session is being made for the first message. */
  starting = $state(false);

  constructor(app: App) {
    this.#app = app;
    // A message that we thought lost has arrived: its text need not stay.
    app.events.on('item', (e) => e.item.kind === 'user' && this.#arrived(e.sessionId, e.item.user.messageId));
  }

  get session(): Session | undefined {
    return this.#app.sessions.selected;
  }

  get key(): string {
    return this.#app.sessions.selectedId;
  }

  get text(): string {
    return this.#textOf(this.key);
  }

  get files(): readonly DraftFile[] {
    return this.#at(this.key).files;
  }

  get note(): Note | null {
    return this.#at(this.key).note;
  }

  get empty(): boolean {
    return isEmpty({ text: this.text, files: this.files.length });
  }

  get busy(): boolean {
    return this.session !== undefined && isBusy(this.session);
  }

  /** Why sending is not possible, "" when it is. */
  get block(): string {
    return sendBlock({ text: this.text, files: this.files.length }, this.session, this.#app.engine);
  }

  /** True after the first Esc: the second stops the turn. */
  get stopArmed(): boolean {
    return this.#stopArmed;
  }

  setText(text: string, key = this.key): void {
    this.#texts = { ...this.#texts, [key]: text };
    this.#app.prefs.update((p) => ((p.drafts[key] ?? '') === text ? p : withDraft(p, key, text)));
    if (key === this.key) this.#walk = null;
    if (this.#at(key).note) this.#set(key, { note: null });
  }

  attach(files: readonly File[]): void {
    const key = this.key;
    const taken = addFiles(this.files, files);
    const note: Note | null = taken.errors.length > 0 ? { tone: 'bad', text: taken.errors.join(' ') } : null;
    this.#set(key, { files: taken.files, note });
  }

  /** Takes a pasted text as a file when it is too long to be typed; true if it did. */
  attachLongText(text: string): boolean {
    if (text.length <= pasteMax) return false;
    this.attach([textFile(text)]);
    if (!this.note) this.#set(this.key, { note: { tone: 'plain', text: 'The long text was attached as a file.' } });
    return true;
  }

  detach(id: string): void {
    release(this.files.filter((f) => f.id === id));
    this.#set(this.key, { files: this.files.filter((f) => f.id !== id), note: null });
  }

  /** Replaces the text with an earlier or later message; false at the end of the history. */
  recall(step: -1 | 1): boolean {
    const next = walkHistory(this.#app.prefs.value.history, this.#walk, step, this.text);
    if (!next) return false;
    this.setText(next.text);
    this.#walk = next.walk;
    return true;
  }

  get recalling(): boolean {
    return this.#walk !== null;
  }

  /** Sends the draft or runs its command. steer: into the turn under way. */
  async submit(steer = false): Promise<void> {
    const { key, text, files } = this;
    if (this.empty || this.starting) return;
    const command = files.length === 0 ? parseCommand(text) : null;
    if (command) return this.#run(command);
    if (this.block) return this.#say(key, { tone: 'bad', text: this.block });
    const retry = this.#at(key).retry;
    const id = retry?.text === text ? retry.id : uuid();
    this.setText('');
    this.#set(key, { files: [], note: null, retry: null });
    this.#app.prefs.update((p) => withHistory(p, text.trim()));
    const sent = key === '' ? await this.#start(id, text, files) : await this.#app.outbox.send(key, id, text, files, steer && this.busy);
    if (!sent.ok) this.#giveBack(key, id, text, files, sent.fault);
    else setTimeout(() => this.#lookFor(id), seenWithin);
  }

  // The message is durable, but nothing has shown it: its event was missed.
  #lookFor(id: string): void {
    const pending = this.#app.outbox.all.find((p) => p.id === id);
    if (pending && pending.session === this.#app.chat.id) void this.#app.chat.reload();
  }

  /** Esc was pressed with nothing else to close: the second one stops the turn. */
  escape(): void {
    const { session } = this;
    if (!session || !isBusy(session) || session.turn?.stopping) return;
    clearTimeout(this.#stopTimer);
    if (this.#stopArmed) {
      this.#stopArmed = false;
      void this.#app.stop(session.id);
      return;
    }
    this.#stopArmed = true;
    this.#stopTimer = setTimeout(() => (this.#stopArmed = false), stopWindow);
  }

  async #start(id: string, text: string, files: readonly DraftFile[]) {
    this.starting = true;
    try {
      return await this.#app.outbox.start((req) => this.#app.create(req), this.#app.defaultRequest(), id, text, files);
    } finally {
      this.starting = false;
    }
  }

  // Nothing that was written is lost: what could not be sent is in the field
  // again, before what was typed since.
  #giveBack(key: string, id: string, text: string, files: readonly DraftFile[], fault: Fault): void {
    const typed = this.#textOf(key);
    const merged = mergeBack(text, typed);
    this.setText(merged, key);
    this.#set(key, {
      files: [...files, ...this.#at(key).files],
      note: { tone: 'bad', text: `Not sent: ${fault.happened}`, more: fault.remedy },
      retry: merged === text ? { id, text } : null,
    });
  }

  #arrived(session: string, message: string): void {
    const { retry } = this.#at(session);
    if (retry?.id !== message) return;
    if (this.#textOf(session) === retry.text) this.setText('', session);
    this.#set(session, nothing);
  }

  async #run(command: ParsedCommand): Promise<void> {
    const { key, session } = this;
    if (!isKnown(command.name)) {
      const text = `There is no command /${command.name}. To send it as text, put a space before it.`;
      return this.#say(key, { tone: 'bad', text });
    }
    const answer = await runCommand(this.#app, session, command).catch(failed);
    if (answer?.tone !== 'bad') this.setText('', key);
    this.#say(key, answer);
  }

  #say(key: string, note: Note | null): void {
    this.#set(key, { note });
  }

  #textOf(key: string): string {
    return this.#texts[key] ?? this.#app.prefs.value.drafts[key] ?? '';
  }

  #at(key: string): Local {
    return this.#local[key] ?? nothing;
  }

  #set(key: string, change: Partial<Local>): void {
    this.#local = { ...this.#local, [key]: { ...this.#at(key), ...change } };
  }
}

function failed(err: unknown): Note {
  const fault = faultOf(err);
  return { tone: 'bad', text: fault.happened, more: fault.remedy };
}

/** Does what a command says; returns what there is to tell about it. Rejects when the program refuses. */
export async function runCommand(app: App, session: Session | undefined, { name, arg }: ParsedCommand): Promise<Note | null> {
  const bad = (text: string): Note => ({ tone: 'bad', text });
  if (name === 'help') {
    app.ui.open({ kind: 'shortcuts' });
    return null;
  }
  if (!session) return bad('There is no session yet: send a message first.');
  switch (name) {
    case 'switch':
      if (session.moving) return bad('The session is on its way somewhere already.');
      app.ui.open({ kind: 'switch', session: session.id });
      return null;
    case 'fork':
      app.ui.open({ kind: 'fork', session: session.id, title: arg });
      return null;
    case 'title':
      if (arg === '') return bad('Write the new name after /title.');
      await app.backend.rename(session.id, arg);
      return null;
    case 'done':
      app.ui.open({ kind: 'done', session: session.id });
      return null;
    case 'stop':
      if (!isBusy(session)) return bad('Nothing is running.');
      await app.backend.stop(session.id);
      return null;
    case 'retry':
      if (session.state !== 'failed') return bad('The last turn did not fail: there is nothing to retry.');
      await app.backend.retryTurn(session.id);
      return null;
    case 'model':
      if (arg === '') return bad('Write the name of a model after /model, or choose one above.');
      await app.backend.setOptions(session.id, { model: arg });
      return { tone: 'plain', text: isBusy(session) ? `${arg} answers from the next turn on.` : `The next answer comes from ${arg}.` };
    default:
      return bad(`There is no command /${name}.`);
  }
}
