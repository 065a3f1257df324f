// @vitest-environment node
import { expect, test } from 'vitest';
import { DANGER, MODES, explain, isDangerous, modeOf } from './modes';

test('never asking is dangerous only where nothing confines commands, and is said so', () => {
  expect(MODES.map((mode) => isDangerous(mode.value, false))).toEqual([false, false, true]);
  expect(MODES.some((mode) => isDangerous(mode.value, true))).toBe(false);
  expect(explain('never', false)).toContain(DANGER);
  expect(explain('never', true)).not.toContain(DANGER);
  expect(explain('ask', false)).toBe(modeOf('ask').explain);
});

test('a mode that is not known is taken for the default', () => {
  expect(modeOf('later' as 'ask').value).toBe('auto');
});
