// What is carried, was carried and would be taken back, in words.
import type { Carry, Moving, Receipt, ReceiptKind, RewindWhat, SnapshotPolicy, Spot } from '$lib/backend/types';
import { bytes, duration, plural } from '$lib/util/format';

const names: Record<string, string> = { local: 'this computer', docker: 'Docker', e2b: 'E2B', daytona: 'Daytona' };

/** A backend in the middle of a sentence. */
export function backendName(name: string): string {
  return names[name] ?? name;
}

/** "214 files and folders, 3.4 MB". */
export function amount(files: number, size: number): string {
  if (files === 0) return 'no files';
  return `${plural(files, 'file or folder', 'files and folders')}, ${bytes(size)}`;
}

const listed = 3;

/** "node_modules, build and 4 more". */
export function someOf(names: readonly string[], most = listed): string {
  if (names.length <= 1) return names[0] ?? '';
  const shown = names.length > most ? names.slice(0, most) : names.slice(0, -1);
  const rest = names.length - shown.length;
  return `${shown.join(', ')} and ${rest === 1 ? names.at(-1) : `${rest} more`}`;
}

export interface CarryWords {
  /** What goes along. */
  text: string;
  /** What stays behind, each in a sentence. */
  more: string[];
}

/** What a fork or switch carries. fromTurn: from the end of an earlier turn, not from now; container: it leaves a sandbox that has more than the workspace. */
export function carryWords(carry: Carry, options: { filesOnly?: boolean; switching?: boolean; fromTurn?: boolean; off?: boolean; container?: boolean } = {}): CarryWords {
  const what = options.filesOnly ? '' : 'the conversation and ';
  const more: string[] = [];
  let text: string;
  if (!carry.known && (options.fromTurn || options.off)) {
    const why = options.fromTurn ? 'No snapshot was taken after this turn' : 'This session takes no snapshots';
    text = options.filesOnly
      ? `${why}: there are no files to carry.`
      : `${why}: only the conversation is carried, the files are not.`;
  } else if (!carry.known) text = `Carries ${what}all files. They are counted when they are captured.`;
  else text = `Carries ${what}${amount(carry.files, carry.bytes)}.`;
  const excluded = carry.excluded ?? [];
  if (excluded.length > 0) more.push(`Left out, as you chose for this session: ${someOf(excluded)}.`);
  const skipped = carry.skipped ?? [];
  if (skipped.length > 0) {
    more.push(`Can’t be carried: ${someOf(skipped.map((s) => `${s.path} (${s.why})`), 2)}.`);
  }
  if (options.switching && carry.commands > 0) {
    more.push(`${plural(carry.commands, 'command')} left running ${carry.commands === 1 ? 'is' : 'are'} ended: what runs can’t be carried.`);
  }
  if (options.switching && options.container) {
    more.push('What was installed outside of the workspace stays behind with the sandbox, which is removed.');
  }
  return { text, more };
}

export interface Fact {
  name: string;
  value: string;
  mono?: boolean;
}

export interface ReceiptWords {
  /** One line. */
  text: string;
  facts: Fact[];
}

const nouns: Record<ReceiptKind, string> = {
  fork: 'The fork',
  switch: 'The switch',
  rewind: 'Going back',
  revert: 'Putting it back',
  new: 'The new session',
  import: 'The import',
  remake: 'Making the sandbox anew',
};

/** The one line of a receipt. titleOf: the session it came from, if it is known. */
function lineOf(r: Receipt): string {
  if (r.fault) return `${nouns[r.what]} did not happen: ${r.fault.happened}`;
  const to = backendName(r.to.backend);
  const carried = amount(r.files, r.bytes);
  switch (r.what) {
    case 'fork':
      return `Forked ${r.turn > 0 ? `after turn ${r.turn}` : 'from the beginning'} to ${to} with ${carried}`;
    case 'new':
      return `Started on ${to} from the files of another session: ${carried}`;
    case 'import':
      return `Imported to ${to}: ${carried}`;
    case 'switch':
      return r.from.backend === r.to.backend
        ? `Switched to another place on ${to} with ${carried}`
        : `Switched from ${backendName(r.from.backend)} to ${to} with ${carried}`;
    case 'revert':
      return 'Put back as it was';
    case 'remake':
      return `The sandbox was gone: it was made anew with ${carried}`;
    case 'rewind': {
      const where = r.turn > 0 ? `to the end of turn ${r.turn}` : 'to the beginning';
      if (r.rewindWhat === 'conversation') return `The conversation went back ${where}; the files stayed`;
      const changed = plural(r.written + r.removed, 'change');
      if (r.rewindWhat === 'files') return `The files went back ${where}: ${changed}`;
      return `Went back ${where}: ${changed}`;
    }
  }
}

/**
 * A receipt in words: one line, and what there is to know about it. said is the
 * line as the program says it: of what went back, only that tells it from the
 * undoing.
 */
export function receiptWords(r: Receipt, said = ''): ReceiptWords {
  const facts: Fact[] = [];
  const add = (name: string, value: string, mono = false) => {
    if (value) facts.push(mono ? { name, value, mono } : { name, value });
  };
  if (r.fault) {
    add('Kept', r.fault.kept ?? 'Everything is as it was.');
    add('What to do', r.fault.remedy ?? '');
    add('Detail', r.fault.detail ?? '', true);
  }
  const moved = r.from.backend !== r.to.backend || r.from.workspace !== r.to.workspace;
  if (moved) add('From', spotText(r.from), true);
  if (r.to.backend) add(moved ? 'To' : 'In', spotText(r.to), true);
  if (!r.fault && r.what !== 'revert') {
    add('Files', `${amount(r.files, r.bytes)}; ${plural(r.written, 'entry', 'entries')} written, ${r.removed.toLocaleString('en')} removed`);
  }
  add('Left out', (r.excluded ?? []).join(', '), true);
  const skipped = r.skipped ?? [];
  const rest = (r.skippedCount ?? skipped.length) - skipped.length;
  if (skipped.length > 0) {
    add('Not carried', [...skipped.map((s) => `${s.path}: ${s.why}`), ...(rest > 0 ? [`and ${rest.toLocaleString('en')} more`] : [])].join('\n'));
  }
  add('Snapshot', short(r.snapshot), true);
  add('Kept from before', short(r.kept), true);
  if (r.left) add('Left in place', `${r.from.workspace || r.from.backend}: it holds what snapshots leave out, and goes when the session is destroyed`);
  if (r.durationMs > 0) add('Took', duration(r.durationMs));
  const back = (r.what === 'rewind' || r.what === 'revert') && !r.fault && said !== '';
  return { text: back ? `${said}${r.written + r.removed > 0 ? `: ${plural(r.written + r.removed, 'change')}` : ''}` : lineOf(r), facts };
}

function spotText(spot: Spot): string {
  return spot.workspace ? `${spot.backend} ${spot.workspace}` : spot.backend;
}

/** The beginning of a store id: enough to tell two apart. */
export function short(id: string | undefined): string {
  return (id ?? '').slice(0, 6);
}

/** What is under way with a session: "Moving to Docker". */
export function movingWords(moving: Moving): string {
  if (moving.waits) return moving.what === 'fork' ? 'Forks when the turn ends' : moving.what === 'switch' ? `Switches to ${backendName(moving.to.backend)} when the turn ends` : 'Goes back when the turn ends';
  switch (moving.what) {
    case 'switch':
      return `Switching to ${backendName(moving.to.backend)}`;
    case 'rewind':
      return 'Going back';
    case 'fork':
      return 'Forking';
    case 'import':
      return 'Importing';
    default:
      return 'Putting its files in place';
  }
}

export interface RewindChoice {
  value: RewindWhat;
  label: string;
  /** What will change, in one sentence. */
  explain: string;
  disabled: boolean;
}

/**
 * The three ways to go back to the end of a turn (0 is the beginning). last is
 * the number of the newest turn; files: there is a snapshot to go back to.
 */
export function rewindChoices(turn: number, last: number, files: boolean): RewindChoice[] {
  const gone = last - turn;
  const turns = gone <= 0 ? '' : gone === 1 ? `Turn ${last} leaves the conversation` : `Turns ${turn + 1} ${gone === 2 ? 'and' : 'to'} ${last} leave the conversation`;
  const back = turn > 0 ? `go back to how they were after turn ${turn}` : 'go back to how they were before the first turn';
  const none = turn > 0 ? `No snapshot was taken after turn ${turn}.` : 'No snapshot was taken before the first turn.';
  return [
    {
      value: 'both',
      label: 'Conversation and files',
      explain: files ? (turns ? `${turns}, and the files ${back}.` : `The files ${back}.`) : none,
      disabled: !files || turns === '',
    },
    {
      value: 'conversation',
      label: 'Conversation only',
      explain: turns ? `${turns}; the files stay as they are now.` : 'This is the last turn: no turn would leave the conversation.',
      disabled: turns === '',
    },
    { value: 'files', label: 'Files only', explain: files ? `The files ${back}; the conversation stays.` : none, disabled: !files },
  ];
}

/** What a session's snapshots hold, in a sentence. */
export function policyWords(policy: SnapshotPolicy | undefined): string {
  if (policy?.off) return 'No snapshots are taken. Forks and switches carry the conversation without files, and files can’t be taken back.';
  const exclude = policy?.exclude ?? [];
  if (exclude.length > 0) return `All files are captured after each turn, except ${someOf(exclude)}.`;
  return 'All files are captured after each turn.';
}
