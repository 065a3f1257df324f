// What destroying a session removes, in words.
import type { Session } from '$lib/backend/types';
import { backendName } from '$lib/state/branch/words';
import { plural } from '$lib/util/format';

export interface DestroyWords {
  /** What goes, whatever is chosen. */
  removed: string;
  /** The checkbox's label; undefined when there is no folder that we made. */
  folderChoice?: string;
  /** What becomes of the folder, for the choice made. */
  folder: string;
  /** A turn under way is stopped first. */
  stops?: string;
}

export function destroyWords(session: Session, removeFolder: boolean): DestroyWords {
  const removed =
    session.turns === 0
      ? 'The conversation is deleted.'
      : `The conversation is deleted: ${plural(session.turns, 'turn')}, with the output of its commands.`;
  const words: DestroyWords = { removed, folder: folderWords(session, removeFolder) };
  if (session.backend === 'local' && session.ownWorkspace && session.workspace) words.folderChoice = 'Also delete the folder made for this session';
  if (session.turn) words.stops = 'The turn under way is stopped first, with everything it runs.';
  return words;
}

function folderWords(session: Session, removeFolder: boolean): string {
  if (session.backend !== 'local') {
    return session.workspace ? `Its sandbox on ${backendName(session.backend)} is removed, with all files in it.` : 'No sandbox was made yet, so no files are touched.';
  }
  if (!session.workspace) return 'No folder was made yet, so no files are touched.';
  if (!session.ownWorkspace) return 'The folder is yours and stays as it is.';
  return removeFolder ? 'The folder and all files in it are deleted.' : 'The folder stays where it is.';
}
