import type { Turn } from '$lib/backend/types';

const longest = 56;

/** A turn in a list: "turn 3 · Fix the parser". */
export function turnLabel(turn: Pick<Turn, 'index' | 'title' | 'outcome'>): string {
  const how = { done: '', interrupted: ' (stopped)', failed: ' (failed)' }[turn.outcome];
  const title = turn.title.replace(/\s+/g, ' ').trim();
  const cut = title.length > longest ? `${title.slice(0, longest - 1).trimEnd()}…` : title;
  return `turn ${turn.index}${how}${cut ? ` · ${cut}` : ''}`;
}
