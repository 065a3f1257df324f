// @vitest-environment node
import { expect, test } from 'vitest';
import { parsePatch } from './patch';

const patch = `*** Begin Patch
*** Update File: src/parser.py
@@ def parse(text):
 first
-old
+new
+newer
*** Add File: docs/new.md
+# Title
+
*** Delete File: old.txt
*** Update File: a.txt
*** Move to: b/a.txt
-x
+y
*** End of File
*** End Patch
`;

test('files, what becomes of them, and how many lines', () => {
  const files = parsePatch(patch)!;
  expect(files.map(({ op, path, to, added, removed }) => [op, path, to, added, removed])).toEqual([
    ['update', 'src/parser.py', '', 2, 1],
    ['add', 'docs/new.md', '', 2, 0],
    ['delete', 'old.txt', '', 0, 0],
    ['move', 'a.txt', 'b/a.txt', 1, 1],
  ]);
  expect(files[0]!.lines.map((l) => `${l.kind} ${l.text}`)).toEqual(['hunk @@ def parse(text):', 'same first', 'del old', 'add new', 'add newer']);
  expect(files[1]!.lines.map((l) => l.after)).toEqual([1, 2]);
});

test('nothing of it is left out', () => {
  const cut = parsePatch('*** Begin Patch\n*** Update File: a\n+x\nstrange\n[… cut here …]')!;
  expect(cut[0]!.lines.map((l) => l.text)).toEqual(['x', 'strange', 'The rest is not shown: it is too long.']);
  expect(parsePatch('*** Begin Patch\n*** Add File: a\nbare')![0]!.lines).toMatchObject([{ kind: 'add', text: 'bare' }]);
});

test('something else is not taken for a patch', () => {
  expect(parsePatch('rm -rf build')).toBeNull();
  expect(parsePatch('echo\n*** Add File: a')).toBeNull();
  expect(parsePatch('')).toBeNull();
});
