/** One line of a unified diff as it is drawn. */
export interface DiffLine {
  kind: 'hunk' | 'add' | 'del' | 'same' | 'note';
  text: string;
  /** Line numbers, from 1; null where the line is not in that file. */
  before: number | null;
  after: number | null;
}

/** Reads a unified diff, whole or cut off, with or without file headers. */
export function parseDiff(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let inHunk = false;
  const source = diff.endsWith('\n') ? diff.slice(0, -1) : diff;
  for (const line of source.split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      inHunk = true;
      lines.push({ kind: 'hunk', text: line, before: null, after: null });
    } else if (!inHunk) {
      // File headers: the card names the file already.
      if (line.startsWith('Binary ')) lines.push({ kind: 'note', text: line, before: null, after: null });
    } else if (line.startsWith('+')) lines.push({ kind: 'add', text: line.slice(1), before: null, after: after++ });
    else if (line.startsWith('-')) lines.push({ kind: 'del', text: line.slice(1), before: before++, after: null });
    else if (line.startsWith('\\')) lines.push({ kind: 'note', text: line.slice(2), before: null, after: null });
    else lines.push({ kind: 'same', text: line.slice(1), before: before++, after: after++ });
  }
  return lines;
}
