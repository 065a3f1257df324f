// What of a file's difference can be shown, and what is said of the rest.
import type { ChangedFile, FileDiff, FileSide } from '$lib/backend/types';
import { bytes } from '$lib/util/format';
import { modeText } from './marks';

export type Shown =
  | { kind: 'text'; before: string; after: string }
  | { kind: 'images'; before: FileSide | null; after: FileSide | null }
  | { kind: 'words'; text: string; more: string };

const isText = (side: FileSide | null) => !side || ((side.kind === 'text' || side.kind === 'link') && !side.tooLarge);
const isImage = (side: FileSide | null) => !side || (side.kind === 'image' && !side.tooLarge && Boolean(side.base64));

function sizes(before: FileSide | null, after: FileSide | null): string {
  if (before && after) return before.size === after.size ? `${bytes(after.size)} before and after` : `${bytes(before.size)} before, ${bytes(after.size)} now`;
  return bytes((before ?? after)?.size ?? 0);
}

/** What to show of a difference. */
export function shownOf(file: Pick<ChangedFile, 'op' | 'kind'>, diff: FileDiff): Shown {
  const before = diff.old ?? null;
  const after = diff.new ?? null;
  if (file.op === 'mode') return { kind: 'words', text: 'Only the permissions changed.', more: modeWords(before, after) };
  if (file.kind === 'dir' || before?.kind === 'dir' || after?.kind === 'dir') {
    if (before && after && before.kind !== after.kind) {
      return { kind: 'words', text: after.kind === 'dir' ? 'A file became a folder.' : 'A folder became a file.', more: '' };
    }
    return { kind: 'words', text: after ? 'A folder was added.' : 'A folder was deleted.', more: '' };
  }
  if (!before && !after) return { kind: 'words', text: 'There is nothing to show of this file.', more: '' };
  if (isText(before) && isText(after)) return { kind: 'text', before: before?.text ?? '', after: after?.text ?? '' };
  if (isImage(before) && isImage(after)) return { kind: 'images', before, after };
  if (before?.tooLarge || after?.tooLarge) {
    return { kind: 'words', text: 'This file is too large to be compared here.', more: sizes(before, after) };
  }
  return { kind: 'words', text: 'This is not text: it can’t be compared line by line.', more: sizes(before, after) };
}

/** A change of permissions beside a change of content; "" when there is none. */
export function modeWords(before: FileSide | null | undefined, after: FileSide | null | undefined): string {
  if (!before || !after || modeText(before.mode) === modeText(after.mode)) return '';
  return `Permissions ${modeText(before.mode)} → ${modeText(after.mode)}`;
}
