// Where a session is to work, and whether it can.
import type { BackendInfo } from '$lib/backend/types';
import type { FolderVerdict } from './folder';

export interface Place {
  backend: string;
  /** '' asks for a fresh folder. */
  workspace: string;
  /** Container image or template; '' is the backend's own. */
  image: string;
}

/** The backends that there are, before the program has told more. */
export const KNOWN: readonly Pick<BackendInfo, 'name' | 'label' | 'blurb'>[] = [
  { name: 'local', label: 'Local', blurb: 'A folder on this machine' },
  { name: 'docker', label: 'Docker', blurb: 'A container on this machine' },
  { name: 'e2b', label: 'E2B', blurb: 'A sandbox in the cloud' },
  { name: 'daytona', label: 'Daytona', blurb: 'A sandbox in the cloud' },
];

/**
 * problem says why a session can't be made here; '' when it can. `existing` is
 * true when the user wants a folder of their own, `verdict` what is known of it.
 */
export function problem(
  place: Place,
  info: BackendInfo | undefined,
  existing: boolean,
  verdict: FolderVerdict | null,
): string {
  if (!info) return 'It is not known yet whether this backend can be used.';
  if (!info.available) return info.reason?.trim() || `${info.label} can’t be used now.`;
  if (place.backend !== 'local' || !existing) return '';
  if (!place.workspace) return 'Pick a folder first.';
  if (!verdict) return 'The folder is being checked.';
  return verdict.usable ? '' : verdict.text;
}
