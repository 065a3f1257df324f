import type { Session } from '$lib/backend/types';
import { timeOf } from '$lib/util/format';
import { needsYou } from '../sessions';

/** One line of the session list. */
export type ListRow =
  | { kind: 'group'; key: string; title: string }
  | {
      kind: 'session';
      key: string;
      session: Session;
      depth: number;
      last: boolean;
      /** How many forks it has in this list, and how many are below them all. */
      forks: number;
      below: number;
      /** Its forks are not shown. */
      collapsed: boolean;
    };

export type SessionListRow = Extract<ListRow, { kind: 'session' }>;

const none: ReadonlySet<string> = new Set();

const maxDepth = 4;

/** When something last happened in a session. */
export function activity(session: Session): number {
  return timeOf(session.updated) ?? timeOf(session.created) ?? 0;
}

/**
 * The session list: what needs the user first, then by day of the last
 * activity, forks under their parents. A fork that needs the user is only in
 * the first group; a tree is as new as its newest session. The forks of
 * collapsed sessions are left out.
 */
export function listRows(sessions: readonly Session[], now: number, collapsed: ReadonlySet<string> = none): ListRow[] {
  const rows: ListRow[] = [];
  const waiting = sessions.filter(needsYou).sort((a, b) => activity(a) - activity(b));
  const rest = sessions.filter((s) => !needsYou(s));
  if (waiting.length > 0) {
    rows.push({ kind: 'group', key: 'group:needs', title: `Needs you · ${waiting.length}` });
    for (const session of waiting) rows.push({ kind: 'session', key: session.id, session, depth: 0, last: false, forks: 0, below: 0, collapsed: false });
  }

  const children = new Map<string, Session[]>();
  const ids = new Set(rest.map((s) => s.id));
  const roots: Session[] = [];
  for (const session of rest) {
    const parent = session.parent;
    if (parent && parent !== session.id && ids.has(parent)) {
      const list = children.get(parent);
      if (list) list.push(session);
      else children.set(parent, [session]);
    } else roots.push(session);
  }
  const newest = new Map<string, number>();
  const measure = (session: Session): number => {
    const at = Math.max(activity(session), ...(children.get(session.id) ?? []).map(measure));
    newest.set(session.id, at);
    return at;
  };
  roots.forEach(measure);
  roots.sort((a, b) => (newest.get(b.id) ?? 0) - (newest.get(a.id) ?? 0) || a.id.localeCompare(b.id));

  const below = (session: Session): number => (children.get(session.id) ?? []).reduce((n, fork) => n + 1 + below(fork), 0);
  const add = (session: Session, depth: number, last: boolean) => {
    const forks = (children.get(session.id) ?? []).sort((a, b) => a.created.localeCompare(b.created));
    const closed = forks.length > 0 && collapsed.has(session.id);
    rows.push({
      kind: 'session', key: session.id, session, depth: Math.min(depth, maxDepth), last,
      forks: forks.length, below: below(session), collapsed: closed,
    });
    if (!closed) forks.forEach((fork, i) => add(fork, depth + 1, i === forks.length - 1));
  };
  let title = '';
  for (const root of roots) {
    const day = dayTitle(newest.get(root.id) ?? 0, now);
    if (day !== title) {
      title = day;
      rows.push({ kind: 'group', key: `group:${day}`, title: day });
    }
    add(root, 0, false);
  }
  return rows;
}

/** "Today", "Yesterday", "This week", "November", "March 2025". */
export function dayTitle(time: number, now: number): string {
  const today = new Date(now);
  today.setHours(0, 0, 0, 0);
  if (time >= today.getTime()) return 'Today';
  const back = (days: number) => {
    const day = new Date(today);
    day.setDate(day.getDate() - days);
    return day.getTime();
  };
  if (time >= back(1)) return 'Yesterday';
  // Weeks begin on Monday.
  if (time >= back((today.getDay() + 6) % 7)) return 'This week';
  const at = new Date(time);
  const year = at.getFullYear() === today.getFullYear() ? undefined : 'numeric';
  return at.toLocaleDateString('en-GB', { month: 'long', year });
}

/** The session beside another in the list; the first when that is not in it, "" at the end. */
export function neighbour(rows: readonly ListRow[], id: string, by: 1 | -1): string {
  const ids = rows.filter((r) => r.kind === 'session').map((r) => r.key);
  const at = ids.indexOf(id);
  return (at < 0 ? ids.at(by > 0 ? 0 : -1) : ids[at + by]) ?? '';
}

/** Where → and ← lead from a session: they open and close its forks, and go to the first of them or to its parent. */
export function lineageStep(rows: readonly ListRow[], id: string, key: 'ArrowRight' | 'ArrowLeft'): { open?: string; close?: string; go?: string } {
  const at = rows.findIndex((r) => r.key === id);
  const row = rows[at];
  if (row?.kind !== 'session') return {};
  if (key === 'ArrowRight') {
    if (row.collapsed) return { open: id };
    return row.forks > 0 ? { go: rows[at + 1]?.key } : {};
  }
  if (row.forks > 0 && !row.collapsed) return { close: id };
  const parent = row.depth > 0 ? row.session.parent : undefined;
  return parent ? { go: parent } : {};
}
