// @vitest-environment node
import { expect, test } from 'vitest';
import { forkName } from './names';

test('the number of a fork is kept apart from its title', () => {
  expect(forkName('Shopping (fork #12)')).toEqual({ base: 'Shopping', fork: ' #12' });
  expect(forkName('Shopping [docker]')).toEqual({ base: 'Shopping', fork: '' });
  for (const title of ['Shopping', '(fork #1)', '[docker]', 'A [B] c', 'Fork (fork #x)']) expect(forkName(title)).toEqual({ base: title, fork: '' });
});
