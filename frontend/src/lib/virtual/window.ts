// Which rows of a long list are drawn. Pure: the component measures and scrolls.

/** A stretch of rows: from start up to, not including, end. */
export interface Range {
  start: number;
  end: number;
}

/** Measured heights by key; rows that were never drawn count as the average. */
export class Heights {
  readonly #known = new Map<string, number>();
  #sum = 0;
  #average: number;
  // The average is taken anew when twice as many are known: if it moved with
  // each measure, all that is not drawn would move with it.
  #next = 8;

  constructor(guess: number) {
    this.#average = guess;
  }

  get average(): number {
    return this.#average;
  }

  of(key: string): number {
    return this.#known.get(key) ?? this.#average;
  }

  set(key: string, height: number): void {
    this.#sum += height - (this.#known.get(key) ?? 0);
    this.#known.set(key, height);
    if (this.#known.size < this.#next) return;
    this.#next *= 2;
    this.#average = Math.max(1, this.#sum / this.#known.size);
  }
}

/** Where each row begins, and at the end where the list ends. */
export function offsets(keys: readonly string[], heights: Heights): Float64Array {
  const all = new Float64Array(keys.length + 1);
  let at = 0;
  for (let i = 0; i < keys.length; i++) {
    all[i] = at;
    at += heights.of(keys[i] as string);
  }
  all[keys.length] = at;
  return all;
}

/** The last row that begins at or before a place. */
export function rowAt(starts: Float64Array, place: number): number {
  let low = 0;
  let high = starts.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] as number) <= place) low = middle;
    else high = middle - 1;
  }
  return Math.max(0, low);
}

/**
 * The rows to draw for a view: those in it and some around. A range that still
 * reaches half as far around stays, so that rows do not come and go with every
 * step. keep: what was drawn stays drawn, too (a text in it is selected).
 */
export function rangeFor(starts: Float64Array, top: number, height: number, around: number, now: Range, keep = false): Range {
  const count = starts.length - 1;
  if (count === 0) return { start: 0, end: 0 };
  const first = rowAt(starts, top - around / 2);
  const last = rowAt(starts, top + height + around / 2) + 1;
  if (now.start <= first && now.end >= last && now.end <= count) {
    // Far more than needed is drawn only until the next change.
    const most = rowAt(starts, top + height + 2 * around) + 1 - rowAt(starts, top - 2 * around);
    if (keep || now.end - now.start <= most) return now;
  }
  const next = { start: rowAt(starts, top - around), end: rowAt(starts, top + height + around) + 1 };
  const touches = next.start <= now.end && now.start <= next.end;
  if (!keep || !touches || now.end > count) return next;
  return { start: Math.min(next.start, now.start), end: Math.max(next.end, now.end) };
}

/**
 * The same rows after the list changed: found again by the keys of what was
 * drawn. Rows added at the end of a range that reached the end belong to it.
 */
export function follow(now: Range, before: readonly string[], after: readonly string[]): Range {
  if (before.length === 0) return { start: 0, end: 0 };
  const end = now.end >= before.length ? after.length : -1;
  for (let i = now.start; i < now.end; i++) {
    const key = before[i] as string;
    // Nearly always it is where it was, or moved by what was added in front.
    const at = after[i] === key ? i : indexNear(after, key, i + after.length - before.length);
    if (at < 0) continue;
    const start = Math.max(0, at - (i - now.start));
    return { start, end: end >= 0 ? end : Math.min(after.length, start + now.end - now.start) };
  }
  // All of it is gone.
  const size = now.end - now.start;
  return { start: Math.max(0, after.length - size), end: after.length };
}

function indexNear(keys: readonly string[], key: string, guess: number): number {
  return keys[guess] === key ? guess : keys.indexOf(key);
}

/** The rows to draw first: around a key, or the last ones. */
export function firstRange(keys: readonly string[], heights: Heights, height: number, around: number, key: string): Range {
  const rows = Math.ceil((height + around) / heights.average);
  const at = key === '' ? -1 : keys.indexOf(key);
  if (at < 0) return { start: Math.max(0, keys.length - rows), end: keys.length };
  return { start: Math.max(0, at - rows), end: Math.min(keys.length, at + rows) };
}
