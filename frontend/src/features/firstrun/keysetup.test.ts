import { expect, test } from 'vitest';
import { App } from '$lib/state/app.svelte';
import { fakeBackend, refuse } from '../../testing/fake-backend';
import { boot, settings } from '../../testing/fixtures';
import { KeySetup } from './keysetup.svelte';

async function start(methods: Parameters<typeof fakeBackend>[0] = {}) {
  const backend = fakeBackend({
    boot: () => Promise.resolve(boot({ settings: { ...settings, firstRunDone: false } })),
    ...methods,
  });
  const app = new App(backend);
  await app.load();
  return { backend, app, setup: new KeySetup(app) };
}

test('a key that works is kept, made the default, and ends the card', async () => {
  const { backend, app, setup } = await start();
  expect(await setup.useKey('k')).toBe(true);
  expect(backend.callsOf('setKey')).toEqual([['OPENAI_API_KEY', 'k']]);
  expect(backend.callsOf('deleteKey')).toEqual([]);
  expect(app.settings).toMatchObject({ provider: 'openai', model: '', firstRunDone: true });
  // Who answers by default is asked again.
  expect(backend.callsOf('boot')).toHaveLength(2);
  expect(setup.busy).toBe(false);
});

test('a key that does not work is not kept, and the demo stays', async () => {
  const { backend, app, setup } = await start({
    testProvider: () => Promise.resolve({ ok: false, text: 'OpenAI refused the key.' }),
  });
  expect(await setup.useKey('k')).toBe(false);
  expect(backend.callsOf('deleteKey')).toEqual([['OPENAI_API_KEY']]);
  expect(app.settings).toMatchObject({ provider: '', firstRunDone: false });
  expect(setup.fault?.happened).toBe('OpenAI refused the key.');
});

test('a key that can’t be kept says why', async () => {
  const { backend, setup } = await start({ setKey: refuse({ happened: 'The keyring is locked.' }) });
  expect(await setup.useKey('k')).toBe(false);
  expect(setup.fault?.happened).toBe('The keyring is locked.');
  expect(backend.callsOf('testProvider')).toEqual([]);
  expect(setup.busy).toBe(false);
});

test('a found server becomes the default with its own model', async () => {
  const { app, setup } = await start();
  const server = { name: 'ollama', label: 'Ollama', kind: 'compatible' as const, available: true, local: true };
  expect(await setup.useServer({ ...server, models: [{ id: 'first', images: false }] })).toBe(true);
  expect(app.settings).toMatchObject({ provider: 'ollama', model: 'first', firstRunDone: true });
  await setup.useServer({ ...server, default: 'chosen', models: [{ id: 'first', images: false }] });
  expect(app.settings?.model).toBe('chosen');
});

test('keeping the demo only dismisses the card', async () => {
  const { backend, app, setup } = await start();
  await setup.keepDemo();
  expect(app.settings).toMatchObject({ provider: '', firstRunDone: true });
  expect(backend.callsOf('setKey')).toEqual([]);
});
