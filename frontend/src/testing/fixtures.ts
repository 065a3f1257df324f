import type { Boot, Carry, EngineStatus, Options, Receipt, Session, Settings, Usage } from '$lib/backend/types';

export const noUsage: Usage = {
  inputTokens: 0,
  cachedTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  costMicros: 0,
};

export const options: Options = { provider: 'demo', model: 'demo', effort: '', approve: 'auto' };

export function session(id: string, change: Partial<Session> = {}): Session {
  return {
    id,
    version: 1,
    title: `Session ${id}`,
    titleAuto: false,
    backend: 'local',
    workspace: '/home/user/project',
    ownWorkspace: true,
    confined: false,
    state: 'idle',
    options,
    turns: 0,
    usage: noUsage,
    contextTokens: 0,
    created: '2026-01-10T08:00:00Z',
    updated: '2026-01-10T08:00:00Z',
    ...change,
  };
}

export const settings: Settings = {
  provider: '',
  model: '',
  effort: '',
  endpoints: [],
  backend: '',
  dockerImage: '',
  approve: '',
  theme: 'system',
  trace: '',
  firstRunDone: true,
  recentFolders: [],
};

export const engine: EngineStatus = { state: 'running', role: 'owner', since: '2026-01-10T08:00:00Z' };

export function boot(change: Partial<Boot> = {}): Boot {
  return {
    version: '0.1.0',
    platform: 'linux/amd64',
    engine,
    settings,
    sessions: [],
    defaultProvider: 'demo',
    defaultModel: 'demo',
    askTrace: false,
    traceTo: 'OpenAI',
    dataDir: '/home/user/.local/share/temporal-sandbox-agent',
    home: '/home/user',
    ...change,
  };
}

export function receipt(change: Partial<Receipt> = {}): Receipt {
  return {
    what: 'fork',
    from: { backend: 'local', workspace: '/home/user/project' },
    to: { backend: 'local', workspace: '/data/workspaces/fork' },
    snapshot: '4f1c9a',
    files: 214,
    bytes: 3_400_000,
    written: 214,
    removed: 0,
    durationMs: 840,
    turn: 3,
    ...change,
  };
}

export function carry(change: Partial<Carry> = {}): Carry {
  return { known: true, snapshot: '4f1c9a', files: 214, bytes: 3_400_000, title: 'Session (fork #1)', running: false, commands: 0, ...change };
}
