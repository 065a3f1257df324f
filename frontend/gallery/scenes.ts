import type { Backend } from '$lib/backend/backend';
import type { Approval, BackendInfo, FileEntry, Item, ProviderInfo, Session, SessionState } from '$lib/backend/types';
import type { App } from '$lib/state/app.svelte';
import { fakeBackend, type FakeBackend } from '../src/testing/fake-backend';
import { boot, options, session, settings } from '../src/testing/fixtures';
import { Talk } from './items';
import { stream } from './live';
import { answer, parserDiff, patch, pytest, testDiff } from './texts';

export interface Scene {
  backend: FakeBackend;
  after?: (app: App) => void;
}

export const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const openai = { ...options, provider: 'openai', model: 'gpt-5.6-sol' };

const backends: BackendInfo[] = [
  { name: 'local', label: 'This computer', blurb: 'Commands run in a folder of yours, as you.', available: true, confined: false },
  { name: 'docker', label: 'Docker', blurb: 'A container on this computer.', available: true, version: '28.2', confined: true, image: 'python:3.14' },
  { name: 'e2b', label: 'E2B', blurb: 'A small cloud machine.', available: false, planned: true, confined: true },
  { name: 'daytona', label: 'Daytona', blurb: 'A cloud workspace.', available: false, planned: true, confined: true },
];

const providers: ProviderInfo[] = [
  {
    name: 'openai', label: 'OpenAI', kind: 'openai', available: true, local: false, default: 'gpt-5.6-sol',
    models: [
      { id: 'gpt-5.6-sol', label: 'GPT-5.6 Sol', window: 400_000, efforts: ['low', 'medium', 'high'], images: true },
      { id: 'gpt-5.6-mini', label: 'GPT-5.6 mini', window: 400_000, images: true },
    ],
  },
  { name: 'demo', label: 'Scripted demo', kind: 'demo', available: true, local: false, default: 'demo', models: [{ id: 'demo', images: false }] },
];

const files: FileEntry[] = ['src', 'tests', 'README.md', 'parser.py', 'pyproject.toml', '.gitignore'].map((name) => ({
  name, path: name, kind: name.includes('.') ? 'file' : 'dir', size: 2310, mode: 0o644, modified: ago(50),
}));

export const sidebar: Session[] = [
  session('rename', { title: 'Rename the config keys', backend: 'e2b', state: 'needs_you', updated: ago(200), options: openai }),
  session('csv', { title: 'CSV importer: encodings that lie about themselves', updated: ago(300) }),
  session('dateutil', { title: '…with dateutil instead', parent: 's', state: 'working', updated: ago(8), created: ago(20) }),
  session('grammar', { title: '…rewrite as a grammar', parent: 's', backend: 'daytona', updated: ago(30), created: ago(40) }),
  session('go', { title: 'Bump the build to Go 1.26', backend: 'docker', updated: ago(2 * 1440) }),
  session('slow', { title: 'Why is start-up slow?', updated: ago(3 * 1440) }),
  session('notes', { title: 'Draft release notes', updated: ago(40 * 1440) }),
];

interface Shown {
  items: Item[];
  record?: Partial<Session>;
  others?: Session[];
  methods?: Partial<Backend>;
  after?: Scene['after'];
  draft?: string;
}

// A scene with one session shown; theme as the page was opened with.
export const scene =
  (make: () => Shown) =>
  (theme: 'dark' | 'light'): Scene => {
    const shown = make();
    const record = session('s', {
      title: 'Fix the flaky date parser', backend: 'local', workspace: '/home/user/date-parser', updated: ago(3), turns: 3,
      options: openai, contextTokens: 18_400,
      usage: { inputTokens: 17_100, cachedTokens: 12_000, outputTokens: 1300, reasoningTokens: 400, costMicros: 110_000 },
      ...shown.record,
    });
    const pageSize = 80;
    const backend = fakeBackend({
      boot: () =>
        Promise.resolve(
          boot({
            sessions: [record, ...(shown.others ?? sidebar)],
            settings: { ...settings, theme, prefs: { selected: 's', drafts: shown.draft ? { s: shown.draft } : {} } },
            defaultProvider: 'openai',
            defaultModel: 'gpt-5.6-sol',
          }),
        ),
      transcript: (_, before, limit) => {
        const end = before === '' ? shown.items.length : Number(before);
        const from = Math.max(0, end - Math.max(limit, pageSize));
        return new Promise((resolve) =>
          setTimeout(() => resolve({ items: shown.items.slice(from, end), before: from > 0 ? String(from) : '', session: record }), before ? 150 : 0),
        );
      },
      backends: () => Promise.resolve(backends),
      providers: () => Promise.resolve(providers),
      models: () => Promise.resolve(providers[0]?.models ?? []),
      listDir: (_, dir) => Promise.resolve(dir === '' ? files : []),
      queuedText: () => Promise.resolve('The whole text of the queued message.'),
      toolLog: (_, __, offset, max) => Promise.resolve(hugeLog(offset, max)),
      object: () => Promise.resolve(picture()),
      search: (query) =>
        Promise.resolve([
          { sessionId: 'csv', title: '', item: 'csv.1/000002', snippet: `…the file says UTF-8 but ${query} shows Latin-1, so the importer…` },
          { sessionId: 'slow', title: '', item: 'slow.1/000002', snippet: `…most of the start-up is spent in ${query}, before the first…` },
        ]),
      ...shown.methods,
    });
    return { backend, after: shown.after };
  };

const logSize = 100 * 1024 * 1024;
const logLine = 80;

// A log of 100 MB that is made where it is read.
function hugeLog(offset: number, max: number) {
  const from = offset < 0 ? logSize - max : offset;
  const bytes = Math.max(0, Math.min(max, logSize - from));
  let text = '';
  for (let line = Math.floor(from / logLine); text.length < bytes + logLine; line++) {
    const colour = line % 7 === 0 ? '\u001b[33m' : '';
    text += `${String(line).padStart(8)} ${colour}compiling package ${line % 997}`.padEnd(logLine - 5, '.') + '\u001b[0m\n';
  }
  const skip = from % logLine;
  return { offset: from, bytes, text: text.slice(skip, skip + bytes), size: logSize, ended: true };
}

function picture(): string {
  const canvas = document.createElement('canvas');
  canvas.width = 640;
  canvas.height = 400;
  const g = canvas.getContext('2d');
  if (g) {
    g.fillStyle = '#20435c';
    g.fillRect(0, 0, 640, 400);
    g.fillStyle = '#e0b268';
    g.beginPath();
    g.arc(460, 130, 60, 0, 7);
    g.fill();
    g.fillStyle = '#7fc98f';
    g.fillRect(0, 290, 640, 110);
  }
  return canvas.toDataURL('image/png');
}

const approval = (item: string, change: Partial<Approval['ask']> = {}): Approval => ({
  id: `a-${item}`, turn: 's.3', item, tool: 'exec_command', backend: 'local', asked: ago(1),
  ask: {
    acts: true, risky: true, reason: 'needs the network', prefixes: ['pip install'], title: 'pip install hypothesis==6.131',
    detail: 'pip install hypothesis==6.131', dir: '/home/user/date-parser', ...change,
  },
});

export const openTurn = (index: number, doing: string, startedAgo = 12_000) => ({
  id: `s.${index}`, index, step: 2, started: new Date(Date.now() - startedAgo).toISOString(), doing, stopping: false,
});

export function opening(): Talk {
  return new Talk('s')
    .user('test_parse_offset fails one time in ten on CI. Find out why and fix it, with a test that would have caught it.')
    .think('**Looking for the cause**\n\nA test that fails one time in ten depends on something that changes: time, order or place.')
    .say("I'll reproduce it first, with the clock pinned to different offsets.")
    .run('for z in UTC Asia/Kolkata America/St_Johns; do TZ=$z pytest -q tests/test_parse.py; done', pytest, 1, 4200)
    .say('Half-hour offsets lose their minutes: `parser.py:88` divides by 3600 before it keeps the remainder. Fixing that, and pinning six offsets in the test.')
    .patch([
      { path: 'src/parser.py', op: 'update', added: 3, removed: 2, diff: parserDiff },
      { path: 'tests/test_parse.py', op: 'update', added: 4, removed: 0, diff: testDiff },
    ]);
}

function everything(): Talk {
  return opening()
    .run('pytest -q', '................................................ [100%]\n48 passed in 1.31s\n', 0, 2100)
    .tool('read_file', { path: 'src/parser.py' }, {}, { display: 'import re\n\n\nclass Parser:\n    pass\n', durationMs: 20 })
    .say(answer)
    .end()
    .user('Thanks. Here is how it looks on my machine.', {
      attachments: [
        { name: 'screenshot.png', mime: 'image/png', size: 120_000, object: 'o1' },
        { name: 'ci.log', mime: 'text/plain', size: 48_210, object: 'o2' },
      ],
    })
    .notice('Recovered: the app was closed while the turn was under way', 'The command went on running and its result was taken over.')
    .tool('view_image', { path: 'docs/plan.png' }, {}, { display: '640 × 400', image: 'o3', imageMime: 'image/png' })
    .tool('exec_command', { cmd: 'npm run dev', tty: true }, {}, { display: 'ready in 312 ms\n', durationMs: 10_000, process: 'p1', log: 'l1' })
    .tool('write_stdin', { session_id: 'p1', chars: 'r\n' }, {}, { display: 'restarted\n', durationMs: 300, process: 'p1', log: 'l1' })
    .tool('exec_command', { cmd: 'rm -rf build' }, { status: 'denied' }, { display: 'The user said no.', durationMs: 0 })
    .tool('apply_patch', { patch: '' }, { status: 'failed', ask: { acts: true, risky: false, title: 'src/gone.py' } }, { display: 'src/gone.py: hunk 1 does not fit: no line is like “def gone():”.' })
    .tool('exec_command', { cmd: 'make build' }, {}, { display: 'compiling…\n'.repeat(200), exitCode: 0, durationMs: 64_000, truncated: true, outputBytes: logSize, log: 'l2' })
    .say('It works the same on your machine.')
    .end({ durationMs: 95_000 })
    .user('And now something that you stop.')
    .say('I begin by reading all of', true)
    .end({ outcome: 'interrupted', durationMs: 3100 });
}

function long(count: number): Item[] {
  const talk = new Talk('s', 90 * 86_400_000);
  for (let i = 0; talk.items.length < count; i++) {
    talk.user(i % 3 === 0 ? `Message ${i}. ${'Some longer text that needs more than one line. '.repeat(1 + (i % 5))}` : `Message ${i}`);
    talk.think('**Planning**\n\nA few words.');
    talk.say(i % 4 === 0 ? answer : `Answer ${i}: ${'it is done and works. '.repeat(1 + (i % 9))}`);
    talk.run(`pytest -q tests/test_${i}.py`, pytest, i % 5 === 0 ? 1 : 0);
    if (i % 2 === 0) talk.patch([{ path: `src/file_${i}.py`, op: 'update', added: 3, removed: 2, diff: parserDiff }]);
    talk.say('All tests pass.');
    talk.end();
  }
  return talk.items.slice(0, count);
}

function manySessions(): Session[] {
  const states: SessionState[] = ['idle', 'idle', 'idle', 'idle', 'working', 'idle', 'idle', 'failed', 'idle', 'idle', 'idle', 'needs_you'];
  return Array.from({ length: 300 }, (_, i) =>
    session(`m${i}`, {
      title: `${['Fix', 'Explain', 'Rewrite', 'Measure', 'Draft'][i % 5]} ${['the importer', 'start-up', 'release notes', 'config keys', 'a parser for dates that lie'][(i * 7) % 5]} ${i}`,
      backend: ['local', 'docker', 'e2b', 'daytona'][i % 4] ?? 'local',
      state: i < 24 || i % 12 < 4 ? (states[i % 12] ?? 'idle') : 'idle',
      parent: i % 9 === 5 ? `m${i - 1}` : undefined,
      updated: ago(i * i * 3),
      created: ago(i * i * 3 + 60),
    }),
  );
}

const type = (text: string) => (app: App) => {
  setTimeout(() => {
    const field = document.querySelector<HTMLTextAreaElement>('[data-focus="composer"]');
    if (!field) return;
    field.focus();
    field.value = text;
    field.setSelectionRange(text.length, text.length);
    field.dispatchEvent(new Event('input', { bubbles: true }));
    void app;
  }, 150);
};

export const scenes: Record<string, (theme: 'dark' | 'light') => Scene> = {
  first: (theme) => ({
    backend: fakeBackend({
      boot: () => Promise.resolve(boot({ settings: { ...settings, theme, firstRunDone: false } })),
      backends: () => Promise.resolve(backends),
      providers: () => Promise.resolve([providers[1] as ProviderInfo]),
    }),
  }),
  none: (theme) => ({
    backend: fakeBackend({ boot: () => Promise.resolve(boot({ settings: { ...settings, theme }, sessions: sidebar, defaultProvider: 'openai' })), backends: () => Promise.resolve(backends) }),
  }),
  empty: scene(() => ({ items: [], others: [], record: { title: 'New session', turns: 0 } })),
  workbench: scene(() => {
    const talk = opening();
    const item = talk.nextId();
    talk.tool('exec_command', { cmd: 'pip install hypothesis==6.131' }, { status: 'pending' });
    return { items: talk.items, record: { state: 'needs_you', approvals: [approval(item)], turn: openTurn(1, 'Waiting for you') } };
  }),
  everything: scene(() => ({ items: everything().items })),
  approvals: scene(() => {
    const talk = opening();
    const first = talk.nextId();
    const detail = `cat > deploy.sh <<'EOF'\n${Array.from({ length: 20 }, (_, i) => `echo step ${i} && ./run --stage ${i}`).join('\n')}\nEOF\nsh deploy.sh`;
    talk.tool('exec_command', { cmd: detail }, { status: 'pending' });
    const second = talk.nextId();
    talk.tool('apply_patch', { patch: '' }, { status: 'pending' });
    return {
      items: talk.items,
      record: {
        state: 'needs_you',
        turn: openTurn(1, 'Waiting for you'),
        approvals: [
          approval(first, { detail, title: 'cat > deploy.sh <<EOF', prefixes: [], reason: 'may do anything' }),
          { ...approval(second, { title: 'Edit 2 files', detail: patch, reason: 'outside the workspace', prefixes: ['src', 'tests'] }), tool: 'apply_patch' },
        ],
      },
    };
  }),
  faults: scene(() => ({
    items: opening()
      .end({ outcome: 'failed' })
      .user('Go on.')
      .fault({ class: 'overloaded', happened: 'OpenAI was overloaded five times in a row.', kept: 'Everything up to here is kept.', remedy: 'Try again in a few minutes.', detail: 'HTTP 503 after 5 attempts' })
      .end({ outcome: 'failed', durationMs: 61_000 })
      .user('Go on.')
      .fault({ class: 'bad_key', happened: 'OpenAI refused the key.', kept: 'Everything up to here is kept.', remedy: 'Check the key in the settings, then try again.', detail: 'HTTP 401: Incorrect API key provided' })
      .end({ outcome: 'failed', durationMs: 900 }).items,
    record: { state: 'failed' },
  })),
  retry: scene(() => ({
    items: opening().items,
    record: {
      state: 'waiting',
      turn: openTurn(1, 'Waiting'),
      retry: { at: new Date(Date.now() + 42_000).toISOString(), attempt: 3, class: 'rate_limited', reason: 'OpenAI takes no more requests this minute' },
    },
  })),
  running: scene(() => {
    const talk = opening();
    talk.tool('exec_command', { cmd: 'go test ./... -count=1 -race' }, { status: 'running', started: new Date(Date.now() - 9000).toISOString() }, { durationMs: 0 });
    const id = talk.items.at(-1)?.id ?? '';
    return {
      items: talk.items,
      record: {
        state: 'working',
        turn: openTurn(1, 'go test ./... -count=1 -race', 40_000),
        queue: [
          { id: 'q1', content: '', preview: 'Then write it down in CHANGELOG.md, in one line.', sent: ago(1) },
          { id: 'q2', content: '', preview: 'And open a branch for it.', sent: ago(1), attachments: 2 },
        ],
      },
      after: (app) => {
        let offset = 0;
        const write = (text: string) => {
          app.events.emit([{ type: 'output', sessionId: 's', output: { item: id, offset, text } }]);
          offset += text.length;
        };
        for (let i = 0; i < 30; i++) write(`\u001b[32mok\u001b[0m  \texample.org/pkg/part${i}\t0.${i}1s\n`);
        setInterval(() => write(`\u001b[32mok\u001b[0m  \texample.org/pkg/more${offset}\t0.12s\n`), 700);
      },
    };
  }),
  streaming: scene(() => {
    const talk = new Talk('s').user('Explain the fix.');
    return { items: talk.items, record: { state: 'working', turn: openTurn(1, 'Writing') }, after: (app) => stream(app, talk.nextId(), answer, 12) };
  }),
  words: scene(() => ({
    items: new Talk('s')
      .user(`${'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(3)} https://example.org/${'very-long-path/'.repeat(12)}`)
      .say(`A word that never ends: ${'x'.repeat(300)} and \`${'code'.repeat(60)}\`.\n\n\`\`\`sh\necho ${'long '.repeat(60)}\n\`\`\``)
      .run(`echo ${'y'.repeat(400)}`, 'z'.repeat(900), 0)
      .user('مرحبا، اشرح لي كيف يعمل محلل التواريخ في هذا المشروع، ثم أصلح الخطأ.')
      .say('يقرأ المحلل النص **حرفا حرفا** ويحوله إلى تاريخ:\n\n- أولا يقرأ السنة\n- ثم الشهر `src/parser.py`\n\n```python\nprint("hello")\n```\n\n> ملاحظة قصيرة')
      .user('שלום, תסביר את הקוד')
      .say('הקוד פשוט. 日本語のテキストも問題ありません。这是中文。🙂')
      .end().items,
  })),
  long: scene(() => ({ items: long(2000) })),
  many: scene(() => ({ items: everything().items, others: manySessions() })),
  compacted: scene(() => ({ items: opening().end().user('Go on').summary('## What was done\n\n- The parser was fixed.\n- Tests were added.', 181_000).say('Going on with the changelog.').end().items })),
  commands: scene(() => ({ items: opening().end().items, after: type('/') })),
  mention: scene(() => ({ items: opening().end().items, after: type('look at @') })),
  failing: scene(() => ({ items: [], methods: { transcript: () => Promise.reject(new Error('{"class":"internal","happened":"A part of this session’s stored data is damaged","kept":"The rest is kept.","detail":"object 4f1c: checksum"}')) } })),
  loading: scene(() => ({ items: [], methods: { transcript: () => new Promise(() => {}) } })),
  offline: (theme) => ({
    backend: fakeBackend({
      boot: () => Promise.resolve(boot({ settings: { ...settings, theme }, sessions: sidebar, engine: { state: 'failed', role: 'owner', since: ago(1), fault: { class: 'internal', happened: 'The engine has stopped.', remedy: 'Start the app again.' } } })),
    }),
  }),
};
