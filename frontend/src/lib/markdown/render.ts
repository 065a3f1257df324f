import DOMPurify from 'dompurify';
import { Marked, type Token, type Tokens } from 'marked';

// Markdown to HTML that may be put into the page. What the model wrote is
// hostile until it went through the sanitiser: no scripts, no styles, no
// classes or ids of ours, no forms, no images (nothing is ever loaded).

/** A top-level part of a text: a code block, or sanitised HTML. */
export type Block =
  | { kind: 'html'; html: string }
  | { kind: 'code'; code: string; lang: string; closed: boolean };

// A list or quotation finds its direction from its text, but not from text in
// parts that have their own: inside them paragraphs have none.
let inside = 0;

function within(render: () => string): string {
  inside++;
  try {
    return render();
  } finally {
    inside--;
  }
}

const auto = () => (inside > 0 ? '' : ' dir="auto"');

const marked = new Marked({
  gfm: true,
  breaks: false,
  renderer: {
    // An image would tell its server that the text was read: show where it is.
    image({ href, text }) {
      return `<a${target(href)}>${escape(text || href)}</a>`;
    },
    link({ href, title, tokens }) {
      return `<a${target(href)}${title ? ` title="${escape(title)}"` : ''}>${this.parser.parseInline(tokens)}</a>`;
    },
    heading({ tokens, depth }) {
      return `<h${depth}${auto()}>${this.parser.parseInline(tokens)}</h${depth}>`;
    },
    paragraph({ tokens }) {
      return `<p${auto()}>${this.parser.parseInline(tokens)}</p>`;
    },
    blockquote({ tokens }) {
      return `<blockquote${auto()}>${within(() => this.parser.parse(tokens))}</blockquote>`;
    },
    list(token) {
      const tag = token.ordered ? 'ol' : 'ul';
      const start = token.ordered && token.start !== 1 ? ` start="${Number(token.start)}"` : '';
      return `<${tag}${start}${auto()}>${within(() => token.items.map((item) => this.listitem(item)).join(''))}</${tag}>`;
    },
    listitem(item) {
      const mark = item.task ? `<span data-md="task">${item.checked ? '☑' : '☐'}</span> ` : '';
      // The lexer has put its own checkbox token first.
      const tokens = item.tokens.filter((t) => t.type !== 'checkbox');
      return `<li${item.task ? ' data-md="task-item"' : ''}>${mark}${this.parser.parse(tokens)}</li>`;
    },
    checkbox() {
      return '';
    },
    table(token) {
      const row = (cells: Tokens.TableCell[], tag: string) =>
        `<tr>${cells
          .map((c) => `<${tag} dir="auto"${c.align ? ` align="${c.align}"` : ''}>${this.parser.parseInline(c.tokens)}</${tag}>`)
          .join('')}</tr>`;
      // Wide tables scroll by themselves.
      return `<div data-md="table"><table><thead>${row(token.header, 'th')}</thead><tbody>${token.rows
        .map((r) => row(r, 'td'))
        .join('')}</tbody></table></div>`;
    },
    code({ text, lang }) {
      return `<pre data-lang="${escape(langOf(lang))}"><code>${escape(text)}</code></pre>`;
    },
  },
});

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

// Where a link leads, as attributes: to the web, to a file, or nowhere.
function target(href: string): string {
  if (isWeb(href)) return ` href="${escape(href)}"`;
  const file = fileOf(href);
  return file === '' ? '' : ` href="#" data-file="${escape(file)}"`;
}

/** The language of a fence's info string: its first word. */
function langOf(info: string | undefined): string {
  return /^[\w+#.-]*/.exec(info ?? '')?.[0].toLowerCase() ?? '';
}

const policy = {
  ALLOWED_TAGS: [
    'p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'blockquote', 'pre', 'code',
    'em', 'strong', 'i', 'b', 's', 'del', 'ins', 'u', 'mark', 'small', 'sub', 'sup', 'kbd', 'samp', 'var', 'q', 'abbr',
    'a', 'span', 'div', 'table', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td', 'caption', 'details', 'summary',
  ],
  ALLOWED_ATTR: ['href', 'title', 'dir', 'start', 'align', 'colspan', 'rowspan', 'open', 'data-md', 'data-lang', 'data-file'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  // Relative links are file names; they are told apart below.
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|[^a-z]|[a-z+.-]+(?:[^a-z+.:-]|$))/i,
};

let purify: typeof DOMPurify | undefined;

// Made at the first use: a DOM is needed.
function sanitiser(): typeof DOMPurify {
  if (purify) return purify;
  purify = DOMPurify(window);
  purify.addHook('afterSanitizeAttributes', (node) => {
    if (node.nodeName !== 'A') return;
    const href = node.getAttribute('href');
    // Links that the renderer made, and those of raw HTML.
    if (href === '#' && node.hasAttribute('data-file')) return;
    node.removeAttribute('data-file');
    if (href === null || isWeb(href)) return;
    node.removeAttribute('href');
    const file = fileOf(href);
    if (file === '') return;
    node.setAttribute('data-file', file);
    node.setAttribute('href', '#');
  });
  return purify;
}

/** Tells whether an address may be opened in the browser, after asking. */
export function isWeb(href: string): boolean {
  try {
    return ['http:', 'https:', 'mailto:'].includes(new URL(href).protocol);
  } catch {
    return false;
  }
}

/** The file that a relative link names; "" for anchors and what is no file. */
function fileOf(href: string): string {
  if (href.startsWith('#') || href.startsWith('//') || /^[a-z][a-z+.-]*:/i.test(href)) return '';
  const path = href.replace(/[?#].*$/, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Makes HTML of unknown origin safe. */
export function sanitise(html: string): string {
  return sanitiser().sanitize(html, policy);
}

export function lex(text: string): Token[] {
  return marked.lexer(text);
}

/** Renders one top-level token. open: the text may still go on behind it. */
export function renderBlock(token: Token, open: boolean): Block {
  if (token.type === 'code' && !('codeBlockStyle' in token && token.codeBlockStyle === 'indented')) {
    const code = token as Tokens.Code;
    return { kind: 'code', code: code.text, lang: langOf(code.lang), closed: !open || isClosed(code.raw) };
  }
  const html = marked.parser([token]);
  // While it grows it is rendered with each piece. Without a "<" there is no
  // HTML but the renderer's own, in which all text is escaped and all links are
  // checked; finished text goes through the sanitiser in any case.
  return { kind: 'html', html: open && !token.raw.includes('<') ? html : sanitise(html) };
}

/** Tells whether a fence was closed by a line like the one that opened it. */
function isClosed(raw: string): boolean {
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(raw)?.[1];
  if (!fence) return true;
  const last = raw.trimEnd().split('\n');
  return last.length > 1 && new RegExp(`^ {0,3}${fence[0]}{${fence.length},}\\s*$`).test(last.at(-1) ?? '');
}
