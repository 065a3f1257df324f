// Scenes of snapshots, forks, moves, rewinds and changes.
import type { Backend } from '$lib/backend/backend';
import type { BackendInfo, ChangedFile, Changes, FileDiff, FileEntry, Session, Turn } from '$lib/backend/types';
import type { App } from '$lib/state/app.svelte';
import type { DialogState } from '$lib/state/ui.svelte';
import { carry, receipt, session } from '../src/testing/fixtures';
import { click, later } from './panes';
import { ago, openTurn, opening, scene, sidebar, type Scene } from './scenes';
import { refusal } from './workspace';

const backends: BackendInfo[] = [
  { name: 'local', label: 'Local', blurb: 'A folder on this machine', available: true, confined: false },
  { name: 'docker', label: 'Docker', blurb: 'A container on this machine', available: true, version: '28.5.2', confined: true, image: 'python:3.14' },
  { name: 'e2b', label: 'E2B', blurb: 'A sandbox in the cloud', available: false, confined: true, planned: true },
  { name: 'daytona', label: 'Daytona', blurb: 'A sandbox in the cloud', available: false, confined: true, planned: true },
];
const stopped = backends.map((b) => (b.name === 'docker' ? { ...b, available: false, reason: 'Docker isn’t running.', remedy: 'Start it, or set DOCKER_HOST, then look again.' } : b));

const turns: Turn[] = [
  'test_parse_offset fails one time in ten on CI. Find out why and fix it',
  'Thanks. Here is how it looks on my machine.',
  'Now write it down in the changelog',
  'And what about negative offsets?',
].map((title, i) => ({ id: `s.${i + 1}`, index: i + 1, title, time: ago(60 - i * 10), outcome: i === 1 ? 'interrupted' : 'done', snapshot: i === 1 ? '' : `4f1c9${i}`, changed: i !== 1 }));

const before = `import re


class Parser:
    """Reads dates with offsets."""

    def __init__(self, text):
        self.text = text
        self.at = 0

    def offset(self, m):
        sign = -1 if m[1] == '-' else 1
        hours = int(m[2]) // 1
        offset = sign * hours * 3600
        return tz(timedelta(seconds=offset))

    def year(self):
        return self.number(4)

    def month(self):
        return self.number(2)

    def day(self):
        return self.number(2)

    def rest(self):
        return self.text[self.at:]
`;
const after = before
  .replace("        hours = int(m[2]) // 1\n        offset = sign * hours * 3600\n", "        hours, minutes = int(m[2]), int(m[3] or 0)\n        offset = sign * (hours * 3600 + minutes * 60)\n")
  .replace('        return self.text[self.at:]\n', '        return self.text[self.at :]\n\n    def done(self):\n        return self.at >= len(self.text)\n');

const svg = (colour: string) => btoa(`<svg xmlns="http://www.w3.org/2000/svg" width="200" height="140"><circle cx="120" cy="60" r="40" fill="${colour}"/></svg>`);
const changed = (path: string, op: ChangedFile['op'], added = 0, removed = 0, more: Partial<ChangedFile> = {}): ChangedFile => ({
  path, op, kind: 'file', oldSize: op === 'add' ? 0 : 2310, newSize: op === 'delete' ? 0 : 2450, added, removed, counted: true, ...more,
});
const files: ChangedFile[] = [
  changed('CHANGELOG.md', 'update', 1, 0),
  changed('docs/plan.svg', 'update', 0, 0, { counted: false }),
  changed('fixtures', 'add', 0, 0, { kind: 'dir', counted: false }),
  changed('fixtures/offsets.bin', 'add', 0, 0, { counted: false, newSize: 81_920 }),
  changed('scripts/run.sh', 'mode', 0, 0, { counted: false }),
  changed('src/legacy/parser_of_the_old_format_that_nobody_uses_any_more.py', 'delete', 0, 214),
  changed('src/parser.py', 'update', 6, 3),
  changed('tests/test_parse.py', 'add', 41, 0),
];
const changes: Changes = { from: '4f1c93', files, count: files.length, added: 48, removed: 217 };

function diffOf(path: string): FileDiff {
  const text = (content: string) => ({ kind: 'text' as const, size: content.length, mode: 0o644, text: content });
  if (path === 'docs/plan.svg') {
    const image = (colour: string) => ({ kind: 'image' as const, size: 180, mode: 0o644, base64: svg(colour), mime: 'image/svg+xml' });
    return { path, old: image('#e0b268'), new: image('#7fc98f') };
  }
  if (path === 'fixtures') return { path, new: { kind: 'dir', size: 0, mode: 0o755 } };
  if (path.endsWith('.bin')) return { path, new: { kind: 'binary', size: 81_920, mode: 0o644 } };
  if (path.endsWith('.sh')) return { path, old: { ...text(''), mode: 0o644 }, new: { ...text(''), mode: 0o755 } };
  if (path.startsWith('src/legacy')) return { path, old: text(before.repeat(3)) };
  if (path.startsWith('tests')) return { path, new: text('def test_half_hours():\n    assert parse("+05:30").utcoffset() == timedelta(seconds=19800)\n') };
  if (path === 'CHANGELOG.md') return { path, old: text('# Changes\n'), new: text('# Changes\n\n- Half-hour offsets keep their minutes\n') };
  return { path, old: text(before), new: text(after) };
}

const entry = (path: string, kind: FileEntry['kind'] = 'file'): FileEntry => ({ name: path.split('/').pop() ?? path, path, kind, size: 2310, mode: 0o644, modified: ago(5) });
const folders: Record<string, FileEntry[]> = {
  '': [entry('docs', 'dir'), entry('fixtures', 'dir'), entry('scripts', 'dir'), entry('src', 'dir'), entry('tests', 'dir'), entry('CHANGELOG.md'), entry('README.md'), entry('pyproject.toml')],
  src: [entry('src/__init__.py'), entry('src/parser.py'), entry('src/zones.py')],
  tests: [entry('tests/test_parse.py'), entry('tests/test_zones.py')],
  docs: [entry('docs/plan.svg')],
  fixtures: [entry('fixtures/offsets.bin')],
  scripts: [entry('scripts/run.sh')],
};

const methods: Partial<Backend> = {
  backends: () => later(backends),
  localImages: () => later(['alpine:3.20', 'golang:1.26', 'node:22', 'python:3.14', 'my/python-tools:latest']),
  turns: () => later(turns),
  carry: () => later(carry({ title: 'Fix the flaky date parser (fork #3)', files: 1214, bytes: 48_200_000, excluded: ['.venv'], skipped: [{ path: 'run/app.sock', why: 'is a socket' }] })),
  changes: () => later(changes),
  fileDiff: (_, __, path) => later(diffOf(path)),
  listDir: (_, dir) => Promise.resolve(folders[dir] ?? []),
  folderInfo: (path) => later({ path, exists: true, entries: path === '/srv/empty' ? 0 : 41, writable: true, git: path.startsWith('/home') }),
  storeUse: () =>
    later({
      bytes: 812_000_000, free: 14_000_000, objects: 18_204, files: 604_000_000, conversations: 88_000_000, unused: 61_000_000,
      sessions: [
        { id: 's', title: 'Fix the flaky date parser', own: 214_000_000, all: 402_000_000 },
        { id: 'csv', title: 'CSV importer: encodings that lie about themselves', own: 120_000_000, all: 130_000_000 },
        { id: 'go', title: 'Bump the build to Go 1.26', own: 41_000_000, all: 88_000_000 },
      ],
    }),
};

interface Shown {
  record?: Partial<Session>;
  methods?: Partial<Backend>;
  dialog?: DialogState;
  after?: (app: App) => void;
  others?: Session[];
}

const wide: Partial<Session> = { snapshot: '4f1c93aa', turns: 4, title: 'Fix the flaky date parser', head: 'c4' };

const branch = (make: () => Shown) =>
  scene(() => {
    const shown = make();
    const talk = opening().end({ snapshot: '4f1c93aa', base: '4f1c90aa', changed: 8 });
    return {
      items: talk.items,
      others: shown.others,
      record: { ...wide, ...shown.record },
      methods: { ...methods, ...shown.methods },
      after: (app) => {
        if (shown.dialog) app.ui.open(shown.dialog);
        shown.after?.(app);
      },
    };
  });

const work = (text: string, done = 0, total = 0) => (app: App) =>
  app.events.emit([{ type: 'progress', sessionId: 's', progress: { id: 'p', text, done, total, end: false } }]);
const never = () => new Promise<never>(() => {});
const type = (selector: string, text: string) => (app: App) => {
  void app;
  setTimeout(() => {
    const field = document.querySelector<HTMLInputElement>(selector);
    if (!field) return;
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }, 700);
};
const asking: Partial<Session> = {
  snapshot: '',
  snapshotAsk: {
    files: 91_204, bytes: 6_400_000_000,
    largest: [
      { path: 'node_modules', files: 61_000, bytes: 2_900_000_000 },
      { path: 'data/raw', files: 14, bytes: 2_100_000_000 },
      { path: '.venv', files: 21_000, bytes: 640_000_000 },
      { path: 'node_modules/.cache', files: 4000, bytes: 410_000_000 },
      { path: 'build', files: 2100, bytes: 180_000_000 },
    ],
  },
};
const lineage: Session[] = [
  ...sidebar,
  session('deep', { title: '…with a table of zones', parent: 'dateutil', updated: ago(9), created: ago(15), snapshot: 'x', backend: 'docker', moving: { what: 'switch', to: { backend: 'docker', workspace: '' }, since: ago(0) } }),
];

export const branches: Record<string, (theme: 'dark' | 'light') => Scene> = {
  fork: branch(() => ({ dialog: { kind: 'fork', session: 's' } })),
  'fork-several': branch(() => ({ dialog: { kind: 'fork', session: 's', turn: 's.3', title: 'With a grammar' }, after: click('dialog input[value="docker"]') })),
  'fork-busy': branch(() => ({ record: { state: 'working', turn: openTurn(5, 'pytest -q') }, dialog: { kind: 'fork', session: 's' } })),
  'fork-folder': branch(() => ({
    dialog: { kind: 'fork', session: 's', filesOnly: true },
    after: (app) => {
      click('dialog input[value="existing"]')();
      type('dialog input[placeholder^="/path"]', '/home/user/projects/other')(app);
    },
  })),
  'fork-no-snapshot': branch(() => ({ dialog: { kind: 'fork', session: 's', turn: 's.2' }, methods: { carry: () => later(carry({ known: false, files: 0, bytes: 0 })) } })),
  'fork-running': branch(() => ({
    dialog: { kind: 'fork', session: 's' },
    methods: { forkSession: (req) => (req.target.backend === 'local' ? later({ session: session(req.newId ?? '', { title: 'Fix the flaky date parser (fork #3)' }), receipt: receipt({ turn: 4 }) }) : never()) },
    after: (app) => {
      click('dialog input[value="docker"]', 'dialog button[type="submit"]:not(:disabled)')();
      work('Pulling python:3.14', 120, 310)(app);
    },
  })),
  'fork-failed': branch(() => ({
    dialog: { kind: 'fork', session: 's' },
    methods: {
      forkSession: (req) =>
        req.target.backend === 'local'
          ? later({ session: session(req.newId ?? '', { title: 'Fix the flaky date parser (fork #3)' }), receipt: receipt({ turn: 4 }) })
          : Promise.reject(refusal({ class: 'unavailable', happened: 'The image python:3.14 could not be pulled.', kept: 'The session is as it was.', remedy: 'Check the network, or choose an image of this machine.' })),
    },
    after: click('dialog input[value="docker"]', 'dialog button[type="submit"]:not(:disabled)'),
  })),
  switch: branch(() => ({ dialog: { kind: 'switch', session: 's' }, methods: { carry: () => later(carry({ files: 1214, bytes: 48_200_000, commands: 2 })) } })),
  'switch-busy': branch(() => ({ record: { state: 'working', turn: openTurn(5, 'pytest -q') }, dialog: { kind: 'switch', session: 's' } })),
  'switch-stopped': branch(() => ({ dialog: { kind: 'switch', session: 's' }, methods: { backends: () => later(stopped) }, after: click('dialog input[value="docker"]') })),
  'switch-running': branch(() => ({
    record: { moving: { what: 'switch', to: { backend: 'docker', workspace: '/workspace' }, since: ago(0) } },
    dialog: { kind: 'switch', session: 's' },
    methods: { switchSession: never },
    after: (app) => {
      click('dialog input[value="docker"]', 'dialog button[type="submit"]:not(:disabled)')();
      work('Putting the files into the container', 812, 1214)(app);
    },
  })),
  'switch-failed': branch(() => ({
    dialog: { kind: 'switch', session: 's' },
    methods: { switchSession: () => Promise.resolve(receipt({ what: 'switch', fault: { class: 'disk_full', happened: 'The disk of the Docker engine is full.', remedy: 'Free some space there, then try again.', detail: 'write /workspace/data: no space left on device' } })) },
    after: click('dialog input[value="docker"]', 'dialog button[type="submit"]:not(:disabled)'),
  })),
  moving: branch(() => ({ record: { moving: { what: 'switch', to: { backend: 'docker', workspace: '/workspace' }, since: ago(0) } }, after: work('Putting the files into the container', 812, 1214) })),
  rewind: branch(() => ({ dialog: { kind: 'rewind', session: 's', turn: 's.1' } })),
  'rewind-no-files': branch(() => ({ record: { state: 'working', turn: openTurn(5, 'pytest -q') }, dialog: { kind: 'rewind', session: 's', turn: 's.2' } })),
  rewound: branch(() => ({ dialog: { kind: 'rewind', session: 's', turn: 's.1' }, after: click('dialog button[type="submit"]:not(:disabled)') })),
  'turn-menu': branch(() => ({ after: click('[aria-label="More for turn 1"]') })),
  receipts: scene(() => ({
    items: opening()
      .end({ snapshot: '4f1c93aa', changed: 8, skipped: [{ path: 'run/app.sock', why: 'is a socket' }] })
      .receipt(receipt({ what: 'fork', turn: 1, excluded: ['.venv'] }))
      .receipt(receipt({ what: 'switch', to: { backend: 'docker', workspace: '/workspace' }, files: 1214, bytes: 48_200_000, skipped: [{ path: 'run/app.sock', why: 'is a socket' }], skippedCount: 4 }))
      .receipt(receipt({ what: 'switch', to: { backend: 'docker', workspace: '' }, fault: { class: 'unavailable', happened: 'Docker isn’t running.', remedy: 'Start it, then try again.' } }))
      .receipt(receipt({ what: 'rewind', rewindWhat: 'both', undo: 'r1', written: 3, removed: 1, turn: 1 })).items,
    record: { ...wide, parent: 'csv', rewinds: [{ id: 'r1', what: 'both', turns: 2, at: ago(1) }] },
    methods,
    after: click('.receipt:nth-child(1) .line > button', '[data-row="s.1/000009"] .line > button'),
  })),
  ask: branch(() => ({ record: asking, after: click('[aria-label="Leave out of snapshots"] li:nth-child(1) input', '[aria-label="Leave out of snapshots"] li:nth-child(3) input') })),
  snapshots: branch(() => ({ record: { snapshots: { exclude: ['.venv', 'data/raw'] } }, dialog: { kind: 'snapshots', session: 's' } })),
  'snapshots-ask': branch(() => ({ record: asking, dialog: { kind: 'snapshots', session: 's' } })),
  changes: branch(() => ({ after: (app) => (app.showChanges(), click('[role=option]:nth-child(7)')()) })),
  'changes-split': branch(() => ({
    after: (app) => {
      app.prefs.update((p) => ({ ...p, workspaceWidth: 860, diffLayout: 'split' }));
      app.showChanges();
      click('[role=option]:nth-child(7)')();
    },
  })),
  'changes-image': branch(() => ({ after: (app) => (app.showChanges(), click('[role=option]:nth-child(2)')()) })),
  'changes-deleted': branch(() => ({ after: (app) => (app.showChanges(), click('[role=option]:nth-child(6)')()) })),
  'changes-binary': branch(() => ({ after: (app) => (app.showChanges(), click('[role=option]:nth-child(4)')()) })),
  'changes-none': branch(() => ({ methods: { changes: () => later({ from: 'x', files: [], count: 0, added: 0, removed: 0 }) }, after: (app) => app.showChanges() })),
  'changes-missing': branch(() => ({ record: { snapshots: { off: true } }, methods: { changes: () => later({ from: '', files: [], count: 0, added: 0, removed: 0, missing: 'This session takes no snapshots.' }) }, after: (app) => app.showChanges() })),
  'changes-failing': branch(() => ({ methods: { changes: () => Promise.reject(refusal({ class: 'unavailable', happened: 'Docker isn’t running.', kept: 'All snapshots are kept.', remedy: 'Start it, then try again.' })) }, after: (app) => app.showChanges() })),
  revert: branch(() => ({ after: (app) => (app.showChanges(), click('[role=option]:nth-child(7)', 'section[aria-label^="Changes of"] [aria-label^="Put it back"]')()) })),
  'tree-marks': branch(() => ({ after: click('[role=treeitem][aria-label^="src"]', '[role=treeitem][aria-label^="tests"]') })),
  lineage: branch(() => ({ others: lineage, record: { snapshot: '4f1c93aa' } })),
  'engine-down': branch(() => ({
    record: {
      backend: 'docker', workspace: '/workspace', state: 'waiting', turn: openTurn(2, 'Waiting', 90_000),
      retry: { at: new Date(Date.now() + 18_000).toISOString(), attempt: 4, class: 'unavailable', reason: 'Docker isn’t running. The turn goes on when it is there again' },
    },
  })),
  'session-menu': branch(() => ({ after: click('[aria-label^="More for Fix the flaky"]') })),
  store: branch(() => ({ dialog: { kind: 'settings', section: 'data', field: 'store' } })),
  'destroy-docker': branch(() => ({ record: { backend: 'docker', workspace: '/workspace' }, dialog: { kind: 'destroy', session: 's' } })),
  'backend-chip': branch(() => ({ after: click('.header .chip') })),
};
