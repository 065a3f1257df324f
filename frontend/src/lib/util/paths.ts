/** A path relative to the workspace, of a path as a model writes it: absolute, with ./, or with a line number. */
export function workspacePath(path: string, workspace: string): string {
  const root = workspace.replace(/\/+$/, '');
  const inside = root !== '' && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
  return inside.replace(/^(?:\.\/)+/, '').replace(/:\d+(?:[:-]\d+)?$/, '');
}
