// While a text streams, its last line is half made. Shown as it is, "**bo"
// would be two stars first and bold later, a lone "-" would turn the paragraph
// above into a heading, and a link would show its address. This file settles
// the end as what it will most probably become.

/** The text with its unfinished end closed or left out. */
export function settleTail(text: string): string {
  if (inFence(text)) return text;
  const line = text.slice(text.lastIndexOf('\n') + 1);
  // Markers that mean nothing yet, or something else than they will.
  if (/^\s*(?:[-*+=_#>|`~]+|\d{1,9}[.)]?|[-*+] \[[ x]?\]?)\s*$/.test(line)) {
    return text.slice(0, text.length - line.length);
  }
  const block = text.lastIndexOf('\n\n') + 1;
  return text.slice(0, block) + closeInline(text.slice(block));
}

/** Tells whether the text ends inside a fenced code block. */
export function inFence(text: string): boolean {
  let open = '';
  for (const match of text.matchAll(/^[ \t]*(?:>[ \t]?)*(?:[-*+][ \t]+|\d+[.)][ \t]+)?(`{3,}|~{3,})([^\n]*)$/gm)) {
    const fence = match[1] as string;
    const info = match[2] as string;
    if (open === '') {
      if (fence[0] === '`' && info.includes('`')) continue;
      open = fence;
    } else if (fence[0] === open[0] && fence.length >= open.length && info.trim() === '') open = '';
  }
  return open !== '';
}

/** Closes code spans, emphasis and links that are still open in a paragraph. */
export function closeInline(text: string): string {
  const open: { mark: string; at: number }[] = [];
  let i = 0;
  while (i < text.length) {
    const c = text[i] as string;
    if (c === '\\') {
      i += 2;
      continue;
    }
    if (c === '`') {
      const run = runOf(text, i, '`');
      const end = closingRun(text, i + run, run);
      // Everything in an open code span is code.
      if (end < 0) return dropEmpty(text.slice(0, i), text.slice(i + run), '`'.repeat(run), open);
      i = end + run;
      continue;
    }
    if (c === '[') {
      const link = /^\[([^\][\n]*)\]\(([^()\s]*)$/.exec(text.slice(i));
      // The address is not there yet: show the words.
      if (link) return finish(text.slice(0, i) + (link[1] ?? ''), open);
      const whole = /^\[[^\][\n]*\]\([^()\s]*\)/.exec(text.slice(i));
      if (whole) {
        i += whole[0].length;
        continue;
      }
    }
    if (c === '*' || c === '_' || c === '~') {
      const run = runOf(text, i, c);
      const last = open.at(-1)?.mark;
      // The first half of a closing mark.
      if (i + run === text.length && last?.[0] === c && run < last.length) return finish(text.slice(0, i), open);
      mark(text, i, run, c, open);
      i += run;
      continue;
    }
    i++;
  }
  return finish(text, open);
}

function runOf(text: string, at: number, c: string): number {
  let end = at;
  while (text[end] === c) end++;
  return end - at;
}

function closingRun(text: string, from: number, length: number): number {
  for (let i = text.indexOf('`', from); i >= 0; i = text.indexOf('`', i)) {
    const run = runOf(text, i, '`');
    if (run === length) return i;
    i += run;
  }
  return -1;
}

const isSpace = (c: string | undefined) => c === undefined || /\s/.test(c);
const isWord = (c: string | undefined) => c !== undefined && /[\p{L}\p{N}]/u.test(c);

// Opens or closes emphasis at a run of markers, roughly as CommonMark does.
function mark(text: string, at: number, run: number, c: string, open: { mark: string; at: number }[]): void {
  const before = text[at - 1];
  const after = text[at + run];
  const canOpen = !isSpace(after) && !(c === '_' && isWord(before));
  const canClose = !isSpace(before) && !(c === '_' && isWord(after));
  // At the very end it is not known yet what will follow.
  const atEnd = after === undefined;
  let left = c === '~' ? (run === 2 ? 2 : 0) : Math.min(run, 3);
  while (left > 0 && canClose) {
    const last = open.at(-1);
    if (last?.mark[0] !== c || last.mark.length > left) break;
    open.pop();
    left -= last.mark.length;
  }
  if (left === 0 || !(canOpen || (atEnd && (isSpace(before) || before === undefined)))) return;
  if (left === 3) open.push({ mark: c.repeat(2), at }, { mark: c, at: at + 2 });
  else open.push({ mark: c.repeat(left), at });
}

// Marks with nothing behind them are left out instead of closed.
function finish(text: string, open: { mark: string; at: number }[]): string {
  let result = text;
  const closing: string[] = [];
  for (let i = open.length - 1; i >= 0; i--) {
    const { mark, at } = open[i] as { mark: string; at: number };
    if (closing.length === 0 && result.slice(at + mark.length).trim() === '') result = result.slice(0, at);
    else closing.push(mark);
  }
  if (closing.length === 0) return result;
  return result.trimEnd() + closing.join('');
}

function dropEmpty(before: string, code: string, run: string, open: { mark: string; at: number }[]): string {
  if (code.trim() === '') return finish(before, open);
  // The run that will close it may be half there.
  const body = code.replace(/`+$/, '');
  return finish(`${before}${run}${body}${run}`, open);
}
