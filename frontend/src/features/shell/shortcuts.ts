import type { App } from '$lib/state/app.svelte';
import type { Command } from '$lib/state/ui.svelte';
import { focusTarget } from '$lib/util/focus';

interface Local {
  toggleWorkspace: () => void;
}

// Keys of the whole window, in the form that `keyName` gives.
const keys: Record<string, Command> = {
  'ctrl+n': 'new-session',
  'ctrl+,': 'settings',
  'ctrl+shift+p': 'palette',
  'ctrl+b': 'toggle-sidebar',
  'ctrl+j': 'toggle-workspace',
  'ctrl+/': 'shortcuts',
  '?': 'shortcuts',
  'ctrl+k': 'search',
  'ctrl+l': 'composer',
  'ctrl+i': 'inbox',
};

/** "ctrl+shift+p" for a key event; the command key counts as Ctrl. */
export function keyName(event: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'shiftKey' | 'altKey'>): string {
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push('ctrl');
  if (event.altKey) parts.push('alt');
  // For signs the shift is in the sign.
  if (event.shiftKey && /^[a-z]$/i.test(event.key)) parts.push('shift');
  parts.push(event.key.toLowerCase());
  return parts.join('+');
}

/** Tells whether a key without Ctrl belongs to the element: it takes text. */
export function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'range', 'button'].includes(target.type);
  return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable;
}

/** Runs the window's commands from keys, the palette and the native menu. */
export function shortcuts(app: App, local: Local): () => void {
  const run = (command: Command) => {
    switch (command) {
      case 'new-session':
      case 'settings':
      case 'palette':
      case 'shortcuts':
      case 'inbox':
        return app.ui.open({ kind: command });
      case 'toggle-sidebar':
        return app.toggleSidebar();
      case 'toggle-workspace':
        return local.toggleWorkspace();
      case 'stop':
        return void (app.sessions.selectedId && app.stop(app.sessions.selectedId));
      case 'search':
        app.showSidebar();
        return focusTarget('session-search');
      case 'composer':
        return focusTarget('composer');
    }
  };
  const keydown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && app.ui.sidebarOver && !app.ui.dialog) app.ui.sidebarOver = false;
    const command = keys[keyName(event)];
    // An open dialog has the keyboard to itself.
    if (!command || app.ui.dialog || app.ui.confirmation) return;
    if (!event.ctrlKey && !event.metaKey && takesText(event.target)) return;
    event.preventDefault();
    run(command);
  };
  window.addEventListener('keydown', keydown);
  const off = app.backend.onMenu((command) => run(command));
  app.run = run;
  return () => {
    app.run = () => {};
    window.removeEventListener('keydown', keydown);
    off();
  };
}
