// @vitest-environment node
import { expect, test } from 'vitest';
import { nameParts, plainName } from './names';

test('an ordinary name is one part', () => {
  expect(nameParts('naïve 文件 😀.txt', false)).toEqual([{ text: 'naïve 文件 😀.txt', odd: false }]);
});

test('what can’t be seen is written out', () => {
  expect(nameParts('-rf\n', false)).toEqual([
    { text: '-rf', odd: false },
    { text: '\\n', odd: true },
  ]);
  expect(plainName('a\u0007b\tc')).toBe('a\\u0007b\\tc');
});

test('text that turns its direction can’t fake an ending', () => {
  expect(plainName('invoice\u202efdp.exe')).toBe('invoice\\u202efdp.exe');
});

test('bad bytes are marked only where the name really has them', () => {
  expect(nameParts('caf\\xe9.txt', true)).toEqual([
    { text: 'caf', odd: false },
    { text: '\\xe9', odd: true },
    { text: '.txt', odd: false },
  ]);
  expect(nameParts('caf\\xe9.txt', false)).toEqual([{ text: 'caf\\xe9.txt', odd: false }]);
});
