/** What the page keeps for itself in Settings.prefs. */
export interface Prefs {
  sidebarWidth: number;
  sidebarHidden: boolean;
  /** Width of the workspace pane in px. */
  workspaceWidth: number;
  workspaceHidden: boolean;
  /** The file tree's share of the pane's height while a file is shown. */
  treeShare: number;
  /** Whether files whose name begins with a dot are listed. */
  showHidden: boolean;
  /** Size of the text and of what holds it; 1 is usual. */
  zoom: number;
  /** Notices of the engine that were read. */
  dismissed: string[];
  /** Sessions whose forks are not shown in the list. */
  collapsed: string[];
  /** How differences are drawn. */
  diffLayout: 'unified' | 'split';
  /** The list's share of the pane's height while a difference is shown. */
  changesShare: number;
  /** The session that was shown last. */
  selected: string;
  /** Unsent text by session id; "" is the composer without a session. */
  drafts: Record<string, string>;
  /** The last messages sent, newest last. */
  history: string[];
}

export const bounds = {
  sidebar: { min: 220, max: 360, usual: 264 },
  workspace: { min: 320, usual: 400, share: 0.6 },
  tree: { min: 0.15, max: 0.85, usual: 0.4 },
  zoom: { min: 0.8, max: 1.5 },
  dismissed: 50,
  collapsed: 200,
  drafts: 200,
  draftBytes: 64 * 1024,
  history: 100,
} as const;

export const defaults: Prefs = {
  sidebarWidth: bounds.sidebar.usual,
  sidebarHidden: false,
  workspaceWidth: bounds.workspace.usual,
  workspaceHidden: false,
  treeShare: bounds.tree.usual,
  showHidden: true,
  zoom: 1,
  dismissed: [],
  collapsed: [],
  diffLayout: 'unified',
  changesShare: bounds.tree.usual,
  selected: '',
  drafts: {},
  history: [],
};

const clamp = (value: number, min: number, max: number) => Math.max(min, Math.min(max, value));

/** Makes sound prefs of whatever was kept, by this version or another. */
export function parsePrefs(raw: unknown): Prefs {
  if (typeof raw !== 'object' || raw === null) return defaults;
  const value = raw as Partial<Record<keyof Prefs, unknown>>;
  const number = (v: unknown, or: number) => (typeof v === 'number' && Number.isFinite(v) ? v : or);
  const bool = (v: unknown, or: boolean) => (typeof v === 'boolean' ? v : or);
  const texts = (v: unknown) => (Array.isArray(v) ? v.filter((t): t is string => typeof t === 'string') : []);
  const drafts: Record<string, string> = {};
  if (typeof value.drafts === 'object' && value.drafts !== null) {
    for (const [id, text] of Object.entries(value.drafts)) if (typeof text === 'string') drafts[id] = text;
  }
  return {
    sidebarWidth: clamp(number(value.sidebarWidth, bounds.sidebar.usual), bounds.sidebar.min, bounds.sidebar.max),
    sidebarHidden: bool(value.sidebarHidden, false),
    workspaceWidth: Math.max(bounds.workspace.min, number(value.workspaceWidth, bounds.workspace.usual)),
    workspaceHidden: bool(value.workspaceHidden, false),
    treeShare: clamp(number(value.treeShare, bounds.tree.usual), bounds.tree.min, bounds.tree.max),
    showHidden: bool(value.showHidden, true),
    zoom: clamp(number(value.zoom, 1), bounds.zoom.min, bounds.zoom.max),
    dismissed: texts(value.dismissed).slice(-bounds.dismissed),
    collapsed: texts(value.collapsed).slice(-bounds.collapsed),
    diffLayout: value.diffLayout === 'split' ? 'split' : 'unified',
    changesShare: clamp(number(value.changesShare, bounds.tree.usual), bounds.tree.min, bounds.tree.max),
    selected: typeof value.selected === 'string' ? value.selected : '',
    drafts,
    history: texts(value.history).slice(-bounds.history),
  };
}

/**
 * Keeps a draft; an empty one is forgotten, one that is too long not kept, and
 * the oldest go when there are too many.
 */
export function withDraft(prefs: Prefs, id: string, text: string): Prefs {
  const drafts = { ...prefs.drafts };
  delete drafts[id];
  if (text !== '' && text.length <= bounds.draftBytes) drafts[id] = text;
  const ids = Object.keys(drafts);
  for (const old of ids.slice(0, Math.max(0, ids.length - bounds.drafts))) delete drafts[old];
  return { ...prefs, drafts };
}

/** Remembers a sent message once, at the newest place. */
export function withHistory(prefs: Prefs, text: string): Prefs {
  if (text.trim() === '' || text.length > bounds.draftBytes) return prefs;
  const history = [...prefs.history.filter((h) => h !== text), text].slice(-bounds.history);
  return { ...prefs, history };
}

/** The sizes that keys and the settings step through. */
export const zooms = [0.8, 0.9, 1, 1.1, 1.25, 1.5] as const;

/** The next size in a direction; the same at the end. */
export function zoomStep(zoom: number, step: 1 | -1): number {
  const next = step > 0 ? zooms.find((z) => z > zoom + 0.01) : zooms.findLast((z) => z < zoom - 0.01);
  return next ?? zoom;
}

/** Remembers that a notice was read, the newest last. */
export function withDismissed(prefs: Prefs, notice: string): Prefs {
  return { ...prefs, dismissed: [...prefs.dismissed.filter((d) => d !== notice), notice].slice(-bounds.dismissed) };
}

/** Shows or hides a session's forks in the list. */
export function withCollapsed(prefs: Prefs, id: string, collapsed: boolean): Prefs {
  if (prefs.collapsed.includes(id) === collapsed) return prefs;
  const others = prefs.collapsed.filter((other) => other !== id);
  return { ...prefs, collapsed: collapsed ? [...others, id].slice(-bounds.collapsed) : others };
}
