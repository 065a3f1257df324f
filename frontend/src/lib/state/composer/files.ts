import { limits, type Upload } from '$lib/backend/types';
import { base64 } from '$lib/util/base64';
import { bytes } from '$lib/util/format';
import { uuid } from '$lib/util/uuid';

/** A file that goes with the next message. */
export interface DraftFile {
  id: string;
  name: string;
  mime: string;
  size: number;
  content: Blob;
  /** Object URL of an image, "" for others. Released by release(). */
  preview: string;
}

/** A pasted text longer than this becomes a file. */
export const pasteMax = 64 * 1024;

/** Takes files as far as the limits allow, and says which were left out and why. */
export function addFiles(have: readonly DraftFile[], more: readonly File[]): { files: DraftFile[]; errors: string[] } {
  const files = [...have];
  const errors: string[] = [];
  let left = 0;
  for (const file of more) {
    const name = file.name || nameOf(file.type);
    if (file.size > limits.attachmentBytes) {
      errors.push(`${name} is ${bytes(file.size)}. The most is ${bytes(limits.attachmentBytes)} a file.`);
    } else if (files.length >= limits.attachments) left++;
    else files.push({ id: uuid(), name, mime: file.type, size: file.size, content: file, preview: previewOf(file) });
  }
  if (left > 0) {
    errors.push(`${left === 1 ? 'One file was' : `${left} files were`} left out: a message takes ${limits.attachments}.`);
  }
  return { files, errors };
}

function nameOf(mime: string): string {
  const ending = /^image\/(png|jpeg|gif|webp|bmp)$/.exec(mime)?.[1];
  return ending ? `pasted.${ending === 'jpeg' ? 'jpg' : ending}` : 'pasted.bin';
}

// SVG may carry scripts and is not shown, only sent.
function previewOf(file: File): string {
  return /^image\/(png|jpeg|gif|webp|bmp|avif)$/.test(file.type) ? URL.createObjectURL(file) : '';
}

export function release(files: readonly DraftFile[]): void {
  for (const file of files) if (file.preview) URL.revokeObjectURL(file.preview);
}

/** The text as a file, for what is too long to be typed. */
export function textFile(text: string): File {
  return new File([text], 'pasted.txt', { type: 'text/plain' });
}

/** Reads the files for sending. Rejects with the name of one that can't be read. */
export function uploads(files: readonly DraftFile[]): Promise<Upload[]> {
  return Promise.all(files.map(async (f) => ({ name: f.name, mime: f.mime, base64: await base64(f.content, f.name) })));
}
