// @vitest-environment node
import { expect, test } from 'vitest';
import type { CommandState } from '$lib/state/transcript/tools';
import { commandIcon, commandOutcome } from './state';

const left: CommandState = {
  status: 'done', background: true, exitCode: null, timedOut: false, durationMs: 10_000, runningSince: null, log: 'l', outputBytes: 0, truncated: false,
};

test('a command in the background is said to run only while its turn does', () => {
  expect(commandOutcome(left)).toBe('in the background');
  expect(commandIcon(left)).toBe('background');
  expect(commandOutcome(left, true)).toBe('was still running when the turn ended');
  expect(commandIcon(left, true)).toBe('left');
});

test('one that has ended says how, whatever became of the turn', () => {
  const ended = { ...left, background: false, exitCode: 1 };
  expect(commandOutcome(ended, true)).toMatch(/^exit 1/);
  expect(commandIcon(ended, true)).toBe('bad');
});
