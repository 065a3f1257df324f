import { expect, test } from 'vitest';
import { shortPath, workspacePath } from './paths';

test('paths as models write them', () => {
  expect(workspacePath('/home/u/p/src/a.go', '/home/u/p/')).toBe('src/a.go');
  expect(workspacePath('/home/u/project2/a.go', '/home/u/p')).toBe('/home/u/project2/a.go');
  expect(workspacePath('././src/a.go:12', '/w')).toBe('src/a.go');
  expect(workspacePath('src/a.go:12-20', '')).toBe('src/a.go');
});

test('a path is shown with ~, and without its beginning when it is long', () => {
  const home = '/home/ada';
  expect(shortPath('/home/ada/work', home)).toBe('~/work');
  expect(shortPath('/home/ada', home)).toBe('~');
  expect(shortPath('/home/adam/x', home)).toBe('/home/adam/x');
  expect(shortPath('/srv/x', '')).toBe('/srv/x');
  expect(shortPath('/srv/x', '/')).toBe('/srv/x');
  expect(shortPath('/srv/one/two/three/four/project', home, 24)).toBe('…/two/three/four/project');
  expect(shortPath('/home/ada/.local/share/app/workspaces/plan-k3v7', home, 30)).toBe('…/app/workspaces/plan-k3v7');
  expect(shortPath(`/srv/${'long'.repeat(20)}`, home, 20)).toBe(`…/${'long'.repeat(20)}`);
});
