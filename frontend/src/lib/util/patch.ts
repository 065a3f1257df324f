import type { DiffLine } from './diff';

/** What a patch of the agent would do to one file. */
export interface PatchFile {
  op: 'add' | 'update' | 'delete' | 'move';
  path: string;
  /** Where it goes; "" when it stays. */
  to: string;
  added: number;
  removed: number;
  lines: DiffLine[];
}

const header = /^\*\*\* (Add|Update|Delete) File:\s*(.*?)\s*$/;
const ops = { Add: 'add', Update: 'update', Delete: 'delete' } as const;

const note = (text: string): DiffLine => ({ kind: 'note', text, before: null, after: null });

/**
 * Reads a patch in the form that the agent writes (*** Begin Patch …), whole or
 * cut off. Nothing of it is left out: what is not understood is there as a
 * note. Null when it is something else.
 */
export function parsePatch(text: string): PatchFile[] | null {
  const files: PatchFile[] = [];
  let file: PatchFile | undefined;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const begins = header.exec(line);
    if (begins) {
      file = { op: ops[begins[1] as keyof typeof ops], path: begins[2] ?? '', to: '', added: 0, removed: 0, lines: [] };
      files.push(file);
    } else if (!file) {
      if (line.trim() !== '' && line.trim() !== '*** Begin Patch') return null;
    } else if (line.startsWith('*** Move to:')) {
      file.to = line.slice('*** Move to:'.length).trim();
      file.op = 'move';
    } else if (line.trim() === '*** End Patch' || line.trim() === '*** End of File') continue;
    else read(file, line);
  }
  return files.length > 0 ? files : null;
}

function read(file: PatchFile, line: string): void {
  const { lines } = file;
  const at = { before: null, after: null };
  if (line.startsWith('[… cut here')) lines.push(note('The rest is not shown: it is too long.'));
  else if (line.startsWith('+') || file.op === 'add') {
    file.added++;
    lines.push({ kind: 'add', text: line.startsWith('+') ? line.slice(1) : line, before: null, after: file.op === 'add' ? file.added : null });
  } else if (line.startsWith('-')) {
    file.removed++;
    lines.push({ kind: 'del', text: line.slice(1), ...at });
  } else if (line.startsWith('@@')) lines.push({ kind: 'hunk', text: line, ...at });
  else if (line.startsWith(' ') || line === '') lines.push({ kind: 'same', text: line.slice(1), ...at });
  else lines.push(note(line));
}
