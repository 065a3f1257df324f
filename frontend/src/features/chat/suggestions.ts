export interface Suggestion {
  title: string;
  /** What is put into the message field. */
  text: string;
}

// The scripted demo does only what it has words for.
const demo: readonly Suggestion[] = [
  { title: 'Take the tour', text: 'tour' },
  { title: 'Make a file and run a command', text: 'create notes.txt with buy milk, then run cat notes.txt' },
  { title: 'Be asked before a step', text: 'approve' },
];

const model: readonly Suggestion[] = [
  { title: 'Explain this project', text: 'Read through this folder and explain what it is, how it is built, and where to start.' },
  { title: 'Find and fix a bug', text: 'Run the tests. If something fails, find out why and fix it, with a test that would have caught it.' },
  { title: 'Build something small', text: 'Write a small command-line program that shows the weather as text, with a README and tests.' },
];

/** Three things to begin with, for who answers. */
export function suggestions(provider: string): readonly Suggestion[] {
  return provider === 'demo' ? demo : model;
}
