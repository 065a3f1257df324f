// Terminal output as safe, styled pieces of text: colours and emphasis (SGR)
// are kept, lines overwritten by carriage returns show what a terminal would,
// everything else that moves a cursor is dropped.

export interface Style {
  /** 0-15 of the theme's palette, or a CSS colour of the 256 or true-colour ranges. */
  fg: number | string | null;
  bg: number | string | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
}

export interface Span {
  text: string;
  style: Style;
}

export const noStyle: Style = {
  fg: null,
  bg: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  inverse: false,
};

// CSI, OSC (ended by BEL or ST), other escapes, and the other C0 controls but
// tab and newline.
// eslint-disable-next-line no-control-regex
const control = /\x1b\[([0-?]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)|\x1b[PX^_][^\x1b]*(?:\x1b\\|$)|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** What a terminal shows of a line after its carriage returns and backspaces. */
function settle(line: string): string {
  let text = line.endsWith('\r') ? line.slice(0, -1) : line;
  const back = text.lastIndexOf('\r');
  if (back >= 0) text = overwrite(text.split('\r'));
  return text;
}

// Each part is written over the one before, from the beginning of the line.
// Parts with escapes can't be cut by columns: the last one wins.
function overwrite(parts: string[]): string {
  let shown = '';
  for (const part of parts) {
    if (part === '') continue;
    shown = part.includes('\x1b') || shown.includes('\x1b') || part.length >= shown.length ? part : part + shown.slice(part.length);
  }
  return shown;
}

/** Text without any control, for places that can't be styled. */
export function plainText(text: string): string {
  return text.split('\n').map(settle).join('\n').replace(control, '');
}

/** Splits output into pieces of one style each. The style goes on over lines. */
export function parseAnsi(text: string, from: Style = noStyle): { spans: Span[]; style: Style } {
  const source = text.includes('\r') ? text.split('\n').map(settle).join('\n') : text;
  const spans: Span[] = [];
  let style = from;
  let at = 0;
  const push = (piece: string) => {
    if (piece === '') return;
    const last = spans.at(-1);
    if (last && last.style === style) last.text += piece;
    else spans.push({ text: piece, style });
  };
  control.lastIndex = 0;
  for (let m = control.exec(source); m; m = control.exec(source)) {
    push(source.slice(at, m.index));
    at = m.index + m[0].length;
    if (m[2] === 'm') style = sgr(style, m[1] ?? '');
  }
  push(source.slice(at));
  return { spans, style };
}

function sgr(style: Style, params: string): Style {
  // Private sequences (">4;2m") are not colours.
  if (/[^0-9;:]/.test(params)) return style;
  // Colons tie what belongs together: "38:2::1:2:3" is a colour, "4:3" a kind
  // of underline.
  const codes = params.split(';').flatMap((p) => {
    if (!p.includes(':')) return [Number(p)];
    const parts = p.split(':');
    const head = Number(parts[0]);
    if (head !== 38 && head !== 48) return [head];
    return (parts[1] === '2' && parts.length > 5 ? [...parts.slice(0, 2), ...parts.slice(3)] : parts).map(Number);
  });
  let next: Style = { ...style };
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    if (code === 0) next = { ...noStyle };
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 7) next.inverse = true;
    else if (code === 22) next.bold = next.dim = false;
    else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code === 27) next.inverse = false;
    else if (code >= 30 && code <= 37) next.fg = code - 30;
    else if (code >= 40 && code <= 47) next.bg = code - 40;
    else if (code >= 90 && code <= 97) next.fg = code - 82;
    else if (code >= 100 && code <= 107) next.bg = code - 92;
    else if (code === 39) next.fg = null;
    else if (code === 49) next.bg = null;
    else if (code === 38 || code === 48) {
      const { color, used } = extended(codes, i + 1);
      i += used;
      if (code === 38) next.fg = color;
      else next.bg = color;
    }
  }
  return isPlain(next) ? noStyle : next;
}

function isPlain(s: Style): boolean {
  return s.fg === null && s.bg === null && !(s.bold || s.dim || s.italic || s.underline || s.inverse);
}

const byte = (n: number | undefined) => (n !== undefined && n >= 0 && n <= 255 ? Math.floor(n) : 0);

function extended(codes: number[], at: number): { color: number | string | null; used: number } {
  if (codes[at] === 2) {
    return { color: `rgb(${byte(codes[at + 1])} ${byte(codes[at + 2])} ${byte(codes[at + 3])})`, used: 4 };
  }
  if (codes[at] !== 5) return { color: null, used: 0 };
  const n = byte(codes[at + 1]);
  if (n < 16) return { color: n, used: 2 };
  if (n >= 232) {
    const grey = 8 + (n - 232) * 10;
    return { color: `rgb(${grey} ${grey} ${grey})`, used: 2 };
  }
  const level = (v: number) => (v === 0 ? 0 : 55 + v * 40);
  const cube = n - 16;
  return {
    color: `rgb(${level(Math.floor(cube / 36))} ${level(Math.floor(cube / 6) % 6)} ${level(cube % 6)})`,
    used: 2,
  };
}
