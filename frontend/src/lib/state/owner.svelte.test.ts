// What outlives the component that made it goes on being right.
import { expect, test } from 'vitest';
import type { ChangedFile } from '$lib/backend/types';
import { fakeBackend } from '../../testing/fake-backend';
import { ForkForm } from './branch/fork.svelte';
import { ChangesStore } from './changes/changes.svelte';

/** Makes something as a component does that is gone afterwards. */
function made<T>(make: () => T): T {
  let value: T | undefined;
  const end = $effect.root(() => {
    value = make();
  });
  end();
  return value as T;
}

const file: ChangedFile = { path: 'a.txt', op: 'add', kind: 'file', oldSize: 0, newSize: 1, added: 1, removed: 0, counted: true };

test('the changes of a session are shown by another pane, too', () => {
  const store = made(() => {
    const store = new ChangesStore(fakeBackend(), 's');
    expect([store.file, store.marks.size]).toEqual([undefined, 0]);
    return store;
  });
  store.changes = { from: 'x', files: [file], count: 1, added: 1, removed: 0 };
  store.select(file);
  expect(store.file?.path).toBe('a.txt');
  expect(store.marks.get('a.txt')).toBe('A');
});

test('forks that end when their dialog is closed are known to be made', async () => {
  const form = made(() => {
    const form = new ForkForm(fakeBackend(), { session: 's' });
    expect([form.made.length, form.running]).toEqual([0, false]);
    return form;
  });
  await form.run([{ backend: 'local' }], false);
  expect([form.made.length, form.failed.length, form.running]).toEqual([1, 0, false]);
});
