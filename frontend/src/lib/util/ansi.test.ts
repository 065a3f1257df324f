import { describe, expect, test } from 'vitest';
import { noStyle, parseAnsi, plainText } from './ansi';

const texts = (text: string) => parseAnsi(text).spans.map((s) => s.text);

describe('parseAnsi', () => {
  test('colours and emphasis', () => {
    const { spans, style } = parseAnsi('a\x1b[31mred\x1b[1mbold\x1b[0m plain \x1b[92;44mx');
    expect(spans.map((s) => [s.text, s.style.fg, s.style.bg, s.style.bold])).toEqual([
      ['a', null, null, false],
      ['red', 1, null, false],
      ['bold', 1, null, true],
      [' plain ', null, null, false],
      ['x', 10, 4, false],
    ]);
    expect(style.fg).toBe(10);
  });

  test('256 and true colours, with both separators', () => {
    const fg = (text: string) => parseAnsi(text).spans[0]?.style.fg;
    expect(fg('\x1b[38;5;9mx')).toBe(9);
    expect(fg('\x1b[38;5;196mx')).toBe('rgb(255 0 0)');
    expect(fg('\x1b[38;5;244mx')).toBe('rgb(128 128 128)');
    expect(fg('\x1b[38;2;1;2;3mx')).toBe('rgb(1 2 3)');
    expect(fg('\x1b[38:5:196mx')).toBe('rgb(255 0 0)');
    expect(fg('\x1b[38:2::1:2:3mx')).toBe('rgb(1 2 3)');
    expect(fg('\x1b[38;2;999;0;3mx')).toBe('rgb(0 0 3)');
    expect(parseAnsi('\x1b[4:3mx').spans[0]?.style).toEqual({ ...noStyle, underline: true });
  });

  test('the style goes on into the next piece', () => {
    const first = parseAnsi('\x1b[33mone');
    expect(parseAnsi('two', first.style).spans[0]?.style.fg).toBe(3);
    expect(parseAnsi('\x1b[39mtwo', first.style).spans[0]?.style).toBe(noStyle);
  });

  test('what is no colour leaves no trace', () => {
    expect(texts('a\x1b[2Jb\x1b[10;5Hc\x1b]0;title\x07d\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\e\x1b(Bf\x00\x08g')).toEqual(['abcdlinkefg']);
    expect(texts('x\x1b[>4;2my')).toEqual(['xy']);
    expect(texts('end\x1b[3')).toEqual(['end3']);
    expect(texts('end\x1b')).toEqual(['end']);
    expect(texts('\x1b]0;never ended')).toEqual([]);
  });

  test('progress lines show their last state', () => {
    expect(plainText('10%\r50%\r100%\ndone\r\n')).toBe('100%\ndone\n');
    expect(plainText('abcdef\rXY')).toBe('XYcdef');
    expect(plainText('\x1b[32mabc\x1b[0m\r\x1b[31mx')).toBe('x');
  });

  test('markup is only text', () => {
    expect(texts('<b onclick="x">&amp;</b>')).toEqual(['<b onclick="x">&amp;</b>']);
  });
});
