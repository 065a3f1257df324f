import type { Approval, Session } from '$lib/backend/types';
import type { Pending } from '$lib/state/composer/outbox.svelte';
import type { Row } from '$lib/state/transcript/rows';
import { isBusy } from '$lib/state/sessions';

/** One row of the list that is drawn: of the conversation, or after it. */
export type ChatItem =
  | Row
  | { key: string; kind: 'pending'; pending: Pending }
  | { key: string; kind: 'stray'; approval: Approval }
  | { key: 'snapshot-ask'; kind: 'snapshot-ask' }
  | { key: 'status'; kind: 'status' }
  | { key: 'last-fault'; kind: 'last-fault' };

// One object per thing, so that a row is drawn again only when it is another.
const pendings = new WeakMap<Pending, ChatItem>();
const strays = new WeakMap<Approval, ChatItem>();
const status: ChatItem = { key: 'status', kind: 'status' };
const snapshotAsk: ChatItem = { key: 'snapshot-ask', kind: 'snapshot-ask' };
const lastFault: ChatItem = { key: 'last-fault', kind: 'last-fault' };

function once<K extends object>(map: WeakMap<K, ChatItem>, key: K, make: () => ChatItem): ChatItem {
  let item = map.get(key);
  if (!item) map.set(key, (item = make()));
  return item;
}

/** All that is drawn in a conversation, in order. */
export function chatItems(
  rows: readonly Row[],
  stray: readonly Approval[],
  pending: readonly Pending[],
  session: Session | undefined,
): ChatItem[] {
  const items: ChatItem[] = [...rows];
  for (const approval of stray) {
    items.push(once(strays, approval, () => ({ key: `stray:${approval.id}`, kind: 'stray', approval })));
  }
  // A failed turn says why; if its item was missed, the record still knows.
  if (session?.state === 'failed' && session.fault && lastTurnFault(rows) === null) items.push(lastFault);
  for (const p of pending) {
    if (!p.queued) items.push(once(pendings, p, () => ({ key: `pending:${p.id}`, kind: 'pending', pending: p })));
  }
  if (session?.snapshotAsk) items.push(snapshotAsk);
  if (session && (session.moving || (isBusy(session) && session.state !== 'needs_you'))) items.push(status);
  return items;
}

/** The key of the fault row of the last turn, if that turn has one. */
export function lastTurnFault(rows: readonly Row[]): string | null {
  const last = rows.at(-1)?.entry.turn;
  for (let i = rows.length - 1; i >= 0 && rows[i]?.entry.turn === last; i--) {
    if (rows[i]?.kind === 'fault') return rows[i]?.key ?? null;
  }
  return null;
}
