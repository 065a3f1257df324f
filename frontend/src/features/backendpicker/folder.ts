// What picking a folder as a workspace would mean, in words.
import type { FolderInfo, Onto, Session } from '$lib/backend/types';

/** FolderInfo counts no further than this. */
const COUNT_LIMIT = 1000;

export type Tone = 'plain' | 'warn' | 'bad';

export interface FolderVerdict {
  tone: Tone;
  /** What will happen, or why it can't. */
  text: string;
  /** More to know or what to do. */
  more?: string;
  /** Whether a session can start here. */
  usable: boolean;
  /** There is something in it already. */
  occupied?: boolean;
}

/** What the folder is picked for: a new session, or to carry files into. */
export type Purpose = 'new' | 'carry';

/** The words for a fresh folder. */
export const FRESH: FolderVerdict = {
  tone: 'plain',
  text: 'The session gets a new, empty folder of its own.',
  more: 'You can delete it together with the session later.',
  usable: true,
};

/** The words for a fresh folder that files are carried into. */
export const FRESH_COPY: FolderVerdict = {
  tone: 'plain',
  text: 'The files are put into a new folder of its own.',
  more: 'You can delete it together with the session later.',
  usable: true,
};

export function folderVerdict(info: FolderInfo, purpose: Purpose = 'new'): FolderVerdict {
  if (info.refused) {
    return { tone: 'bad', text: info.refused, usable: false };
  }
  if (!info.exists) {
    return {
      tone: 'bad',
      text: 'This folder doesn’t exist.',
      more: 'Pick another one, or make it in the folder dialog.',
      usable: false,
    };
  }
  if (!info.writable) {
    return {
      tone: 'bad',
      text: 'You can’t write in this folder.',
      more: 'Pick another one, or change its permissions first.',
      usable: false,
    };
  }
  if (purpose === 'carry') return carryVerdict(info);
  if (info.entries === 0) {
    return { tone: 'plain', text: 'The folder is empty. The agent works in it directly.', usable: true };
  }
  const count = itemCount(info.entries);
  if (info.git) {
    return {
      tone: 'plain',
      text: `${count}, a Git repository. The agent changes these files directly.`,
      more: 'Commit first if you want to compare or go back.',
      usable: true,
    };
  }
  return {
    tone: 'warn',
    text: `${count}, not under Git. The agent changes these files directly.`,
    more: 'Keep a copy if you may want them back as they are now.',
    usable: true,
  };
}

function carryVerdict(info: FolderInfo): FolderVerdict {
  if (info.entries === 0) return { tone: 'plain', text: 'The folder is empty. The files are put into it.', usable: true };
  const text = `${itemCount(info.entries)}${info.git ? ', a Git repository,' : ''} ${info.entries === 1 ? 'is' : 'are'} in it already. Choose what happens with that:`;
  return { tone: 'warn', text, usable: true, occupied: true };
}

/** What may be done with a folder that is not empty, and what happens then. */
export const ONTO: readonly { value: Onto; label: string; explain: string; warn?: boolean }[] = [
  {
    value: '',
    label: 'Leave it alone',
    explain: 'It is used only if it holds the very same files. Otherwise nothing happens, and you are told.',
  },
  {
    value: 'merge',
    label: 'Add to it',
    explain: 'What is in it is captured first. Files with other names stay, files with the same name are replaced.',
  },
  {
    value: 'replace',
    label: 'Replace what is in it',
    explain: 'What is in it is captured first. Then it holds the session’s files and nothing else.',
    warn: true,
  },
];

function itemCount(entries: number): string {
  if (entries >= COUNT_LIMIT) return `${COUNT_LIMIT.toLocaleString('en')} items or more`;
  return entries === 1 ? '1 item' : `${entries} items`;
}

/** A session's folder in a word or two: one that we made has a name that says nothing. */
export function folderLabel(session: Pick<Session, 'workspace' | 'ownWorkspace'>): string {
  if (!session.workspace) return 'new folder';
  if (session.ownWorkspace) return 'own folder';
  return session.workspace.split('/').filter(Boolean).pop() ?? '/';
}
