import type { HLJSApi, LanguageFn } from 'highlight.js';
import { languages } from './languages';

// The highlighter and each language are loaded when first needed. Its HTML is
// made of escaped text and <span class="hljs-…"> only.

const maxLength = 60_000;
const cacheSize = 200;

let core: Promise<HLJSApi> | undefined;
const loaded = new Map<string, Promise<boolean>>();
const cache = new Map<string, string>();

async function load(name: string): Promise<boolean> {
  const language = languages[name];
  if (!language) return false;
  core ??= import('highlight.js/lib/core').then((m) => m.default);
  const [hljs, definition] = await Promise.all([core, language() as Promise<{ default: LanguageFn }>]);
  hljs.registerLanguage(name, definition.default);
  // Some languages use others inside: HTML uses CSS and JavaScript.
  return true;
}

function keyOf(code: string, lang: string): string {
  return `${lang}\n${code}`;
}

/** The HTML of a text that was highlighted before; undefined if it was not. */
export function highlighted(code: string, lang: string): string | undefined {
  const key = keyOf(code, lang);
  const html = cache.get(key);
  if (html !== undefined) {
    cache.delete(key);
    cache.set(key, html);
  }
  return html;
}

/** Highlights a text; null when the language is not known or the text too long. */
export async function highlight(code: string, lang: string): Promise<string | null> {
  const name = lang.toLowerCase();
  if (!languages[name] || code.length > maxLength) return null;
  const known = highlighted(code, name);
  if (known !== undefined) return known;
  let ready = loaded.get(name);
  if (!ready) loaded.set(name, (ready = load(name)));
  try {
    if (!(await ready) || !core) return null;
  } catch {
    // The chunk could not be read: plain text is fine, and next time it is tried again.
    loaded.delete(name);
    return null;
  }
  const html = (await core).highlight(code, { language: name, ignoreIllegals: true }).value;
  cache.set(keyOf(code, name), html);
  if (cache.size > cacheSize) cache.delete(cache.keys().next().value as string);
  return html;
}
