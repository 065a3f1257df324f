// @vitest-environment node
import { expect, test } from 'vitest';
import type { CommandState } from '$lib/state/transcript/tools';
import { commandIcon, commandOutcome } from './state';

const left: CommandState = {
  status: 'done', background: true, exitCode: null, timedOut: false, durationMs: 10_000, runningSince: null, log: 'l', outputBytes: 0, truncated: false,
};

test('a command in the background is said to run only where that is known', () => {
  expect(commandOutcome(left)).toBe('in the background');
  expect(commandIcon(left)).toBe('background');
  expect(commandOutcome(left, 'unknown')).toBe('was still running when the turn ended');
  expect(commandOutcome(left, 'runs')).toBe('still runs in the background');
  expect(commandOutcome(left, 'ended')).toBe('ended after the turn');
  expect((['unknown', 'runs', 'ended'] as const).map((known) => commandIcon(left, known))).toEqual(['left', 'background', 'left']);
});

test('one that has ended says how, whatever became of the turn', () => {
  const ended = { ...left, background: false, exitCode: 1 };
  expect(commandOutcome(ended, 'unknown')).toMatch(/^exit 1/);
  expect(commandIcon(ended, 'unknown')).toBe('bad');
});
