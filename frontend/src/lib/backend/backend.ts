import type {
  AppEvent,
  BackendInfo,
  Boot,
  Carry,
  Changes,
  ChangeScope,
  Check,
  CreateRequest,
  FileContent,
  FileDiff,
  FileEntry,
  FolderInfo,
  ForkRequest,
  ForkResult,
  KeyInfo,
  LogPart,
  ModelInfo,
  OptionsChange,
  Page,
  ProviderInfo,
  Receipt,
  Resolution,
  RevertRequest,
  RewindRequest,
  SearchHit,
  SendRequest,
  SendResult,
  Session,
  Settings,
  SnapshotPolicy,
  StoreUse,
  Swept,
  SwitchRequest,
  TestResult,
  Turn,
  Upload,
} from './types';

/**
 * Everything the page asks of the program. Every call may reject with a
 * BackendError; nothing else is thrown. `wails.ts` is the real one, tests and
 * the gallery bring their own.
 */
export interface Backend {
  boot(): Promise<Boot>;
  sessions(): Promise<Session[]>;
  create(req: CreateRequest): Promise<Session>;
  rename(id: string, title: string): Promise<void>;
  destroy(id: string, removeWorkspace: boolean): Promise<void>;

  /** Resolves once the message is durable; the same id again is the same message. */
  send(id: string, req: SendRequest): Promise<SendResult>;
  queuedText(id: string, message: string): Promise<string>;
  editQueued(id: string, message: string, text: string): Promise<void>;
  removeQueued(id: string, message: string): Promise<void>;
  moveQueued(id: string, message: string, to: number): Promise<void>;
  steerQueued(id: string, message: string): Promise<void>;

  /** The window's size in CSS pixels, for the next start. */
  keepWindowSize(width: number, height: number): Promise<void>;

  stop(id: string): Promise<void>;
  /** Ends the commands that turns have left running; there must be no turn. */
  stopCommands(id: string): Promise<void>;
  retryTurn(id: string): Promise<void>;
  resolve(id: string, resolution: Resolution): Promise<void>;
  setOptions(id: string, change: OptionsChange): Promise<void>;

  /** A new session that goes on where another was; resolves when its files are in place. */
  forkSession(req: ForkRequest): Promise<ForkResult>;
  /** Moves a session to another place. A receipt with a fault: it stayed where it was. */
  switchSession(req: SwitchRequest): Promise<Receipt>;
  rewind(req: RewindRequest): Promise<Receipt>;
  /** What a fork after a turn, or from now ("" ), would carry. */
  carry(id: string, turn: string): Promise<Carry>;
  /** The turns of a session, oldest first; the last 500. */
  turns(id: string): Promise<Turn[]>;
  setSnapshots(id: string, policy: SnapshotPolicy): Promise<void>;
  changes(id: string, scope: ChangeScope): Promise<Changes>;
  fileDiff(id: string, scope: ChangeScope, path: string, rawPath: string): Promise<FileDiff>;
  /** Puts a file back as it was before the changes of a scope. */
  revert(req: RevertRequest): Promise<Receipt>;
  /** Puts files into a folder of the workspace; gives their paths. */
  putFiles(id: string, dir: string, files: Upload[]): Promise<string[]>;
  /** Asks where and saves a file there, a folder as .tar.gz; "" when the user cancelled. */
  saveFile(id: string, path: string, rawPath: string): Promise<string>;
  /** Opens a file with the system's editor; local sessions only. */
  openFile(id: string, path: string, rawPath: string): Promise<void>;
  /** Shows a file in the system's file manager; local sessions only. */
  revealFile(id: string, path: string, rawPath: string): Promise<void>;
  /** Asks where and saves; "" when the user cancelled. */
  exportSession(id: string): Promise<string>;
  exportMarkdown(id: string): Promise<string>;
  /** Asks for a file and makes a session of it; its id is "" when the user cancelled. */
  importSession(): Promise<Session>;
  /** check also reads everything, to find what is damaged. */
  storeUse(check: boolean): Promise<StoreUse>;
  /** Removes what no session reaches. */
  cleanStore(): Promise<Swept>;
  /** The Docker images of this machine. */
  localImages(): Promise<string[]>;

  /** A page of the conversation, the newest when before is "". */
  transcript(id: string, before: string, limit: number): Promise<Page>;
  /** A part of a command's output; offset -1 gives the last max bytes. */
  toolLog(id: string, log: string, offset: number, max: number): Promise<LogPart>;
  /** The data URL of an attachment or image. */
  object(id: string, mime: string): Promise<string>;
  search(query: string): Promise<SearchHit[]>;

  backends(): Promise<BackendInfo[]>;
  providers(): Promise<ProviderInfo[]>;
  models(provider: string): Promise<ModelInfo[]>;

  /** "" when the user cancelled. */
  pickFolder(start: string): Promise<string>;
  folderInfo(path: string): Promise<FolderInfo>;
  listDir(id: string, path: string, rawPath?: string): Promise<FileEntry[]>;
  readFile(id: string, path: string, rawPath: string, offset: number, max: number): Promise<FileContent>;
  /** Opens a file with the system's program; path "" opens the folder. */
  openExternal(id: string, path: string, rawPath?: string): Promise<void>;
  openURL(url: string): Promise<void>;
  copyText(text: string): Promise<void>;

  saveSettings(settings: Settings): Promise<Settings>;
  savePrefs(json: string): Promise<void>;
  keys(): Promise<KeyInfo[]>;
  setKey(name: string, value: string): Promise<void>;
  deleteKey(name: string): Promise<void>;
  testProvider(name: string): Promise<TestResult>;
  testBackend(name: string): Promise<TestResult>;

  /** Tells which session is shown: its deltas, output and file events are sent. */
  watch(id: string): Promise<void>;
  openDevUI(): Promise<void>;
  /** Opens again what could not be opened: all of it, or the engine. */
  retryStart(): Promise<void>;
  doctor(): Promise<Check[]>;
  quit(): Promise<void>;
  /** The title of the window, where the system lists windows. */
  setTitle(title: string): void;

  onEvents(receive: (batch: AppEvent[]) => void): () => void;
}
