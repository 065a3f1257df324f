// The data of backend/protocol/branch.go: snapshots, forks, switches, rewinds
// and changes, as they arrive in the page. types.ts hands them on.
import type { Fault, Outcome, Session } from './types';

/** What to do with a folder that is not empty: "" wants it empty, or with the very same files. */
export type Onto = '' | 'merge' | 'replace';

/**
 * When a branch is taken or moved: "" between turns only; "last" from the last
 * commit without disturbing a turn (fork); "end" after the turn's end; "stop"
 * once the turn was stopped (switch, rewind).
 */
export type When = '' | 'last' | 'end' | 'stop';

/** Where a tree goes; an empty workspace asks for a fresh one. */
export interface Target {
  backend: string;
  workspace?: string;
  image?: string;
  onto?: Onto;
}

export interface ForkRequest {
  id: string;
  newId?: string;
  title?: string;
  /** The turn after which it forks; "" is the state of now. */
  turn?: string;
  when?: When;
  target: Target;
  filesOnly?: boolean;
}

export interface ForkResult {
  session: Session;
  receipt: Receipt;
}

export interface SwitchRequest {
  id: string;
  when?: When;
  target: Target;
}

export type RewindWhat = 'both' | 'conversation' | 'files';

export interface RewindRequest {
  id: string;
  /** The turn to whose end it goes back; "" is the beginning. */
  turn?: string;
  what: RewindWhat;
  when?: When;
  /** An earlier rewind that is taken back: turn and what do not count then. */
  undo?: string;
}

export interface Spot {
  backend: string;
  workspace: string;
}

/** A file that a snapshot leaves out, or has not as it should be. */
export interface Skipped {
  path: string;
  why: string;
}

export type ReceiptKind = 'fork' | 'switch' | 'rewind' | 'revert' | 'new' | 'import' | 'remake';

/** What a fork, a switch, a rewind or an import did, or why it left all as it was. */
export interface Receipt {
  what: ReceiptKind;
  from: Spot;
  to: Spot;
  snapshot?: string;
  files: number;
  bytes: number;
  written: number;
  removed: number;
  excluded?: string[];
  /** At most 100 of skippedCount. */
  skipped?: Skipped[];
  skippedCount?: number;
  durationMs: number;
  /** The place it came from is kept: it holds what was not captured. */
  left?: boolean;
  undo?: string;
  /** A rewind that took another one back: to undo this one does that again. */
  back?: boolean;
  kept?: string;
  /** The number of the turn that it is the state of; 0 is the beginning. */
  turn: number;
  rewindWhat?: RewindWhat | '';
  fault?: Fault | null;
}

/** What a fork or a switch would carry. */
export interface Carry {
  /** False when there is no snapshot yet: the numbers are then not known. */
  known: boolean;
  snapshot?: string;
  files: number;
  bytes: number;
  excluded?: string[];
  skipped?: Skipped[];
  /** The default title of a fork. */
  title: string;
  running: boolean;
  /** Commands that turns left running: they stay behind. */
  commands: number;
}

/** One turn of a session, for lists to choose from. */
export interface Turn {
  id: string;
  index: number;
  title: string;
  time: string;
  outcome: Outcome;
  snapshot?: string;
  changed: boolean;
}

export interface SnapshotPolicy {
  /** Folders or files, relative to the root, that are left out. */
  exclude?: string[];
  /** Captures however large the workspace is. */
  whole?: boolean;
  off?: boolean;
}

export interface FolderSize {
  path: string;
  files: number;
  bytes: number;
}

/** The question what to leave out of a workspace that is over the limits. */
export interface SnapshotAsk {
  files: number;
  bytes: number;
  /** The folders that hold most, the largest first, at most 20. */
  largest: FolderSize[];
}

/** A fork, switch or rewind under way. */
export interface Moving {
  what: ReceiptKind;
  to: Spot;
  /** It waits for the end of a turn. */
  waits?: boolean;
  since: string;
}

/** Where a session was before a rewind. */
export interface Rewound {
  id: string;
  what: RewindWhat;
  head?: string;
  turns: number;
  snapshot?: string;
  at: string;
  back?: boolean;
}

export interface ChangeScope {
  /** The id of a turn, "last" or "start". */
  turn: string;
  /** Compares with the files as they are now. */
  live?: boolean;
}

export interface ChangedFile {
  path: string;
  rawPath?: string;
  op: 'add' | 'update' | 'delete' | 'mode';
  kind: 'file' | 'dir' | 'link';
  oldSize: number;
  newSize: number;
  added: number;
  removed: number;
  /** False when the lines were not compared: binary, or too large. */
  counted: boolean;
}

export interface Changes {
  from: string;
  to?: string;
  files: ChangedFile[];
  /** How many there are; files has at most 2,000. */
  count: number;
  added: number;
  removed: number;
  /** Why there is nothing to compare. */
  missing?: string;
  skipped?: Skipped[];
}

export interface FileSide {
  kind: 'text' | 'image' | 'binary' | 'link' | 'dir';
  size: number;
  mode: number;
  /** The whole text or a link's target, at most 2 MiB. */
  text?: string;
  base64?: string;
  mime?: string;
  tooLarge?: boolean;
}

export interface FileDiff {
  path: string;
  old?: FileSide | null;
  new?: FileSide | null;
}

export interface RevertRequest {
  id: string;
  scope: ChangeScope;
  path: string;
  rawPath?: string;
}

export interface SessionUse {
  id: string;
  title: string;
  /** What destroying it would free. */
  own: number;
  all: number;
}

export interface DamagedObject {
  object: string;
  what: string;
  sessionId?: string;
  title?: string;
}

/** What uses the space of the store. */
export interface StoreUse {
  bytes: number;
  free: number;
  objects: number;
  files: number;
  conversations: number;
  unused: number;
  /** The largest, by what only they reach, at most 20. */
  sessions: SessionUse[];
  damaged?: DamagedObject[];
}

export interface Swept {
  objects: number;
  bytes: number;
}
