// What forks, moves and rewinds lead to in the window, and what is done with
// sessions as files.
import type { Receipt } from '$lib/backend/types';
import { focusTarget } from '$lib/util/focus';
import { plural } from '$lib/util/format';
import type { App } from '../app.svelte';
import type { DialogState } from '../ui.svelte';
import type { ForkForm } from './fork.svelte';
import type { RewindForm, SwitchForm } from './move.svelte';
import { receiptWords } from './words';

type TheApp = Pick<App, 'backend' | 'sessions' | 'ui' | 'select'>;

/**
 * Forks have ended: the one that was made is shown. When its dialog was closed
 * meanwhile, the user is somewhere else: then it is only told.
 */
export function finishForks(app: TheApp, form: ForkForm, dialog: DialogState): void {
  for (const job of form.made) if (job.session) app.sessions.put(job.session);
  const open = app.ui.dialogs.includes(dialog);
  const [first] = form.made;
  if (!first?.session || !first.receipt) {
    if (!open) tellFailure(app, form.failed[0]?.fault ?? null, 'The fork was not made.');
    return;
  }
  // What failed, and which of several is wanted, is seen in the dialog.
  if (open && (form.failed.length > 0 || form.made.length > 1)) return;
  const { id } = first.session;
  const text = `${receiptWords(first.receipt).text}.`;
  if (open) {
    app.ui.close(dialog);
    app.select(id);
    app.ui.toast(text);
    focusTarget('composer');
    return;
  }
  const several = form.made.length > 1 ? `${plural(form.made.length, 'fork')} were made.` : text;
  app.ui.toast(several, { action: { label: 'Open', run: () => app.select(id) } });
  if (form.failed[0]) tellFailure(app, form.failed[0].fault, 'A fork was not made.');
}

/** A switch has ended; a failure stays in the dialog if that is still open. */
export function finishSwitch(app: TheApp, form: SwitchForm, dialog: DialogState): void {
  const open = app.ui.dialogs.includes(dialog);
  if (form.fault) {
    if (!open) tellFailure(app, form.fault, 'The session stayed where it was.');
    return;
  }
  app.ui.close(dialog);
  if (form.receipt) app.ui.toast(`${receiptWords(form.receipt).text}.`);
}

/** A rewind has ended: it can be taken back at once. */
export function finishRewind(app: TheApp, form: RewindForm, dialog: DialogState, receipt: Receipt | null): void {
  const open = app.ui.dialogs.includes(dialog);
  if (!receipt) {
    if (!open) tellFailure(app, form.fault, 'Nothing was taken back.');
    return;
  }
  app.ui.close(dialog);
  const { undo } = receipt;
  app.ui.toast(`${receiptWords(receipt).text}.`, undo ? { action: { label: 'Undo', run: () => void undoRewind(app, form.session, undo) } } : {});
}

/** Takes a rewind back, or, when it was one that took another back, does that again. */
export async function undoRewind(app: TheApp, session: string, undo: string, redo = false): Promise<void> {
  try {
    const receipt = await app.backend.rewind({ id: session, what: 'both', undo });
    if (receipt.fault) return tellFailure(app, receipt.fault, redo ? 'It was not done again.' : 'It was not undone.');
    const { undo: next } = receipt;
    const action = next ? { label: redo ? 'Undo' : 'Redo', run: () => void undoRewind(app, session, next, !redo) } : undefined;
    app.ui.toast(redo ? 'Done again.' : 'Undone.', action ? { action } : {});
  } catch (err) {
    app.ui.fail(err);
  }
}

function tellFailure(app: TheApp, fault: Receipt['fault'], otherwise: string): void {
  app.ui.toast(fault?.happened ?? otherwise, { tone: 'bad', detail: [fault?.kept, fault?.remedy].filter(Boolean).join(' ') || undefined });
}

/** Saves a session with its files as one file, or its conversation as Markdown. */
export async function exportAs(app: TheApp, session: string, form: 'session' | 'markdown'): Promise<void> {
  try {
    const path = await (form === 'session' ? app.backend.exportSession(session) : app.backend.exportMarkdown(session));
    if (path) app.ui.toast(form === 'session' ? 'The session was exported.' : 'The conversation was exported.', { detail: path });
  } catch (err) {
    app.ui.fail(err);
  }
}

/** Makes a session of a file that was exported, and shows it. */
export async function importSession(app: TheApp): Promise<void> {
  try {
    const session = await app.backend.importSession();
    if (!session.id) return;
    app.sessions.put(session);
    app.select(session.id);
    app.ui.toast(`“${session.title || 'New session'}” was imported.`);
  } catch (err) {
    app.ui.fail(err);
  }
}

/** Saves a file of the workspace where the user wants it. */
export async function saveFileAs(app: TheApp, session: string, path: string, rawPath = ''): Promise<void> {
  try {
    const saved = await app.backend.saveFile(session, path, rawPath);
    if (saved) app.ui.toast('Saved.', { detail: saved });
  } catch (err) {
    app.ui.fail(err);
  }
}

