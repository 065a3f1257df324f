// Keys of the keyboard, and how they are written.

type Typed = Pick<KeyboardEvent, 'isComposing' | 'keyCode'>;

/**
 * Tells whether a key belongs to an input method. WebKit sends the Enter that
 * ends a composition after it has ended: its code is still 229.
 */
export function composing(event: Typed): boolean {
  return event.isComposing || event.keyCode === 229;
}

type Key = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** Tells whether a key writes a sign. */
export function printable(event: Key): boolean {
  // AltGr is Ctrl and Alt together on some systems.
  const held = (event.ctrlKey || event.metaKey || event.altKey) && !(event.ctrlKey && event.altKey);
  return !held && (event.key === 'Dead' || event.key === 'Process' || [...event.key].length === 1);
}

export const isMac = typeof navigator !== 'undefined' && /^Mac/i.test(navigator.platform);

/** How keys are written on this system: "Ctrl ⇧ P" is "⌘ ⇧ P" on a Mac. */
export function keyLabel(keys: string, mac = isMac): string {
  return mac ? keys.replaceAll('Ctrl', '⌘').replaceAll('Alt', '⌥').replaceAll('Del', '⌦') : keys;
}

/** For a select: Enter does what the form's button says; the list opens with Space or the arrows. */
export function enterSubmits(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || !(event.currentTarget instanceof HTMLSelectElement)) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
