// The data of backend/protocol (Go), as it arrives in the page. Field names,
// units and limits are those of the Go files; where Go sends an optional part
// per kind, this file has a union. What branches are made of is in branch.ts.
import type { Moving, Receipt, Rewound, Skipped, SnapshotAsk, SnapshotPolicy } from './branch';

export type * from './branch';
export type * from './settings';

export type SessionState = 'idle' | 'working' | 'needs_you' | 'waiting' | 'failed' | 'ended';
export type ApprovalMode = 'ask' | 'auto' | 'never';
export type Decision = 'allow' | 'always' | 'deny';
export type ToolStatus = 'pending' | 'running' | 'done' | 'failed' | 'denied' | 'interrupted';
export type Outcome = 'done' | 'interrupted' | 'failed';
export type Channel = 'text' | 'reasoning' | 'args';

export type FaultClass =
  | 'no_key'
  | 'bad_key'
  | 'no_such_model'
  | 'quota'
  | 'rate_limited'
  | 'overloaded'
  | 'connection_lost'
  | 'context_too_long'
  | 'refusal'
  | 'bad_request'
  | 'host_lost'
  | 'cancelled'
  | 'workspace'
  | 'disk_full'
  | 'unavailable'
  | 'sandbox_gone'
  | 'step_limit'
  | 'bad_input'
  | 'not_found'
  | 'busy'
  | 'internal'
  | 'incompatible';

export interface Fault {
  class: FaultClass;
  happened: string;
  kept?: string;
  remedy?: string;
  detail?: string;
  /** Nanoseconds, as Go's time.Duration. */
  retryAfter?: number;
}

export interface Ask {
  acts: boolean;
  risky: boolean;
  reason?: string;
  prefixes?: string[];
  title: string;
  detail?: string;
  dir?: string;
}

export interface Approval {
  id: string;
  turn: string;
  item: string;
  tool: string;
  backend: string;
  ask: Ask;
  asked: string;
}

export interface Resolution {
  id: string;
  decision: Decision;
  note?: string;
}

export interface OpenTurn {
  id: string;
  index: number;
  step: number;
  started: string;
  doing: string;
  stopping: boolean;
}

export interface Retry {
  at: string;
  attempt: number;
  class: string;
  reason: string;
}

export interface QueuedMessage {
  id: string;
  content: string;
  preview: string;
  attachments?: number;
  steer?: boolean;
  sent: string;
  retry?: boolean;
}

export interface Options {
  provider: string;
  model: string;
  effort: string;
  approve: ApprovalMode;
  allowPrefixes?: string[];
}

export type OptionsChange = Partial<Options>;

export interface Usage {
  inputTokens: number;
  cachedTokens: number;
  outputTokens: number;
  reasoningTokens: number;
  /** Millionths of a US dollar. */
  costMicros: number;
  unpriced?: boolean;
}

export interface Session {
  id: string;
  version: number;
  title: string;
  titleAuto: boolean;
  backend: string;
  workspace: string;
  ownWorkspace: boolean;
  image?: string;
  sandbox?: string;
  confined: boolean;
  state: SessionState;
  turn?: OpenTurn | null;
  retry?: Retry | null;
  approvals?: Approval[];
  queue?: QueuedMessage[];
  fault?: Fault | null;
  options: Options;
  parent?: string;
  head?: string;
  turns: number;
  /** The files as they were last captured. */
  snapshot?: string;
  snapshots?: SnapshotPolicy;
  /** The user has to choose what snapshots leave out. */
  snapshotAsk?: SnapshotAsk | null;
  moving?: Moving | null;
  /** The last rewinds, newest last: each can be undone. */
  rewinds?: Rewound[];
  usage: Usage;
  contextTokens: number;
  created: string;
  updated: string;
}

export interface Attachment {
  name: string;
  mime: string;
  size: number;
  object: string;
}

export interface UserItem {
  messageId: string;
  text: string;
  attachments?: Attachment[];
  steered?: boolean;
}

export interface AssistantItem {
  text: string;
  partial?: boolean;
}

export interface ReasoningItem {
  summary: string;
  provider?: string;
}

export interface FileChange {
  path: string;
  op: 'add' | 'update' | 'delete' | 'move';
  to?: string;
  added: number;
  removed: number;
  diff?: string;
}

export interface ToolResult {
  output: string;
  display?: string;
  exitCode?: number | null;
  durationMs: number;
  outputBytes: number;
  truncated?: boolean;
  timedOut?: boolean;
  process?: string;
  log?: string;
  changes?: FileChange[];
  image?: string;
  imageMime?: string;
}

export interface ToolItem {
  callId: string;
  name: string;
  args: string;
  ask: Ask;
  status: ToolStatus;
  result: ToolResult;
  started: string;
}

export interface NoticeItem {
  code: string;
  text: string;
  detail?: string;
  /** Of forks, switches, rewinds and imports. */
  receipt?: Receipt | null;
}

export interface SummaryItem {
  text: string;
  beforeTokens: number;
}

export interface TurnEndItem {
  index: number;
  outcome: Outcome;
  durationMs: number;
  steps: number;
  usage: Usage;
  provider: string;
  model: string;
  backend: string;
  /** The files after the turn and before it; absent when none was taken. */
  snapshot?: string;
  base?: string;
  /** In how many files, links and folders they differ. */
  changed?: number;
  skipped?: Skipped[];
}

interface ItemHead {
  id: string;
  turn: string;
  seq: number;
  time: string;
}

export type Item = ItemHead &
  (
    | { kind: 'user'; user: UserItem }
    | { kind: 'assistant'; assistant: AssistantItem }
    | { kind: 'reasoning'; reasoning: ReasoningItem }
    | { kind: 'tool'; tool: ToolItem }
    | { kind: 'notice'; notice: NoticeItem }
    | { kind: 'fault'; fault: Fault }
    | { kind: 'summary'; summary: SummaryItem }
    | { kind: 'turn_end'; turnEnd: TurnEndItem }
  );

export type ItemKind = Item['kind'];
export type ItemOf<K extends ItemKind> = Extract<Item, { kind: K }>;

export interface Page {
  items: Item[];
  before?: string;
  session: Session;
}

export interface Delta {
  turn: string;
  item: string;
  attempt: number;
  channel: Channel;
  tool?: string;
  /** Byte offset (UTF-8) of text in the item's text of this attempt. */
  offset: number;
  text: string;
}

export interface Output {
  item: string;
  /** Raw bytes of the output before this text. */
  offset: number;
  text: string;
}

export interface FilesChanged {
  dirs?: string[];
}

export interface Progress {
  id: string;
  text: string;
  done: number;
  total: number;
  end: boolean;
}

export interface EngineStatus {
  state: 'starting' | 'running' | 'attached' | 'recovering' | 'failed';
  role: 'owner' | 'attached' | 'cluster';
  text?: string;
  fault?: Fault | null;
  notices?: string[];
  since: string;
}

export type AppEvent =
  | { type: 'session'; sessionId: string; session: Session }
  | { type: 'removed'; sessionId: string }
  | { type: 'item'; sessionId: string; item: Item }
  | { type: 'delta'; sessionId: string; delta: Delta }
  | { type: 'output'; sessionId: string; output: Output }
  | { type: 'files'; sessionId: string; files: FilesChanged }
  | { type: 'progress'; sessionId?: string; progress: Progress }
  | { type: 'engine'; engine: EngineStatus }
  | { type: 'gap'; sessionId?: string };

export type EventOf<T extends AppEvent['type']> = Extract<AppEvent, { type: T }>;

export interface Upload {
  name: string;
  mime: string;
  base64: string;
}

export interface SendRequest {
  id: string;
  text: string;
  files?: Upload[];
  steer?: boolean;
}

export interface SendResult {
  id: string;
  duplicate: boolean;
  queued: boolean;
}

export interface CreateRequest {
  id?: string;
  title?: string;
  backend?: string;
  workspace?: string;
  image?: string;
  options: Options;
  first?: SendRequest;
}

export interface LogPart {
  offset: number;
  bytes: number;
  text: string;
  size: number;
  ended: boolean;
}

export interface FolderInfo {
  path: string;
  exists: boolean;
  entries: number;
  writable: boolean;
  git: boolean;
  refused?: string;
}

export interface TestResult {
  ok: boolean;
  text: string;
}

export interface BackendInfo {
  name: string;
  label: string;
  blurb: string;
  available: boolean;
  reason?: string;
  remedy?: string;
  version?: string;
  confined: boolean;
  /** This version can't use it yet, wherever it runs. */
  planned?: boolean;
  /** The image that is taken when none is named; absent where there are none. */
  image?: string;
}

export interface ModelInfo {
  id: string;
  label?: string;
  window?: number;
  efforts?: string[];
  images: boolean;
}

export interface ProviderInfo {
  name: string;
  label: string;
  kind: 'openai' | 'compatible' | 'demo';
  baseUrl?: string;
  available: boolean;
  reason?: string;
  remedy?: string;
  local: boolean;
  default?: string;
  models?: ModelInfo[];
}

export interface FileEntry {
  name: string;
  path: string;
  rawPath?: string;
  kind: 'file' | 'dir' | 'link' | 'other';
  size: number;
  mode: number;
  modified: string;
  target?: string;
}

export interface FileContent {
  path: string;
  size: number;
  offset: number;
  bytes: number;
  text?: string;
  base64?: string;
  mime: string;
  kind: 'text' | 'image' | 'binary';
  modified: string;
}

export interface SearchHit {
  sessionId: string;
  title: string;
  item?: string;
  snippet?: string;
}

/** Limits of a message, as in backend/protocol/message.go. */
export const limits = {
  messageBytes: 1 << 20,
  attachmentBytes: 20 << 20,
  attachments: 20,
  queue: 100,
} as const;
