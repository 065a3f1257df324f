// @vitest-environment node
import { expect, test } from 'vitest';
import { FocusGuard, GUARD } from './guard';

const press = (key: string, repeat = false) => ({ key, repeat });

test('a key that was meant for the message runs nothing', () => {
  const guard = new FocusGuard();
  guard.took(1000);
  expect(guard.key(press('Enter'), false, 1000 + GUARD - 1)).toBe('drop');
  expect(guard.key(press(' '), true, 1000 + GUARD - 1)).toBe('write');
  expect(guard.holds(1000 + GUARD - 1)).toBe(true);
});

test('after a moment, or once the reader came here, keys run', () => {
  const guard = new FocusGuard();
  expect(guard.key(press('Enter'), false, 0)).toBe('run');
  guard.took(1000);
  expect(guard.key(press('Enter'), false, 1000 + GUARD)).toBe('run');
  expect(guard.key(press(' '), true, 1000 + GUARD)).toBe('run');
  guard.took(2000);
  expect(guard.key(press('Tab'), false, 2001)).toBe('run');
  expect(guard.key(press('Enter'), false, 2002)).toBe('run');
  guard.took(3000);
  guard.lift();
  expect(guard.holds(3001)).toBe(false);
});

test('a key that is held down runs nothing, and signs are written at any time', () => {
  const guard = new FocusGuard();
  expect(guard.key(press('Enter', true), false, 0)).toBe('drop');
  expect(guard.key(press(' ', true), true, 0)).toBe('drop');
  expect(guard.key(press('x'), true, 0)).toBe('write');
  expect(guard.key(press('Escape'), false, 0)).toBe('run');
});
