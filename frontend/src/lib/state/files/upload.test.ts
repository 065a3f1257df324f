import { expect, test } from 'vitest';
import { fakeBackend, refuse } from '../../../testing/fake-backend';
import { UiStore } from '../ui.svelte';
import { batches, droppedFiles, refusal, uploadLimits, type Dropped } from './upload';
import { Uploader } from './uploader.svelte';

const file = (name: string, size = 3) => Object.defineProperty(new File(['abc'], name), 'size', { value: size });
const at = (below: string, name: string, size?: number): Dropped => ({ below, file: file(name, size) });

test('a call has files of one folder, and not too many or too much', () => {
  const made = batches('src', [at('', 'a'), at('', 'b'), at('lib', 'c'), at('lib', 'd', uploadLimits.batchBytes)]);
  expect(made.map((b) => [b.dir, b.files.map((f) => f.name)])).toEqual([['src', ['a', 'b']], ['src/lib', ['c']], ['src/lib', ['d']]]);
  const many = batches('', Array.from({ length: uploadLimits.batchFiles + 1 }, (_, i) => at('', `f${i}`)));
  expect(many.map((b) => b.files.length)).toEqual([uploadLimits.batchFiles, 1]);
  expect(many[0]?.dir).toBe('');
});

test('what is too much is refused before anything is sent', async () => {
  expect(refusal([])).toMatch(/no file/);
  expect(refusal([at('', 'big', uploadLimits.fileBytes + 1)])).toMatch(/^big is 105 MB/);
  expect(refusal([at('', 'a')])).toBe('');
  const backend = fakeBackend();
  const ui = new UiStore();
  await new Uploader(backend, ui).put('s', '', [at('', 'big', uploadLimits.fileBytes + 1)]);
  expect(backend.callsOf('putFiles')).toEqual([]);
  expect(ui.toasts[0]?.tone).toBe('bad');
});

test('files arrive with their content, and it is told', async () => {
  const backend = fakeBackend();
  const ui = new UiStore();
  const uploader = new Uploader(backend, ui);
  const written = await uploader.put('s', 'src', [at('', 'a.txt'), at('lib', 'b.txt')]);
  expect(written).toEqual(['src/a.txt', 'src/lib/b.txt']);
  expect(backend.callsOf('putFiles')[0]).toEqual(['s', 'src', [{ name: 'a.txt', mime: '', base64: 'YWJj' }]]);
  expect(ui.toasts[0]?.text).toBe('2 files were put into src.');
  expect(uploader.busy).toBe(false);
});

test('what stops half-way says how much is there', async () => {
  let calls = 0;
  const backend = fakeBackend({ putFiles: (_i, dir, files) => (calls++ === 0 ? Promise.resolve(files.map((f) => `${dir}/${f.name}`)) : refuse({ happened: 'The disk is full.' })()) });
  const ui = new UiStore();
  await new Uploader(backend, ui).put('s', '', [at('x', 'a'), at('y', 'b')]);
  expect(ui.toasts[0]).toMatchObject({ text: 'The disk is full.', tone: 'bad', detail: '1 of 2 files is in the workspace.' });
});

test('folders are read to the end, however many parts they come in', async () => {
  const leaf = (name: string) => ({ isFile: true, name, file: (ok: (f: File) => void) => ok(file(name)) });
  const folder = (name: string, ...parts: unknown[][]) => {
    const left = [...parts, []];
    return { isFile: false, name, createReader: () => ({ readEntries: (ok: (e: unknown[]) => void) => ok(left.shift() ?? []) }) };
  };
  const entry = folder('docs', [leaf('a'), folder('deep', [leaf('c')])], [leaf('b')]);
  const items = [
    { kind: 'file', webkitGetAsEntry: () => entry },
    { kind: 'file', webkitGetAsEntry: () => null, getAsFile: () => file('plain') },
    { kind: 'string' },
  ];
  const found = await droppedFiles({ items } as unknown as DataTransfer);
  expect(found.map((d) => `${d.below}/${d.file.name}`)).toEqual(['/plain', 'docs/a', 'docs/deep/c', 'docs/b']);
});
