import { faultOf } from '$lib/backend/errors';
import type { Fault } from '$lib/backend/types';

/** What keys, the palette and the menu can ask of the window. */
export type Command =
  | 'new-session'
  | 'search'
  | 'palette'
  | 'inbox'
  | 'settings'
  | 'web-ui'
  | 'doctor'
  | 'shortcuts'
  | 'about'
  | 'quit'
  | 'composer'
  | 'stop'
  | 'toggle-sidebar'
  | 'toggle-workspace'
  | 'previous-session'
  | 'next-session'
  | 'larger'
  | 'smaller'
  | 'usual-size'
  | 'fork'
  | 'switch'
  | 'changes'
  | 'import';

/** A question before something that can't be taken back. */
export interface Confirmation {
  title: string;
  text: string;
  /** The button that does it. */
  action: string;
  danger?: boolean;
  /** May reject: the dialog then stays and says why. */
  run: () => void | Promise<void>;
}

/** A dialog that is open. Only the last one opened can be used; a confirmation lies over all. */
export type DialogState =
  | { kind: 'new-session' }
  | { kind: 'done'; session: string }
  | { kind: 'destroy'; session: string }
  | { kind: 'fork'; session: string; turn?: string; title?: string; filesOnly?: boolean }
  | { kind: 'switch'; session: string }
  | { kind: 'rewind'; session: string; turn?: string }
  | { kind: 'snapshots'; session: string }
  | { kind: 'settings'; section?: string; field?: string }
  | { kind: 'shortcuts' }
  | { kind: 'palette' }
  | { kind: 'inbox' }
  | { kind: 'about' }
  | { kind: 'trace' }
  | { kind: 'link'; url: string };

export interface Toast {
  id: number;
  text: string;
  detail?: string;
  tone: 'info' | 'bad';
  /** What can be done about it at once. */
  action?: ToastAction;
}

export interface ToastAction {
  label: string;
  run: () => void;
}

/** A command's full output, to be shown page by page. */
export interface LogTarget {
  session: string;
  /** Journal id of the output. */
  log: string;
  title: string;
}

/** What is open over the page. */
export class UiStore {
  /** The open dialogs, each over the one before it: what is filled in below stays. */
  dialogs = $state.raw<readonly DialogState[]>([]);
  confirmation = $state.raw<Confirmation | null>(null);
  /** In a narrow window: the workspace pane lies over the chat. */
  workspaceOver = $state(false);
  /** In a very narrow window the session list lies over the rest, too. */
  slim = $state(false);
  sidebarOver = $state(false);
  /** What the workspace pane shows. */
  pane = $state<'files' | 'changes'>('files');
  log = $state.raw<LogTarget | null>(null);
  toasts = $state.raw<readonly Toast[]>([]);
  #next = 1;

  /** The dialog that can be used. */
  get dialog(): DialogState | null {
    return this.dialogs.at(-1) ?? null;
  }

  /** Opens a dialog over the others. One of its kind that is open gives way, with what lies over it. */
  open(dialog: DialogState): void {
    const at = this.dialogs.findIndex((d) => d.kind === dialog.kind);
    this.dialogs = [...(at < 0 ? this.dialogs : this.dialogs.slice(0, at)), dialog];
  }

  /** Closes the last one opened, or the one given wherever it is. */
  close(dialog: DialogState | null = this.dialog): void {
    if (dialog && this.dialogs.includes(dialog)) this.dialogs = this.dialogs.filter((d) => d !== dialog);
  }

  /** Asks before it runs; an open dialog stays below. */
  confirm(confirmation: Confirmation): void {
    this.confirmation = confirmation;
  }

  toast(text: string, options: { detail?: string; tone?: Toast['tone']; action?: ToastAction } = {}): void {
    const { detail, tone = 'info', action } = options;
    this.toasts = [...this.toasts.slice(-3), { id: this.#next++, text, detail, tone, action }];
  }

  dismiss(id: number): void {
    this.toasts = this.toasts.filter((t) => t.id !== id);
  }

  /** Shows what went wrong with something that has no better place to say so. */
  fail(err: unknown): void {
    const fault: Fault = faultOf(err);
    this.toast(fault.happened, {
      tone: 'bad',
      detail: [fault.kept, fault.remedy].filter(Boolean).join(' ') || fault.detail,
    });
  }
}
