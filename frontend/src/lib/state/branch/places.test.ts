// @vitest-environment node
import { expect, test } from 'vitest';
import { otherPlace, samePlace } from './places';

const info = (name: string, change = {}) => ({ name, label: name, blurb: '', available: true, confined: false, ...change });

test('a move goes to another backend that can be used', () => {
  const infos = [info('local'), info('docker'), info('e2b', { planned: true })];
  expect(otherPlace('local', infos)).toBe('docker');
  expect(otherPlace('docker', infos)).toBe('local');
  expect(otherPlace('local', [info('local'), info('docker', { available: false }), info('e2b', { planned: true })])).toBe('local');
  expect(otherPlace('local', [])).toBe('local');
});

test('the folder that a session works in is no place to move to', () => {
  const session = { backend: 'local', workspace: '/srv/csv', image: '' };
  const at = (workspace: string, backend = 'local') => samePlace(session, { backend, workspace, image: '' });
  expect(at('/srv/csv/')).toBe(true);
  expect(at('')).toBe(false);
  expect(at('/srv/other')).toBe(false);
  expect(at('', 'docker')).toBe(false);
});
