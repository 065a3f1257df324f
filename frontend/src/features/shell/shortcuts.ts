import type { App } from '$lib/state/app.svelte';
import type { Command } from '$lib/state/ui.svelte';
import { importSession } from '$lib/state/branch/actions';
import { zoomStep } from '$lib/state/prefs';
import { focusTarget } from '$lib/util/focus';
import { composing } from '$lib/util/keys';

interface Local {
  toggleWorkspace: () => void;
}

// Keys of the whole window, in the form that `keyName` gives.
const keys: Record<string, Command> = {
  'ctrl+n': 'new-session',
  'ctrl+,': 'settings',
  'ctrl+shift+p': 'palette',
  'ctrl+shift+f': 'fork',
  'ctrl+shift+s': 'switch',
  'ctrl+shift+c': 'changes',
  'ctrl+b': 'toggle-sidebar',
  'ctrl+j': 'toggle-workspace',
  'ctrl+/': 'shortcuts',
  '?': 'shortcuts',
  'ctrl+k': 'search',
  'ctrl+l': 'composer',
  'ctrl+i': 'inbox',
  'ctrl+q': 'quit',
  'alt+arrowup': 'previous-session',
  'alt+arrowdown': 'next-session',
  'ctrl++': 'larger',
  'ctrl+=': 'larger',
  'ctrl+-': 'smaller',
  'ctrl+0': 'usual-size',
};

// What works while a dialog has the keyboard.
const always: readonly Command[] = ['larger', 'smaller', 'usual-size'];

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

/** Runs the window's commands from keys, the palette and the menu. */
export function shortcuts(app: App, local: Local): () => void {
  const run = (command: Command) => {
    switch (command) {
      case 'new-session':
      case 'settings':
      case 'palette':
      case 'shortcuts':
      case 'inbox':
      case 'about':
        return app.ui.open({ kind: command });
      case 'doctor':
        return app.ui.open({ kind: 'settings', section: 'data', field: 'doctor' });
      case 'web-ui':
        return void app.backend.openDevUI().catch((err: unknown) => app.ui.fail(err));
      case 'quit':
        return void app.backend.quit().catch((err: unknown) => app.ui.fail(err));
      case 'previous-session':
      case 'next-session':
        return app.step(command === 'next-session' ? 1 : -1);
      case 'larger':
      case 'smaller':
        return app.prefs.set('zoom', zoomStep(app.prefs.value.zoom, command === 'larger' ? 1 : -1));
      case 'usual-size':
        return app.prefs.set('zoom', 1);
      case 'toggle-sidebar':
        return app.toggleSidebar();
      case 'toggle-workspace':
        return local.toggleWorkspace();
      case 'fork':
      case 'switch': {
        const session = app.sessions.selectedId;
        return session ? app.ui.open({ kind: command, session }) : undefined;
      }
      case 'changes':
        return app.showChanges();
      case 'import':
        return void importSession(app);
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
    if (!command || composing(event)) return;
    if ((app.ui.dialog || app.ui.confirmation || app.ui.log) && !always.includes(command)) return;
    if (!event.ctrlKey && !event.metaKey && !event.altKey && takesText(event.target)) return;
    event.preventDefault();
    run(command);
  };
  window.addEventListener('keydown', keydown);
  app.run = run;
  return () => {
    app.run = () => {};
    window.removeEventListener('keydown', keydown);
  };
}
