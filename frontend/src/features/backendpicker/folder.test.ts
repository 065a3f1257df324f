// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { FolderInfo } from '$lib/backend/types';
import { ONTO, folderLabel, folderVerdict } from './folder';

function info(more: Partial<FolderInfo>): FolderInfo {
  return { path: '/data/p', exists: true, entries: 0, writable: true, git: false, ...more };
}

describe('folderVerdict', () => {
  it('refuses with the reason given', () => {
    const verdict = folderVerdict(info({ refused: 'This is your home folder.', entries: 40 }));
    expect(verdict).toMatchObject({ tone: 'bad', usable: false, text: 'This is your home folder.' });
  });

  it.each([
    ['missing', { exists: false, writable: false }, /doesn’t exist/],
    ['not writable', { writable: false, entries: 3 }, /can’t write/],
  ])('can’t use a folder that is %s', (_, more, text) => {
    const verdict = folderVerdict(info(more));
    expect(verdict.usable).toBe(false);
    expect(verdict.tone).toBe('bad');
    expect(verdict.text).toMatch(text);
  });

  it('takes an empty folder without a warning', () => {
    expect(folderVerdict(info({}))).toMatchObject({ tone: 'plain', usable: true });
  });

  it('warns of files that nothing protects, not of a repository', () => {
    expect(folderVerdict(info({ entries: 1 }))).toMatchObject({ tone: 'warn', usable: true });
    expect(folderVerdict(info({ entries: 1 })).text).toContain('1 item,');
    expect(folderVerdict(info({ entries: 41, git: true }))).toMatchObject({ tone: 'plain', usable: true });
    expect(folderVerdict(info({ entries: 41, git: true })).text).toContain('41 items, a Git repository');
  });

  it('does not claim to have counted past the limit', () => {
    expect(folderVerdict(info({ entries: 1000 })).text).toContain('1,000 items or more');
  });
});

describe('a folder that files are carried into', () => {
  it('asks what to do only when something is in it', () => {
    expect(folderVerdict(info({}), 'carry')).toEqual({ tone: 'plain', text: 'The folder is empty. The files are put into it.', usable: true });
    expect(folderVerdict(info({ entries: 41, git: true }), 'carry')).toMatchObject({ occupied: true, usable: true });
    expect(folderVerdict(info({ entries: 1 }), 'carry').text).toMatch(/^1 item is in it already/);
    expect(folderVerdict(info({ refused: 'No.' }), 'carry').usable).toBe(false);
  });

  it('says of each choice what will happen', () => {
    expect(ONTO.map((o) => o.value)).toEqual(['', 'merge', 'replace']);
    expect(ONTO.at(-1)?.explain).toMatch(/captured first/);
  });
});

describe('folderLabel', () => {
  it('names a folder of the user, not one that we made', () => {
    expect(folderLabel({ workspace: '', ownWorkspace: false })).toBe('new folder');
    expect(folderLabel({ workspace: '/data/workspaces/3f5c', ownWorkspace: true })).toBe('own folder');
    expect(folderLabel({ workspace: '/srv/csv/', ownWorkspace: false })).toBe('csv');
    expect(folderLabel({ workspace: '/', ownWorkspace: false })).toBe('/');
  });
});
