// @vitest-environment node
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { KeyInfo } from '$lib/backend/types';
import { answer } from './answer';
import { decidedBy, endpointProblem, isAddress, isBackendKey, lockedText, urlProblem, whereText } from './keys';

const info = (more: Partial<KeyInfo>): KeyInfo => ({
  name: 'OPENAI_API_KEY', label: 'OpenAI', set: true, where: 'keyring', hint: '…a1b2', secret: true, readOnly: false, ...more,
});

test('says where a key is kept and who decides', () => {
  expect(whereText(info({ set: false, where: '', hint: '' }))).toBe('Not set');
  expect(whereText(info({}))).toBe('Ends in a1b2, kept in the system’s keyring');
  expect(whereText(info({ where: 'file', hint: '' }))).toBe('Set, kept in a file that only you can read');
  expect(whereText(info({ where: 'environment', readOnly: true }))).toBe('Ends in a1b2, taken from the environment');
  expect(lockedText(info({}))).toBe('');
  expect(lockedText(info({ where: '.env', readOnly: true }))).toContain('.env file');
});

test('tells keys of backends from those of models', () => {
  expect(isBackendKey(info({ name: 'E2B_API_KEY' }))).toBe(true);
  expect(isBackendKey(info({}))).toBe(false);
});

test('only addresses are checked as such', () => {
  expect(isAddress({ name: 'OPENAI_BASE_URL' })).toBe(true);
  expect(isAddress({ name: 'OPENAI_ORG_ID' })).toBe(false);
});

test('says when the environment decides over a setting', () => {
  const trace = info({ name: 'EXAMPLES_TEMPORAL_TRACE', secret: false, where: 'environment', value: 'none', readOnly: true });
  expect(decidedBy([trace], 'EXAMPLES_TEMPORAL_TRACE')).toBe('EXAMPLES_TEMPORAL_TRACE decides: none.');
  expect(decidedBy([{ ...trace, set: false }], 'EXAMPLES_TEMPORAL_TRACE')).toBe('');
  expect(decidedBy([], 'EXAMPLES_TEMPORAL_TRACE')).toBe('');
});

test('an address must be whole, of the web, and without a password', () => {
  expect(urlProblem('http://localhost:8000/v1')).toBe('');
  expect(urlProblem('localhost:8000')).toMatch(/http/);
  expect(urlProblem('nonsense')).toMatch(/whole address/);
  expect(urlProblem('file:///etc/passwd')).toMatch(/http/);
  expect(urlProblem('https://me:secret@host/v1')).toMatch(/password/);
});

test('a new endpoint needs a name of its own', () => {
  expect(endpointProblem('', 'http://a', [])).toMatch(/name/);
  expect(endpointProblem('vLLM', 'http://a', ['vllm'])).toMatch(/already/);
  expect(endpointProblem('b', 'http://a', ['vllm'])).toBe('');
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test('a test button always gets an answer', async () => {
  expect(await answer(() => Promise.resolve({ ok: true, text: 'It answers.' }))).toEqual({ ok: true, text: 'It answers.' });
  expect(await answer(() => Promise.reject(new Error('No way.')))).toEqual({ ok: false, text: 'No way.' });
  const silent = answer(() => new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(4999);
  await vi.advanceTimersByTimeAsync(1);
  expect(await silent).toEqual({ ok: false, text: 'No answer within 5 s.' });
  expect(vi.getTimerCount()).toBe(0);
});
