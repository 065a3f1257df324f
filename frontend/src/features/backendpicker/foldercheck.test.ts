// @vitest-environment node
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FolderInfo } from '$lib/backend/types';
import { FolderCheck } from './foldercheck.svelte';
import { placeOn, problem, targetOf } from './place';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const sound: FolderInfo = { path: '', exists: true, entries: 0, writable: true, git: false };

test('asks once for what was typed last', async () => {
  const asked: string[] = [];
  const check = new FolderCheck({
    folderInfo: (path) => {
      asked.push(path);
      return Promise.resolve({ ...sound, path });
    },
  });
  check.check('/a');
  check.check('/ab');
  check.check('/abc');
  expect(check.checking).toBe(true);
  await vi.runAllTimersAsync();
  expect(asked).toEqual(['/abc']);
  expect(check.verdict?.usable).toBe(true);
  expect(check.checking).toBe(false);
});

test('an answer that comes late never replaces a newer one', async () => {
  const answers = new Map<string, (info: FolderInfo) => void>();
  const check = new FolderCheck({ folderInfo: (path) => new Promise((resolve) => answers.set(path, resolve)) });
  check.check('/slow', 0);
  await vi.runAllTimersAsync();
  check.check('/quick', 0);
  await vi.runAllTimersAsync();
  answers.get('/quick')!({ ...sound, refused: 'No.' });
  await vi.runAllTimersAsync();
  answers.get('/slow')!(sound);
  await vi.runAllTimersAsync();
  expect(check.verdict).toMatchObject({ usable: false, text: 'No.' });
});

test('a relative path is refused without asking', () => {
  const check = new FolderCheck({ folderInfo: () => Promise.reject(new Error('must not be asked')) });
  check.check('work/project');
  expect(check.verdict?.text).toContain('whole path');
});

test('a failing check says why and blocks', async () => {
  const check = new FolderCheck({ folderInfo: () => Promise.reject(new Error('The disk went away.')) });
  check.check('/a', 0);
  await vi.runAllTimersAsync();
  expect(check.verdict).toMatchObject({ tone: 'bad', text: 'The disk went away.', usable: false });
});

test('problem says what keeps a session from being made', () => {
  const local = { name: 'local', label: 'Local', blurb: '', available: true, confined: false };
  const fresh = placeOn('local');
  const ok = { tone: 'plain' as const, text: 'fine', usable: true };
  expect(problem(fresh, undefined, false, null)).toMatch(/not known/);
  expect(problem(fresh, { ...local, available: false, reason: 'Gone.' }, false, null)).toBe('Gone.');
  expect(problem(fresh, local, false, null)).toBe('');
  expect(problem(fresh, local, true, null)).toMatch(/Pick a folder/);
  expect(problem({ ...fresh, workspace: '/a' }, local, true, null)).toMatch(/being checked/);
  expect(problem({ ...fresh, workspace: '/a' }, local, true, { ...ok, usable: false, text: 'No.' })).toBe('No.');
  expect(problem({ ...fresh, workspace: '/a' }, local, true, ok)).toBe('');
});

test('what only comes later is not offered, and a target has only what was chosen', () => {
  const e2b = { name: 'e2b', label: 'E2B', blurb: '', available: true, confined: true, planned: true };
  expect(problem(placeOn('e2b'), e2b, false, null)).toBe('E2B comes with a later version.');
  expect(targetOf({ ...placeOn('local'), onto: 'replace' })).toEqual({ backend: 'local' });
  expect(targetOf({ ...placeOn('local'), workspace: '/a', onto: 'replace' })).toEqual({ backend: 'local', workspace: '/a', onto: 'replace' });
  expect(targetOf({ ...placeOn('docker'), image: 'alpine' })).toEqual({ backend: 'docker', image: 'alpine' });
});
