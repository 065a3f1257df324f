import type { Item, ItemOf, ToolItem, ToolStatus } from '$lib/backend/types';
import type { Entry } from './transcript';

export type ToolKind = 'command' | 'patch' | 'read' | 'image' | 'stdin' | 'other';

const kinds: Record<string, ToolKind> = {
  exec_command: 'command',
  apply_patch: 'patch',
  read_file: 'read',
  view_image: 'image',
  write_stdin: 'stdin',
};

export function toolKind(name: string): ToolKind {
  return kinds[name] ?? 'other';
}

export type ToolArgs = Readonly<Record<string, unknown>>;

const noArgs: ToolArgs = {};

/** The arguments of a call; empty when the model sent something else. */
export function parseArgs(json: string): ToolArgs {
  try {
    let value: unknown = JSON.parse(json);
    // Some models send the object as a string that holds JSON.
    if (typeof value === 'string') value = JSON.parse(value);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as ToolArgs) : noArgs;
  } catch {
    return noArgs;
  }
}

/** A text argument; "" when it is missing or something else. */
export function textArg(args: ToolArgs, name: string): string {
  const value = args[name];
  return typeof value === 'string' ? value : '';
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f' };

/** A text field of JSON that is still being written, as far as it is there. */
export function partialField(json: string, name: string): string {
  const start = new RegExp(`"${name}"\\s*:\\s*"`).exec(json);
  if (!start) return '';
  let text = '';
  for (let i = start.index + start[0].length; i < json.length; i++) {
    const c = json[i] as string;
    if (c === '"') break;
    if (c !== '\\') {
      text += c;
      continue;
    }
    const next = json[++i];
    if (next === undefined) break;
    if (next === 'u') {
      const hex = json.slice(i + 1, i + 5);
      if (!/^[0-9a-f]{4}$/i.test(hex)) break;
      text += String.fromCharCode(parseInt(hex, 16));
      i += 4;
    } else text += escapes[next] ?? next;
  }
  return text;
}

/** What the card of a call says in its one line. */
export interface ToolTitle {
  kind: ToolKind;
  /** The command as typed, or what is done to what. */
  text: string;
  /** False where text is words instead of code. */
  code: boolean;
}

function fromArgs(name: string, read: (field: string) => string, fallback: string): ToolTitle {
  const kind = toolKind(name);
  switch (kind) {
    case 'command':
      return { kind, text: read('cmd') || fallback, code: true };
    case 'read':
      return { kind, text: read('path') || fallback, code: true };
    case 'image':
      return { kind, text: read('path') || fallback, code: true };
    case 'stdin': {
      const chars = read('chars');
      if (chars === '\u0003') return { kind, text: 'Interrupt', code: false };
      return chars === '' ? { kind, text: 'Look again', code: false } : { kind, text: visible(chars), code: true };
    }
    case 'patch':
      return { kind, text: fallback, code: true };
    case 'other':
      return { kind, text: fallback || name, code: true };
  }
}

// Typed text on one line, with what can't be seen made visible.
function visible(chars: string): string {
  return chars.replace(/\n$/, '').replaceAll('\n', '⏎').replaceAll('\u0003', '^C').replaceAll('\u0004', '^D').replaceAll('\t', '⇥');
}

const titles = new WeakMap<ToolItem, ToolTitle>();

export function toolTitle(tool: ToolItem): ToolTitle {
  let title = titles.get(tool);
  if (!title) {
    const args = parseArgs(tool.args);
    title = fromArgs(tool.name, (field) => textArg(args, field), tool.ask.title);
    titles.set(tool, title);
  }
  return title;
}

/** The title of a call whose arguments are still being written. */
export function streamTitle(name: string, json: string): ToolTitle {
  if (toolKind(name) === 'patch') {
    const files = [...partialField(json, 'patch').matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)];
    return { kind: 'patch', text: files.map((m) => m[1]).join(', '), code: true };
  }
  return fromArgs(name, (field) => partialField(json, field), '');
}

const polled = new WeakMap<ToolItem, string>();

/** The id of the background command that a write_stdin call looks after; "" if none. */
export function polledProcess(tool: ToolItem): string {
  if (tool.name !== 'write_stdin') return '';
  let id = polled.get(tool);
  if (id === undefined) {
    const value = parseArgs(tool.args)['session_id'];
    id = typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '';
    polled.set(tool, id);
  }
  return id;
}

/** A command with those calls that looked after it, as one thing. */
export interface CommandState {
  status: ToolStatus;
  /** It goes on in the background although the call is over. */
  background: boolean;
  exitCode: number | null;
  timedOut: boolean;
  durationMs: number;
  /** When the running call began; null when nothing runs. */
  runningSince: string | null;
  /** Journal id of the whole output. */
  log: string;
  outputBytes: number;
  truncated: boolean;
}

export function commandState(parent: ToolItem, looks: readonly ToolItem[]): CommandState {
  const last = looks.at(-1) ?? parent;
  const ended = [parent, ...looks].find((t) => typeof t.result.exitCode === 'number');
  const runs = last.status === 'running' || (looks.length === 0 && last.status === 'pending');
  const all = [parent, ...looks];
  return {
    status: ended && !runs ? 'done' : last.status,
    background: !ended && !runs && last.status === 'done' && Boolean(last.result.process),
    exitCode: ended?.result.exitCode ?? null,
    timedOut: all.some((t) => t.result.timedOut),
    // The result that has the exit code has the command's own duration.
    durationMs: ended ? ended.result.durationMs : all.reduce((sum, t) => sum + t.result.durationMs, 0),
    runningSince: runs && last.status === 'running' ? last.started : null,
    log: all.find((t) => t.result.log)?.result.log ?? '',
    outputBytes: Math.max(...all.map((t) => t.result.outputBytes)),
    truncated: all.some((t) => t.result.truncated),
  };
}

/**
 * What the user reads of a result. What is written for the model of a command
 * without output says only what its card says anyway.
 */
export function displayOf(tool: ToolItem): string {
  const { display, output, log } = tool.result;
  if (display === undefined && log && (tool.status === 'done' || tool.status === 'running')) return '';
  return display ?? output;
}

/** Lines added and removed by a patch. */
export function patchCounts(tool: ToolItem): { added: number; removed: number; files: number } {
  const changes = tool.result.changes ?? [];
  return {
    added: changes.reduce((sum, c) => sum + c.added, 0),
    removed: changes.reduce((sum, c) => sum + c.removed, 0),
    files: changes.length,
  };
}

export function isTool(item: Item | null): item is ItemOf<'tool'> {
  return item?.kind === 'tool';
}

/** The tool of an entry that is written. */
export function toolOf(entry: Entry): ToolItem | null {
  return isTool(entry.item) ? entry.item.tool : null;
}
