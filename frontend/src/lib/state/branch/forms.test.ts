import { expect, test } from 'vitest';
import type { Carry, ForkRequest, Turn } from '$lib/backend/types';
import { fakeBackend, refuse } from '../../../testing/fake-backend';
import { carry, receipt } from '../../../testing/fixtures';
import { ForkForm } from './fork.svelte';
import { RewindForm, SwitchForm } from './move.svelte';

const turn = (index: number, snapshot = 'x'): Turn => ({ id: `s.${index}`, index, title: `Turn ${index}`, time: '', outcome: 'done', snapshot, changed: true });
const requests = (backend: ReturnType<typeof fakeBackend>) => backend.callsOf('forkSession').map(([req]) => req as ForkRequest);

test('several backends make several forks, each under an id of its own and named apart', async () => {
  const backend = fakeBackend();
  const form = new ForkForm(backend, { session: 's', title: 'Try it' });
  expect(await form.run([{ backend: 'local' }, { backend: 'docker', image: 'alpine' }], false)).toBe(true);
  const [first, second] = requests(backend);
  expect(first).toMatchObject({ id: 's', title: 'Try it [local]', target: { backend: 'local' } });
  expect(second).toMatchObject({ title: 'Try it [docker]', target: { backend: 'docker', image: 'alpine' } });
  expect(first?.newId).not.toBe(second?.newId);
  expect(first).not.toHaveProperty('when');
  expect(form.made).toHaveLength(2);
});

test('a turn under way is left alone or waited for; an earlier turn never waits', async () => {
  const backend = fakeBackend();
  const form = new ForkForm(backend, { session: 's' });
  await form.run([{ backend: 'local' }], true);
  form.when = 'end';
  await new ForkForm(backend, { session: 's', turn: 's.2' }).run([{ backend: 'local' }], true);
  const waits = new ForkForm(backend, { session: 's' });
  waits.when = 'end';
  await waits.run([{ backend: 'local' }], true);
  expect(requests(backend).map((r) => [r.turn, r.when])).toEqual([[undefined, 'last'], ['s.2', 'last'], [undefined, 'end']]);
});

test('only what failed is tried again; a fork that failed is gone, and the next is another', async () => {
  let broken = true;
  const base = fakeBackend();
  const backend = fakeBackend({ forkSession: (req) => (req.target.backend === 'docker' && broken ? refuse({ happened: 'Docker isn’t running.' })() : base.forkSession(req)) });
  const form = new ForkForm(backend, { session: 's' });
  expect(await form.run([{ backend: 'local' }, { backend: 'docker' }], false)).toBe(false);
  expect(form.failed.map((j) => j.fault?.happened)).toEqual(['Docker isn’t running.']);
  broken = false;
  expect(await form.run([{ backend: 'local' }, { backend: 'docker' }], false)).toBe(true);
  expect(requests(backend).map((r) => r.target.backend)).toEqual(['local', 'docker', 'docker']);
  expect(new Set(requests(backend).map((r) => r.newId)).size).toBe(3);
  expect(form.made).toHaveLength(2);
});

test('a receipt with a fault is a failure', async () => {
  const backend = fakeBackend({
    forkSession: (req) => fakeBackend().forkSession(req).then((r) => ({ ...r, receipt: receipt({ fault: { class: 'busy', happened: 'No.' } }) })),
    switchSession: () => Promise.resolve(receipt({ what: 'switch', fault: { class: 'unavailable', happened: 'Docker isn’t running.' } })),
  });
  const form = new ForkForm(backend, { session: 's' });
  expect(await form.run([{ backend: 'local' }], false)).toBe(false);
  expect(form.jobs[0]?.state).toBe('failed');
  const move = new SwitchForm(backend, 's');
  expect(await move.run({ backend: 'docker' }, false)).toBeNull();
  expect(move.fault?.happened).toBe('Docker isn’t running.');
  expect(move.running).toBe(false);
});

test('what is carried is of the turn chosen last', async () => {
  const answers = new Map<string, (c: Carry) => void>();
  const backend = fakeBackend({ carry: (_, turn) => new Promise((resolve) => answers.set(turn, resolve)) });
  const form = new ForkForm(backend, { session: 's' });
  const loading = form.load();
  form.turn = 's.1';
  answers.get('s.1')?.(carry({ files: 1 }));
  answers.get('')?.(carry({ files: 9 }));
  await loading;
  expect(form.carry?.files).toBe(1);
  form.turn = 's.1';
  expect(backend.callsOf('carry')).toHaveLength(2);
});

test('a switch says what to do with a turn only when there is one', async () => {
  const backend = fakeBackend();
  const form = new SwitchForm(backend, 's');
  form.when = 'stop';
  expect(await form.run({ backend: 'docker' }, false)).toMatchObject({ what: 'switch' });
  await form.run({ backend: 'docker' }, true);
  expect(backend.callsOf('switchSession').map(([r]) => (r as { when?: string }).when)).toEqual([undefined, 'stop']);
});

test('going back knows what there is to go back to', async () => {
  const backend = fakeBackend({ turns: () => Promise.resolve([turn(1), turn(2, ''), turn(3)]) });
  const form = new RewindForm(backend, 's', 's.2');
  await form.load();
  expect([form.index, form.last, form.files]).toEqual([2, 3, false]);
  form.turn = 's.1';
  expect(form.files).toBe(true);
  form.turn = '';
  expect([form.index, form.files]).toEqual([0, true]);
  form.what = 'conversation';
  expect(await form.run(false)).toMatchObject({ undo: 'r1' });
  expect(backend.callsOf('rewind')).toEqual([[{ id: 's', what: 'conversation' }]]);
});

test('without a turn named, it goes back by one', async () => {
  const form = new RewindForm(fakeBackend({ turns: () => Promise.resolve([turn(1), turn(2), turn(3)]) }), 's');
  await form.load();
  expect(form.turn).toBe('s.2');
  const only = new RewindForm(fakeBackend({ turns: () => Promise.resolve([turn(1)]) }), 's');
  await only.load();
  expect(only.turn).toBe('');
});

test('a rewind that is refused says why and changes nothing', async () => {
  const form = new RewindForm(fakeBackend({ rewind: refuse({ happened: 'A turn is under way.' }) }), 's', 's.1');
  expect(await form.run(true)).toBeNull();
  expect(form.fault?.happened).toBe('A turn is under way.');
});
