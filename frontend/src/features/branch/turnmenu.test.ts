import { expect, test } from 'vitest';
import type { TurnEndItem } from '$lib/backend/types';
import { isAction } from '$lib/components/menu';
import { App } from '$lib/state/app.svelte';
import { fakeBackend } from '../../testing/fake-backend';
import { noUsage } from '../../testing/fixtures';
import { changedWords, turnMenu } from './turnmenu';

const end = (change: Partial<TurnEndItem>): TurnEndItem => ({ index: 2, outcome: 'done', durationMs: 1, steps: 1, usage: noUsage, provider: '', model: '', backend: 'local', ...change });

test('a turn without a snapshot offers nothing that needs one', () => {
  const app = new App(fakeBackend());
  const off = (e: TurnEndItem) => turnMenu(app, 's', 's.2', e).flatMap((m) => (isAction(m) && m.disabled ? [m.label] : []));
  expect(off(end({}))).toEqual(['New session from these files…', 'Show changes', 'Copy the answer']);
  expect(off(end({ snapshot: 'x' }))).toEqual(['Copy the answer']);
});

test('its entries lead to the dialogs, of this turn', () => {
  const app = new App(fakeBackend());
  for (const entry of turnMenu(app, 's', 's.2', end({ snapshot: 'x' })).slice(0, 3)) if (isAction(entry)) entry.onselect();
  expect(app.ui.dialogs).toEqual([
    { kind: 'fork', session: 's', turn: 's.2', filesOnly: true },
    { kind: 'rewind', session: 's', turn: 's.2' },
  ]);
});

test('what changed is said only when it is known', () => {
  expect(changedWords(end({}))).toBe('');
  expect(changedWords(end({ snapshot: 'x' }))).toBe('no changes');
  expect(changedWords(end({ snapshot: 'x', changed: 1 }))).toBe('1 change');
  expect(changedWords(end({ snapshot: 'x', changed: 2000 }))).toBe('2,000 changes');
});
