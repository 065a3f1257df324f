/** Splits a text at what was searched for, so that it can be marked. */
export function marks(text: string, wanted: readonly string[]): { text: string; hit: boolean }[] {
  const found = wanted.filter(Boolean).map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (found.length === 0) return [{ text, hit: false }];
  // A split by one group gives the hits at the odd places.
  return text
    .split(new RegExp(`(${found.join('|')})`, 'giu'))
    .map((piece, i) => ({ text: piece, hit: i % 2 === 1 }))
    .filter((piece) => piece.text !== '');
}
