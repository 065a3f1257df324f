import type { FileEntry } from '$lib/backend/types';

/** A file name being typed after "@". */
export interface Mention {
  /** Where the "@" is. */
  start: number;
  /** End of what is typed: the caret. */
  end: number;
  /** The folder, "" for the workspace's root, without a slash at the end. */
  dir: string;
  /** The beginning of the name in that folder. */
  name: string;
}

/** The mention that ends at the caret; null when there is none. */
export function mentionAt(text: string, caret: number): Mention | null {
  const match = /(?:^|[\s(])@("?)([^\s"@]*|[^"\n@]*)$/.exec(text.slice(0, caret));
  if (!match) return null;
  const quoted = match[1] === '"';
  const path = match[2] ?? '';
  if (!quoted && /\s/.test(path)) return null;
  const slash = path.lastIndexOf('/');
  return {
    start: caret - path.length - (quoted ? 2 : 1),
    end: caret,
    dir: slash < 0 ? '' : path.slice(0, slash),
    name: path.slice(slash + 1),
  };
}

const shown = 40;

/** Entries that fit, folders first, those that begin with it before those that only have it. */
export function completeFiles(entries: readonly FileEntry[], name: string): FileEntry[] {
  const want = name.toLocaleLowerCase();
  const rank = (e: FileEntry): number => {
    const own = e.name.toLocaleLowerCase();
    // Dot-files only when asked for.
    if (own.startsWith('.') && !want.startsWith('.')) return -1;
    if (own.startsWith(want)) return 0;
    return own.includes(want) ? 1 : -1;
  };
  return entries
    .map((entry) => ({ entry, rank: rank(entry) }))
    .filter((e) => e.rank >= 0)
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        Number(b.entry.kind === 'dir') - Number(a.entry.kind === 'dir') ||
        a.entry.name.localeCompare(b.entry.name),
    )
    .slice(0, shown)
    .map((e) => e.entry);
}

/** The text with the mention completed, and where the caret goes. */
export function insertMention(text: string, mention: Mention, entry: FileEntry): { text: string; caret: number } {
  const folder = entry.kind === 'dir';
  const path = entry.path + (folder ? '/' : '');
  const quoted = /[\s"]/.test(path);
  // A folder goes on being typed: no closing quote, no space.
  const word = quoted ? `@"${path}${folder ? '' : '"'}` : `@${path}`;
  const rest = text.slice(mention.end);
  const space = folder || /^\s/.test(rest) ? '' : ' ';
  const inserted = text.slice(0, mention.start) + word + space;
  return { text: inserted + rest, caret: inserted.length + (space === '' && !folder ? 1 : 0) };
}
