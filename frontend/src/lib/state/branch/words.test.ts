// @vitest-environment node
import { expect, test } from 'vitest';
import { carry, receipt } from '../../../testing/fixtures';
import { amount, carryWords, movingWords, policyWords, receiptWords, rewindChoices, someOf } from './words';

test('a long list is cut, and never by one', () => {
  expect(someOf([])).toBe('');
  expect(someOf(['a'])).toBe('a');
  expect(someOf(['a', 'b', 'c'])).toBe('a, b and c');
  expect(someOf(['a', 'b', 'c', 'd'])).toBe('a, b, c and d');
  expect(someOf(['a', 'b', 'c', 'd', 'e'])).toBe('a, b, c and 2 more');
  expect(amount(0, 0)).toBe('no files');
  expect(amount(1, 10)).toBe('1 file or folder, 10 B');
});

test('what is carried is told with its size, and what is not with its reason', () => {
  const words = carryWords(carry({ excluded: ['node_modules', 'build'], skipped: [{ path: 'run.sock', why: 'is a socket' }], commands: 1 }), { switching: true });
  expect(words.text).toBe('Carries the conversation and 214 files and folders, 3.4 MB.');
  expect(words.more).toEqual([
    'Left out, as you chose for this session: node_modules and build.',
    'Can’t be carried: run.sock (is a socket).',
    '1 command left running is ended: what runs can’t be carried.',
  ]);
  expect(carryWords(carry(), { switching: true, container: true }).more[0]).toMatch(/stays behind with the sandbox/);
  // A fork leaves the session and its commands alone.
  expect(carryWords(carry({ commands: 2 })).more).toEqual([]);
  expect(carryWords(carry(), { filesOnly: true }).text).toBe('Carries 214 files and folders, 3.4 MB.');
});

test('files that were never captured are not promised', () => {
  const unknown = carry({ known: false, files: 0, bytes: 0 });
  expect(carryWords(unknown).text).toMatch(/counted when they are captured/);
  expect(carryWords(unknown, { fromTurn: true }).text).toMatch(/^No snapshot was taken after this turn: only the conversation/);
  expect(carryWords(unknown, { fromTurn: true, filesOnly: true }).text).toMatch(/no files to carry/);
  expect(carryWords(unknown, { off: true }).text).toMatch(/^This session takes no snapshots/);
});

test('a receipt says what happened in one line, and the rest as facts', () => {
  const words = receiptWords(
    receipt({
      what: 'switch', to: { backend: 'docker', workspace: '/workspace' }, excluded: ['build'],
      skipped: [{ path: 'a.sock', why: 'is a socket' }], skippedCount: 8, kept: '99aabbccdd',
    }),
  );
  expect(words.text).toBe('Switched from this computer to Docker with 214 files and folders, 3.4 MB');
  const facts = Object.fromEntries(words.facts.map((f) => [f.name, f.value]));
  expect(facts).toMatchObject({ From: 'local /home/user/project', To: 'docker /workspace', 'Left out': 'build', 'Kept from before': '99aabb', Took: '0.8 s' });
  expect(facts['Not carried']).toBe('a.sock: is a socket\nand 7 more');
});

test('a receipt of what failed says why, and that all is as it was', () => {
  const words = receiptWords(receipt({ what: 'switch', fault: { class: 'unavailable', happened: 'Docker isn’t running.', remedy: 'Start it.' } }));
  expect(words.text).toBe('The switch did not happen: Docker isn’t running.');
  expect(words.facts.map((f) => f.value)).toEqual(expect.arrayContaining(['Everything is as it was.', 'Start it.']));
  expect(words.facts.some((f) => f.name === 'Files')).toBe(false);
});

test('receipts of rewinds name what went back', () => {
  const line = (rewindWhat: 'both' | 'files' | 'conversation', turn = 2) => receiptWords(receipt({ what: 'rewind', rewindWhat, turn, written: 3, removed: 1 })).text;
  expect(line('both')).toBe('Went back to the end of turn 2: 4 changes');
  expect(line('files', 0)).toBe('The files went back to the beginning: 4 changes');
  // What undoes a rewind has the same receipt: its line tells them apart.
  expect(receiptWords(receipt({ what: 'rewind', written: 1, removed: 0 }), 'Rewind taken back').text).toBe('Rewind taken back: 1 change');
  const reverted = receiptWords(receipt({ what: 'revert', files: 0, written: 0, removed: 0 }), 'Reverted notes.txt');
  expect(reverted.text).toBe('Reverted notes.txt');
  expect(reverted.facts.some((f) => f.name === 'Files')).toBe(false);
  expect(line('conversation')).toBe('The conversation went back to the end of turn 2; the files stayed');
});

test('going back says which turns go, and offers only what there is', () => {
  const [both, talk, files] = rewindChoices(3, 6, true);
  expect(both?.explain).toBe('Turns 4 to 6 leave the conversation, and the files go back to how they were after turn 3.');
  expect(talk?.explain).toContain('the files stay as they are now');
  expect(files?.disabled).toBe(false);
  expect(rewindChoices(5, 6, true)[0]?.explain).toMatch(/^Turn 6 leaves/);
  expect(rewindChoices(3, 6, false).map((c) => c.disabled)).toEqual([true, false, true]);
  expect(rewindChoices(6, 6, true).map((c) => c.disabled)).toEqual([true, true, false]);
});

test('what is under way, and what snapshots hold', () => {
  const at = { since: '', to: { backend: 'docker', workspace: '' } };
  expect(movingWords({ what: 'switch', ...at })).toBe('Switching to Docker');
  expect(movingWords({ what: 'switch', waits: true, ...at })).toBe('Switches to Docker when the turn ends');
  expect(policyWords(undefined)).toBe('All files are captured after each turn.');
  expect(policyWords({ exclude: ['a', 'b'] })).toContain('except a and b');
  expect(policyWords({ off: true })).toMatch(/^No snapshots/);
});

test('a sandbox that was made anew has its line', () => {
  const words = receiptWords(receipt({ what: 'remake', files: 0, bytes: 0 }));
  expect(words.text).toBe('The sandbox was gone: it was made anew with no files');
});
