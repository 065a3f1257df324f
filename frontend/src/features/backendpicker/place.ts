// Where a session is to work, and whether it can.
import type { BackendInfo, Onto, Target } from '$lib/backend/types';
import type { FolderVerdict } from './folder';

export interface Place {
  backend: string;
  /** '' asks for a fresh folder. */
  workspace: string;
  /** Container image or template; '' is the backend's own. */
  image: string;
  /** What to do with a folder that is not empty, when files are carried into it. */
  onto: Onto;
}

/** A fresh place on a backend. */
export function placeOn(backend: string): Place {
  return { backend, workspace: '', image: '', onto: '' };
}

/** What the program is told of a place that files are carried to. */
export function targetOf(place: Place): Target {
  const target: Target = { backend: place.backend };
  if (place.workspace) {
    target.workspace = place.workspace;
    if (place.onto) target.onto = place.onto;
  }
  if (place.image) target.image = place.image;
  return target;
}

/** The backends that there are, before the program has told more. */
export const KNOWN: readonly Pick<BackendInfo, 'name' | 'label' | 'blurb'>[] = [
  { name: 'local', label: 'Local', blurb: 'A folder on this machine' },
  { name: 'docker', label: 'Docker', blurb: 'A container on this machine' },
  { name: 'e2b', label: 'E2B', blurb: 'A sandbox in the cloud' },
  { name: 'daytona', label: 'Daytona', blurb: 'A sandbox in the cloud' },
];

/** Why a backend can't be used; '' when it can, or when that is not known yet. */
export function unusable(info: BackendInfo | undefined): string {
  if (!info) return '';
  if (info.planned) return `${info.label} comes with a later version.`;
  return info.available ? '' : info.reason?.trim() || `${info.label} can’t be used now.`;
}

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
  const why = unusable(info);
  if (why) return why;
  if (place.backend !== 'local' || !existing) return '';
  if (!place.workspace) return 'Pick a folder first.';
  if (!verdict) return 'The folder is being checked.';
  return verdict.usable ? '' : verdict.text;
}

/** The images that begin like what is typed, then those that hold it; the most are listed. */
export function imagesFor(images: readonly string[], typed: string, most = 5): string[] {
  const wanted = typed.trim().toLowerCase();
  const fits = images.filter((image) => image.toLowerCase().includes(wanted));
  const begins = fits.filter((image) => image.toLowerCase().startsWith(wanted));
  return [...begins, ...fits.filter((image) => !begins.includes(image))].slice(0, most);
}

/** What choosing an image means. */
export function imageWords(image: string, fallback: string, images: readonly string[]): string {
  const name = image || fallback;
  if (!name) return 'The container starts from this image.';
  const tagged = /[:@][^/]*$/.test(name) ? name : `${name}:latest`;
  if (images.includes(name) || images.includes(tagged)) return `${image ? 'It' : `The default, ${fallback},`} is on this machine already.`;
  return `${image ? 'It' : `The default, ${fallback},`} is pulled when the sandbox is made, if it is not on this machine yet.`;
}
