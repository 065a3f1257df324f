// @vitest-environment node
import { expect, test } from 'vitest';
import { bytes, count, duration, money, plural, tokens, when } from './format';

test('counts and plurals', () => {
  expect(count(1234567)).toBe('1,234,567');
  expect([plural(0, 'turn'), plural(1, 'turn'), plural(1204, 'turn')]).toEqual(['0 turns', '1 turn', '1,204 turns']);
  expect(plural(2, 'entry', 'entries')).toBe('2 entries');
});

test('bytes never show 1,024 of a unit', () => {
  expect([0, 812, 1024, 18_841, 1024 * 1024 - 1, 1024 * 1024, 52_428_800, 5e15].map(bytes)).toEqual([
    '0 B', '812 B', '1 KB', '18.4 KB', '1 MB', '1 MB', '50 MB', '4547 TB',
  ]);
});

test('tokens', () => {
  expect([0, 940, 1000, 18_412, 100_000, 999_499, 999_500, 1_240_000].map(tokens)).toEqual([
    '0', '940', '1k', '18.4k', '100k', '999k', '1M', '1.2M',
  ]);
});

test('money says something for the smallest amount', () => {
  expect([0, 50, 4_200, 9_999, 110_000, 12_345_678].map(money)).toEqual([
    '$0', '<$0.0001', '$0.0042', '$0.01', '$0.11', '$12.35',
  ]);
});

test('durations carry over at every unit', () => {
  expect([0, 420, 9_949, 9_950, 59_499, 59_500, 72_000, 3_599_600, 7_500_000, 86_399_000 + 30_000, 273_600_000].map(duration)).toEqual([
    '0.0 s', '0.4 s', '9.9 s', '10 s', '59 s', '1 m', '1 m 12 s', '1 h', '2 h 5 m', '1 d', '3 d 4 h',
  ]);
});

test('times are relative under a day, then dates', () => {
  const now = Date.parse('2026-01-10T12:00:00Z');
  const ago = (ms: number) => when(new Date(now - ms).toISOString(), now);
  expect([ago(-5000), ago(59_000), ago(60_000), ago(3 * 3_600_000)]).toEqual(['now', 'now', '1 m', '3 h']);
  expect(ago(25 * 3_600_000)).toBe('Jan 9');
  expect(ago(400 * 86_400_000)).toMatch(/2024/);
  expect(when('', now)).toBe('');
});
