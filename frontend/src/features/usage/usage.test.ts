// @vitest-environment node
import { expect, test } from 'vitest';
import { noUsage, session } from '../../testing/fixtures';
import { meter, priceText, usageLine } from './usage';

test('there is no meter before the first request', () => {
  expect(meter(0, 200_000)).toBeNull();
});

test('without a known window the meter counts, with one it fills', () => {
  expect(meter(18_400, undefined)).toMatchObject({ share: null, text: '18.4k' });
  expect(meter(50_000, 200_000)).toMatchObject({ share: 0.25, text: '25 %', tone: 'plain' });
  expect(meter(50_000, 200_000)!.explain).toBe('50k of 200k tokens of context are used.');
});

test('it warns before the context is full and never shows more than all', () => {
  expect(meter(149_999, 200_000)!.tone).toBe('plain');
  expect(meter(150_000, 200_000)!.tone).toBe('warn');
  expect(meter(184_000, 200_000)!.tone).toBe('bad');
  expect(meter(300_000, 200_000)).toMatchObject({ share: 1, text: '100 %' });
});

test('the price is told only where it is known, and said to be a part where some is not', () => {
  expect(priceText({ ...noUsage, unpriced: true })).toBe('');
  expect(priceText({ ...noUsage, costMicros: 110_000 })).toBe('$0.11');
  expect(priceText({ ...noUsage, costMicros: 110_000, unpriced: true })).toBe('$0.11 or more');
});

test('a session that used nothing says nothing', () => {
  expect(usageLine(session('a'))).toBe('');
  const used = session('a', { usage: { ...noUsage, inputTokens: 18_000, outputTokens: 400, costMicros: 110_000 } });
  expect(usageLine(used)).toBe('18.4k tokens · $0.11');
});
