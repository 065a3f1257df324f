// Scenes of the header, dialogs, settings, file pane and status bar.
import type { Backend } from '$lib/backend/backend';
import type { Approval, BackendInfo, Boot, KeyInfo, ProviderInfo, Session, Settings } from '$lib/backend/types';
import type { App } from '$lib/state/app.svelte';
import type { DialogState } from '$lib/state/ui.svelte';
import { fakeBackend } from '../src/testing/fake-backend';
import { boot, options, session, settings } from '../src/testing/fixtures';
import type { Scene } from './scenes';
import { refusal, workspace } from './workspace';

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
export const later = <T>(value: T, ms = 120) => new Promise<T>((resolve) => setTimeout(() => resolve(value), ms));
const never = () => new Promise<never>(() => {});

const backends: BackendInfo[] = [
  { name: 'local', label: 'Local', blurb: 'A folder on this machine', available: true, confined: false },
  { name: 'docker', label: 'Docker', blurb: 'A container on this machine', available: false, confined: true, reason: 'Docker isn’t running.', remedy: 'Start it, or set DOCKER_HOST.' },
  { name: 'e2b', label: 'E2B', blurb: 'A sandbox in the cloud', available: false, confined: true, planned: true },
  { name: 'daytona', label: 'Daytona', blurb: 'A sandbox in the cloud', available: false, confined: true, planned: true },
];

const openai: ProviderInfo = {
  name: 'openai', label: 'OpenAI', kind: 'openai', available: true, local: false, default: 'gpt-5.6-sol', baseUrl: 'https://api.openai.com/v1',
  models: [
    { id: 'gpt-5.6-sol', window: 400_000, images: true, efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'] },
    { id: 'gpt-5.6-mini', window: 400_000, images: true, efforts: ['low', 'medium', 'high'] },
    { id: 'gpt-5.4-codex-with-a-very-long-name-2026-02-11-preview', window: 272_000, images: false, efforts: ['low', 'high'] },
  ],
};
const ollama: ProviderInfo = {
  name: 'ollama', label: 'Ollama', kind: 'compatible', available: true, local: true, default: 'qwen3-coder:30b', baseUrl: 'http://127.0.0.1:11434/v1',
  models: [{ id: 'qwen3-coder:30b', images: false }, { id: 'gpt-oss:20b', images: false, window: 131_072 }],
};
const demo: ProviderInfo = {
  name: 'demo', label: 'Demo', kind: 'demo', available: true, local: true, default: 'demo', models: [{ id: 'demo', label: 'Scripted demo', images: false }],
};
const noKey: ProviderInfo = { ...openai, available: false, reason: 'No key is set.', remedy: 'Add one in the settings.' };

const keys: KeyInfo[] = [
  { name: 'OPENAI_API_KEY', label: 'OpenAI key', set: true, where: 'keyring', hint: '…a1b2', secret: true, readOnly: false },
  { name: 'OPENAI_BASE_URL', label: 'OpenAI address', set: false, where: '', secret: false, readOnly: false },
  { name: 'OPENAI_ORG_ID', label: 'OpenAI organization', set: true, where: 'environment', secret: false, value: 'org-example', readOnly: true },
  { name: 'E2B_API_KEY', label: 'E2B key', set: false, where: '', secret: true, readOnly: false },
  { name: 'E2B_DOMAIN', label: 'E2B domain', set: false, where: '', secret: false, readOnly: false },
  { name: 'DAYTONA_API_KEY', label: 'Daytona key', set: true, where: 'file', hint: '…77aa', secret: true, readOnly: false },
  { name: 'GATEWAY_API_KEY', label: 'Gateway key', set: false, where: '', secret: true, readOnly: false },
  { name: 'EXAMPLES_TEMPORAL_TRACE', label: 'Tracing', set: true, where: 'environment', secret: false, value: 'none', readOnly: true },
];

const approval = (id: string, title: string, reason: string, prefixes: string[]): Approval => ({
  id, turn: 'b.1', item: 'b.1/000001', tool: 'exec_command', backend: 'local', asked: ago(1),
  ask: { acts: true, risky: true, reason, prefixes, title, detail: title, dir: '/home/user/config' },
});

function records(change: Partial<Session>): Session[] {
  return [
    session('a', {
      title: 'Fix the flaky date parser', workspace: '/home/user/projects/parser', ownWorkspace: false, turns: 3, contextTokens: 61_000, updated: ago(1),
      usage: { inputTokens: 182_400, cachedTokens: 120_000, outputTokens: 8400, reasoningTokens: 2100, costMicros: 110_000 },
      options: { ...options, provider: 'openai', model: 'gpt-5.6-sol', effort: 'high' },
      ...change,
    }),
    session('b', {
      title: 'Rename the config keys', state: 'needs_you', updated: ago(60), workspace: '/home/user/config', turns: 1,
      approvals: [approval('x', 'pip install hypothesis==6.131', 'needs the network', ['pip install']), approval('y', 'rm -rf build && make all', 'deletes files', [])],
    }),
    session('c', {
      title: 'CSV importer: encodings', state: 'failed', updated: ago(120), workspace: '/srv/csv',
      fault: { class: 'quota', happened: 'The account has no credit left.', kept: 'Your message and all work so far are kept.', remedy: 'Add credit, then try again.', detail: 'HTTP 429: insufficient_quota' },
    }),
    session('d', { title: '', workspace: '', updated: ago(2) }),
  ];
}

interface Shown {
  record?: Partial<Session>;
  boot?: Partial<Boot>;
  settings?: Partial<Settings>;
  selected?: string;
  files?: boolean;
  filesWidth?: number;
  methods?: Partial<Backend>;
  dialog?: DialogState;
  after?: (app: App) => void;
}

export const pane =
  (make: () => Shown) =>
  (theme: 'dark' | 'light'): Scene => {
    const shown = make();
    const sessions = records(shown.record ?? {});
    const backend = fakeBackend({
      boot: () =>
        later(
          boot({
            sessions, defaultProvider: 'openai', defaultModel: 'gpt-5.6-sol',
            settings: {
              ...settings, theme,
              recentFolders: ['/home/user/projects/parser', '/home/user/projects/a-very-long-folder-name/with/many/levels/inside/of/it/project', '/srv/csv'],
              endpoints: [{ name: 'vLLM on the server', url: 'http://10.0.0.12:8000/v1' }],
              prefs: { selected: shown.selected ?? 'a', workspaceHidden: !shown.files, workspaceWidth: shown.filesWidth ?? 400 },
              ...shown.settings,
            },
            ...shown.boot,
          }),
          0,
        ),
      transcript: (id) => Promise.resolve({ items: [], session: sessions.find((s) => s.id === id) ?? session(id) }),
      backends: () => later(backends),
      providers: () => later([openai, ollama, demo]),
      keys: () => later(keys),
      folderInfo: (path) =>
        later({
          path, exists: path !== '/gone', entries: 41, writable: true, git: path.startsWith('/home/user/projects'),
          refused: path === '/home/user' ? 'This is your home folder: the agent could change everything in it.' : undefined,
        }),
      pickFolder: () => later('/srv/csv'),
      ...workspace(),
      testProvider: (name) => later(name === 'openai' ? { ok: true, text: 'Answers in 0.4 s, 31 models.' } : { ok: false, text: 'Nothing listens at 10.0.0.12:8000.' }),
      testBackend: (name) => later(name === 'local' ? { ok: true, text: 'A command ran in 12 ms.' } : { ok: false, text: 'Docker isn’t running.' }),
      doctor: () =>
        later([
          { name: 'Engine', ok: true, needed: true, text: 'running' },
          { name: 'Store', ok: true, needed: true, text: '4.1 MB' },
          { name: 'Docker', ok: false, needed: false, text: 'not running', remedy: 'Start it to use the Docker backend.' },
          { name: 'Keyring', ok: false, needed: true, text: 'locked', remedy: 'Unlock it; keys are kept in a file until then.' },
        ]),
      ...shown.methods,
    });
    return {
      backend,
      after: (app) => {
        if (shown.dialog) app.ui.open(shown.dialog);
        shown.after?.(app);
      },
    };
  };

// Clicks what a reader would click, once it is there.
export const click = (...selectors: string[]) => () => {
  const next = (rest: string[], tries = 100) => {
    const [selector, ...others] = rest;
    if (!selector || tries === 0) return;
    const found = document.querySelector<HTMLElement>(selector);
    found?.click();
    setTimeout(() => next(found ? others : rest, tries - 1), 60);
  };
  next(selectors);
};

const failing: Partial<Backend> = {
  backends: () => Promise.reject(refusal({ happened: 'The program did not answer.', remedy: 'Look again.' })),
  providers: () => Promise.reject(refusal({ happened: 'The program did not answer.' })),
  keys: () => Promise.reject(refusal({ happened: 'The keyring is locked.', remedy: 'Unlock it, then try again.' })),
  create: () => Promise.reject(refusal({ class: 'disk_full', happened: 'The session can’t be made: the disk is full.', kept: 'Nothing was changed.', remedy: 'Free some space, then try again.' })),
  destroy: () => Promise.reject(refusal({ class: 'busy', happened: 'The session could not be ended.', remedy: 'Try again in a moment.', detail: 'update timed out' })),
};
const file = (name: string) => click(`[role="treeitem"][aria-label^="${name}"]`);

export const panes: Record<string, (theme: 'dark' | 'light') => Scene> = {
  'new-session': pane(() => ({ dialog: { kind: 'new-session' } })),
  'new-session-folder': pane(() => ({ dialog: { kind: 'new-session' }, after: click('dialog input[value="existing"]', 'dialog button[title="/srv/csv"]') })),
  'new-session-docker': pane(() => ({ dialog: { kind: 'new-session' }, after: click('dialog input[value="docker"]') })),
  'new-session-loading': pane(() => ({ dialog: { kind: 'new-session' }, methods: { backends: never } })),
  'new-session-failing': pane(() => ({ dialog: { kind: 'new-session' }, methods: failing })),
  'new-session-refused': pane(() => ({ dialog: { kind: 'new-session' }, methods: { create: failing.create }, after: click('dialog button[type="submit"]:not(:disabled)') })),
  backend: pane(() => ({ after: click('.header .chip') })),
  models: pane(() => ({ after: click('.header .chip:nth-of-type(2)') })),
  'models-no-key': pane(() => ({ methods: { providers: () => later([noKey, demo]) }, after: click('.header .chip:nth-of-type(2)') })),
  mode: pane(() => ({ record: { options: { ...options, approve: 'never' } }, after: click('.header .chip:nth-of-type(3)') })),
  usage: pane(() => ({ record: { contextTokens: 380_000 }, after: click('.meter') })),
  'long-title': pane(() => ({ record: { title: 'Find out why the very long pipeline of the importer that nobody understands any more fails one time in ten on the machines of the second data centre' } })),
  'no-session': pane(() => ({ selected: '' })),
  done: pane(() => ({ dialog: { kind: 'done', session: 'b' } })),
  destroy: pane(() => ({ dialog: { kind: 'destroy', session: 'a' } })),
  'destroy-failing': pane(() => ({ dialog: { kind: 'destroy', session: 'c' }, methods: failing, after: click('dialog input[type="checkbox"]', 'dialog .danger') })),
  palette: pane(() => ({ dialog: { kind: 'palette' } })),
  menu: pane(() => ({ after: click('.brand .button') })),
  'menu-bare': pane(() => ({ settings: { prefs: { selected: 'a', sidebarHidden: true, workspaceHidden: true } }, after: click('.bar [aria-label="Menu"]') })),
  'toast-over-dialog': pane(() => ({ dialog: { kind: 'settings' }, after: (app) => setTimeout(() => app.ui.fail(refusal({ happened: 'The setting can’t be kept: the disk is full.', remedy: 'Free some space, then try again.' })), 300) })),
  'usage-below': pane(() => ({ after: click('.status .number') })),
  'text-large': pane(() => ({ settings: { prefs: { selected: 'a', zoom: 1.5, workspaceHidden: true } } })),
  shortcuts: pane(() => ({ dialog: { kind: 'shortcuts' } })),
  inbox: pane(() => ({ dialog: { kind: 'inbox' } })),
  about: pane(() => ({ dialog: { kind: 'about' } })),
  link: pane(() => ({ dialog: { kind: 'link', url: `https://example.org/${'very-long-path/'.repeat(8)}?q=1` } })),
  trace: pane(() => ({ boot: { askTrace: true } })),
  'boot-failing': pane(() => ({
    methods: { boot: () => Promise.reject(refusal({ class: 'incompatible', happened: 'The data folder was written by a newer version of this app.', kept: 'Nothing in it was changed.', remedy: 'Install the newer version, or start with another data folder: --data-dir.', detail: 'schema 9, this version knows 7' })) },
  })),
  'settings-models': pane(() => ({ dialog: { kind: 'settings' } })),
  'settings-models-failing': pane(() => ({ dialog: { kind: 'settings' }, methods: failing })),
  'settings-backends': pane(() => ({ dialog: { kind: 'settings', section: 'backends' } })),
  'settings-permissions': pane(() => ({ dialog: { kind: 'settings', section: 'permissions' }, after: click('dialog input[value="never"]') })),
  'settings-appearance': pane(() => ({ dialog: { kind: 'settings', section: 'appearance' } })),
  'settings-data': pane(() => ({ dialog: { kind: 'settings', section: 'data', field: 'doctor' } })),
  'settings-about': pane(() => ({ dialog: { kind: 'settings', section: 'about' } })),
  files: pane(() => ({ files: true, after: click('[aria-label="internal"]', '[aria-label="internal/date"]') })),
  'files-code': pane(() => ({ files: true, after: file('parser.go') })),
  'files-wide': pane(() => ({ files: true, filesWidth: 760, after: file('README.md') })),
  'files-large': pane(() => ({ files: true, after: file('huge.log') })),
  'files-binary': pane(() => ({ files: true, after: file('app.bin') })),
  'files-image': pane(() => ({ files: true, after: file('logo.svg') })),
  'files-slow': pane(() => ({ files: true, after: file('go.mod') })),
  'files-gone': pane(() => ({ files: true, after: file('go.sum') })),
  'files-empty-file': pane(() => ({ files: true, after: file('.gitignore') })),
  'files-many': pane(() => ({ files: true, after: click('[aria-label="testdata"]') })),
  'files-empty': pane(() => ({ files: true, methods: { listDir: () => later([]) } })),
  'files-loading': pane(() => ({ files: true, methods: { listDir: never } })),
  'files-none-yet': pane(() => ({ files: true, selected: 'd' })),
  'files-failing': pane(() => ({
    files: true,
    methods: { listDir: () => Promise.reject(refusal({ class: 'workspace', happened: 'The folder is gone: /home/user/projects/parser.', kept: 'The conversation is kept.', remedy: 'Put it back, or start a session in another folder.' })) },
  })),
  'first-run': pane(() => ({ selected: '', boot: { defaultProvider: 'demo', defaultModel: 'demo' }, settings: { firstRunDone: false }, methods: { providers: () => later([noKey, ollama, demo]) } })),
  'first-run-alone': pane(() => ({ selected: 'd', boot: { defaultProvider: 'demo', defaultModel: 'demo' }, settings: { firstRunDone: false }, methods: { providers: () => later([noKey, demo]) } })),
  recovering: pane(() => ({
    boot: { engine: { state: 'recovering', role: 'owner', since: ago(1), notices: ['The database was damaged and was moved aside: sessions.db.damaged-1.'] } },
    after: (app) => {
      app.events.emit([{ type: 'progress', progress: { id: 'p', text: 'Reading the workspace', done: 40, total: 100, end: false } }]);
      click('.status button')();
    },
  })),
  'engine-failed': pane(() => ({
    boot: { engine: { state: 'failed', role: 'owner', since: ago(15), fault: { class: 'disk_full', happened: 'The engine stopped: the disk is full.', kept: 'All that was sent is kept.', remedy: 'Free some space; it starts again by itself.', detail: 'SQLITE_FULL' } } },
    after: click('.status button'),
  })),
};
