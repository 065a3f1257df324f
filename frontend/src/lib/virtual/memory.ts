import { Heights } from './window';

/** What is remembered of a list when it is left, to show it again as it was. */
export interface ListMemory {
  heights: Heights;
  /** The row at the top and its distance from there in px. */
  anchor: { key: string; top: number } | null;
  follows: boolean;
}

/** guess: the height of a row, in px, before any was measured. */
export function newMemory(guess: number): ListMemory {
  return { heights: new Heights(guess), anchor: null, follows: true };
}
