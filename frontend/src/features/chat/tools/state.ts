import type { ToolStatus } from '$lib/backend/types';
import type { CommandState } from '$lib/state/transcript/tools';
import { duration } from '$lib/util/format';

/** The states that a call's icon shows. */
export type IconState = 'pending' | 'running' | 'ok' | 'bad' | 'denied' | 'stopped' | 'background' | 'left';

const icons: Record<ToolStatus, IconState> = {
  pending: 'pending',
  running: 'running',
  done: 'ok',
  failed: 'bad',
  denied: 'denied',
  interrupted: 'stopped',
};

export function statusIcon(status: ToolStatus): IconState {
  return icons[status];
}

/** A command that was running when its turn ended: what is known of it now. */
export type Left = 'unknown' | 'runs' | 'ended';

const leftWords: Record<Left, string> = {
  unknown: 'was still running when the turn ended',
  runs: 'still runs in the background',
  ended: 'ended after the turn',
};

/** left is null while the turn of the call goes on. */
export function commandIcon(state: CommandState, left: Left | null = null): IconState {
  if (state.background) return left === null || left === 'runs' ? 'background' : 'left';
  if (state.status === 'done' && state.exitCode !== null && state.exitCode !== 0) return 'bad';
  return icons[state.status];
}

/** What stands at the right of a command's line, but for a running clock. */
export function commandOutcome(state: CommandState, left: Left | null = null): string {
  if (state.background) return left === null ? 'in the background' : leftWords[left];
  switch (state.status) {
    case 'pending':
      return '';
    case 'denied':
      return 'denied';
    case 'interrupted':
      return join('interrupted', state.durationMs);
    case 'failed':
      return 'not run';
    default:
      if (state.timedOut) return join('timed out', state.durationMs);
      return join(state.exitCode === null ? '' : `exit ${state.exitCode}`, state.durationMs);
  }
}

function join(word: string, ms: number): string {
  return [word, ms > 0 ? duration(ms) : ''].filter(Boolean).join(' · ');
}

/** The last lines of an output; without the empty end. */
export function lastLines(text: string, lines: number): string {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) end--;
  let start = end;
  for (let found = 0; start > 0; start--) {
    if (text[start - 1] === '\n' && ++found === lines) break;
  }
  return text.slice(start, end);
}
