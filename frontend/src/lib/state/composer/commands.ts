/** What the composer does itself when a message begins with "/". */
export interface Command {
  name: string;
  /** How the argument is written, "" for none. */
  arg: string;
  about: string;
}

export const commands: readonly Command[] = [
  { name: 'switch', arg: '', about: 'Move this session to another backend, files included' },
  { name: 'fork', arg: '[title]', about: 'Branch conversation and files into a new session' },
  { name: 'title', arg: '<name>', about: 'Rename this session' },
  { name: 'done', arg: '', about: 'Leave: keep it alive, or destroy it' },
  { name: 'stop', arg: '', about: 'Stop the turn under way' },
  { name: 'retry', arg: '', about: 'Try the failed turn again' },
  { name: 'model', arg: '<name>', about: 'Choose the model of this session' },
  { name: 'help', arg: '', about: 'Keys and commands' },
];

export interface ParsedCommand {
  name: string;
  arg: string;
}

/**
 * The command that a message is; null when it is a message. A path such as
 * "/etc/hosts is wrong" is a message: a command's word has only letters.
 */
export function parseCommand(text: string): ParsedCommand | null {
  const match = /^\/([a-z]+)(?:\s+([\s\S]*))?$/.exec(text.trimEnd());
  return match ? { name: match[1] as string, arg: (match[2] ?? '').trim() } : null;
}

export function isKnown(name: string): boolean {
  return commands.some((c) => c.name === name);
}

/** The commands that fit what is typed so far; none once an argument begins. */
export function completeCommands(text: string): readonly Command[] {
  const match = /^\/([a-z]*)$/.exec(text);
  if (!match) return [];
  const typed = match[1] ?? '';
  return commands.filter((c) => c.name.startsWith(typed));
}

/** The beginning of a model's name in "/model gp"; null when that is not typed. */
export function typedModel(text: string): string | null {
  return /^\/model ([^\n]*)$/.exec(text)?.[1] ?? null;
}
