// @vitest-environment node
import { expect, test } from 'vitest';
import { matches, sentences, windowTitle, words } from './words';

test('all words must be there, in any order', () => {
  expect(words('  GPT  mini ')).toEqual(['gpt', 'mini']);
  expect(matches(words('mini gpt'), 'GPT-5', 'Mini')).toBe(true);
  expect(matches(words('mini gpt'), 'GPT-5', undefined)).toBe(false);
  expect(matches([], 'anything')).toBe(true);
});

test('statements get an end once', () => {
  expect(sentences('No key is set', 'Add one.')).toBe('No key is set. Add one.');
  expect(sentences('Comes with the next version. ', '', undefined)).toBe('Comes with the next version.');
  expect(sentences('Waiting…', 'Really?')).toBe('Waiting… Really?');
  expect(sentences()).toBe('');
});

test('the title of the window tells how many sessions need the user', () => {
  expect(windowTitle(0)).toBe('Temporal Sandbox Agent');
  expect(windowTitle(2)).toBe('(2) Temporal Sandbox Agent');
});
