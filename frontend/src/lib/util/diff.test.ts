import { expect, test } from 'vitest';
import { parseDiff } from './diff';

test('lines are numbered on their sides', () => {
  const diff = '--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@ func f() {\n same\n-old\n+new\n+more\n\\ No newline at end of file\n';
  expect(parseDiff(diff).map((l) => [l.kind, l.before, l.after, l.text])).toEqual([
    ['hunk', null, null, '@@ -3,3 +3,4 @@ func f() {'],
    ['same', 3, 3, 'same'],
    ['del', 4, null, 'old'],
    ['add', null, 4, 'new'],
    ['add', null, 5, 'more'],
    ['note', null, null, 'No newline at end of file'],
  ]);
});

test('lines that look like headers inside a hunk are content', () => {
  expect(parseDiff('@@ -1 +1 @@\n--- a\n+++ b').map((l) => [l.kind, l.text])).toEqual([
    ['hunk', '@@ -1 +1 @@'],
    ['del', '-- a'],
    ['add', '++ b'],
  ]);
  expect(parseDiff('')).toEqual([]);
});
