// Files that are dropped into the tree: found, grouped and measured.
import { bytes, plural } from '$lib/util/format';

/** A file to be put into a folder of the workspace. */
export interface Dropped {
  /** Folder below the one that it is dropped on; "" for that one. */
  below: string;
  file: File;
}

/** Limits of one drop. */
export const uploadLimits = {
  /** The largest file, in bytes: each goes through memory. */
  fileBytes: 100 * 1024 * 1024,
  files: 2000,
  /** How much goes in one call, so that progress moves. */
  batchBytes: 8 * 1024 * 1024,
  batchFiles: 40,
} as const;

/** Reads what was dropped, folders with all that is in them. Call it in the event: later the list is empty. */
export async function droppedFiles(transfer: DataTransfer): Promise<Dropped[]> {
  const found: Dropped[] = [];
  const entries: FileSystemEntry[] = [];
  for (const item of transfer.items ?? []) {
    if (item.kind !== 'file') continue;
    const entry = item.webkitGetAsEntry?.();
    const file = entry ? null : item.getAsFile();
    if (entry) entries.push(entry);
    else if (file) found.push({ below: '', file });
  }
  for (const entry of entries) await walk(entry, '', found);
  return found;
}

async function walk(entry: FileSystemEntry, below: string, found: Dropped[]): Promise<void> {
  // One more than is allowed is enough to refuse.
  if (found.length > uploadLimits.files) return;
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    found.push({ below, file });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const path = below ? `${below}/${entry.name}` : entry.name;
  // A reader gives a hundred at a time, and nothing at the end.
  for (;;) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) return;
    for (const child of part) await walk(child, path, found);
  }
}

/** Why files can't be taken; "" when they can. */
export function refusal(files: readonly Dropped[]): string {
  if (files.length === 0) return 'There is no file in what was dropped.';
  if (files.length > uploadLimits.files) return `That is more than ${uploadLimits.files.toLocaleString('en')} files. Copy them into the folder another way.`;
  const large = files.find((f) => f.file.size > uploadLimits.fileBytes);
  if (large) return `${large.file.name} is ${bytes(large.file.size)}. The most is ${bytes(uploadLimits.fileBytes)} a file.`;
  return '';
}

export interface Batch {
  dir: string;
  files: File[];
}

/** Puts files into calls: one folder each, neither too many nor too much. */
export function batches(dir: string, dropped: readonly Dropped[]): Batch[] {
  const out: Batch[] = [];
  let size = 0;
  for (const { below, file } of dropped) {
    const to = [dir, below].filter(Boolean).join('/');
    const last = out.at(-1);
    const full = !last || last.dir !== to || last.files.length >= uploadLimits.batchFiles || size + file.size > uploadLimits.batchBytes;
    if (full) {
      out.push({ dir: to, files: [file] });
      size = file.size;
    } else {
      last.files.push(file);
      size += file.size;
    }
  }
  return out;
}

/** "3 files were put into src." */
export function uploadedWords(count: number, dir: string): string {
  return `${plural(count, 'file')} ${count === 1 ? 'was' : 'were'} put into ${dir === '' ? 'the workspace' : dir}.`;
}
