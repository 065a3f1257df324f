// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { decodeBase64, hexLine, hexLineCount, offsetWidth } from './hex';

describe('hex view', () => {
  it('decodes every byte value', () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    expect(decodeBase64(btoa(String.fromCharCode(...bytes)))).toEqual(bytes);
    expect(decodeBase64('')).toHaveLength(0);
  });

  it('writes a full line in two groups with its ASCII', () => {
    const bytes = new TextEncoder().encode('\u007fELF, sixteen by');
    expect(hexLine(bytes, 0, 0, 8, 16)).toEqual({
      offset: '00000000',
      hex: '7f 45 4c 46 2c 20 73 69  78 74 65 65 6e 20 62 79',
      ascii: '.ELF, sixteen by',
    });
  });

  it('pads the last line and counts offsets from the base', () => {
    const bytes = Uint8Array.from([...Array(16).fill(0x41), 0x00, 0xff]);
    expect(hexLineCount(bytes.length, 16)).toBe(2);
    const line = hexLine(bytes, 1, 0x40000, 8, 16);
    expect(line.offset).toBe('00040010');
    expect(line.hex).toBe('00 ff' + '   '.repeat(6) + '  ' + '  ' + '   '.repeat(7));
    expect(line.hex).toHaveLength(hexLine(bytes, 0, 0, 8, 16).hex.length);
    expect(line.ascii).toBe('..');
  });

  it('has half as long lines where there is little room', () => {
    const bytes = new TextEncoder().encode('abcdefghij');
    expect(hexLineCount(bytes.length, 8)).toBe(2);
    expect(hexLine(bytes, 0, 0, 8, 8).hex).toBe('61 62 63 64 65 66 67 68');
    expect(hexLine(bytes, 1, 0, 8, 8)).toMatchObject({ offset: '00000008', ascii: 'ij' });
  });

  it('widens offsets for files over 4 GiB', () => {
    expect(offsetWidth(0)).toBe(8);
    expect(offsetWidth(2 ** 32)).toBe(8);
    expect(offsetWidth(2 ** 32 + 1)).toBe(9);
  });
});
