import type { Token } from 'marked';
import { lex, renderBlock, type Block } from './render';
import { settleTail } from './tail';

export interface DrawnBlock {
  /** Its place from the start: the same block keeps it while the text grows. */
  key: number;
  block: Block;
}

interface Part {
  raw: string;
  /** It was the last one, and more could follow. */
  open: boolean;
  drawn: DrawnBlock;
}

/**
 * Renders a growing text so that only its end is done again. Blocks before the
 * last two can't be changed by what follows and stay as they are, as objects.
 */
export class MarkdownStream {
  #parts: readonly Part[] = [];
  #text = '';
  #open = false;

  /** The blocks of the text. open: more may follow, half-made markup is settled. */
  update(text: string, open: boolean): readonly DrawnBlock[] {
    if (text === this.#text && open === this.#open) return this.#drawn();
    const grown = open && this.#open && text.startsWith(this.#text);
    const kept = grown ? this.#parts.slice(0, this.#settled()) : [];
    const from = kept.reduce((sum, part) => sum + part.raw.length, 0);
    const rest = text.slice(from);
    const tokens = lex(open ? settleTail(rest) : rest);
    const parts: Part[] = [...kept];
    let space = '';
    tokens.forEach((token, i) => {
      if (token.type === 'space' || token.type === 'def') {
        space += token.raw;
        return;
      }
      parts.push(this.#part(parts.length, space, token, open, open && i === tokens.length - 1));
      space = '';
    });
    this.#parts = parts;
    this.#text = text;
    this.#open = open;
    return this.#drawn();
  }

  // The lexer gives the raw text of each token, together the whole text; the
  // settled end differs, but it is never among the kept parts.
  #part(key: number, space: string, token: Token, streaming: boolean, open: boolean): Part {
    const raw = space + token.raw;
    const known = this.#parts[key];
    // While it streams, the same text is the same block. In the end all is
    // rendered once more: what a link refers to may have come later.
    if (streaming && known && known.raw === raw && known.open === open) return known;
    const block = renderBlock(token, open);
    const drawn = known && sameBlock(known.drawn.block, block) ? known.drawn : { key, block };
    return { raw, open, drawn };
  }

  // How many parts nothing can change any more. The last two can: a list goes
  // on after an empty line, a paragraph becomes a heading or a table.
  #settled(): number {
    return Math.max(0, this.#parts.length - 2);
  }

  #drawn(): readonly DrawnBlock[] {
    return this.#parts.map((part) => part.drawn);
  }
}

function sameBlock(a: Block, b: Block): boolean {
  if (a.kind === 'html') return b.kind === 'html' && a.html === b.html;
  return b.kind === 'code' && a.code === b.code && a.lang === b.lang && a.closed === b.closed;
}

/**
 * Finished texts that were rendered before. Rows of a long conversation come
 * and go while it is scrolled; parsing each time would cost frames.
 */
export class MarkdownCache {
  readonly #known = new Map<string, readonly DrawnBlock[]>();
  readonly #size: number;

  /** size: how many texts are kept. */
  constructor(size: number) {
    this.#size = size;
  }

  /** The blocks of a finished text, as objects that stay the same. */
  blocks(text: string): readonly DrawnBlock[] {
    const known = this.#known.get(text);
    const blocks = known ?? new MarkdownStream().update(text, false);
    this.keep(text, blocks);
    return blocks;
  }

  /** Takes over what a stream has rendered. */
  keep(text: string, blocks: readonly DrawnBlock[]): void {
    this.#known.delete(text);
    this.#known.set(text, blocks);
    if (this.#known.size > this.#size) this.#known.delete(this.#known.keys().next().value as string);
  }
}
