// @vitest-environment node
import { expect, test } from 'vitest';
import { bounds, defaults, parsePrefs, withCollapsed, withDismissed, zoomStep, zooms } from './prefs';

test('zoom goes through the sizes and stays at the ends', () => {
  expect(zoomStep(1, 1)).toBe(1.1);
  expect(zoomStep(1, -1)).toBe(0.9);
  expect(zoomStep(1.3, 1)).toBe(1.5);
  expect(zoomStep(1.5, 1)).toBe(1.5);
  expect(zoomStep(zooms[0], -1)).toBe(zooms[0]);
});

test('a size that would make the window unusable is not taken', () => {
  expect(parsePrefs({ zoom: 40 }).zoom).toBe(bounds.zoom.max);
  expect(parsePrefs({ zoom: 'large' }).zoom).toBe(1);
});

test('read notices are kept once, and not for ever', () => {
  let prefs = withDismissed(withDismissed(defaults, 'a'), 'a');
  expect(prefs.dismissed).toEqual(['a']);
  for (let i = 0; i < bounds.dismissed; i++) prefs = withDismissed(prefs, `n${i}`);
  expect(prefs.dismissed).not.toContain('a');
  expect(parsePrefs(JSON.parse(JSON.stringify(prefs))).dismissed).toEqual(prefs.dismissed);
});

test('what was put away is kept, and shown again', () => {
  const prefs = withCollapsed(withCollapsed(defaults, 'a', true), 'b', true);
  expect(parsePrefs(JSON.parse(JSON.stringify(prefs))).collapsed).toEqual(['a', 'b']);
  expect(withCollapsed(prefs, 'a', true)).toBe(prefs);
  expect(withCollapsed(prefs, 'a', false).collapsed).toEqual(['b']);
  expect(parsePrefs({ diffLayout: 'sideways' }).diffLayout).toBe('unified');
});
