// A made-up workspace for the file pane: odd names, a large and a binary file,
// a folder of 10,000.
import { BackendError } from '$lib/backend/errors';
import type { Backend } from '$lib/backend/backend';
import type { FileContent, FileEntry, Fault } from '$lib/backend/types';

const modified = () => new Date(Date.now() - 5 * 60_000).toISOString();

function entry(path: string, kind: FileEntry['kind'] = 'file', size = 1200, more: Partial<FileEntry> = {}): FileEntry {
  return { name: path.split('/').pop() ?? path, path, kind, size, mode: 0o644, modified: modified(), ...more };
}

const source = `// Package parser reads dates with offsets.
package parser

import (
	"errors"
	"time"
)

// ErrOffset tells of an offset that can't be.
var ErrOffset = errors.New("parser: bad offset")

// Offset reads "+05:30" as a duration.
func Offset(text string) (time.Duration, error) {
	if len(text) != 6 || text[3] != ':' {
		return 0, ErrOffset
	}
	hours := int(text[1]-'0')*10 + int(text[2]-'0')
	minutes := int(text[4]-'0')*10 + int(text[5]-'0') // half-hour offsets keep their minutes, in a comment too long for the pane
	d := time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute
	if text[0] == '-' {
		d = -d
	}
	return d, nil
}
`;

const readme = '# Parser\n\nReads *dates* with **offsets**.\n\n```go\nd, err := parser.Offset("+05:30")\n```\n\n- one\n- two\n';
const logSize = 52_428_800;
const binarySize = 5_242_880;

export function refusal(change: Partial<Fault>): BackendError {
  return new BackendError({ class: 'internal', happened: 'It broke.', ...change });
}

/** The folders; a test may change them. */
export function makeFolders(): Record<string, FileEntry[]> {
  return {
    '': [
      ...['.git', '.github', 'cmd', 'internal', 'testdata'].map((name) => entry(name, 'dir')),
      entry('.gitignore', 'file', 0),
      entry('go.mod', 'file', 340),
      entry('go.sum', 'file', 18_841),
      entry('README.md', 'file', readme.length),
      entry('parser.go', 'file', source.length * 6),
      entry('logo.svg', 'file', 400),
      entry('app.bin', 'file', binarySize),
      entry('huge.log', 'file', logSize),
      entry('-rf\n', 'file', 0),
      entry('caf\\xe9.txt', 'file', 12, { rawPath: 'Y2Fm6S50eHQ=' }),
      entry('latest', 'link', 0, { target: 'releases/2026-02' }),
      entry('control.sock', 'other', 0),
      entry('a-file-with-a-very-long-name-that-does-not-fit-into-the-pane-at-all.test.generated.snapshot.json'),
      entry('دليل المستخدم.txt', 'file', 812),
    ],
    internal: [entry('internal/date', 'dir'), entry('internal/zone', 'dir'), entry('internal/doc.go')],
    'internal/date': Array.from({ length: 30 }, (_, i) => entry(`internal/date/case${i + 1}.go`, 'file', 400 + i * 311)),
    'internal/zone': [],
    testdata: Array.from({ length: 10_000 }, (_, i) => entry(`testdata/f${i}.json`, 'file', i)),
  };
}

const picture =
  '<svg xmlns="http://www.w3.org/2000/svg" width="320" height="200"><circle cx="220" cy="70" r="40" fill="#e0b268"/><path d="M0 200 120 90l60 50 50-30 90 90z" fill="#7fc98f"/></svg>';

function binary(offset: number, max: number): string {
  let text = '';
  for (let i = offset; i < offset + max; i++) text += String.fromCharCode((i * 37 + (i >> 8)) & 255);
  return btoa(text);
}

function log(offset: number, max: number): string {
  let text = '';
  for (let line = Math.floor(offset / 80); text.length < max + 80; line++) {
    text += `${String(line).padStart(8)} level=info msg="request served" ms=${line % 97}`.padEnd(79) + '\n';
  }
  return text.slice(offset % 80, (offset % 80) + max);
}

export function workspace(folders: Record<string, FileEntry[]> = makeFolders()): Pick<Backend, 'listDir' | 'readFile'> {
  return {
    listDir: async (_, path) => {
      const found = folders[path];
      if (!found) throw refusal({ class: 'workspace', happened: 'You may not read this folder.', remedy: 'Change its permissions, then try again.' });
      return found;
    },
    readFile: async (_, path, __, offset, max): Promise<FileContent> => {
      const base = { path, offset, modified: modified(), mime: 'text/plain', kind: 'text' as const };
      if (path === 'app.bin') {
        const bytes = Math.min(max, binarySize - offset);
        return { ...base, size: binarySize, bytes, base64: binary(offset, bytes), mime: 'application/octet-stream', kind: 'binary' };
      }
      if (path === 'huge.log') {
        const bytes = Math.min(max, logSize - offset);
        return { ...base, size: logSize, bytes, text: log(offset, bytes) };
      }
      if (path === 'logo.svg') return { ...base, size: picture.length, bytes: picture.length, base64: btoa(picture), mime: 'image/svg+xml', kind: 'image' };
      if (path === 'go.sum') throw refusal({ class: 'not_found', happened: 'This file is gone.', remedy: 'Look at the folder again.' });
      if (path === 'go.mod') return new Promise<never>(() => {});
      const text = path === 'README.md' ? readme : path === '.gitignore' ? '' : source.repeat(6);
      return { ...base, size: text.length, bytes: text.length, text };
    },
  };
}
