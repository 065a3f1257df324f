// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { FileEntry } from '$lib/backend/types';
import {
  ROOT,
  flatten,
  keyOf,
  mergeEntries,
  parentOf,
  sortEntries,
  step,
  touched,
  typeAhead,
  visible,
  type Folder,
  type Row,
} from './tree';

function entry(path: string, kind: FileEntry['kind'] = 'file', more: Partial<FileEntry> = {}): FileEntry {
  return {
    name: path.split('/').pop()!,
    path,
    kind,
    size: 1,
    mode: 0o644,
    modified: '2026-01-01T00:00:00Z',
    ...more,
  };
}

function ready(...entries: FileEntry[]): Folder {
  return { state: 'ready', entries };
}

const src = entry('src', 'dir');
const folders = new Map<string, Folder>([
  [ROOT, ready(src, entry('.git', 'dir'), entry('README.md'))],
  ['src', ready(entry('src/a.ts'), entry('src/b.ts'))],
]);

function shown(rows: Row[]): string[] {
  return rows.map((row) => `${'  '.repeat(row.depth)}${row.kind === 'entry' ? row.entry.name : row.kind}`);
}

describe('sortEntries', () => {
  it('puts folders first and counts numbers in names', () => {
    const sorted = sortEntries([entry('file10'), entry('file2'), entry('b', 'dir'), entry('A', 'dir')]);
    expect(sorted.map((e) => e.name)).toEqual(['A', 'b', 'file2', 'file10']);
  });

  it('treats a link as no folder', () => {
    expect(sortEntries([entry('a', 'link'), entry('z', 'dir')]).map((e) => e.name)).toEqual(['z', 'a']);
  });
});

describe('mergeEntries', () => {
  it('returns the very same list when nothing changed', () => {
    const before = [entry('a'), entry('b')];
    expect(mergeEntries(before, [entry('b'), entry('a')])).toBe(before);
  });

  it('keeps the objects of what did not change', () => {
    const before = [entry('a'), entry('b')];
    const after = mergeEntries(before, [entry('a'), entry('b', 'file', { size: 9 }), entry('c')]);
    expect(after[0]).toBe(before[0]);
    expect(after[1]).not.toBe(before[1]);
    expect(after.map((e) => [e.name, e.size])).toEqual([
      ['a', 1],
      ['b', 9],
      ['c', 1],
    ]);
  });

  it('notices what is gone', () => {
    expect(mergeEntries([entry('a'), entry('b')], [entry('b')]).map((e) => e.name)).toEqual(['b']);
  });

  it('tells apart names that only look alike', () => {
    const odd = entry('\\xff', 'file', { rawPath: '/w==' });
    const plain = entry('\\xff');
    expect(keyOf(odd)).not.toBe(keyOf(plain));
    expect(mergeEntries([odd], [plain, odd])).toHaveLength(2);
  });
});

describe('flatten', () => {
  it('shows closed folders as one row', () => {
    expect(shown(flatten(folders, new Set(), true))).toEqual(['src', '.git', 'README.md']);
  });

  it('indents what is in open folders and says where each row stands', () => {
    const rows = flatten(folders, new Set(['src']), false);
    expect(shown(rows)).toEqual(['src', '  a.ts', '  b.ts', 'README.md']);
    expect(rows[2]).toMatchObject({ depth: 1, position: 2, siblings: 2 });
    expect(rows[3]).toMatchObject({ depth: 0, position: 2, siblings: 2 });
  });

  it('says loading, failed and empty in the place of the content', () => {
    const states = new Map<string, Folder>([
      [ROOT, ready(entry('a', 'dir'), entry('b', 'dir'), entry('c', 'dir'), entry('d', 'dir'))],
      ['a', { state: 'loading', entries: [] }],
      ['b', { state: 'failed', entries: [] }],
      ['c', ready()],
      ['d', ready(entry('d/.only'))],
    ]);
    expect(shown(flatten(states, new Set(['a', 'b', 'c', 'd']), false))).toEqual([
      'a', '  loading', 'b', '  failed', 'c', '  empty', 'd', '  empty',
    ]);
  });

  it('keeps the old content while a folder is read again', () => {
    const states = new Map<string, Folder>([[ROOT, { state: 'loading', entries: [entry('a')] }]]);
    expect(shown(flatten(states, new Set(), true))).toEqual(['a']);
  });
});

describe('touched', () => {
  it('means everything when no folder is named', () => {
    expect(touched(folders, undefined)).toEqual([ROOT, 'src']);
    expect(touched(folders, [])).toEqual([ROOT, 'src']);
  });

  it('names only folders that are loaded', () => {
    expect(touched(folders, ['src', 'node_modules'])).toEqual(['src']);
    expect(touched(folders, ['.'])).toEqual([ROOT]);
    expect(touched(folders, ['src/'])).toEqual(['src']);
  });
});

describe('visible and parentOf', () => {
  const deep = new Map(folders);
  deep.set(ROOT, ready(src));
  deep.set('src', ready(entry('src/lib', 'dir')));
  deep.set('src/lib', ready(entry('src/lib/x')));

  it('needs every folder above to be open', () => {
    expect(visible('src/lib', new Set(['src/lib']), deep)).toBe(false);
    expect(visible('src/lib', new Set(['src', 'src/lib']), deep)).toBe(true);
    expect(visible(ROOT, new Set(), deep)).toBe(true);
  });

  it('finds the folder that lists a key', () => {
    expect(parentOf('src/lib/x', deep)).toBe('src/lib');
    expect(parentOf('src', deep)).toBe(ROOT);
    expect(parentOf('gone', deep)).toBeUndefined();
  });
});

describe('step', () => {
  const rows = flatten(folders, new Set(['src']), false);

  it('moves over visible rows and stops at the ends', () => {
    expect(step(rows, undefined, 'ArrowDown')).toEqual({ select: 'src' });
    expect(step(rows, 'src', 'ArrowDown')).toEqual({ select: 'src/a.ts' });
    expect(step(rows, 'README.md', 'ArrowDown')).toEqual({ select: 'README.md' });
    expect(step(rows, 'src', 'ArrowUp')).toEqual({ select: 'src' });
    expect(step(rows, 'src/a.ts', 'End')).toEqual({ select: 'README.md' });
    expect(step(rows, 'README.md', 'Home')).toEqual({ select: 'src' });
    expect(step(rows, 'src', 'PageDown', 2)).toEqual({ select: 'src/b.ts' });
  });

  it('opens, enters, leaves and closes folders with the side arrows', () => {
    const closed = flatten(folders, new Set(), false);
    expect(step(closed, 'src', 'ArrowRight')).toEqual({ expand: 'src' });
    expect(step(rows, 'src', 'ArrowRight')).toEqual({ select: 'src/a.ts' });
    expect(step(rows, 'src/b.ts', 'ArrowLeft')).toEqual({ select: 'src' });
    expect(step(rows, 'src', 'ArrowLeft')).toEqual({ collapse: 'src' });
    expect(step(rows, 'src/b.ts', 'ArrowRight')).toEqual({});
  });

  it('opens files with Enter and toggles folders', () => {
    expect(step(rows, 'src/a.ts', 'Enter')).toEqual({ open: 'src/a.ts' });
    expect(step(rows, 'src', 'Enter')).toEqual({ collapse: 'src' });
  });

  it('survives a selection that is gone and an empty tree', () => {
    expect(step(rows, 'gone', 'ArrowDown')).toEqual({ select: 'src' });
    expect(step([], 'x', 'ArrowDown')).toEqual({});
  });
});

describe('typeAhead', () => {
  const rows = flatten(new Map([[ROOT, ready(entry('alpha'), entry('beta'), entry('build'), entry('gamma'))]]), new Set(), true);

  it('goes to the next match for one letter and keeps the row for more', () => {
    expect(typeAhead(rows, 'alpha', 'b')).toBe('beta');
    expect(typeAhead(rows, 'beta', 'b')).toBe('build');
    expect(typeAhead(rows, 'build', 'b')).toBe('beta');
    expect(typeAhead(rows, 'beta', 'be')).toBe('beta');
    expect(typeAhead(rows, 'beta', 'bu')).toBe('build');
    expect(typeAhead(rows, 'beta', 'zz')).toBeUndefined();
  });
});
