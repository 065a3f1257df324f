// What the command palette offers, and in which order it finds it.
import type { Component } from 'svelte';
import { words } from '$lib/util/words';

export interface PaletteItem {
  id: string;
  group: 'Commands' | 'Sessions';
  label: string;
  /** Shown muted behind the label. */
  detail?: string;
  /** Other words to find it by. */
  also?: string;
  kbd?: string;
  icon?: Component<{ size?: number }>;
  run: () => void;
}

/** The most that is listed at once. */
export const LIMIT = 60;

/**
 * rank keeps what matches and puts the closest first: the label begins with
 * the words, one of its words does, they are somewhere in it, or only in the
 * other words. Equal ones stay in their order.
 */
export function rank(items: readonly PaletteItem[], query: string): PaletteItem[] {
  const wanted = words(query);
  if (wanted.length === 0) return items.slice(0, LIMIT);
  const found: { item: PaletteItem; score: number; order: number }[] = [];
  items.forEach((item, order) => {
    const score = scoreOf(item, wanted);
    if (score > 0) found.push({ item, score, order });
  });
  found.sort((a, b) => b.score - a.score || a.order - b.order);
  return found.slice(0, LIMIT).map(({ item }) => item);
}

function scoreOf(item: PaletteItem, wanted: readonly string[]): number {
  const label = item.label.toLocaleLowerCase();
  const rest = `${item.detail ?? ''} ${item.also ?? ''}`.toLocaleLowerCase();
  let score = label.startsWith(wanted.join(' ')) ? 8 : 0;
  for (const word of wanted) {
    const at = label.indexOf(word);
    if (at >= 0) score += at === 0 || /[^\p{L}\p{N}]/u.test(label[at - 1]!) ? 4 : 2;
    else if (rest.includes(word)) score += 1;
    else return 0;
  }
  return score;
}
