import type { BackendInfo } from '$lib/backend/types';

const later = 'Comes with the next version.';

/**
 * A backend that this version only announces: what it would need changes
 * nothing yet, so it is not told.
 */
export function shown(info: BackendInfo): BackendInfo {
  if (info.available || !info.reason?.trim().startsWith(later)) return info;
  return { ...info, reason: later, remedy: undefined };
}
