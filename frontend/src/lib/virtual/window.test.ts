import { describe, expect, test } from 'vitest';
import { firstRange, follow, Heights, offsets, rangeFor, rowAt } from './window';

const keys = (n: number, from = 0) => Array.from({ length: n }, (_, i) => `k${i + from}`);

test('rows that were never drawn count as the average, which moves seldom', () => {
  const heights = new Heights(50);
  heights.set('a', 20);
  heights.set('b', 40);
  heights.set('a', 60);
  expect([heights.of('a'), heights.of('b'), heights.of('c')]).toEqual([60, 40, 50]);
  expect([...offsets(['a', 'c', 'b'], heights)]).toEqual([0, 60, 110, 150]);
  for (let i = 0; i < 6; i++) heights.set(`k${i}`, 10);
  expect(heights.average).toBe(20);
  heights.set('more', 900);
  expect(heights.average).toBe(20);
});

test('rowAt', () => {
  const starts = Float64Array.of(0, 10, 30, 60, 100);
  expect([-5, 0, 9, 10, 59, 60, 99, 500].map((y) => rowAt(starts, y))).toEqual([0, 0, 0, 1, 2, 3, 3, 3]);
  expect(rowAt(Float64Array.of(0), 3)).toBe(0);
});

describe('rangeFor', () => {
  const starts = offsets(keys(1000), new Heights(10));

  test('draws the view and some around', () => {
    expect(rangeFor(starts, 5000, 400, 200, { start: 0, end: 30 })).toEqual({ start: 480, end: 561 });
    expect(rangeFor(starts, 0, 400, 200, { start: 0, end: 0 })).toEqual({ start: 0, end: 61 });
    expect(rangeFor(Float64Array.of(0), 0, 400, 200, { start: 0, end: 0 })).toEqual({ start: 0, end: 0 });
  });

  test('small steps change nothing', () => {
    const now = { start: 480, end: 561 };
    expect(rangeFor(starts, 5090, 400, 200, now)).toBe(now);
    expect(rangeFor(starts, 4910, 400, 200, now)).toBe(now);
    expect(rangeFor(starts, 5111, 400, 200, now)).not.toBe(now);
  });

  test('what is drawn stays while it is asked to, unless the view is elsewhere', () => {
    const now = { start: 480, end: 561 };
    expect(rangeFor(starts, 5300, 400, 200, now, true)).toEqual({ start: 480, end: 591 });
    expect(rangeFor(starts, 100, 400, 200, now, true)).toEqual({ start: 0, end: 71 });
  });

  test('a range that has grown far too large shrinks', () => {
    expect(rangeFor(starts, 5000, 400, 200, { start: 0, end: 1000 })).toEqual({ start: 480, end: 561 });
  });
});

describe('follow', () => {
  const before = keys(100);

  test('rows in front move the range', () => {
    expect(follow({ start: 40, end: 60 }, before, [...keys(30, 1000), ...before])).toEqual({ start: 70, end: 90 });
  });

  test('rows behind leave it, unless it reached the end', () => {
    const after = [...before, 'new'];
    expect(follow({ start: 40, end: 60 }, before, after)).toEqual({ start: 40, end: 60 });
    expect(follow({ start: 80, end: 100 }, before, after)).toEqual({ start: 80, end: 101 });
  });

  test('in front and behind at once', () => {
    expect(follow({ start: 80, end: 100 }, before, [...keys(30, 1000), ...before, 'new'])).toEqual({ start: 110, end: 131 });
  });

  test('a row that became another is passed over', () => {
    const after = before.slice();
    after[40] = 'other';
    expect(follow({ start: 40, end: 60 }, before, after)).toEqual({ start: 40, end: 60 });
    expect(follow({ start: 95, end: 100 }, before, before.slice(0, 97))).toEqual({ start: 95, end: 97 });
  });

  test('another list is drawn from its end', () => {
    expect(follow({ start: 40, end: 60 }, before, keys(30, 5000))).toEqual({ start: 10, end: 30 });
    expect(follow({ start: 0, end: 0 }, [], keys(3))).toEqual({ start: 0, end: 0 });
  });
});

test('firstRange', () => {
  const heights = new Heights(50);
  expect(firstRange(keys(100), heights, 500, 500, '')).toEqual({ start: 80, end: 100 });
  expect(firstRange(keys(100), heights, 500, 500, 'k50')).toEqual({ start: 30, end: 70 });
  expect(firstRange(keys(5), heights, 500, 500, 'k2')).toEqual({ start: 0, end: 5 });
});
