import { describe, expect, test } from 'vitest';
import type { FileEntry } from '$lib/backend/types';
import { completeCommands, parseCommand, typedModel } from './commands';
import { completeFiles, insertMention, mentionAt } from './mentions';

describe('commands', () => {
  test('a word after a slash is one, a path is not', () => {
    expect(parseCommand('/title  A name \n')).toEqual({ name: 'title', arg: 'A name' });
    expect(parseCommand('/done')).toEqual({ name: 'done', arg: '' });
    expect(parseCommand('/fork a\nb')).toEqual({ name: 'fork', arg: 'a\nb' });
    for (const text of ['/etc/hosts is wrong', '/', '/usr/bin/python', 'say /done', ' /done', '/2nd', '/Title x', '/done.']) {
      expect(parseCommand(text), text).toBeNull();
    }
  });

  test('completion is for the command itself', () => {
    expect(completeCommands('/').map((c) => c.name)).toContain('title');
    expect(completeCommands('/s').map((c) => c.name)).toEqual(['switch', 'stop']);
    expect(completeCommands('/title x')).toEqual([]);
    expect(completeCommands('x /')).toEqual([]);
    expect(typedModel('/model gp')).toBe('gp');
    expect(typedModel('/model')).toBeNull();
  });
});

describe('mentions', () => {
  const at = (text: string) => mentionAt(text, text.length);

  test('what is typed after @', () => {
    expect(at('see @src/ma')).toEqual({ start: 4, end: 11, dir: 'src', name: 'ma' });
    expect(at('@')).toEqual({ start: 0, end: 1, dir: '', name: '' });
    expect(at('@"my dir/a b')).toEqual({ start: 0, end: 12, dir: 'my dir', name: 'a b' });
    expect(mentionAt('@ab and more', 3)).toEqual({ start: 0, end: 3, dir: '', name: 'ab' });
    for (const text of ['mail@host', '@a b', 'x', '@"done" ']) expect(at(text), text).toBeNull();
  });

  const entry = (path: string, kind: FileEntry['kind'] = 'file'): FileEntry => ({
    name: path.slice(path.lastIndexOf('/') + 1),
    path,
    kind,
    size: 1,
    mode: 0o644,
    modified: '',
  });

  test('folders first, then names; dot-files only when asked for', () => {
    const list = [entry('zmain.go'), entry('main.go'), entry('maps', 'dir'), entry('.main'), entry('other')];
    expect(completeFiles(list, 'ma').map((e) => e.name)).toEqual(['maps', 'main.go', 'zmain.go']);
    expect(completeFiles(list, '.m').map((e) => e.name)).toEqual(['.main']);
    expect(completeFiles(list, '')).toHaveLength(4);
  });

  test('the name takes the place of what was typed', () => {
    const complete = (text: string, e: FileEntry) => {
      const mention = at(text);
      return mention && insertMention(text, mention, e);
    };
    expect(complete('see @ma', entry('main.go'))).toEqual({ text: 'see @main.go ', caret: 13 });
    expect(complete('@sr', entry('src', 'dir'))).toEqual({ text: '@src/', caret: 5 });
    expect(complete('@a', entry('a b.txt'))).toEqual({ text: '@"a b.txt" ', caret: 11 });
    expect(complete('@"my', entry('my dir', 'dir'))).toEqual({ text: '@"my dir/', caret: 9 });
    expect(insertMention('@ma rest', { start: 0, end: 3, dir: '', name: 'ma' }, entry('main.go'))).toEqual({ text: '@main.go rest', caret: 9 });
  });
});
