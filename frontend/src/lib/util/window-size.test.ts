import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { onWindowSize } from './window-size';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the size is told once, when dragging the edge is over', () => {
  const told: [number, number][] = [];
  const stop = onWindowSize((width, height) => told.push([width, height]));
  for (const width of [900, 910, 920]) {
    vi.stubGlobal('innerWidth', width);
    window.dispatchEvent(new Event('resize'));
    vi.advanceTimersByTime(100);
  }
  expect(told).toEqual([]);
  vi.advanceTimersByTime(400);
  expect(told).toEqual([[920, window.innerHeight]]);
  window.dispatchEvent(new Event('resize'));
  stop();
  vi.advanceTimersByTime(1000);
  expect(told).toHaveLength(1);
  vi.unstubAllGlobals();
});
