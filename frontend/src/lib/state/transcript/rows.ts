import type { Approval } from '$lib/backend/types';
import { polledProcess, toolOf } from './tools';
import type { Entry } from './transcript';

export type RowKind =
  | 'user'
  | 'assistant'
  | 'reasoning'
  | 'tool'
  | 'approval'
  | 'notice'
  | 'fault'
  | 'summary'
  | 'turn_end';

/** One row of the conversation as it is drawn. */
export interface Row {
  key: string;
  kind: RowKind;
  entry: Entry;
  /** For a command: the calls that looked after it, in order. */
  looks: readonly Entry[];
  /** For kind approval: the question in place of the call's card. */
  approval: Approval | null;
}

const none: readonly Entry[] = [];

// A row is made once per entry and drawn again only when it is another object.
const plain = new WeakMap<Entry, Row>();

function kindOf(entry: Entry): RowKind | null {
  const { item, stream } = entry;
  if (!item) {
    if (!stream) return null;
    // Nothing yet, or taken back by another attempt.
    if (stream.text.trim() === '' && stream.channel !== 'args') return null;
    if (stream.channel === 'args') return stream.tool === '' || stream.tool === 'write_stdin' ? null : 'tool';
    return stream.channel === 'reasoning' ? 'reasoning' : 'assistant';
  }
  if (item.kind === 'assistant' && item.assistant.text.trim() === '') return null;
  if (item.kind === 'reasoning' && item.reasoning.summary.trim() === '') return null;
  return item.kind;
}

function plainRow(entry: Entry): Row | null {
  const known = plain.get(entry);
  if (known) return known;
  const kind = kindOf(entry);
  if (!kind) return null;
  const row: Row = { key: entry.id, kind, entry, looks: none, approval: null };
  plain.set(entry, row);
  return row;
}

function same(a: readonly Entry[], b: readonly Entry[]): boolean {
  return a.length === b.length && a.every((entry, i) => entry === b[i]);
}

/**
 * The rows of a conversation: empty items are left out, looks at a background
 * command are grouped under it, a call that waits for an approval is the
 * question. Rows that did not change are the same objects as in before.
 */
export function buildRows(entries: readonly Entry[], approvals: readonly Approval[], before: readonly Row[]): Row[] {
  const rows: Row[] = [];
  const asked = new Map(approvals.map((a) => [a.item, a]));
  const commands = new Map<string, number>();
  const grouped = new Map<number, Entry[]>();
  for (const entry of entries) {
    const tool = toolOf(entry);
    const approval = asked.get(entry.id);
    if (approval && (!tool || tool.status === 'pending')) {
      rows.push({ key: entry.id, kind: 'approval', entry, looks: none, approval });
      continue;
    }
    if (tool) {
      const at = commands.get(polledProcess(tool));
      if (at !== undefined) {
        const group = grouped.get(at);
        if (group) group.push(entry);
        else grouped.set(at, [entry]);
        continue;
      }
      if (tool.result.process) commands.set(tool.result.process, rows.length);
    }
    const row = plainRow(entry);
    if (row) rows.push(row);
  }
  if (grouped.size === 0 && asked.size === 0) return rows;
  const old = new Map(before.filter((r) => r.looks.length > 0 || r.approval).map((r) => [r.key, r]));
  for (const [at, looks] of grouped) {
    const row = rows[at];
    if (!row) continue;
    const known = old.get(row.key);
    rows[at] = known && known.entry === row.entry && same(known.looks, looks) ? known : { ...row, looks };
  }
  for (let i = 0; asked.size > 0 && i < rows.length; i++) {
    const row = rows[i] as Row;
    if (!row.approval) continue;
    const known = old.get(row.key);
    if (known && known.entry === row.entry && known.approval === row.approval) rows[i] = known;
  }
  return rows;
}

/**
 * Rows after one entry changed its text: all others stay. Null when the change
 * is more than that, and all rows must be built.
 */
export function patchRows(before: readonly Row[], old: readonly Entry[], entries: readonly Entry[]): Row[] | null {
  if (old.length !== entries.length) return null;
  let at = entries.length - 1;
  while (at >= 0 && old[at] === entries[at]) at--;
  const [was, now] = [old[at], entries[at]];
  if (!was || !now || was.id !== now.id) return null;
  for (let i = 0; i < at; i++) if (old[i] !== entries[i]) return null;
  const row = plainRow(now);
  // Only a plain row that was one before: no tools, whose place may change.
  if (!row || row.kind === 'tool' || plain.get(was)?.kind !== row.kind) return null;
  const place = before.findLastIndex((r) => r.key === row.key);
  if (place < 0 || before[place]?.approval) return null;
  const rows = before.slice();
  rows[place] = row;
  return rows;
}

/** Approvals whose call is not among the loaded entries: shown at the end. */
export function strayApprovals(entries: readonly Entry[], approvals: readonly Approval[]): readonly Approval[] {
  if (approvals.length === 0) return approvals;
  const have = new Set(entries.map((e) => e.id));
  return approvals.filter((a) => !have.has(a.item));
}

/** What the assistant said in a turn, for copying and for screen readers. */
export function turnText(entries: readonly Entry[], turn: string): string {
  return entries
    .filter((e) => e.turn === turn)
    .map((e) => (e.item?.kind === 'assistant' ? e.item.assistant.text.trim() : ''))
    .filter(Boolean)
    .join('\n\n');
}
