// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { WINDOW_BYTES, hasAfter, hasBefore, isWhole, pageOffset, reloadOffset, replacement } from './windows';

const size = WINDOW_BYTES * 3 + 100;

describe('windows of a large file', () => {
  it('pages through without leaving out or repeating a byte', () => {
    const seen: number[] = [];
    let part = { offset: 0, bytes: WINDOW_BYTES - 1, size };
    for (let i = 0; i < 10; i++) {
      seen.push(part.offset);
      if (!hasAfter(part)) break;
      const offset = pageOffset(part, 'next');
      expect(offset).toBe(part.offset + part.bytes);
      part = { offset, bytes: Math.min(WINDOW_BYTES, size - offset), size };
    }
    expect(part.offset + part.bytes).toBe(size);
    expect(seen).toHaveLength(4);
  });

  it('stops at both ends', () => {
    expect(pageOffset({ offset: 10, bytes: 5, size }, 'previous')).toBe(0);
    expect(pageOffset({ offset: 0, bytes: size, size }, 'next')).toBe(0);
    expect(pageOffset({ offset: 0, bytes: 1, size }, 'last')).toBe(size - WINDOW_BYTES);
    expect(pageOffset({ offset: 0, bytes: 10, size: 10 }, 'last')).toBe(0);
    expect(pageOffset({ offset: 900, bytes: 10, size }, 'first')).toBe(0);
  });

  it('knows the whole file', () => {
    expect(isWhole({ offset: 0, bytes: 10, size: 10 })).toBe(true);
    expect(isWhole({ offset: 0, bytes: 0, size: 0 })).toBe(true);
    expect(isWhole({ offset: 0, bytes: 9, size: 10 })).toBe(false);
    expect(hasBefore({ offset: 1, bytes: 9, size: 10 })).toBe(true);
  });

  it('goes to the new end when the file shrank below the window', () => {
    expect(reloadOffset({ offset: 500, bytes: 10, size: 600 }, 600)).toBe(500);
    expect(reloadOffset({ offset: 500, bytes: 10, size: 600 }, 20)).toBe(0);
  });
});

describe('replacement', () => {
  function check(before: string, after: string) {
    const change = replacement(before, after)!;
    expect(before.slice(0, change.from) + change.insert + before.slice(change.to)).toBe(after);
    return change;
  }

  it('is null for the same text', () => {
    expect(replacement('a', 'a')).toBeNull();
  });

  it('touches only what differs', () => {
    expect(check('one two three', 'one 2 three')).toEqual({ from: 4, to: 7, insert: '2' });
    expect(check('log\n', 'log\nmore\n')).toEqual({ from: 4, to: 4, insert: 'more\n' });
    expect(check('abab', 'ab')).toEqual({ from: 2, to: 4, insert: '' });
    expect(check('', 'x')).toEqual({ from: 0, to: 0, insert: 'x' });
  });

  it('never cuts a surrogate pair', () => {
    expect(check('a😀b', 'a😁b')).toEqual({ from: 1, to: 3, insert: '😁' });
    // Same low surrogate, other high one.
    expect(check('\ud83d\ude00', '\ud83e\ude00')).toEqual({ from: 0, to: 2, insert: '\ud83e\ude00' });
  });
});
