/** A path relative to the workspace, of a path as a model writes it: absolute, with ./, or with a line number. */
export function workspacePath(path: string, workspace: string): string {
  const root = workspace.replace(/\/+$/, '');
  const inside = root !== '' && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  return inside.replace(/^(?:\.\/)+/, '').replace(/:\d+(?:[:-]\d+)?$/, '');
}

/**
 * A path as it is shown: the home folder as ~, and what is too long without its
 * beginning. The end tells folders apart.
 */
export function shortPath(path: string, home: string, max = 48): string {
  const root = home.replace(/\/+$/, '');
  const inHome = root !== '' && (path === root || path.startsWith(`${root}/`));
  const whole = inHome ? `~${path.slice(root.length)}` : path;
  if (whole.length <= max) return whole;
  const parts = whole.split('/');
  let tail = parts.pop() ?? '';
  while (parts.length > 0 && tail.length + (parts.at(-1)?.length ?? 0) + 3 <= max) tail = `${parts.pop()}/${tail}`;
  return `…/${tail}`;
}
