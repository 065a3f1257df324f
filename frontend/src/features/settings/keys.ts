// Keys and plain settings of the environment, in words.
import type { KeyInfo } from '$lib/backend/types';

const PLACES: Record<KeyInfo['where'], string> = {
  '': '',
  environment: 'from the environment',
  '.env': 'from a .env file',
  keyring: 'in the system’s keyring',
  file: 'in a file that only you can read',
};

/** "Ends in a1b2, kept in the system’s keyring" */
export function whereText(info: KeyInfo): string {
  if (!info.set) return 'Not set';
  const end = info.hint ? `Ends in ${info.hint.replace(/^…/, '')}` : 'Set';
  const place = PLACES[info.where];
  if (!place) return end;
  return info.readOnly ? `${end}, taken ${place}` : `${end}, kept ${place}`;
}

/** Why it can't be changed here; '' when it can. */
export function lockedText(info: KeyInfo): string {
  if (!info.readOnly) return '';
  return info.where === '.env' ? `Change ${info.name} in the .env file.` : `Change ${info.name} in the environment.`;
}

/** What to know before a value is given. */
export function noteText(info: KeyInfo): string {
  if (info.secret) return 'Kept in the system’s keyring, or in a file that only you can read where there is none.';
  return isAddress(info) ? 'For a proxy or gateway that speaks the provider’s API.' : '';
}

export function isAddress(info: Pick<KeyInfo, 'name'>): boolean {
  return info.name.endsWith('_URL');
}

/** A value of the environment that decides over the settings; '' when there is none. */
export function decidedBy(keys: readonly KeyInfo[], name: string): string {
  const info = keys.find((key) => key.name === name);
  return info?.set ? `${name} decides: ${info.value ?? ''}.` : '';
}

/** Names that have a place of their own in the settings. */
export const OWN_PLACE: readonly string[] = ['EXAMPLES_TEMPORAL_MODEL', 'EXAMPLES_TEMPORAL_TRACE'];

const BACKEND_KEYS = /^(E2B|DAYTONA|DOCKER)_/;

export function isBackendKey(info: KeyInfo): boolean {
  return BACKEND_KEYS.test(info.name);
}

/** Says what is wrong with an address; '' when nothing is. */
export function urlProblem(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'Give a whole address, such as http://localhost:8000/v1.';
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'The address begins with http:// or https://.';
  if (url.username || url.password) return 'Leave the password out of the address: it would be shown in lists.';
  return '';
}

/** Says what is wrong with a new endpoint; '' when nothing is. */
export function endpointProblem(name: string, url: string, taken: readonly string[]): string {
  if (!name) return 'Give it a name.';
  if (taken.some((other) => other.toLocaleLowerCase() === name.toLocaleLowerCase())) return `There is a “${name}” already.`;
  return urlProblem(url);
}
