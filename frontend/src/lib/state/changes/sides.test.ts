// @vitest-environment node
import { expect, test } from 'vitest';
import type { FileSide } from '$lib/backend/types';
import { modeWords, shownOf } from './sides';

const side = (kind: FileSide['kind'], change: Partial<FileSide> = {}): FileSide => ({ kind, size: 100, mode: 0o644, ...change });
const file = (op: 'add' | 'update' | 'delete' | 'mode' = 'update', kind: 'file' | 'dir' | 'link' = 'file') => ({ op, kind });

test('texts are compared; where one is missing, with nothing', () => {
  expect(shownOf(file(), { path: 'a', old: side('text', { text: 'x' }), new: side('text', { text: 'y' }) })).toEqual({ kind: 'text', before: 'x', after: 'y' });
  expect(shownOf(file('add'), { path: 'a', new: side('text', { text: 'y' }) })).toEqual({ kind: 'text', before: '', after: 'y' });
  expect(shownOf(file('update', 'link'), { path: 'a', old: side('link', { text: 'v1' }), new: side('link', { text: 'v2' }) }).kind).toBe('text');
});

test('images are side by side', () => {
  const image = side('image', { base64: 'AA==', mime: 'image/png' });
  expect(shownOf(file(), { path: 'a.png', old: image, new: image }).kind).toBe('images');
  expect(shownOf(file('delete'), { path: 'a.png', old: image })).toEqual({ kind: 'images', before: image, after: null });
});

test('of the rest it is said what it is, with its sizes', () => {
  expect(shownOf(file(), { path: 'a', old: side('binary'), new: side('binary', { size: 2000 }) })).toMatchObject({ kind: 'words', more: '100 B before, 2 kB now' });
  expect(shownOf(file(), { path: 'a', old: side('text', { tooLarge: true }), new: side('text', { text: '' }) })).toMatchObject({ kind: 'words', text: expect.stringContaining('too large') as string });
  expect(shownOf(file('mode'), { path: 'a', old: side('text'), new: side('text', { mode: 0o755 }) })).toMatchObject({ more: 'Permissions 644 → 755' });
  expect(shownOf(file('add', 'dir'), { path: 'a', new: side('dir') })).toMatchObject({ text: 'A folder was added.' });
  expect(shownOf(file(), { path: 'a', old: side('text', { text: '' }), new: side('dir') })).toMatchObject({ text: 'A file became a folder.' });
  expect(shownOf(file(), { path: 'a' }).kind).toBe('words');
  expect(modeWords(side('text'), side('text'))).toBe('');
});
