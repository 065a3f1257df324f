// @vitest-environment node
import { expect, test } from 'vitest';
import type { EngineStatus } from '$lib/backend/types';
import { engineWords, unread } from './engine';

const status = (state: string, more: Partial<EngineStatus> = {}) =>
  ({ state, role: 'owner', since: '', ...more }) as EngineStatus;

test('every state has words and a tone', () => {
  const tones = ['starting', 'running', 'attached', 'recovering', 'failed'].map((state) => engineWords(status(state)).tone);
  expect(tones).toEqual(['busy', 'ok', 'ok', 'busy', 'bad']);
  expect(engineWords(null).label).toBe('Engine starting');
});

test('a cluster is told from another window', () => {
  expect(engineWords(status('attached', { role: 'attached' })).label).toBe('Engine attached');
  expect(engineWords(status('attached', { role: 'cluster' })).label).toBe('On a cluster');
});

test('a state that this page does not know shows what the program says', () => {
  expect(engineWords(status('closed', { text: 'Engine closed' }))).toMatchObject({ label: 'Engine closed', tone: 'bad' });
});

test('what was dismissed is not told again', () => {
  const engine = status('running', { notices: ['set aside', 'redirected', 'set aside'] });
  expect(unread(engine, [])).toEqual(['set aside', 'redirected']);
  expect(unread(engine, ['set aside'])).toEqual(['redirected']);
  expect(unread(null, [])).toEqual([]);
});
