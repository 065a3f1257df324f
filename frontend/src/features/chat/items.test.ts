import { expect, test } from 'vitest';
import { session } from '../../testing/fixtures';
import type { Row } from '$lib/state/transcript/rows';
import { chatItems } from './items';

const row = (key: string, kind: Row['kind'] = 'assistant', turn = 's.1'): Row => ({
  key,
  kind,
  entry: { id: key, turn, seq: 1, item: null, stream: null, output: null },
  looks: [],
  approval: null,
});
const keys = (items: { key: string }[]) => items.map((i) => i.key);
const pending = { id: 'p', session: 's', text: 'x', files: [], at: 0, acknowledged: false, queued: false };
const fault = { class: 'overloaded', happened: 'It is overloaded.' } as const;

test('what is on its way and what is under way come last, in this order', () => {
  const items = chatItems([row('a')], [], [pending, { ...pending, id: 'q', queued: true }], session('s', { state: 'working' }));
  expect(keys(items)).toEqual(['a', 'pending:p', 'status']);
  expect(chatItems([row('a')], [], [pending], undefined)[1]).toBe(items[1]);
});

test('a question is not beside a spinner', () => {
  expect(keys(chatItems([row('a')], [], [], session('s', { state: 'needs_you' })))).toEqual(['a']);
});

test('a failure is shown once: by its item, or by the record when that was missed', () => {
  const failed = session('s', { state: 'failed', fault });
  expect(keys(chatItems([row('a'), row('f', 'fault'), row('e', 'turn_end')], [], [], failed))).toEqual(['a', 'f', 'e']);
  expect(keys(chatItems([row('f', 'fault', 's.1'), row('b', 'user', 's.2')], [], [], failed))).toEqual(['f', 'b', 'last-fault']);
});
