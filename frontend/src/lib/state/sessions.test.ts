import { expect, test } from 'vitest';
import { session } from '../../testing/fixtures';
import { remove, replaceAll, upsert } from './sessions';

test('an older record never replaces a newer one', () => {
  const map = upsert(new Map(), session('a', { version: 5, title: 'new' }));
  expect(upsert(map, session('a', { version: 4, title: 'old' })).get('a')?.title).toBe('new');
  expect(upsert(map, session('a', { version: 6, title: 'newer' })).get('a')?.title).toBe('newer');
});

test('a record that says ended takes the session away', () => {
  const map = upsert(new Map(), session('a'));
  expect(upsert(map, session('a', { version: 2, state: 'ended' })).has('a')).toBe(false);
  expect(remove(map, 'a').size).toBe(0);
  expect(remove(map, 'b')).toBe(map);
});

test('a list read from the store keeps what events told meanwhile', () => {
  const map = upsert(new Map(), session('a', { version: 9 }));
  const next = replaceAll(map, [session('a', { version: 7 }), session('b')]);
  expect(next.get('a')?.version).toBe(9);
  expect([...next.keys()]).toEqual(['a', 'b']);
  expect(replaceAll(next, [session('b')]).has('a')).toBe(false);
});
