/**
 * A title, and the number of a fork, which tells it from its siblings: that stays
 * when there is no room for all. The name of a backend that a fork may bear has
 * its own place in the row.
 */
export function forkName(title: string): { base: string; fork: string } {
  const numbered = /^(.+) \(fork (#\d+)\)$/s.exec(title);
  if (numbered) return { base: numbered[1] ?? '', fork: ` ${numbered[2]}` };
  return { base: /^(.+) \[[a-z0-9]+\]$/s.exec(title)?.[1] ?? title, fork: '' };
}
