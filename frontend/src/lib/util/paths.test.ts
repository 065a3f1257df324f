import { expect, test } from 'vitest';
import { workspacePath } from './paths';

test('paths as models write them', () => {
  expect(workspacePath('/home/u/p/src/a.go', '/home/u/p/')).toBe('src/a.go');
  expect(workspacePath('/home/u/project2/a.go', '/home/u/p')).toBe('/home/u/project2/a.go');
  expect(workspacePath('././src/a.go:12', '/w')).toBe('src/a.go');
  expect(workspacePath('src/a.go:12-20', '')).toBe('src/a.go');
});
