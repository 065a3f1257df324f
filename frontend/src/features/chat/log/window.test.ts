import { expect, test } from 'vitest';
import type { LogPart } from '$lib/backend/types';
import { append, atEnd, atStart, chunkBytes, endOf, linesOf, only, prepend, trim, windowBytes } from './window';

const part = (offset: number, text: string, size: number, bytes = text.length): LogPart => ({ offset, bytes, text, size, ended: true });

test('pieces join, lines over their borders are whole', () => {
  let w = only(part(10, 'b\ncd', 20));
  expect(linesOf(w)).toEqual(['b', 'cd']);
  w = append(w, part(14, 'ef\n', 20));
  w = prepend(w, part(5, 'x\nyza', 20));
  expect(linesOf(w)).toEqual(['x', 'yzab', 'cdef']);
  expect([atStart(w), atEnd(w), endOf(w)]).toEqual([false, false, 17]);
});

test('a piece that does not fit is not put in, but its size counts', () => {
  const w = only(part(0, 'ab', 2));
  const later = append(w, part(7, 'zz', 9));
  expect(linesOf(later)).toEqual(['ab']);
  expect(later.size).toBe(9);
  expect(prepend(w, part(3, 'q', 4)).chunks).toBe(w.chunks);
});

test('bytes, not characters, say where a piece ends', () => {
  const w = append(only(part(0, 'é\n', 5, 3)), part(3, 'x\n', 5));
  expect(linesOf(w)).toEqual(['é', 'x']);
  expect(atEnd(w)).toBe(true);
});

test('what is too much goes at the far end, with its lines counted', () => {
  const text = `${'x'.repeat(chunkBytes - 2)}\n\n`;
  let w = only(part(0, text, 99 * chunkBytes));
  for (let i = 1; i <= windowBytes / chunkBytes; i++) w = append(w, part(i * chunkBytes, text, 99 * chunkBytes));
  const front = trim(w, 'start');
  expect(front.lines).toBe(2);
  expect(front.window.chunks[0]?.offset).toBe(chunkBytes);
  expect(trim(w, 'end').window.chunks[0]?.offset).toBe(0);
  expect(trim(front.window, 'start').window).toBe(front.window);
});
