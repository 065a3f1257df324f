import type { Session } from '$lib/backend/types';

/** All sessions by id. Never changed in place. */
export type SessionMap = ReadonlyMap<string, Session>;

/** Adds or replaces a record; a record older than the one we have is dropped. */
export function upsert(map: SessionMap, session: Session): SessionMap {
  const known = map.get(session.id);
  if (known && known.version > session.version) return map;
  if (session.state === 'ended') return remove(map, session.id);
  return new Map(map).set(session.id, session);
}

export function remove(map: SessionMap, id: string): SessionMap {
  if (!map.has(id)) return map;
  const next = new Map(map);
  next.delete(id);
  return next;
}

/** The list as read from the store, keeping what events told since it was read. */
export function replaceAll(map: SessionMap, list: readonly Session[]): SessionMap {
  const next = new Map<string, Session>();
  for (const session of list) {
    if (session.state === 'ended') continue;
    const known = map.get(session.id);
    next.set(session.id, known && known.version > session.version ? known : session);
  }
  return next;
}

/** Tells whether a session waits for the user. */
export function needsYou(session: Session): boolean {
  return session.state === 'needs_you' || session.state === 'failed';
}

/** Tells whether a turn is under way. */
export function isBusy(session: Session): boolean {
  return session.state === 'working' || session.state === 'needs_you' || session.state === 'waiting';
}
