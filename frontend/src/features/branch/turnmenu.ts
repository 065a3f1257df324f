// What can be done with a turn that is over: its footer and its menu offer the same.
import Copy from '@lucide/svelte/icons/copy';
import FileDiff from '@lucide/svelte/icons/file-diff';
import FilePlus from '@lucide/svelte/icons/file-plus';
import GitFork from '@lucide/svelte/icons/git-fork';
import RotateCcw from '@lucide/svelte/icons/rotate-ccw';
import type { TurnEndItem } from '$lib/backend/types';
import type { MenuEntry } from '$lib/components/menu';
import type { App } from '$lib/state/app.svelte';
import { inTurn } from '$lib/state/changes/changes.svelte';
import { plural } from '$lib/util/format';

export function turnMenu(app: App, session: string, turn: string, end: TurnEndItem): MenuEntry[] {
  const text = app.chat.textOf(turn);
  const files = Boolean(end.snapshot);
  return [
    { label: 'Fork from here…', icon: GitFork, onselect: () => app.ui.open({ kind: 'fork', session, turn }) },
    {
      label: 'New session from these files…',
      icon: FilePlus,
      disabled: !files,
      hint: files ? undefined : 'No snapshot was taken after this turn',
      onselect: () => app.ui.open({ kind: 'fork', session, turn, filesOnly: true }),
    },
    { label: 'Rewind to here…', icon: RotateCcw, onselect: () => app.ui.open({ kind: 'rewind', session, turn }) },
    { label: 'Show changes', icon: FileDiff, disabled: !files, onselect: () => app.showChanges(inTurn(turn)) },
    'separator',
    { label: 'Copy the answer', icon: Copy, disabled: text === '', onselect: () => void app.copy(text, 'Answer') },
  ];
}

/** What changed in a turn, as its footer says it; "" when that is not known. */
export function changedWords(end: TurnEndItem): string {
  if (!end.snapshot) return '';
  const n = end.changed ?? 0;
  return n === 0 ? 'no changes' : plural(n, 'change');
}
