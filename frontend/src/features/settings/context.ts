import { getContext, setContext } from 'svelte';
import type { KeysStore } from './keys.svelte';

/** What the dialog tells its rows. */
export interface SettingsView {
  /** Whether a field is among what was searched for. */
  shows: (field: string) => boolean;
  /** The field that the dialog was opened for. */
  readonly target: string;
  readonly keys: KeysStore;
}

const key = Symbol('settings');

export function setSettingsView(view: SettingsView): void {
  setContext(key, view);
}

export function getSettingsView(): SettingsView {
  return getContext<SettingsView>(key);
}
