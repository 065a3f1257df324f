import type { Channel, Delta, Item, Output, Page } from '$lib/backend/types';
import { byteLength, dropBytes } from '$lib/util/utf8';

/** Text that streams in for an item that is not written yet. */
export interface Stream {
  attempt: number;
  channel: Channel;
  tool: string;
  text: string;
  /** Bytes of the item's text up to here: where the next piece belongs. */
  bytes: number;
}

/** The end of a running tool's output. */
export interface LiveOutput {
  text: string;
  /** Offset of the last piece: what is not after it was seen before. */
  offset: number;
  /** True when text is not all that there was. */
  cut: boolean;
}

/** One place in the conversation: written, or still streaming. */
export interface Entry {
  id: string;
  turn: string;
  seq: number;
  item: Item | null;
  stream: Stream | null;
  output: LiveOutput | null;
}

/** The loaded part of a conversation, oldest first. Never changed in place. */
export interface Transcript {
  entries: readonly Entry[];
  /** Cursor of the page before; "" at the beginning of the conversation. */
  before: string;
  loaded: boolean;
  /** Something was missed: read the newest page again. */
  stale: boolean;
}

export const emptyTranscript: Transcript = { entries: [], before: '', loaded: false, stale: false };

/** How much of a running tool's output is kept for its card. */
export const liveOutputMax = 16 * 1024;

/** Splits an item's id into turn and place: "<turn>/000012". */
export function parseItemId(id: string): { turn: string; seq: number } {
  const slash = id.lastIndexOf('/');
  return { turn: id.slice(0, slash), seq: Number(id.slice(slash + 1)) || 0 };
}

function entryOf(item: Item): Entry {
  return { id: item.id, turn: item.turn, seq: item.seq, item, stream: null, output: null };
}

function indexOf(entries: readonly Entry[], id: string): number {
  // What changes is nearly always near the end.
  for (let i = entries.length - 1; i >= 0; i--) if (entries[i]?.id === id) return i;
  return -1;
}

/** Where an entry that is not there yet belongs; -1 when that is before the loaded part. */
function placeOf(t: Transcript, turn: string, seq: number): number {
  const { entries } = t;
  let at = entries.length;
  for (let i = entries.length - 1; i >= 0; i--) {
    const entry = entries[i];
    if (entry?.turn !== turn) {
      if (at < entries.length) break;
      continue;
    }
    if (entry.seq < seq) return i + 1;
    at = i;
  }
  return at === 0 && entries.length > 0 && t.before !== '' ? -1 : at;
}

function replaceAt(t: Transcript, at: number, entry: Entry): Transcript {
  const entries = t.entries.slice();
  entries[at] = entry;
  return { ...t, entries };
}

function insert(t: Transcript, entry: Entry): Transcript {
  const at = placeOf(t, entry.turn, entry.seq);
  if (at < 0) return t;
  const entries = t.entries.slice();
  entries.splice(at, 0, entry);
  return { ...t, entries };
}

/** Tells whether a tool item's record is older than the one we have. */
function outdated(known: Item | null, next: Item): boolean {
  if (known?.kind !== 'tool' || next.kind !== 'tool') return false;
  const rank = { pending: 0, running: 1, done: 2, failed: 2, denied: 2, interrupted: 2 };
  return rank[known.tool.status] > rank[next.tool.status];
}

function toolRuns(item: Item): boolean {
  return item.kind === 'tool' && (item.tool.status === 'pending' || item.tool.status === 'running');
}

/** An item was written, or written again: it takes the place of what streamed. */
export function applyItem(t: Transcript, item: Item): Transcript {
  const ended = item.kind === 'turn_end' ? dropStreams(t, item.turn) : t;
  const at = indexOf(ended.entries, item.id);
  if (at < 0) return insert(ended, entryOf(item));
  const known = ended.entries[at] as Entry;
  if (outdated(known.item, item)) return ended;
  return replaceAt(ended, at, { ...known, item, stream: null, output: toolRuns(item) ? known.output : null });
}

/** Forgets what streamed in a turn and was never written. */
export function dropStreams(t: Transcript, turn: string): Transcript {
  if (!t.entries.some((e) => e.turn === turn && !e.item)) return t;
  return { ...t, entries: t.entries.filter((e) => e.turn !== turn || e.item) };
}

/**
 * A piece of streamed text. A higher attempt clears what an earlier one
 * streamed in the turn; pieces that are known are ignored; after a hole the
 * text goes on behind an ellipsis and the transcript is stale.
 */
export function applyDelta(t: Transcript, delta: Delta): Transcript {
  const { seq } = parseItemId(delta.item);
  let at = indexOf(t.entries, delta.item);
  const known = at < 0 ? undefined : t.entries[at];
  if (known?.item) return t;
  let next = t;
  for (const entry of unwritten(t, delta.turn)) {
    // A late piece of an attempt that was given up.
    if (entry.stream.attempt > delta.attempt && entry.seq <= seq) return t;
    if (entry.stream.attempt < delta.attempt && entry.id !== delta.item) {
      next = { ...next, entries: next.entries.filter((e) => e.id !== entry.id) };
    }
  }
  if (next !== t) at = indexOf(next.entries, delta.item);
  const before = known?.stream;
  const same = before?.attempt === delta.attempt && before.channel === delta.channel;
  const stream: Stream = same
    ? before
    : { attempt: delta.attempt, channel: delta.channel, tool: delta.tool ?? '', text: '', bytes: 0 };
  const grown = extend(stream, delta);
  if (grown === stream && same) return next;
  const hole = delta.offset > stream.bytes;
  const entry: Entry = known
    ? { ...known, stream: grown }
    : { id: delta.item, turn: delta.turn, seq, item: null, stream: grown, output: null };
  const placed = at < 0 ? insert(next, entry) : replaceAt(next, at, entry);
  return hole ? { ...placed, stale: true } : placed;
}

/** What streams in a turn and is not written yet. */
function unwritten(t: Transcript, turn: string): (Entry & { stream: Stream })[] {
  const found: (Entry & { stream: Stream })[] = [];
  for (let i = t.entries.length - 1; i >= 0; i--) {
    const entry = t.entries[i] as Entry;
    // The turn under way is the last one.
    if (entry.turn !== turn) break;
    if (!entry.item && entry.stream) found.push(entry as Entry & { stream: Stream });
  }
  return found;
}

function extend(stream: Stream, delta: Delta): Stream {
  const length = byteLength(delta.text);
  const end = delta.offset + length;
  const tool = delta.tool || stream.tool;
  if (end <= stream.bytes) return tool === stream.tool ? stream : { ...stream, tool };
  if (delta.offset > stream.bytes) {
    const lead = stream.text === '' ? '… ' : `${stream.text} … `;
    return { ...stream, tool, text: lead + delta.text, bytes: end };
  }
  const fresh = delta.offset === stream.bytes ? delta.text : dropBytes(delta.text, stream.bytes - delta.offset);
  return { ...stream, tool, text: stream.text + fresh, bytes: end };
}

/** A piece of a running tool's output: kept to the last 16 KiB, cut at a line. */
export function applyOutput(t: Transcript, output: Output): Transcript {
  const at = indexOf(t.entries, output.item);
  const entry = at < 0 ? undefined : t.entries[at];
  if (!entry || (entry.item && !toolRuns(entry.item))) return t;
  const known = entry.output;
  // The bytes of a piece can't be told from its text (bad bytes are replaced),
  // but each piece begins after the one before. A piece at 0 begins anew: the
  // command was found again after a crash.
  if (known && output.offset <= known.offset && output.offset !== 0) return t;
  if (known && output.offset === 0 && known.offset === 0 && known.text.startsWith(output.text)) return t;
  const base = known && output.offset > 0 ? known : null;
  let text = (base?.text ?? '') + output.text;
  let cut = base ? base.cut : output.offset > 0;
  if (text.length > liveOutputMax) {
    const from = text.length - liveOutputMax;
    const line = text.indexOf('\n', from);
    text = text.slice(line < 0 || line > from + 4096 ? from : line + 1);
    cut = true;
  }
  return replaceAt(t, at, { ...entry, output: { text, offset: output.offset, cut } });
}

/** Puts an older page in front. A page that does not fit any more changes nothing. */
export function prependPage(t: Transcript, page: Page, asked: string): Transcript {
  if (!t.loaded || t.before !== asked) return t;
  const have = new Set(t.entries.map((e) => e.id));
  const older = page.items.filter((item) => !have.has(item.id)).map(entryOf);
  return { ...t, entries: [...older, ...t.entries], before: page.before ?? '' };
}

/**
 * Takes over the newest page, read from the store. What live events told since
 * it was read stays; what is no longer in the store goes.
 */
export function mergeNewest(t: Transcript, page: Page): Transcript {
  const inPage = new Set(page.items.map((item) => item.id));
  const first = page.items[0];
  const last = page.items.at(-1);
  const overlap = first ? indexOf(t.entries, first.id) : -1;
  const older = overlap > 0 ? t.entries.slice(0, overlap).filter((e) => e.item) : [];
  const known = new Map(t.entries.map((e) => [e.id, e]));
  let next: Transcript = {
    entries: [...older, ...page.items.map((item) => keepLive(known.get(item.id), item))],
    before: overlap > 0 ? t.before : (page.before ?? ''),
    loaded: true,
    stale: false,
  };
  const open = page.session.turn?.id;
  for (const entry of t.entries) {
    if (inPage.has(entry.id) || (last && !isAfter(entry, last, page.session.id))) continue;
    // A stream belongs to the turn under way, or to one that began after the
    // page was read.
    const alive = entry.item !== null || open === undefined || serialOf(entry.turn) >= serialOf(open);
    if (alive) next = insert(next, entry);
  }
  return next;
}

function keepLive(known: Entry | undefined, item: Item): Entry {
  if (!known) return entryOf(item);
  if (outdated(known.item, item)) return known;
  // Keeping the object keeps what is drawn of it.
  if (known.item && !known.stream && JSON.stringify(known.item) === JSON.stringify(item)) return known;
  return { ...known, item, stream: null, output: toolRuns(item) ? known.output : null };
}

function originOf(turn: string): string {
  return turn.slice(0, turn.lastIndexOf('.'));
}

function serialOf(turn: string): number {
  return Number(turn.slice(turn.lastIndexOf('.') + 1)) || 0;
}

function isAfter(entry: Entry, item: Item, session: string): boolean {
  if (entry.turn === item.turn) return entry.seq > item.seq;
  const origin = originOf(entry.turn);
  if (origin === originOf(item.turn)) return serialOf(entry.turn) > serialOf(item.turn);
  // Turns of another session were inherited by a fork: they come first.
  return origin === session;
}
