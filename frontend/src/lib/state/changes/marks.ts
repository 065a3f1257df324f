// What changed, as marks beside names: like those of Git.
import type { ChangedFile, Changes } from '$lib/backend/types';
import { keyOf } from '../files/tree';

/** A: added, M: changed, D: deleted, P: only the permissions; "•" for a folder with any of them in it. */
export type Mark = 'A' | 'M' | 'D' | 'P' | '•';

const letters: Record<ChangedFile['op'], Mark> = { add: 'A', update: 'M', delete: 'D', mode: 'P' };
const words: Record<Mark, string> = { A: 'added', M: 'changed', D: 'deleted', P: 'permissions changed', '•': 'has changes in it' };

export function markOf(file: Pick<ChangedFile, 'op'>): Mark {
  return letters[file.op];
}

export function markWords(mark: Mark): string {
  return words[mark];
}

export function changeKey(file: Pick<ChangedFile, 'path' | 'rawPath'>): string {
  return keyOf({ path: file.path, rawPath: file.rawPath || undefined });
}

/** Marks by the key of the tree's entries. */
export function marksOf(changes: Changes | null): ReadonlyMap<string, Mark> {
  const marks = new Map<string, Mark>();
  for (const file of changes?.files ?? []) {
    marks.set(changeKey(file), markOf(file));
    if (file.rawPath) continue;
    for (let cut = file.path.lastIndexOf('/'); cut > 0; cut = file.path.lastIndexOf('/', cut - 1)) {
      const folder = file.path.slice(0, cut);
      if (marks.has(folder)) break;
      marks.set(folder, '•');
    }
  }
  return marks;
}

/** What reverting a file does, for the question before. live: compared with the files of now. */
export function revertWords(file: ChangedFile, live: boolean): string {
  const later = live ? '' : ' What changed in it later goes, too.';
  switch (file.op) {
    case 'add':
      return `${file.path} was added: it is deleted.${later}`;
    case 'delete':
      return `${file.path} was deleted: it comes back as it was.${later}`;
    case 'mode':
      return `${file.path} gets the permissions back that it had.${later}`;
    default:
      return `${file.path} goes back to how it was before.${later}`;
  }
}

/** "drwxr-xr-x"-like permissions in three digits, "755". */
export function modeText(mode: number): string {
  return (mode & 0o777).toString(8).padStart(3, '0');
}
