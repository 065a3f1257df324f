import { expect, test } from 'vitest';
import { byteLength, dropBytes } from './utf8';

test('byteLength counts as an encoder does', () => {
  for (const text of ['', 'plain', 'é', 'naïve – “quoted”', '日本語', '🙂', 'a🙂b', '👩‍👩‍👧']) {
    expect(byteLength(text), text).toBe(new TextEncoder().encode(text).length);
  }
});

test('dropBytes never splits a character', () => {
  expect(dropBytes('hello', 2)).toBe('llo');
  expect(dropBytes('éa', 2)).toBe('a');
  expect(dropBytes('éa', 1)).toBe('a');
  expect(dropBytes('🙂x', 4)).toBe('x');
  expect(dropBytes('ab', 5)).toBe('');
});
