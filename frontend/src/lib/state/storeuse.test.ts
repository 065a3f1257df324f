import { expect, test } from 'vitest';
import type { StoreUse } from '$lib/backend/types';
import { fakeBackend, refuse } from '../../testing/fake-backend';
import { StoreUseView, ownWords, partsOf } from './storeuse.svelte';

const use = (change: Partial<StoreUse> = {}): StoreUse => ({
  bytes: 100_000_000, free: 5_000_000, objects: 1200, files: 70_000_000, conversations: 10_000_000, unused: 5_000_000,
  sessions: [{ id: 's', title: 'S', own: 12_000_000, all: 40_000_000 }], ...change,
});

test('the parts make up the whole', () => {
  const parts = partsOf(use());
  expect(parts.map((p) => p.bytes).reduce((a, b) => a + b)).toBe(100_000_000);
  expect(parts.map((p) => p.tone)).toEqual(['files', 'talk', 'other', 'unused']);
  expect(partsOf(use({ bytes: 0, free: 0, files: 0, conversations: 0, unused: 0 }))).toEqual([]);
  // What is counted twice is never less than nothing.
  expect(partsOf(use({ bytes: 1 })).find((p) => p.tone === 'other')).toBeUndefined();
});

test('what a session takes along is told when it is known', () => {
  expect(ownWords(use(), 's')).toMatch(/: 12 MB\.$/);
  expect(ownWords(use(), 'other')).toMatch(/needs them\.$/);
  expect(ownWords(null, 's')).toMatch(/needs them\.$/);
});

test('cleaning says what it removed and reads anew', async () => {
  const backend = fakeBackend({ storeUse: () => Promise.resolve(use()), cleanStore: () => Promise.resolve({ objects: 3, bytes: 5_000_000 }) });
  const view = new StoreUseView(backend);
  await view.clean();
  expect(view.said).toBe('5 MB were removed.');
  expect(view.use?.objects).toBe(1200);
});

test('a check tells what is damaged, or that all can be read', async () => {
  const damaged = [{ object: 'x', what: 'turn 3' }];
  const backend = fakeBackend({ storeUse: (check) => Promise.resolve(use(check ? { damaged } : {})) });
  const view = new StoreUseView(backend);
  await view.check();
  expect(view.said).toBe('');
  expect(view.use?.damaged).toEqual(damaged);
  // Cleaning forgets nothing of it.
  await view.clean();
  expect(view.use?.damaged).toEqual(damaged);
  const sound = new StoreUseView(fakeBackend({ storeUse: () => Promise.resolve(use()) }));
  await sound.check();
  expect(sound.said).toBe('All 1,200 objects can be read.');
});

test('a failure is told', async () => {
  const view = new StoreUseView(fakeBackend({ storeUse: refuse() }));
  await view.read();
  expect(view.fault?.happened).toBe('It broke.');
  expect(view.busy).toBe('');
});
