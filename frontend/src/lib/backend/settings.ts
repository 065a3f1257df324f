// The settings, keys and what is known at the start, as they arrive in the page.
// types.ts hands them on.
import type { ApprovalMode, EngineStatus, Session } from './types';

export interface Endpoint {
  name: string;
  url: string;
}

export interface Settings {
  provider: string;
  model: string;
  effort: string;
  endpoints: Endpoint[];
  backend: string;
  /** The image of new containers; "" is the program's own choice. */
  dockerImage: string;
  approve: ApprovalMode | '';
  theme: '' | 'system' | 'light' | 'dark';
  trace: '' | 'none' | 'openai' | 'openai_with_temporal_spans';
  firstRunDone: boolean;
  recentFolders: string[];
  prefs?: unknown;
}

export interface Boot {
  version: string;
  platform: string;
  engine: EngineStatus;
  settings: Settings;
  sessions: Session[];
  defaultProvider: string;
  defaultModel: string;
  askTrace: boolean;
  /** Who would get traces: "OpenAI", or the host that is set in its place. */
  traceTo: string;
  dataDir: string;
  /** The user's home folder; "" when it is not known. */
  home: string;
}

export interface Check {
  name: string;
  ok: boolean;
  needed: boolean;
  text: string;
  remedy?: string;
}

export interface KeyInfo {
  name: string;
  label: string;
  set: boolean;
  where: '' | 'environment' | '.env' | 'keyring' | 'file';
  hint?: string;
  secret: boolean;
  value?: string;
  /** The server of the settings whose key this is. */
  endpoint?: string;
  readOnly: boolean;
}
