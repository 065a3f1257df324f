import { describe, expect, test } from 'vitest';
import type { Delta, Item, Page, ToolStatus } from '$lib/backend/types';
import { session } from '../../../testing/fixtures';
import {
  applyDelta,
  applyItem,
  applyOutput,
  dropStreams,
  emptyTranscript,
  liveOutputMax,
  mergeNewest,
  prependPage,
  type Transcript,
} from './transcript';

const time = '2026-01-10T08:00:00Z';
const idOf = (turn: string, seq: number) => `${turn}/${String(seq).padStart(6, '0')}`;

function text(turn: string, seq: number, value: string): Item {
  return { id: idOf(turn, seq), turn, seq, time, kind: 'assistant', assistant: { text: value } };
}

function tool(turn: string, seq: number, status: ToolStatus): Item {
  const result = { output: '', durationMs: 0, outputBytes: 0 };
  const ask = { acts: true, risky: false, title: 'make' };
  const head = { id: idOf(turn, seq), turn, seq, time };
  return { ...head, kind: 'tool', tool: { callId: 'c', name: 'exec_command', args: '{}', ask, status, result, started: time } };
}

function turnEnd(turn: string, seq: number): Item {
  const usage = session('s').usage;
  const end = { index: 1, outcome: 'done', durationMs: 1, steps: 1, usage, provider: 'demo', model: 'demo', backend: 'local' } as const;
  return { id: idOf(turn, seq), turn, seq, time, kind: 'turn_end', turnEnd: end };
}

function delta(turn: string, seq: number, offset: number, value: string, more: Partial<Delta> = {}): Delta {
  return { turn, item: idOf(turn, seq), attempt: 1, channel: 'text', offset, text: value, ...more };
}

function page(items: Item[], before = '', turn?: string): Page {
  const open = turn ? { id: turn, index: 1, step: 1, started: time, doing: '', stopping: false } : null;
  return { items, before, session: session('s', { turn: open }) };
}

function of(...items: Item[]): Transcript {
  return mergeNewest(emptyTranscript, page(items));
}

const ids = (t: Transcript) => t.entries.map((e) => e.id);
const streamOf = (t: Transcript, turn: string, seq: number) =>
  t.entries.find((e) => e.id === idOf(turn, seq))?.stream?.text;

describe('deltas', () => {
  test('pieces in order make the text', () => {
    let t = of(text('s.1', 1, 'old'));
    t = applyDelta(t, delta('s.2', 1, 0, 'Héllo '));
    t = applyDelta(t, delta('s.2', 1, 7, 'wörld'));
    expect(streamOf(t, 's.2', 1)).toBe('Héllo wörld');
    expect(t.stale).toBe(false);
  });

  test('a piece that came twice, or an old one, changes nothing', () => {
    let t = applyDelta(of(), delta('s.1', 1, 0, 'one '));
    t = applyDelta(t, delta('s.1', 1, 4, 'two'));
    expect(applyDelta(t, delta('s.1', 1, 4, 'two'))).toBe(t);
    expect(applyDelta(t, delta('s.1', 1, 0, 'one '))).toBe(t);
  });

  test('a piece that overlaps adds only what is new', () => {
    let t = applyDelta(of(), delta('s.1', 1, 0, 'abé'));
    t = applyDelta(t, delta('s.1', 1, 2, 'édef'));
    expect(streamOf(t, 's.1', 1)).toBe('abédef');
  });

  test('a hole is told, and the text goes on after an ellipsis', () => {
    let t = applyDelta(of(), delta('s.1', 1, 0, 'begin'));
    t = applyDelta(t, delta('s.1', 1, 9, 'end'));
    expect(t.stale).toBe(true);
    expect(streamOf(t, 's.1', 1)).toBe('begin … end');
    t = applyDelta({ ...t, stale: false }, delta('s.1', 1, 12, '.'));
    expect(t.stale).toBe(false);
    expect(streamOf(t, 's.1', 1)).toBe('begin … end.');
  });

  test('joining in the middle is a hole', () => {
    const t = applyDelta(of(), delta('s.1', 1, 40, 'middle'));
    expect(t.stale).toBe(true);
    expect(streamOf(t, 's.1', 1)).toBe('… middle');
  });

  test('a higher attempt clears what an earlier one streamed, in all items', () => {
    let t = of(text('s.1', 1, 'kept'));
    t = applyDelta(t, delta('s.1', 2, 0, 'think', { channel: 'reasoning' }));
    t = applyDelta(t, delta('s.1', 3, 0, 'half an answ'));
    t = applyDelta(t, delta('s.1', 2, 0, 'again', { attempt: 2 }));
    expect(ids(t)).toEqual([idOf('s.1', 1), idOf('s.1', 2)]);
    expect(streamOf(t, 's.1', 2)).toBe('again');
    expect(applyDelta(t, delta('s.1', 2, 5, 'late'))).toBe(t);
    expect(applyDelta(t, delta('s.1', 3, 12, 'er'))).toBe(t);
  });

  test('an empty piece of a higher attempt takes the text back', () => {
    let t = applyDelta(of(), delta('s.1', 1, 0, 'half'));
    t = applyDelta(t, delta('s.1', 1, 0, '', { attempt: 2 }));
    expect(streamOf(t, 's.1', 1)).toBe('');
    t = applyDelta(t, delta('s.1', 1, 0, 'whole', { attempt: 2 }));
    expect(streamOf(t, 's.1', 1)).toBe('whole');
  });

  test('attempts begin at 1 again in the next step', () => {
    let t = applyDelta(of(), delta('s.1', 1, 0, 'a', { attempt: 3 }));
    t = applyItem(t, text('s.1', 1, 'a'));
    t = applyDelta(t, delta('s.1', 2, 0, 'b'));
    expect(streamOf(t, 's.1', 2)).toBe('b');
  });

  test('the written item takes the place of the text; late pieces are ignored', () => {
    let t = applyDelta(of(text('s.1', 1, 'x')), delta('s.1', 2, 0, 'half'));
    t = applyItem(t, text('s.1', 2, 'half and whole'));
    expect(t.entries[1]).toMatchObject({ id: idOf('s.1', 2), stream: null });
    expect(applyDelta(t, delta('s.1', 2, 4, ' and'))).toBe(t);
  });

  test('the name of the tool is kept while its arguments stream', () => {
    let t = applyDelta(of(), delta('s.1', 1, 0, '', { channel: 'args', tool: 'exec_command' }));
    t = applyDelta(t, delta('s.1', 1, 0, '{"cmd"', { channel: 'args' }));
    expect(t.entries[0]?.stream).toMatchObject({ tool: 'exec_command', text: '{"cmd"' });
  });
});

describe('items', () => {
  test('they come in their order within a turn, whatever the order of arrival', () => {
    let t = of(text('s.1', 1, 'a'));
    for (const seq of [3, 1, 2]) t = applyItem(t, text('s.2', seq, String(seq)));
    expect(ids(t)).toEqual([idOf('s.1', 1), idOf('s.2', 1), idOf('s.2', 2), idOf('s.2', 3)]);
  });

  test('one that belongs before the loaded part is left to its page', () => {
    const t = mergeNewest(emptyTranscript, page([text('s.1', 50, 'x')], 'cursor'));
    expect(applyItem(t, tool('s.1', 3, 'done'))).toBe(t);
    const whole = mergeNewest(emptyTranscript, page([text('s.1', 50, 'x')]));
    expect(ids(applyItem(whole, tool('s.1', 3, 'done')))).toEqual([idOf('s.1', 3), idOf('s.1', 50)]);
  });

  test('a tool never goes back from ended to running', () => {
    const t = applyItem(of(), tool('s.1', 1, 'done'));
    expect(applyItem(t, tool('s.1', 1, 'running'))).toBe(t);
  });

  test('the end of a turn takes away what was never written', () => {
    let t = applyDelta(of(), delta('s.1', 1, 0, 'half'));
    t = applyItem(t, turnEnd('s.1', 2));
    expect(ids(t)).toEqual([idOf('s.1', 2)]);
    expect(dropStreams(t, 's.1')).toBe(t);
  });
});

describe('live output', () => {
  const running = of(tool('s.1', 1, 'running'));
  const item = idOf('s.1', 1);

  test('pieces are joined, repeated ones ignored', () => {
    let t = applyOutput(running, { item, offset: 0, text: 'a\n' });
    t = applyOutput(t, { item, offset: 2, text: 'b\n' });
    expect(t.entries[0]?.output?.text).toBe('a\nb\n');
    expect(applyOutput(t, { item, offset: 2, text: 'b\n' })).toBe(t);
  });

  test('only the end is kept, from the beginning of a line', () => {
    let t = running;
    const line = `${'x'.repeat(99)}\n`;
    for (let i = 0; i < 300; i++) t = applyOutput(t, { item, offset: i * 100, text: line });
    const output = t.entries[0]?.output;
    expect(output?.cut).toBe(true);
    expect(output?.text.length).toBeLessThanOrEqual(liveOutputMax);
    expect(output?.text.startsWith('xxx')).toBe(true);
    expect(output?.text.length).toBe(Math.floor(liveOutputMax / 100) * 100);
  });

  test('a command that was found again begins anew; an ended one takes no more', () => {
    let t = applyOutput(running, { item, offset: 0, text: 'one' });
    t = applyOutput(t, { item, offset: 3, text: 'two' });
    t = applyOutput(t, { item, offset: 0, text: 'onetwo' });
    expect(t.entries[0]?.output?.text).toBe('onetwo');
    t = applyItem(t, tool('s.1', 1, 'done'));
    expect(t.entries[0]?.output).toBeNull();
    expect(applyOutput(t, { item, offset: 6, text: 'x' })).toBe(t);
  });
});

describe('pages', () => {
  test('an older page goes in front, once', () => {
    let t = mergeNewest(emptyTranscript, page([text('s.3', 1, 'c')], 'p2'));
    t = prependPage(t, page([text('s.1', 1, 'a'), text('s.2', 1, 'b')], ''), 'p2');
    expect(ids(t)).toEqual(['s.1', 's.2', 's.3'].map((turn) => idOf(turn, 1)));
    expect(t.before).toBe('');
    expect(prependPage(t, page([text('s.0', 1, 'x')]), 'p2')).toBe(t);
  });

  test('reading again keeps older pages and what came meanwhile', () => {
    let t = mergeNewest(emptyTranscript, page([text('s.2', 1, 'b')], 'p'));
    t = prependPage(t, page([text('s.1', 1, 'a')]), 'p');
    t = applyItem(t, text('s.3', 1, 'live'));
    t = applyDelta(t, delta('s.3', 2, 0, 'strea'));
    t = mergeNewest(t, page([text('s.2', 1, 'b'), text('s.2', 2, 'missed')], 'p'));
    expect(ids(t)).toEqual([idOf('s.1', 1), idOf('s.2', 1), idOf('s.2', 2), idOf('s.3', 1), idOf('s.3', 2)]);
    expect(t.before).toBe('');
  });

  test('a page without overlap starts over', () => {
    let t = of(text('s.1', 1, 'a'));
    t = mergeNewest(t, page([text('s.9', 1, 'z')], 'p9'));
    expect(ids(t)).toEqual([idOf('s.9', 1)]);
    expect(t.before).toBe('p9');
  });

  test('streams of a turn that is over go; those of the open turn stay', () => {
    const streaming = applyDelta(of(text('s.1', 1, 'a')), delta('s.2', 1, 0, 'half'));
    expect(ids(mergeNewest(streaming, page([text('s.1', 1, 'a')], '', 's.2')))).toContain(idOf('s.2', 1));
    expect(ids(mergeNewest(streaming, page([text('s.1', 1, 'a')], '', 's.3')))).not.toContain(idOf('s.2', 1));
    const ended = page([text('s.1', 1, 'a'), turnEnd('s.2', 4)]);
    expect(ids(mergeNewest(streaming, ended))).not.toContain(idOf('s.2', 1));
  });

  test('what the store no longer has goes', () => {
    const t = of(text('s.1', 1, 'a'), text('s.2', 1, 'gone'));
    expect(ids(mergeNewest(t, page([text('s.1', 1, 'a'), text('s.3', 1, 'c')])))).toEqual([idOf('s.1', 1), idOf('s.3', 1)]);
  });

  test('turns inherited by a fork come before its own', () => {
    const live = applyItem(of(text('parent.7', 1, 'a')), text('s.1', 1, 'own'));
    expect(ids(mergeNewest(live, page([text('parent.7', 1, 'a')])))).toEqual([idOf('parent.7', 1), idOf('s.1', 1)]);
  });

  test('an entry that did not change stays the same object', () => {
    const t = of(text('s.1', 1, 'a'), tool('s.1', 2, 'done'));
    const again = mergeNewest(t, page([text('s.1', 1, 'a'), tool('s.1', 2, 'done')]));
    expect(again.entries[0]).toBe(t.entries[0]);
    expect(again.entries[1]).toBe(t.entries[1]);
    const rewritten = mergeNewest(t, page([text('s.1', 1, 'other'), tool('s.1', 2, 'done')]));
    expect(rewritten.entries[0]).not.toBe(t.entries[0]);
  });
});
