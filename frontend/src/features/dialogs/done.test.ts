// @vitest-environment node
import { expect, test } from 'vitest';
import { session } from '../../testing/fixtures';
import { destroyWords } from './done';

const turn = { id: 'a.1', index: 1, step: 1, started: '', doing: '', stopping: false };

test('a folder of ours is offered for deletion and said to stay until then', () => {
  const own = session('a', { ownWorkspace: true, workspace: '/data/a', turns: 3 });
  expect(destroyWords(own, false)).toMatchObject({
    removed: 'The conversation is deleted: 3 turns, with the output of its commands.',
    folder: 'The folder stays where it is.',
  });
  expect(destroyWords(own, false).folderChoice).toBeTruthy();
  expect(destroyWords(own, true).folder).toBe('The folder and all files in it are deleted.');
});

test('a folder of the user is never offered, whatever is passed', () => {
  const theirs = session('a', { ownWorkspace: false, workspace: '/home/user/project', turns: 1 });
  expect(destroyWords(theirs, true).folderChoice).toBeUndefined();
  expect(destroyWords(theirs, true).folder).toBe('The folder is yours and stays as it is.');
  expect(destroyWords(theirs, true).removed).toContain('1 turn,');
});

test('nothing was made yet', () => {
  const empty = session('a', { ownWorkspace: true, workspace: '', turns: 0 });
  expect(destroyWords(empty, true)).toEqual({
    removed: 'The conversation is deleted.',
    folder: 'No folder was made yet, so no files are touched.',
  });
});

test('says that a turn under way is stopped', () => {
  expect(destroyWords(session('a'), false).stops).toBeUndefined();
  expect(destroyWords(session('a', { turn }), false).stops).toMatch(/stopped first/);
});

test('a sandbox goes with its session, whatever is chosen', () => {
  const docker = session('a', { backend: 'docker', ownWorkspace: true, workspace: '/workspace', turns: 1 });
  expect(destroyWords(docker, false).folder).toBe('Its sandbox on Docker is removed, with all files in it.');
  expect(destroyWords(docker, false).folderChoice).toBeUndefined();
  expect(destroyWords({ ...docker, workspace: '' }, false).folder).toMatch(/^No sandbox/);
});
