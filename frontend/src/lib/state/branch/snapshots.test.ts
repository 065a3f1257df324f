import { expect, test } from 'vitest';
import { fakeBackend, refuse } from '../../../testing/fake-backend';
import { SnapshotChoice, cleanPath, offered, remaining, within } from './snapshots.svelte';

const ask = {
  files: 90_000,
  bytes: 5_000_000_000,
  largest: [
    { path: 'node_modules', files: 60_000, bytes: 3_000_000_000 },
    { path: 'node_modules/a', files: 10_000, bytes: 1_000_000_000 },
    { path: 'data', files: 5, bytes: 1_500_000_000 },
  ],
};

test('what is left is counted once, also when a folder lies in another', () => {
  expect(remaining(ask, new Set())).toEqual({ files: 90_000, bytes: 5_000_000_000 });
  expect(remaining(ask, new Set(['node_modules', 'node_modules/a']))).toEqual({ files: 30_000, bytes: 2_000_000_000 });
  expect(remaining(ask, new Set(['node_modules', 'data', 'other']))).toEqual({ files: 29_995, bytes: 500_000_000 });
});

test('paths are taken as they are meant, and none that leads out', () => {
  expect([cleanPath(' ./a//b/ '), cleanPath('/build'), cleanPath('../x'), cleanPath('.')]).toEqual(['a/b', 'build', '', '']);
  expect(within('a/b', ['a'])).toBe(true);
  expect(within('ab', ['a'])).toBe(false);
});

test('folders that were left out before can be taken back in', () => {
  expect(offered(ask, new Set(['old', 'data'])).map((f) => f.path)).toEqual(['node_modules', 'node_modules/a', 'data', 'old']);
  expect(offered(null, new Set())).toEqual([]);
});

test('each answer is kept as what it is', async () => {
  const backend = fakeBackend();
  const choice = new SnapshotChoice(backend, 's', { exclude: ['old'] });
  choice.toggle('data', true);
  expect(choice.add('../x')).toBe(false);
  expect(await choice.save()).toBe(true);
  choice.toggle('old', false);
  choice.toggle('data', false);
  await choice.save({ whole: true });
  await choice.save({ off: true });
  expect(backend.callsOf('setSnapshots')).toEqual([['s', { exclude: ['data', 'old'] }], ['s', { whole: true }], ['s', { off: true }]]);
});

test('a choice that can’t be kept says why', async () => {
  const choice = new SnapshotChoice(fakeBackend({ setSnapshots: refuse() }), 's', undefined);
  expect(await choice.save()).toBe(false);
  expect(choice.fault?.happened).toBe('It broke.');
  expect(choice.busy).toBe(false);
});
