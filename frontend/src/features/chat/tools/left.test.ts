import { expect, test } from 'vitest';
import { fakeBackend, refuse } from '../../../testing/fake-backend';
import { LeftCommand } from './left.svelte';

const part = (ended: boolean) => () => Promise.resolve({ offset: 0, bytes: 0, text: '', size: 0, ended });

test('whether a command that was left still runs is asked, until it has ended', async () => {
  let ended = false;
  const backend = fakeBackend({ toolLog: () => part(ended)() });
  const left = new LeftCommand(backend);
  expect(left.state).toBe('unknown');
  await left.look('s', 'log');
  expect(left.state).toBe('runs');
  ended = true;
  await left.look('s', 'log');
  await left.look('s', 'log');
  expect(left.state).toBe('ended');
  expect(backend.callsOf('toolLog')).toEqual([['s', 'log', -1, 1], ['s', 'log', -1, 1]]);
});

test('where nobody can tell, nothing is claimed', async () => {
  const left = new LeftCommand(fakeBackend({ toolLog: refuse() }));
  await left.look('s', 'log');
  await left.look('s', '');
  expect(left.state).toBe('unknown');
});

test('what was left running is stopped, and asked about again', async () => {
  let ended = false;
  const backend = fakeBackend({
    toolLog: () => part(ended)(),
    stopCommands: () => {
      ended = true;
      return Promise.resolve();
    },
  });
  const left = new LeftCommand(backend);
  await left.look('s', 'log');
  await left.stop('s', 'log');
  expect(backend.callsOf('stopCommands')).toEqual([['s']]);
  expect(left.state).toBe('ended');
  expect(left.stopping).toBe(false);
});

test('a refusal to stop is passed on, and the command still runs', async () => {
  const left = new LeftCommand(fakeBackend({ toolLog: () => part(false)(), stopCommands: refuse() }));
  await left.look('s', 'log');
  await expect(left.stop('s', 'log')).rejects.toThrow();
  expect(left.state).toBe('runs');
  expect(left.stopping).toBe(false);
});
