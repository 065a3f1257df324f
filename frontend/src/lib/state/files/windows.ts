// Large files are read in windows: which part to ask for next.

/** The most that is read and shown at once, in bytes. */
export const WINDOW_BYTES = 256 * 1024;

/** The largest image that is shown, in bytes. */
export const MAX_IMAGE_BYTES = 16 * 1024 * 1024;

/** A part of a file, as it was read. */
export interface Part {
  offset: number;
  bytes: number;
  size: number;
}

export function hasBefore(part: Part): boolean {
  return part.offset > 0;
}

export function hasAfter(part: Part): boolean {
  return part.offset + part.bytes < part.size;
}

/** isWhole tells whether the part is the whole file: no paging then. */
export function isWhole(part: Part): boolean {
  return !hasBefore(part) && !hasAfter(part);
}

export type PageTo = 'first' | 'previous' | 'next' | 'last';

/** The offset of the window after, before, at the start or at the end of the file. */
export function pageOffset(part: Part, to: PageTo): number {
  switch (to) {
    case 'first':
      return 0;
    case 'previous':
      return Math.max(0, part.offset - WINDOW_BYTES);
    case 'next':
      return hasAfter(part) ? part.offset + part.bytes : part.offset;
    case 'last':
      return Math.max(0, part.size - WINDOW_BYTES);
  }
}

/**
 * reloadOffset says where to read again after the file changed on disk: at the
 * same place, or at the new end if the file shrank below it.
 */
export function reloadOffset(part: Part, newSize: number): number {
  return part.offset < newSize ? part.offset : Math.max(0, newSize - WINDOW_BYTES);
}

/** The smallest single replacement that turns one text into another. */
export interface Replacement {
  from: number;
  to: number;
  insert: string;
}

/**
 * replacement finds what to change so that an editor keeps its place: all that
 * is alike at the start and at the end stays. Null when nothing differs. It
 * never cuts a surrogate pair in two.
 */
export function replacement(before: string, after: string): Replacement | null {
  if (before === after) return null;
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  if (start > 0 && isHighSurrogate(before.charCodeAt(start - 1))) start--;
  let end = 0;
  while (
    end < most - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  ) {
    end++;
  }
  if (end > 0 && isLowSurrogate(before.charCodeAt(before.length - end))) end--;
  return { from: start, to: before.length - end, insert: after.slice(start, after.length - end) };
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code < 0xdc00;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code < 0xe000;
}
