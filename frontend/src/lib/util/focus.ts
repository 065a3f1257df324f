/** Places that keys of the window lead to: set as data-focus on the element. */
export type FocusTarget = 'session-search' | 'session-list' | 'composer';

/** Moves the focus there once it is drawn. */
export function focusTarget(name: FocusTarget): void {
  requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-focus="${name}"]`)?.focus());
}
