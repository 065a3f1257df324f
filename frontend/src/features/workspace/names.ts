// File names as they are shown: what can't be seen or would mislead is written out.

export interface NamePart {
  text: string;
  /** Written in place of what can't be shown as it is. */
  odd: boolean;
}

// Control characters, invisible ones, and those that turn the direction of
// the text around them.
const HIDDEN = /[\p{Cc}\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u;
const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * nameParts splits a name. `raw` tells that its bytes are not valid UTF-8: the
 * program has then written the bad ones as \xNN.
 */
export function nameParts(name: string, raw: boolean): NamePart[] {
  const parts: NamePart[] = [];
  const add = (text: string, odd: boolean) => {
    const last = parts[parts.length - 1];
    if (last && last.odd === odd) last.text += text;
    else parts.push({ text, odd });
  };
  for (let i = 0; i < name.length; ) {
    const byte = raw ? /^\\x[0-9a-f]{2}/i.exec(name.slice(i, i + 4)) : null;
    if (byte) {
      add(byte[0], true);
      i += 4;
      continue;
    }
    const char = String.fromCodePoint(name.codePointAt(i)!);
    if (HIDDEN.test(char)) add(SHORT[char] ?? `\\u${char.codePointAt(0)!.toString(16).padStart(4, '0')}`, true);
    else add(char, false);
    i += char.length;
  }
  return parts;
}

/** The name as one line of text, for titles and screen readers. */
export function plainName(name: string, raw = false): string {
  return nameParts(name, raw)
    .map((part) => part.text)
    .join('');
}
