import type { Approval } from '$lib/backend/types';

/** What is asked, by the tool that wants to act. */
export function question(approval: Approval): string {
  switch (approval.tool) {
    case 'exec_command':
      return 'Run this command?';
    case 'write_stdin':
      return 'Type this into the running command?';
    case 'apply_patch':
      return 'Change these files?';
    case 'read_file':
    case 'view_image':
      return 'Read this file?';
    default:
      return `Use ${approval.tool}?`;
  }
}

/** The button that allows a command's beginnings for good; "" when there are none. */
export function alwaysLabel(prefixes: readonly string[]): string {
  const quoted = prefixes.map((p) => `“${p}”`);
  if (quoted.length === 0) return '';
  if (quoted.length === 1) return `Always allow ${quoted[0]} here`;
  return `Always allow ${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1)} here`;
}
