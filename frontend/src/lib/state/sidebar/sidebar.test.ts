import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { SearchHit } from '$lib/backend/types';
import { marks } from '$lib/util/marks';
import { fakeBackend, refuse } from '../../../testing/fake-backend';
import { session } from '../../../testing/fixtures';
import { dayTitle, lineageStep, listRows, neighbour } from './groups';
import { SessionSearch } from './search.svelte';

// A Thursday.
const now = new Date(2026, 2, 12, 14, 0).getTime();
const at = (day: number, hour = 9, month = 2) => new Date(2026, month, day, hour).toISOString();

const show = (rows: ReturnType<typeof listRows>) =>
  rows.map((r) => (r.kind === 'group' ? r.title : `${'  '.repeat(r.depth)}${r.session.id}`));

describe('the list', () => {
  test('keys lead from one session to the next, over the headings, and stop at the ends', () => {
    const rows = listRows([session('a', { updated: at(12) }), session('b', { updated: at(11) }), session('c', { state: 'needs_you' })], now);
    expect([neighbour(rows, 'c', 1), neighbour(rows, 'a', 1), neighbour(rows, 'b', 1)]).toEqual(['a', 'b', '']);
    expect([neighbour(rows, 'b', -1), neighbour(rows, 'c', -1)]).toEqual(['a', '']);
    expect([neighbour(rows, '', 1), neighbour(rows, '', -1), neighbour([], '', 1)]).toEqual(['c', 'b', '']);
  });

  test('what needs the user, then by day', () => {
    const rows = listRows(
      [
        session('week', { updated: at(9) }),
        session('today', { updated: at(12) }),
        session('failed', { updated: at(1), state: 'failed' }),
        session('asks', { updated: at(12), state: 'needs_you' }),
        session('newer', { updated: at(12, 10), state: 'working' }),
        session('yesterday', { updated: at(11) }),
        session('month', { updated: at(3) }),
        session('older', { updated: at(3, 9, 0) }),
      ],
      now,
    );
    expect(show(rows)).toEqual([
      'Needs you · 2', 'failed', 'asks',
      'Today', 'newer', 'today',
      'Yesterday', 'yesterday',
      'This week', 'week',
      'March', 'month',
      'January', 'older',
    ]);
  });

  test('forks are under their parents, and make them as new as they are', () => {
    const rows = listRows(
      [
        session('plain', { updated: at(11) }),
        session('parent', { updated: at(3) }),
        session('second', { parent: 'parent', updated: at(3), created: at(5) }),
        session('first', { parent: 'parent', updated: at(12), created: at(4) }),
        session('inner', { parent: 'first', updated: at(3) }),
        session('orphan', { parent: 'destroyed', updated: at(12, 8) }),
        session('waits', { parent: 'parent', updated: at(3), state: 'needs_you' }),
      ],
      now,
    );
    expect(show(rows)).toEqual([
      'Needs you · 1', 'waits',
      'Today', 'parent', '  first', '    inner', '  second', 'orphan',
      'Yesterday', 'plain',
    ]);
    expect(rows.filter((r) => r.kind === 'session' && r.last).map((r) => r.key)).toEqual(['inner', 'second']);
  });

  test('forks can be put away, and arrows lead through the lineage', () => {
    const sessions = [
      session('parent', { updated: at(12) }),
      session('first', { parent: 'parent', updated: at(12), created: at(4) }),
      session('inner', { parent: 'first', updated: at(12) }),
      session('second', { parent: 'parent', updated: at(12), created: at(5) }),
    ];
    const open = listRows(sessions, now);
    const closed = listRows(sessions, now, new Set(['parent', 'second']));
    expect(show(closed)).toEqual(['Today', 'parent']);
    expect(closed.at(-1)).toMatchObject({ collapsed: true, forks: 2, below: 3 });
    // Nothing to put away is nothing that is put away.
    expect(open.find((r) => r.key === 'second')).toMatchObject({ collapsed: false, forks: 0 });
    expect(lineageStep(closed, 'parent', 'ArrowRight')).toEqual({ open: 'parent' });
    expect(lineageStep(open, 'parent', 'ArrowRight')).toEqual({ go: 'first' });
    expect(lineageStep(open, 'parent', 'ArrowLeft')).toEqual({ close: 'parent' });
    expect(lineageStep(open, 'inner', 'ArrowLeft')).toEqual({ go: 'first' });
    expect(lineageStep(open, 'inner', 'ArrowRight')).toEqual({});
    expect(lineageStep(closed, 'parent', 'ArrowLeft')).toEqual({});
  });

  test('a session that names itself as parent is a root', () => {
    expect(show(listRows([session('a', { parent: 'a', updated: at(12) })], now))).toEqual(['Today', 'a']);
  });

  test('days', () => {
    expect(dayTitle(new Date(2026, 2, 12, 0, 0).getTime(), now)).toBe('Today');
    expect(dayTitle(new Date(2026, 2, 11, 23, 59).getTime(), now)).toBe('Yesterday');
    expect(dayTitle(new Date(2026, 2, 9, 0, 0).getTime(), now)).toBe('This week');
    expect(dayTitle(new Date(2026, 2, 8, 23, 0).getTime(), now)).toBe('March');
    expect(dayTitle(new Date(2025, 10, 8).getTime(), now)).toBe('November 2025');
  });
});

describe('search', () => {
  beforeEach(() => {
    vi.useFakeTimers();
    return () => vi.useRealTimers();
  });

  const sessions = [session('a', { title: 'Fix the date parser' }), session('b', { title: 'Release notes' })];
  const hit = (sessionId: string, item: string, snippet: string): SearchHit => ({ sessionId, title: '', item, snippet });
  const ids = (s: SessionSearch) => s.results.map((r) => `${r.session.id}${r.item && `#${r.item}`}`);

  test('titles at once, contents a moment later', async () => {
    const backend = fakeBackend({ search: () => Promise.resolve([hit('b', 'i1', 'a date'), hit('a', '', ''), hit('gone', 'i2', 'x')]) });
    const search = new SessionSearch(backend, () => sessions);
    search.set('DATE');
    expect(ids(search)).toEqual(['a']);
    expect(search.pending).toBe(true);
    await vi.advanceTimersByTimeAsync(200);
    expect(ids(search)).toEqual(['a', 'b#i1']);
    expect(search.pending).toBe(false);
  });

  test('only the answer to the last question counts', async () => {
    const answers: ((hits: SearchHit[]) => void)[] = [];
    const backend = fakeBackend({ search: () => new Promise((resolve) => answers.push(resolve)) });
    const search = new SessionSearch(backend, () => sessions);
    search.set('xy');
    await vi.advanceTimersByTimeAsync(200);
    search.set('xyz');
    await vi.advanceTimersByTimeAsync(200);
    answers[1]?.([hit('b', 'new', '')]);
    answers[0]?.([hit('a', 'old', '')]);
    await vi.advanceTimersByTimeAsync(0);
    expect(ids(search)).toEqual(['b#new']);
  });

  test('typing on asks once, an empty field not at all', async () => {
    const backend = fakeBackend();
    const search = new SessionSearch(backend, () => sessions);
    for (const text of ['d', 'da', 'dat', 'date']) search.set(text);
    await vi.advanceTimersByTimeAsync(300);
    expect(backend.callsOf('search')).toEqual([['date']]);
    search.set('');
    await vi.advanceTimersByTimeAsync(300);
    expect(backend.callsOf('search')).toHaveLength(1);
    expect(search.active).toBe(false);
  });

  test('a failure is told; titles are found all the same', async () => {
    const search = new SessionSearch(fakeBackend({ search: refuse() }), () => sessions);
    search.set('date');
    await vi.advanceTimersByTimeAsync(200);
    expect(search.fault?.happened).toBe('It broke.');
    expect(ids(search)).toEqual(['a']);
  });

  test('marks', () => {
    expect(marks('Fix the Date (date)', ['date', '('])).toEqual([
      { text: 'Fix the ', hit: false },
      { text: 'Date', hit: true },
      { text: ' ', hit: false },
      { text: '(', hit: true },
      { text: 'date', hit: true },
      { text: ')', hit: false },
    ]);
    expect(marks('x', [])).toEqual([{ text: 'x', hit: false }]);
  });
});
