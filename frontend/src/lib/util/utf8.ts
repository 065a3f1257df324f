const encoder = new TextEncoder();

/** How many bytes a text has in UTF-8. */
export function byteLength(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code >= 0xd800 && code < 0xdc00 && i + 1 < text.length) {
      bytes += 4;
      i++;
    } else bytes += 3;
  }
  return bytes;
}

/** The text without its first bytes; a character cut by the border is dropped. */
export function dropBytes(text: string, bytes: number): string {
  const all = encoder.encode(text);
  let from = bytes;
  while (from < all.length && ((all[from] ?? 0) & 0xc0) === 0x80) from++;
  return new TextDecoder().decode(all.subarray(from));
}
