// @vitest-environment node
import { expect, test } from 'vitest';
import { shown } from './catalog';

const docker = { name: 'docker', label: 'Docker', blurb: '', available: false, confined: true };

test('nobody is told to start what this version can’t use', () => {
  expect(shown({ ...docker, reason: 'Comes with the next version. Docker isn’t running.', remedy: 'Start it.' })).toEqual({
    ...docker,
    reason: 'Comes with the next version.',
    remedy: undefined,
  });
});

test('what can be mended keeps its remedy', () => {
  const stopped = { ...docker, reason: 'Docker isn’t running.', remedy: 'Start it.' };
  expect(shown(stopped)).toBe(stopped);
});
