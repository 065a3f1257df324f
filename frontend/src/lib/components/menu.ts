import type { Component } from 'svelte';

export interface MenuAction {
  label: string;
  icon?: Component<{ size?: number }>;
  /** A second, muted line. */
  hint?: string;
  kbd?: string;
  disabled?: boolean;
  danger?: boolean;
  /** Draws a check mark and makes it a radio item. */
  checked?: boolean;
  onselect: () => void;
}

export type MenuEntry = MenuAction | { heading: string } | 'separator';

export function isAction(entry: MenuEntry): entry is MenuAction {
  return entry !== 'separator' && 'label' in entry;
}

/** The next entry that can take the focus, from an index in a direction, wrapping. */
export function nextAction(entries: MenuEntry[], from: number, step: 1 | -1): number {
  const count = entries.length;
  for (let i = 1; i <= count; i++) {
    const at = (((from + step * i) % count) + count) % count;
    const entry = entries[at];
    if (entry && isAction(entry)) return at;
  }
  return -1;
}

/** The entry whose label begins with what was typed, after an index, wrapping. */
export function typedAction(entries: MenuEntry[], from: number, letter: string): number {
  const want = letter.toLowerCase();
  for (let i = 1; i <= entries.length; i++) {
    const at = (from + i) % entries.length;
    const entry = entries[at];
    if (entry && isAction(entry) && entry.label.toLowerCase().startsWith(want)) return at;
  }
  return -1;
}
