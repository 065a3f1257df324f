// @vitest-environment node
import { expect, test } from 'vitest';
import { LIMIT, rank, type PaletteItem } from './palette';

function item(label: string, more: Partial<PaletteItem> = {}): PaletteItem {
  return { id: label, group: 'Commands', label, run: () => {}, ...more };
}

const items = [
  item('Toggle sidebar', { also: 'hide sessions' }),
  item('Open settings', { also: 'preferences keys' }),
  item('Stop the turn'),
  item('Fix the session parser', { group: 'Sessions' }),
  item('New session'),
  item('Session notes', { group: 'Sessions' }),
];
const found = (query: string) => rank(items, query).map((i) => i.label);

test('keeps the order when nothing is typed', () => {
  expect(found(' ')).toEqual(items.map((i) => i.label));
});

test('puts labels that begin with the query first and other words last', () => {
  expect(found('session')).toEqual(['Session notes', 'Fix the session parser', 'New session', 'Toggle sidebar']);
});

test('needs every word, in any order', () => {
  expect(found('sess new')).toEqual(['New session']);
  expect(found('PREF')).toEqual(['Open settings']);
  expect(found('new nothing')).toEqual([]);
});

test('a whole word beats a part of one', () => {
  expect(rank([item('Nonstop'), item('Do stop')], 'stop').map((i) => i.label)).toEqual(['Do stop', 'Nonstop']);
});

test('never lists more than the limit', () => {
  expect(rank(Array.from({ length: 300 }, (_, i) => item(`s${i}`)), 's')).toHaveLength(LIMIT);
});
