import { expect, test } from 'vitest';
import { ago, bytes, clock, cost, count, duration, plural, timeOf } from './format';

test('durations', () => {
  expect([0, 24, 99.6, 420, 4200, 9960, 59_400, 72_000, 3_600_000, 7_500_000].map(duration)).toEqual([
    '0 ms',
    '24 ms',
    '100 ms',
    '0.4 s',
    '4.2 s',
    '10 s',
    '59 s',
    '1 m 12 s',
    '1 h 0 m',
    '2 h 5 m',
  ]);
  expect([0, 999, 12_900, 72_000].map(clock)).toEqual(['0 s', '0 s', '12 s', '1 m 12 s']);
});

test('amounts', () => {
  expect([0, 999, 1000, 18_400, 999_949, 999_951, 1_234_567].map(count)).toEqual([
    '0',
    '999',
    '1k',
    '18.4k',
    '999.9k',
    '1M',
    '1.2M',
  ]);
  expect([0, 512, 1200, 99_960, 104_857_600].map(bytes)).toEqual(['0 B', '512 B', '1.2 kB', '100 kB', '105 MB']);
  expect([0, 3000, 110_000, 12_340_000].map(cost)).toEqual(['$0.00', 'under $0.01', '$0.11', '$12.34']);
  expect([plural(1, 'file'), plural(1234, 'file'), plural(0, 'entry', 'entries')]).toEqual([
    '1 file',
    '1,234 files',
    '0 entries',
  ]);
});

test('times', () => {
  const now = new Date(2026, 2, 12, 14, 0).getTime();
  expect(ago(now - 5_000, now)).toBe('now');
  expect(ago(now - 5 * 60_000, now)).toBe('5 min ago');
  expect(ago(now - 3 * 3_600_000, now)).toBe('3 h ago');
  expect(ago(new Date(2026, 2, 10).getTime(), now)).toBe('10 Mar');
  expect(ago(new Date(2024, 2, 10).getTime(), now)).toBe('10 Mar 2024');
  expect(timeOf('0001-01-01T00:00:00Z')).toBeNull();
  expect(timeOf('2026-01-10T08:00:00Z')).toBe(Date.UTC(2026, 0, 10, 8));
  expect(timeOf('soon')).toBeNull();
});
