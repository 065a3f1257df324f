import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { Boot, ChangeScope, CreateRequest, EngineStatus, Fault, OptionsChange, Progress, Session, Settings } from '$lib/backend/types';
import { MarkdownCache } from '$lib/markdown/stream';
import { shortPath, workspacePath } from '$lib/util/paths';
import { uuid } from '$lib/util/uuid';
import { onWindowSize } from '$lib/util/window-size';
import { Approvals } from './approvals.svelte';
import { CatalogStore } from './catalog.svelte';
import { Composer } from './composer/composer.svelte';
import { Outbox } from './composer/outbox.svelte';
import { Clock } from './clock.svelte';
import { Events } from './events';
import { Objects } from './objects';
import { ChangesRegistry } from './changes/changes.svelte';
import { Uploader } from './files/uploader.svelte';
import { FilesRegistry } from './files/files.svelte';
import { PrefsStore } from './prefs.svelte';
import { SessionsStore } from './sessions.svelte';
import { listRows, neighbour } from './sidebar/groups';
import { Theme } from './theme';
import { Chat } from './transcript/chat.svelte';
import { Disclosure } from './transcript/disclosure.svelte';
import { UiStore, type Command } from './ui.svelte';

const maxRecent = 12;

/** Long work under way, with the session that it is for; "" when it is for none. */
export type Task = Progress & { sessionId: string };

/**
 * The page's state and what can be done with it. One instance is made in
 * main.ts (or by a test, with its own backend) and reached by `getApp()`.
 */
export class App {
  readonly backend: Backend;
  readonly events = new Events();
  readonly sessions = new SessionsStore();
  readonly ui = new UiStore();
  readonly prefs: PrefsStore;
  readonly catalog: CatalogStore;
  readonly files: FilesRegistry;
  readonly changes: ChangesRegistry;
  readonly uploader: Uploader;
  readonly theme = new Theme();
  readonly chat: Chat;
  readonly approvals: Approvals;
  readonly outbox: Outbox;
  readonly composer: Composer;
  readonly objects: Objects;
  readonly disclosure = new Disclosure();
  readonly clock = new Clock();
  readonly markdown = new MarkdownCache(400);

  /** Null until the program has answered. */
  boot = $state.raw<Boot | null>(null);
  bootFault = $state.raw<Fault | null>(null);
  settings = $state.raw<Settings | null>(null);
  engine = $state.raw<EngineStatus | null>(null);
  /** Long tasks under way, by id. */
  progress = $state.raw<ReadonlyMap<string, Task>>(new Map());

  /** Runs a command of the window; the shell puts its own here while it is shown. */
  run: (command: Command) => void = () => {};

  constructor(backend: Backend) {
    this.backend = backend;
    this.prefs = new PrefsStore(backend);
    this.catalog = new CatalogStore(backend);
    this.files = new FilesRegistry(backend);
    this.changes = new ChangesRegistry(backend);
    this.uploader = new Uploader(backend, this.ui);
    this.sessions.listen(this.events);
    this.files.listen(this.events);
    this.changes.listen(this.events);
    this.approvals = new Approvals(backend);
    this.outbox = new Outbox(backend, this.events);
    this.chat = new Chat(backend, this.sessions, this.events, (messages) => this.outbox.settle(messages));
    this.composer = new Composer(this);
    this.objects = new Objects(backend);
    this.events.on('removed', (e) => this.#leave(e.sessionId));
    this.events.on('engine', (e) => (this.engine = e.engine));
    this.events.on('progress', (e) => this.#setProgress({ ...e.progress, sessionId: e.sessionId ?? '' }));
    this.events.on('gap', () => void this.reloadSessions());
  }

  /** Reads all that is needed to draw the window, and listens. */
  async start(): Promise<void> {
    this.backend.onEvents((batch) => this.events.emit(batch));
    window.addEventListener('pagehide', () => this.prefs.flush());
    window.addEventListener('focus', () => this.files.refresh());
    // It is only a convenience: a size that can't be kept is nothing to tell.
    onWindowSize((width, height) => void this.backend.keepWindowSize(width, height).catch(() => undefined));
    await this.load();
  }

  async load(): Promise<void> {
    this.bootFault = null;
    try {
      const boot = await this.backend.boot();
      this.#setSettings(boot.settings);
      this.prefs.load(boot.settings.prefs);
      this.engine = boot.engine;
      this.sessions.load(boot.sessions);
      if (this.sessions.get(this.prefs.value.selected)) this.select(this.prefs.value.selected);
      this.boot = boot;
    } catch (err) {
      this.bootFault = faultOf(err);
    }
  }

  /** Reads again who answers by default: a key or a server came or went. */
  async refreshDefaults(): Promise<void> {
    try {
      this.boot = await this.backend.boot();
    } catch (err) {
      this.ui.fail(err);
    }
  }

  async reloadSessions(): Promise<void> {
    try {
      this.sessions.load(await this.backend.sessions());
    } catch (err) {
      this.ui.fail(err);
    }
  }

  /** Shows a session and has its live events sent; "" shows none. item is scrolled to. */
  select(id: string, item = ''): void {
    this.sessions.select(id);
    this.prefs.set('selected', id);
    this.ui.sidebarOver = false;
    void this.chat.open(id, item);
  }

  /** Shows the next or previous session of the list. */
  step(by: 1 | -1): void {
    const next = neighbour(listRows(this.sessions.all, Date.now(), new Set(this.prefs.value.collapsed)), this.sessions.selectedId, by);
    if (next) this.select(next);
  }

  /** Makes a session and shows it. Rejects when it can't be made. */
  async create(req: CreateRequest): Promise<Session> {
    const session = await this.backend.create({ id: uuid(), ...req });
    this.sessions.put(session);
    this.select(session.id);
    return session;
  }

  /** A request for a session with the settings' defaults. */
  defaultRequest(): CreateRequest {
    const s = this.settings;
    return {
      id: uuid(),
      backend: s?.backend || 'local',
      options: {
        provider: s?.provider ?? '',
        model: s?.model ?? '',
        effort: s?.effort ?? '',
        approve: s?.approve || 'auto',
      },
    };
  }

  async rename(id: string, title: string): Promise<void> {
    await this.#try(() => this.backend.rename(id, title));
  }

  /** Ends a session for good. Rejects when it can't. */
  async destroy(id: string, removeWorkspace: boolean): Promise<void> {
    await this.backend.destroy(id, removeWorkspace);
    this.sessions.drop(id);
    this.#leave(id);
  }

  async stop(id: string): Promise<void> {
    await this.#try(() => this.backend.stop(id));
  }

  async retryTurn(id: string): Promise<void> {
    await this.#try(() => this.backend.retryTurn(id));
  }

  async setOptions(id: string, change: OptionsChange): Promise<void> {
    await this.#try(() => this.backend.setOptions(id, change));
  }

  /** Saves settings. Rejects when they can't be kept. */
  async saveSettings(change: Partial<Settings>): Promise<void> {
    if (!this.settings) return;
    this.#setSettings(await this.backend.saveSettings({ ...this.settings, ...change }));
  }

  /** Shows what has changed in the workspace: in a scope, else as it was shown last. */
  showChanges(scope?: ChangeScope): void {
    const session = this.sessions.selectedId;
    if (session === '') return;
    if (scope) this.changes.of(session).setScope(scope);
    this.#showPane('changes');
  }

  #showPane(pane: UiStore['pane']): void {
    this.ui.pane = pane;
    this.prefs.set('workspaceHidden', false);
    this.ui.workspaceOver = true;
  }

  /** Keeps a folder for the lists of recent ones. A failed save costs an entry of them. */
  rememberFolder(folder: string): void {
    const others = (this.settings?.recentFolders ?? []).filter((other) => other !== folder);
    this.saveSettings({ recentFolders: [folder, ...others].slice(0, maxRecent) }).catch(() => {});
  }

  /** Shows a file of the session in the workspace pane, by its path as the model writes it. */
  async showFile(path: string): Promise<void> {
    const session = this.sessions.selected;
    if (!session) return;
    const file = workspacePath(path, session.workspace);
    try {
      const entries = await this.backend.listDir(session.id, file.slice(0, Math.max(0, file.lastIndexOf('/'))));
      const entry = entries.find((e) => e.path === file && e.kind !== 'dir');
      if (!entry) return this.ui.toast(`There is no file ${file} in the workspace.`);
      this.files.of(session.id).open(entry);
      this.#showPane('files');
    } catch (err) {
      this.ui.fail(err);
    }
  }

  /** The long work under way for the first of these sessions that has some. */
  taskOf(sessions: readonly string[]): Task | undefined {
    const tasks = [...this.progress.values()];
    for (const id of sessions) {
      const task = tasks.find((t) => t.sessionId === id);
      if (task) return task;
    }
    return undefined;
  }

  /** A path as it is shown. */
  shortPath(path: string, max?: number): string {
    return shortPath(path, this.boot?.home ?? '', max);
  }

  /** Copies a text and says so: "Path copied." False if it can't. */
  async copy(text: string, what: string): Promise<boolean> {
    try {
      await this.backend.copyText(text);
      this.ui.toast(`${what} copied.`);
      return true;
    } catch (err) {
      this.ui.fail(err);
      return false;
    }
  }

  toggleSidebar(): void {
    if (this.ui.slim) this.ui.sidebarOver = !this.ui.sidebarOver;
    else this.prefs.set('sidebarHidden', !this.prefs.value.sidebarHidden);
  }

  showSidebar(): void {
    if (this.ui.slim) this.ui.sidebarOver = true;
    else this.prefs.set('sidebarHidden', false);
  }

  toggleWorkspace(): void {
    this.prefs.set('workspaceHidden', !this.prefs.value.workspaceHidden);
  }

  // The shown session is gone.
  #leave(id: string): void {
    if (this.chat.id === id) this.select('');
  }

  // For commands whose failure has no better place than a toast.
  async #try(command: () => Promise<void>): Promise<void> {
    try {
      await command();
    } catch (err) {
      this.ui.fail(err);
    }
  }

  #setSettings(settings: Settings): void {
    this.settings = settings;
    this.theme.set(settings.theme);
  }

  #setProgress(progress: Task): void {
    const next = new Map(this.progress);
    if (progress.end) next.delete(progress.id);
    else next.set(progress.id, progress);
    this.progress = next;
  }
}
