// The bytes of a binary file as lines of a hex view.

export type PerLine = 8 | 16;

/** decodeBase64 gives the bytes that a binary part of a file carries. */
export function decodeBase64(base64: string): Uint8Array {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export interface HexLine {
  /** Offset in the file, hexadecimal. */
  offset: string;
  /** Groups of eight bytes, padded so that every line is as wide. */
  hex: string;
  /** The bytes as ASCII, a dot for what can't be shown. */
  ascii: string;
}

/** hexLineCount tells how many lines the bytes make. */
export function hexLineCount(length: number, perLine: PerLine): number {
  return Math.ceil(length / perLine);
}

/** offsetWidth is how many digits the offsets of a file of this size need, at least eight. */
export function offsetWidth(size: number): number {
  return Math.max(8, Math.max(0, size - 1).toString(16).length);
}

/** hexLine makes one line; `base` is where the bytes begin in the file. */
export function hexLine(bytes: Uint8Array, line: number, base: number, width: number, perLine: PerLine): HexLine {
  const from = line * perLine;
  const to = Math.min(bytes.length, from + perLine);
  const cells: string[] = [];
  let ascii = '';
  for (let i = from; i < from + perLine; i++) {
    if (i >= to) {
      cells.push('  ');
      continue;
    }
    const byte = bytes[i]!;
    cells.push(byte.toString(16).padStart(2, '0'));
    ascii += byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.';
  }
  return {
    offset: (base + from).toString(16).padStart(width, '0'),
    hex: perLine === 8 ? cells.join(' ') : `${cells.slice(0, 8).join(' ')}  ${cells.slice(8).join(' ')}`,
    ascii,
  };
}
