import { expect, test } from 'vitest';
import { highlight, highlighted } from './highlight';
import { languageOf } from './languages';

test('code becomes escaped text and spans only', async () => {
  const html = await highlight('const a = "<img src=x>"; // &', 'ts');
  expect(html).toContain('hljs-keyword');
  const root = document.createElement('div');
  root.innerHTML = html ?? '';
  expect([...root.querySelectorAll('*')].every((e) => e.nodeName === 'SPAN')).toBe(true);
  expect(root.textContent).toBe('const a = "<img src=x>"; // &');
  expect(highlighted('const a = "<img src=x>"; // &', 'ts')).toBe(html);
});

test('what is not known or too long stays plain', async () => {
  expect(await highlight('x', 'klingon')).toBeNull();
  expect(await highlight('x'.repeat(60_001), 'go')).toBeNull();
});

test('languages of files', () => {
  expect(languageOf('src/main.go')).toBe('go');
  expect(languageOf('a/Dockerfile')).toBe('dockerfile');
  expect(languageOf('Makefile')).toBe('makefile');
  expect(languageOf('x.TSX')).toBe('tsx');
  expect(languageOf('go')).toBe('');
  expect(languageOf('notes.xyz')).toBe('');
});
