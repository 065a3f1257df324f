import { describe, expect, test } from 'vitest';
import type { Approval, Item, ToolItem } from '$lib/backend/types';
import { buildRows, patchRows, strayApprovals, turnText } from './rows';
import { commandState, displayOf, parseArgs, partialField, streamTitle, toolTitle } from './tools';
import { applyDelta, applyItem, emptyTranscript, type Transcript } from './transcript';

const time = '2026-01-10T08:00:00Z';

function tool(seq: number, change: Partial<ToolItem> = {}): Item {
  const result = { output: '', durationMs: 0, outputBytes: 0 };
  const base: ToolItem = {
    callId: `c${seq}`,
    name: 'exec_command',
    args: '{"cmd":"make"}',
    ask: { acts: true, risky: false, title: 'make' },
    status: 'done',
    result,
    started: time,
  };
  return { id: `s.1/00000${seq}`, turn: 's.1', seq, time, kind: 'tool', tool: { ...base, ...change } };
}

function said(seq: number, text: string): Item {
  return { id: `s.1/00000${seq}`, turn: 's.1', seq, time, kind: 'assistant', assistant: { text } };
}

const of = (...items: Item[]): Transcript => items.reduce(applyItem, { ...emptyTranscript, loaded: true });
const background = { output: '', durationMs: 10_000, outputBytes: 5, process: 's-7', log: 'log-7' };
const poll = (seq: number, change: Partial<ToolItem> = {}) =>
  tool(seq, { name: 'write_stdin', args: '{"session_id":"s-7"}', ...change });

function approval(item: string): Approval {
  return { id: 'a', turn: 's.1', item, tool: 'exec_command', backend: 'local', ask: { acts: true, risky: true, title: 'x' }, asked: time };
}

describe('grouping', () => {
  test('looks at a background command are grouped under it', () => {
    const t = of(tool(1, { result: background }), said(2, 'waiting'), poll(3), poll(4), tool(5));
    const rows = buildRows(t.entries, [], []);
    expect(rows.map((r) => r.entry.seq)).toEqual([1, 2, 5]);
    expect(rows[0]?.looks.map((e) => e.seq)).toEqual([3, 4]);
  });

  test('a look at a command that is not loaded stands for itself', () => {
    expect(buildRows(of(poll(3)).entries, [], []).map((r) => r.kind)).toEqual(['tool']);
  });

  test('rows that did not change are the same objects', () => {
    const t = of(tool(1, { result: background }), poll(3), said(4, 'a'));
    const before = buildRows(t.entries, [], []);
    const next = applyDelta(t, { turn: 's.1', item: 's.1/000005', attempt: 1, channel: 'text', offset: 0, text: 'b' });
    const rows = buildRows(next.entries, [], before);
    expect(rows).toHaveLength(3);
    expect(rows[0]).toBe(before[0]);
    expect(rows[1]).toBe(before[1]);
  });

  test('what has no text is left out', () => {
    const t = of(said(1, '  \n'), said(2, 'x'));
    const taken = applyDelta(t, { turn: 's.1', item: 's.1/000003', attempt: 2, channel: 'text', offset: 0, text: '' });
    expect(buildRows(taken.entries, [], []).map((r) => r.entry.seq)).toEqual([2]);
  });
});

describe('patching', () => {
  const piece = (offset: number, text: string) => ({ turn: 's.1', item: 's.1/000005', attempt: 1, channel: 'text', offset, text }) as const;

  test('a text that grows changes its own row only, as building all would', () => {
    const t = applyDelta(of(tool(1, { result: background }), poll(3), said(4, 'a')), piece(0, 'b'));
    const before = buildRows(t.entries, [], []);
    const next = applyDelta(t, piece(1, 'c'));
    const rows = patchRows(before, t.entries, next.entries);
    expect(rows).toEqual(buildRows(next.entries, [], before));
    expect(rows?.slice(0, -1).every((row, i) => row === before[i])).toBe(true);
    const written = applyItem(next, said(5, 'bc'));
    expect(patchRows(rows ?? [], next.entries, written.entries)).toEqual(buildRows(written.entries, [], rows ?? []));
  });

  test('anything else is built', () => {
    const t = applyDelta(of(tool(1, { status: 'running' }), said(4, 'a')), piece(0, 'b'));
    const rows = buildRows(t.entries, [], []);
    expect(patchRows(rows, t.entries, applyItem(t, tool(1)).entries)).toBeNull();
    expect(patchRows(rows, t.entries, applyItem(t, said(6, 'x')).entries)).toBeNull();
    const taken = applyDelta(t, { ...piece(0, ''), attempt: 2 });
    expect(patchRows(rows, t.entries, taken.entries)).toBeNull();
  });
});

describe('approvals', () => {
  test('the question stands in place of the call, until it is answered', () => {
    const asked = approval('s.1/000001');
    const t = of(tool(1, { status: 'pending' }), said(2, 'x'));
    const rows = buildRows(t.entries, [asked], []);
    expect(rows[0]).toMatchObject({ kind: 'approval', approval: asked });
    expect(buildRows(t.entries, [asked], rows)[0]).toBe(rows[0]);
    expect(buildRows(applyItem(t, tool(1, { status: 'running' })).entries, [asked], rows)[0]?.kind).toBe('tool');
  });

  test('a question whose call is not loaded is not lost', () => {
    const t = of(said(2, 'x'));
    expect(strayApprovals(t.entries, [approval('s.1/000001')])).toHaveLength(1);
    expect(strayApprovals(t.entries, [approval('s.1/000002')])).toHaveLength(0);
  });
});

describe('tools', () => {
  test('titles show the command as typed', () => {
    const of = (name: string, args: object | string, title = '') => {
      const item = tool(1, { name, args: typeof args === 'string' ? args : JSON.stringify(args), ask: { acts: true, risky: false, title } });
      return item.kind === 'tool' ? toolTitle(item.tool) : null;
    };
    expect(of('exec_command', { cmd: 'ls -la | wc' })?.text).toBe('ls -la | wc');
    expect(of('exec_command', JSON.stringify(JSON.stringify({ cmd: 'ls' })))?.text).toBe('ls');
    expect(of('exec_command', '{"cmd": "broken', 'from the ask')?.text).toBe('from the ask');
    expect(of('write_stdin', { session_id: 's', chars: 'y\n' })).toMatchObject({ text: 'y', code: true });
    expect(of('write_stdin', { session_id: 's', chars: '\u0003' })).toMatchObject({ text: 'Interrupt', code: false });
    expect(of('write_stdin', { session_id: 's' })).toMatchObject({ text: 'Look again', code: false });
    expect(of('mystery', {})?.text).toBe('mystery');
  });

  test('fields of unfinished JSON are read as far as they go', () => {
    expect(partialField('{"cmd": "echo \\"hi\\"\\n', 'cmd')).toBe('echo "hi"\n');
    expect(partialField('{"cmd": "a\\u00e9b\\u00', 'cmd')).toBe('aéb');
    expect(partialField('{"cmd": "done", "workdir": "/x', 'workdir')).toBe('/x');
    expect(partialField('{"other": 1', 'cmd')).toBe('');
    const patch = '{"patch":"*** Begin Patch\\n*** Update File: a.go\\n@@\\n-x\\n*** Add File: b.go\\n+y';
    expect(streamTitle('apply_patch', patch).text).toBe('a.go, b.go');
  });

  test('arguments that are no object are none', () => {
    expect([parseArgs('[1]'), parseArgs('"x"'), parseArgs('null'), parseArgs('')]).toEqual([{}, {}, {}, {}]);
  });

  test('a command and its looks are one thing', () => {
    const t = (item: Item) => (item.kind === 'tool' ? item.tool : ({} as ToolItem));
    const parent = t(tool(1, { result: background }));
    expect(commandState(parent, [])).toMatchObject({ background: true, exitCode: null, log: 'log-7' });
    const running = t(poll(2, { status: 'running' }));
    expect(commandState(parent, [running])).toMatchObject({ background: false, status: 'running', runningSince: time });
    const ended = t(poll(3, { result: { output: '', durationMs: 15_000, outputBytes: 9, exitCode: 2 } }));
    expect(commandState(parent, [ended])).toMatchObject({ background: false, status: 'done', exitCode: 2, durationMs: 15_000, outputBytes: 9 });
    const stopped = t(tool(1, { status: 'interrupted' }));
    expect(commandState(stopped, [])).toMatchObject({ status: 'interrupted', exitCode: null, background: false });
  });
});

test('the text of a turn is what the assistant said', () => {
  expect(turnText(of(said(1, 'one'), tool(2), said(3, 'two')).entries, 's.1')).toBe('one\n\ntwo');
});

test('what is written for the model is not the output of a command without any', () => {
  const result = { output: 'Exit code: 0 (0.1 s)\nNo output.', durationMs: 1, outputBytes: 0, exitCode: 0, log: 'c1' };
  const shown = (change: Partial<ToolItem>) => displayOf((tool(1, change) as Extract<Item, { kind: 'tool' }>).tool);
  expect(shown({ result })).toBe('');
  expect(shown({ result: { ...result, display: 'hi' } })).toBe('hi');
  expect(shown({ result: { ...result, output: 'Interrupted: the machine went down.' }, status: 'interrupted' })).toContain('Interrupted');
  expect(shown({ result: { output: 'The user denied this call.', durationMs: 0, outputBytes: 0 }, status: 'denied' })).toContain('denied');
});
