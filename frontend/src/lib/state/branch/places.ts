import type { BackendInfo, Session } from '$lib/backend/types';

interface Place {
  backend: string;
  workspace: string;
  image: string;
}

/** The backend that a move most likely goes to: another one that can be used, else the same. */
export function otherPlace(backend: string, infos: readonly BackendInfo[]): string {
  const other = infos.find((info) => info.name !== backend && info.available && !info.planned);
  return other?.name ?? backend;
}

/** Tells whether a session works at a place already; a fresh folder is another place. */
export function samePlace(session: Pick<Session, 'backend' | 'workspace' | 'image'>, place: Place): boolean {
  if (session.backend !== place.backend || place.backend !== 'local') return false;
  const trimmed = (path: string) => path.replace(/\/+$/, '');
  return place.workspace !== '' && trimmed(place.workspace) === trimmed(session.workspace);
}
