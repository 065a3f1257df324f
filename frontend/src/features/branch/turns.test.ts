// @vitest-environment node
import { expect, test } from 'vitest';
import { turnLabel } from './turns';

test('a turn is named by its number, how it ended and what it was about', () => {
  expect(turnLabel({ index: 3, title: 'Fix  the\nparser', outcome: 'done' })).toBe('turn 3 · Fix the parser');
  expect(turnLabel({ index: 4, title: '', outcome: 'failed' })).toBe('turn 4 (failed)');
  const long = turnLabel({ index: 5, title: 'word '.repeat(40), outcome: 'interrupted' });
  expect(long.length).toBeLessThan(90);
  expect(long).toMatch(/^turn 5 \(stopped\) · word .*…$/);
});
