import { limits, type EngineStatus, type Session } from '$lib/backend/types';
import { bytes } from '$lib/util/format';
import { byteLength } from '$lib/util/utf8';

export interface Draft {
  text: string;
  files: number;
}

/**
 * Why a draft can't be sent now, in words for the user; "" when it can. Not
 * for the plain empty draft: there the button is only off.
 */
export function sendBlock(draft: Draft, session: Session | undefined, engine: EngineStatus | null): string {
  if (engine?.state === 'failed') return 'The engine has stopped. Nothing can be sent until it runs again.';
  const size = draft.text.length > limits.messageBytes / 4 ? byteLength(draft.text) : 0;
  if (size > limits.messageBytes) {
    return `This message is ${bytes(size)}; the most is ${bytes(limits.messageBytes)}. Attach it as a file instead.`;
  }
  if ((session?.queue?.length ?? 0) >= limits.queue) {
    return `${limits.queue} messages wait already. Remove one, or wait for the turn to end.`;
  }
  return '';
}

export function isEmpty(draft: Draft): boolean {
  return draft.text.trim() === '' && draft.files === 0;
}

/** A text that could not be sent, before what was typed since. */
export function mergeBack(failed: string, typed: string): string {
  if (typed.trim() === '' || typed === failed) return failed;
  return `${failed}\n\n${typed}`;
}

/** Walks the messages sent before with ↑ and ↓. */
export interface HistoryWalk {
  /** Index into the history; its length is the draft itself. */
  at: number;
  /** What was typed before the walk began. */
  draft: string;
}

export function walkHistory(
  history: readonly string[],
  walk: HistoryWalk | null,
  step: -1 | 1,
  typed: string,
): { walk: HistoryWalk | null; text: string } | null {
  const from = walk ?? { at: history.length, draft: typed };
  const at = from.at + step;
  if (at < 0 || at > history.length) return null;
  if (at === history.length) return { walk: null, text: from.draft };
  return { walk: { ...from, at }, text: history[at] ?? '' };
}
