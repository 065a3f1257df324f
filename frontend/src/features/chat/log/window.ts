import type { LogPart } from '$lib/backend/types';

/** A loaded piece of a log. */
interface Chunk {
  offset: number;
  bytes: number;
  text: string;
}

/** The loaded stretch of a log that may be far larger. Never changed in place. */
export interface LogWindow {
  chunks: readonly Chunk[];
  /** The whole log so far, in bytes. */
  size: number;
  ended: boolean;
}

export const emptyWindow: LogWindow = { chunks: [], size: 0, ended: false };

/** How much is read at once, and how much is kept, in bytes. */
export const chunkBytes = 128 * 1024;
export const windowBytes = 8 * chunkBytes;

export function startOf(w: LogWindow): number {
  return w.chunks[0]?.offset ?? 0;
}

export function endOf(w: LogWindow): number {
  const last = w.chunks.at(-1);
  return last ? last.offset + last.bytes : 0;
}

export function atStart(w: LogWindow): boolean {
  return startOf(w) === 0;
}

export function atEnd(w: LogWindow): boolean {
  return endOf(w) >= w.size;
}

/** Begins anew with one piece. */
export function only(part: LogPart): LogWindow {
  return { chunks: chunkOf(part), size: part.size, ended: part.ended };
}

function chunkOf(part: LogPart): Chunk[] {
  return part.bytes > 0 ? [{ offset: part.offset, bytes: part.bytes, text: part.text }] : [];
}

/** Adds the piece behind; a piece that does not follow changes only the size. */
export function append(w: LogWindow, part: LogPart): LogWindow {
  const fits = w.chunks.length === 0 || part.offset === endOf(w);
  return { chunks: fits ? [...w.chunks, ...chunkOf(part)] : w.chunks, size: part.size, ended: part.ended };
}

/** Adds the piece before. */
export function prepend(w: LogWindow, part: LogPart): LogWindow {
  const fits = part.offset + part.bytes === startOf(w);
  return { chunks: fits ? [...chunkOf(part), ...w.chunks] : w.chunks, size: part.size, ended: part.ended };
}

/** Lets go of what is too much at one end. lines: how many lines went there. */
export function trim(w: LogWindow, from: 'start' | 'end'): { window: LogWindow; lines: number } {
  const chunks = [...w.chunks];
  let kept = chunks.reduce((sum, c) => sum + c.bytes, 0);
  let lines = 0;
  while (chunks.length > 1 && kept > windowBytes) {
    const gone = (from === 'start' ? chunks.shift() : chunks.pop()) as Chunk;
    kept -= gone.bytes;
    lines += newlines(gone.text);
  }
  return { window: lines === 0 && chunks.length === w.chunks.length ? w : { ...w, chunks }, lines };
}

/** How many line ends a text has. */
export function newlines(text: string): number {
  let n = 0;
  for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1)) n++;
  return n;
}

/** The lines that are loaded; the first and the last may be parts of lines. */
export function linesOf(w: LogWindow): string[] {
  const lines = w.chunks.map((c) => c.text).join('').split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
