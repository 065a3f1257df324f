import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Item, Page } from '$lib/backend/types';
import { fakeBackend, refuse } from '../../../testing/fake-backend';
import { receipt as aReceipt, session } from '../../../testing/fixtures';
import { Events } from '../events';
import { SessionsStore } from '../sessions.svelte';
import { Chat } from './chat.svelte';

const time = '2026-01-10T08:00:00Z';

function said(turn: string, seq: number, text = 'x'): Item {
  return { id: `${turn}/${String(seq).padStart(6, '0')}`, turn, seq, time, kind: 'assistant', assistant: { text } };
}

function asked(turn: string, seq: number, messageId: string): Item {
  return { id: `${turn}/${String(seq).padStart(6, '0')}`, turn, seq, time, kind: 'user', user: { messageId, text: 'hi' } };
}

function turnEnd(turn: string, seq: number): Item {
  const end = { index: 3, outcome: 'done', durationMs: 1, steps: 1, usage: session('s').usage, provider: 'demo', model: 'demo', backend: 'local' } as const;
  return { id: `${turn}/${String(seq).padStart(6, '0')}`, turn, seq, time, kind: 'turn_end', turnEnd: end };
}

function setUp(transcript: (id: string, before: string) => Promise<Page>) {
  const backend = fakeBackend({ transcript });
  const sessions = new SessionsStore();
  const events = new Events();
  sessions.listen(events);
  const seen: string[] = [];
  const chat = new Chat(backend, sessions, events, (ids) => seen.push(...ids));
  return { backend, sessions, events, chat, seen };
}

const page = (id: string, items: Item[], before = ''): Page => ({ items, before, session: session(id) });
const keys = (chat: Chat) => chat.rows.map((r) => r.key);

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

describe('opening', () => {
  test('watches first, then reads; what comes meanwhile is not lost', async () => {
    let answer: (p: Page) => void = () => {};
    const { backend, chat, events } = setUp(() => new Promise((resolve) => (answer = resolve)));
    const opened = chat.open('s');
    await vi.advanceTimersByTimeAsync(0);
    expect(backend.calls.map((c) => c.method)).toEqual(['watch', 'transcript']);
    expect(chat.loading).toBe(true);
    events.emit([{ type: 'item', sessionId: 's', item: said('s.2', 1, 'live') }]);
    answer(page('s', [said('s.1', 1)]));
    await opened;
    expect(keys(chat)).toEqual(['s.1/000001', 's.2/000001']);
    expect(chat.loading).toBe(false);
  });

  test('a session that was just made is looked for until it is written', async () => {
    let written = false;
    const { chat } = setUp((id) => (written ? Promise.resolve(page(id, [said('s.1', 1)])) : refuse({ class: 'not_found' })()));
    await chat.open('s');
    expect([chat.loading, chat.fault]).toEqual([true, null]);
    await vi.advanceTimersByTimeAsync(500);
    expect([chat.loading, chat.fault]).toEqual([true, null]);
    written = true;
    await vi.advanceTimersByTimeAsync(500);
    expect(keys(chat)).toEqual(['s.1/000001']);
    expect([chat.loading, chat.fault]).toEqual([false, null]);
  });

  test('a session that is not there is said to be gone in the end', async () => {
    const { backend, chat } = setUp(refuse({ class: 'not_found', happened: 'There is no such session.' }));
    await chat.open('s');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(chat.fault?.happened).toBe('There is no such session.');
    expect(chat.loading).toBe(false);
    expect(backend.callsOf('transcript').length).toBeLessThan(40);
  });

  test('an answer for a session left meanwhile is dropped', async () => {
    const answers: Record<string, (p: Page) => void> = {};
    const { chat } = setUp((id) => new Promise((resolve) => (answers[id] = resolve)));
    const first = chat.open('a');
    await vi.advanceTimersByTimeAsync(0);
    const second = chat.open('b');
    await vi.advanceTimersByTimeAsync(0);
    answers['b']?.(page('b', [said('b.1', 1)]));
    await second;
    answers['a']?.(page('a', [said('a.1', 1)]));
    await first;
    expect(keys(chat)).toEqual(['b.1/000001']);
    expect(chat.loading).toBe(false);
  });

  test('going back shows at once what was there', async () => {
    const { chat } = setUp((id) => Promise.resolve(page(id, [said(`${id}.1`, 1)])));
    await chat.open('a');
    await chat.open('b');
    const back = chat.open('a');
    expect(keys(chat)).toEqual(['a.1/000001']);
    await back;
  });

  test('a failure is told, and trying again mends it', async () => {
    let fail = true;
    const { chat } = setUp((id) => (fail ? refuse({ happened: 'The store is busy.' })() : Promise.resolve(page(id, [said('s.1', 1)]))));
    await chat.open('s');
    expect(chat.fault?.happened).toBe('The store is busy.');
    fail = false;
    await chat.reload();
    expect(chat.fault).toBeNull();
    expect(keys(chat)).toHaveLength(1);
  });

  test('watching may fail: the conversation is read all the same', async () => {
    const { chat, backend } = setUp((id) => Promise.resolve(page(id, [said('s.1', 1)])));
    backend.watch = refuse();
    await chat.open('s');
    expect(keys(chat)).toHaveLength(1);
  });
});

describe('live', () => {
  test('events of other sessions change nothing here', async () => {
    const { chat, events } = setUp((id) => Promise.resolve(page(id, [])));
    await chat.open('s');
    events.emit([{ type: 'item', sessionId: 'other', item: said('other.1', 1) }]);
    expect(keys(chat)).toEqual([]);
  });

  test('a gap reads the newest page again, once', async () => {
    const pages = [page('s', [said('s.1', 1)]), page('s', [said('s.1', 1), said('s.1', 2, 'missed')])];
    const { chat, events, backend } = setUp(() => Promise.resolve(pages[Math.min(backend.callsOf('transcript').length, 2) - 1] as Page));
    await chat.open('s');
    events.emit([{ type: 'gap', sessionId: 's' }, { type: 'gap' }]);
    await vi.advanceTimersByTimeAsync(500);
    expect(backend.callsOf('transcript')).toHaveLength(2);
    expect(keys(chat)).toEqual(['s.1/000001', 's.1/000002']);
  });

  test('a hole in streamed text reads again', async () => {
    const { chat, events, backend } = setUp((id) => Promise.resolve(page(id, [])));
    await chat.open('s');
    const delta = { turn: 's.1', item: 's.1/000001', attempt: 1, channel: 'text', offset: 9, text: 'later' } as const;
    events.emit([{ type: 'delta', sessionId: 's', delta }]);
    await vi.advanceTimersByTimeAsync(500);
    expect(backend.callsOf('transcript')).toHaveLength(2);
    expect(chat.rows).toHaveLength(1);
  });

  test('a turn that is over without its last item is read again; nothing half stays', async () => {
    const pages = [page('s', []), page('s', [said('s.1', 1, 'whole'), turnEnd('s.1', 2)])];
    const { chat, events, backend } = setUp(() => Promise.resolve(pages[Math.min(backend.callsOf('transcript').length, 2) - 1] as Page));
    await chat.open('s');
    const delta = { turn: 's.1', item: 's.1/000001', attempt: 1, channel: 'text', offset: 0, text: 'half' } as const;
    events.emit([{ type: 'delta', sessionId: 's', delta }]);
    events.emit([{ type: 'session', sessionId: 's', session: session('s', { version: 2, state: 'idle' }) }]);
    expect(chat.rows).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(500);
    expect(chat.rows.map((r) => r.kind)).toEqual(['assistant', 'turn_end']);
  });

  test('a screen reader is told once, when the turn ends', async () => {
    const { chat, events } = setUp((id) => Promise.resolve(page(id, [])));
    await chat.open('s');
    events.emit([{ type: 'item', sessionId: 's', item: said('s.1', 1, 'All tests pass.') }]);
    expect(chat.announcement).toBe('');
    events.emit([{ type: 'item', sessionId: 's', item: turnEnd('s.1', 2) }]);
    expect(chat.announcement).toBe('Turn 3 done. All tests pass.');
  });
});

test('a screen reader is told once what the agent asks', async () => {
  const { chat, events } = setUp((id) => Promise.resolve(page(id, [])));
  await chat.open('s');
  const ask = { acts: true, risky: true, title: 'make all' };
  const approvals = [{ id: 'q', turn: 's.1', item: 's.1/000001', tool: 'exec_command', backend: 'local', ask, asked: '' }];
  events.emit([{ type: 'session', sessionId: 's', session: session('s', { version: 2, state: 'needs_you', approvals }) }]);
  expect(chat.announcement).toBe('The agent asks: make all');
  events.emit([{ type: 'item', sessionId: 's', item: turnEnd('s.1', 2) }]);
  const said = chat.announcement;
  events.emit([{ type: 'session', sessionId: 's', session: session('s', { version: 3, state: 'needs_you', approvals }) }]);
  expect(chat.announcement).toBe(said);
});

describe('older pages', () => {
  const pages: Record<string, Page> = {
    '': page('s', [said('s.3', 1)], 'p2'),
    p2: page('s', [said('s.2', 1)], 'p1'),
    p1: page('s', [said('s.1', 1)], ''),
  };

  test('are put in front until the beginning', async () => {
    const { chat, backend } = setUp((_, before) => Promise.resolve(pages[before] as Page));
    await chat.open('s');
    expect(await chat.loadOlder()).toBe(true);
    expect(chat.hasOlder).toBe(true);
    expect(await chat.loadOlder()).toBe(true);
    expect(chat.hasOlder).toBe(false);
    expect(await chat.loadOlder()).toBe(false);
    expect(keys(chat)).toEqual(['s.1/000001', 's.2/000001', 's.3/000001']);
    expect(backend.callsOf('transcript')).toHaveLength(3);
  });

  test('asking twice reads once', async () => {
    const { chat, backend } = setUp((_, before) => Promise.resolve(pages[before] as Page));
    await chat.open('s');
    await Promise.all([chat.loadOlder(), chat.loadOlder()]);
    expect(backend.callsOf('transcript')).toHaveLength(2);
  });

  test('an item that search found is loaded and named for scrolling', async () => {
    const { chat } = setUp((_, before) => Promise.resolve(pages[before] as Page));
    await chat.open('s', 's.1/000001');
    expect(chat.reveal).toBe('s.1/000001');
    chat.revealed();
    expect(chat.reveal).toBe('');
  });

  test('one that is nowhere ends the search at the beginning', async () => {
    const { chat, backend } = setUp((_, before) => Promise.resolve(pages[before] as Page));
    await chat.open('s', 's.0/000001');
    expect(chat.reveal).toBe('');
    expect(backend.callsOf('transcript')).toHaveLength(3);
  });
});

test('the messages of a page are told, so that none is shown twice', async () => {
  const { chat, seen } = setUp((id) => Promise.resolve(page(id, [asked('s.1', 1, 'm1')])));
  await chat.open('s');
  expect(seen).toEqual(['m1']);
});

describe('going back', () => {
  const rewound = (id: string) => ({ id, what: 'both' as const, turns: 2, at: time });
  const talk = { full: [said('s.1', 1), turnEnd('s.1', 2), said('s.2', 1), turnEnd('s.2', 2)], back: [said('s.1', 1), turnEnd('s.1', 2)] };

  test('turns that a rewind took away are gone, and are there again when it is undone', async () => {
    let now: Page = page('s', talk.full);
    const { chat, events } = setUp(() => Promise.resolve(now));
    await chat.open('s');
    expect(keys(chat)).toHaveLength(4);
    const rewind = async (items: Item[], ...ids: string[]) => {
      const record = session('s', { version: 1 + ids.length, rewinds: ids.map(rewound) });
      now = { items, before: '', session: record };
      events.emit([{ type: 'session', sessionId: 's', session: record }]);
      await vi.advanceTimersByTimeAsync(500);
    };
    await rewind(talk.back, 'r1');
    expect(keys(chat)).toEqual(['s.1/000001', 's.1/000002']);
    await rewind(talk.full, 'r1', 'r2');
    expect(keys(chat)).toHaveLength(4);
  });

  test('the line that a rewind leaves is not lost when it comes before the page', async () => {
    let answer: (p: Page) => void = () => {};
    let first = true;
    const { chat, events } = setUp(() => {
      if (!first) return new Promise((resolve) => (answer = resolve));
      first = false;
      return Promise.resolve(page('s', talk.full));
    });
    await chat.open('s');
    const record = session('s', { version: 2, rewinds: [rewound('r1')] });
    events.emit([{ type: 'session', sessionId: 's', session: record }]);
    await vi.advanceTimersByTimeAsync(500);
    const receipt: Item = { id: 's.3/000000', turn: 's.3', seq: 0, time, kind: 'notice', notice: { code: 'rewound', text: 'Back', receipt: aReceipt() } };
    events.emit([{ type: 'item', sessionId: 's', item: receipt }]);
    answer({ items: talk.back, before: '', session: record });
    await vi.advanceTimersByTimeAsync(0);
    expect(keys(chat)).toEqual(['s.1/000001', 's.1/000002', 's.3/000000']);
  });

  test('a session that is not shown is read anew when it is', async () => {
    let items = talk.full;
    let rewinds = [rewound('r0')];
    const { chat, events } = setUp((id) => Promise.resolve({ items: id === 's' ? items : [], before: '', session: session(id, id === 's' ? { rewinds } : {}) }));
    await chat.open('s');
    await chat.open('other');
    items = talk.back;
    rewinds = [rewound('r1')];
    events.emit([{ type: 'session', sessionId: 's', session: session('s', { version: 2, rewinds }) }]);
    await chat.open('s');
    expect(keys(chat)).toHaveLength(2);
  });

  test('a receipt at the end is no turn that was missed', async () => {
    const receipt: Item = { id: 's.3/000001', turn: 's.3', seq: 1, time, kind: 'notice', notice: { code: 'switch', text: 'Moved', receipt: aReceipt() } };
    const { backend, chat, events } = setUp(() => Promise.resolve(page('s', [...talk.full, receipt])));
    await chat.open('s');
    events.emit([{ type: 'session', sessionId: 's', session: session('s', { version: 2 }) }]);
    await vi.advanceTimersByTimeAsync(500);
    expect(backend.callsOf('transcript')).toHaveLength(1);
  });
});

test('how a turn ended is known once it has', async () => {
  const { chat } = setUp(() => Promise.resolve(page('s', [said('s.1', 1), turnEnd('s.1', 2), said('s.2', 1)])));
  await chat.open('s');
  expect(chat.endOf('s.1')?.outcome).toBe('done');
  expect(chat.endOf('s.2')).toBeNull();
});
