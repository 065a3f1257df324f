// @vitest-environment node
import { expect, test } from 'vitest';
import { composing, keyLabel, printable } from './keys';

const key = (key: string, held: Partial<Record<'ctrlKey' | 'metaKey' | 'altKey', boolean>> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  ...held,
});

test('a key belongs to the input method while it composes, and with the code that WebKit ends it with', () => {
  expect(composing({ isComposing: true, keyCode: 13 })).toBe(true);
  expect(composing({ isComposing: false, keyCode: 229 })).toBe(true);
  expect(composing({ isComposing: false, keyCode: 13 })).toBe(false);
});

test('signs are printable, commands and keys that move are not', () => {
  for (const sign of ['a', 'é', '👍', ' ', 'Dead']) expect(printable(key(sign)), sign).toBe(true);
  for (const name of ['Enter', 'Tab', 'ArrowUp', 'F2', 'Shift']) expect(printable(key(name)), name).toBe(false);
  expect(printable(key('c', { ctrlKey: true }))).toBe(false);
  expect(printable(key('@', { ctrlKey: true, altKey: true }))).toBe(true);
});

test('a Mac has its own signs', () => {
  expect(keyLabel('Ctrl ⇧ P', true)).toBe('⌘ ⇧ P');
  expect(keyLabel('Alt ↑', true)).toBe('⌥ ↑');
  expect(keyLabel('Ctrl ⇧ P', false)).toBe('Ctrl ⇧ P');
});
