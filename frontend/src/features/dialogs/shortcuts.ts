// The keys and commands of the window, as their dialog lists them.
import { commands } from '$lib/state/composer/commands';

export interface ShortcutGroup {
  title: string;
  keys: readonly { keys: string; does: string }[];
}

export const SHORTCUTS: readonly ShortcutGroup[] = [
  {
    title: 'Window',
    keys: [
      { keys: 'Ctrl N', does: 'New session' },
      { keys: 'Ctrl K', does: 'Search sessions' },
      { keys: 'Ctrl ⇧ P', does: 'All commands and sessions' },
      { keys: 'Ctrl I', does: 'What needs you' },
      { keys: 'Ctrl ⇧ F', does: 'Fork the session' },
      { keys: 'Ctrl ⇧ S', does: 'Switch the session’s backend' },
      { keys: 'Ctrl ⇧ C', does: 'What has changed' },
      { keys: 'Ctrl B', does: 'Show or hide the sessions' },
      { keys: 'Ctrl J', does: 'Show or hide the workspace' },
      { keys: 'Ctrl ,', does: 'Settings' },
      { keys: 'Alt ↑', does: 'Previous session' },
      { keys: 'Alt ↓', does: 'Next session' },
      { keys: 'Ctrl + − 0', does: 'Text size' },
      { keys: 'Ctrl Q', does: 'Quit' },
      { keys: '?', does: 'This list' },
    ],
  },
  {
    title: 'Message',
    keys: [
      { keys: 'Ctrl L', does: 'Go to the message field' },
      { keys: '↵', does: 'Send' },
      { keys: '⇧ ↵', does: 'New line' },
      { keys: '↑', does: 'Earlier messages' },
      { keys: 'Ctrl ↵', does: 'Send into the turn under way' },
      { keys: '@', does: 'Name a file' },
      { keys: '/', does: 'Commands' },
      { keys: 'Esc Esc', does: 'Stop the turn' },
    ],
  },
  {
    title: 'Approval',
    keys: [
      { keys: '↵', does: 'Allow once' },
      { keys: 'Esc', does: 'Deny' },
    ],
  },
  {
    title: 'Session list',
    keys: [
      { keys: '↑ ↓', does: 'Move in the list' },
      { keys: '→ ←', does: 'Show or hide the forks' },
      { keys: 'F2', does: 'Rename' },
      { keys: 'Del', does: 'Destroy…' },
    ],
  },
  {
    title: 'Files',
    keys: [
      { keys: '↑ ↓', does: 'Move in the tree' },
      { keys: '→ ←', does: 'Open or close a folder' },
      { keys: '↵', does: 'Show a file' },
      { keys: 'Ctrl F', does: 'Find in the file' },
    ],
  },
];

/** The commands of the message field. */
export const COMMANDS: readonly { typed: string; does: string }[] = commands.map(({ name, arg, about }) => ({
  typed: `/${name}${arg ? ` ${arg}` : ''}`,
  does: about,
}));
