// The keys of the window, as the shortcuts dialog lists them.

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
      { keys: 'Ctrl B', does: 'Show or hide the sessions' },
      { keys: 'Ctrl J', does: 'Show or hide the workspace' },
      { keys: 'Ctrl ,', does: 'Settings' },
      { keys: '?', does: 'These shortcuts' },
    ],
  },
  {
    title: 'Message',
    keys: [
      { keys: 'Ctrl L', does: 'Go to the message field' },
      { keys: '↵', does: 'Send' },
      { keys: '⇧ ↵', does: 'New line' },
      { keys: '↑', does: 'Earlier messages' },
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
    title: 'Files',
    keys: [
      { keys: '↑ ↓', does: 'Move in the tree' },
      { keys: '→ ←', does: 'Open or close a folder' },
      { keys: '↵', does: 'Show a file' },
      { keys: 'Ctrl F', does: 'Find in the file' },
    ],
  },
];
