// A difference of two texts, read-only: in one column or in two. Loaded when the
// first difference is shown.
import { MergeView, getChunks, unifiedMergeView } from '@codemirror/merge';
import { syntaxHighlighting } from '@codemirror/language';
import { search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { Decoration, EditorView, drawSelection, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import { languageOf, readable, style, theme } from './editorbase';

export interface Difference {
  destroy(): void;
  /** How far it is scrolled, for one that takes its place. */
  readonly scroll: number;
}

export interface DifferenceOptions {
  before: string;
  after: string;
  /** Decides the language. */
  name: string;
  label: string;
  layout: 'unified' | 'split';
  wrap: boolean;
  scroll: number;
}

// What is alike is folded away, but for a few lines around each change.
const collapse = { margin: 3, minSize: 6 };
// Texts that differ everywhere are compared roughly rather than for long.
const diffConfig = { scanLimit: 2000, timeout: 1500 };

const colours = EditorView.theme({
  '&': { height: 'auto' },
  '.cm-scroller': { overflow: 'visible' },
  '.cm-changedLine, .cm-insertedLine': { backgroundColor: 'var(--diff-add) !important' },
  '.cm-deletedChunk': { backgroundColor: 'var(--diff-del)', paddingLeft: '6px' },
  '.cm-deletedChunk .cm-deletedLine': { textDecoration: 'none' },
  '.cm-deletedChunk del, .cm-deletedText': { textDecoration: 'none' },
  '&.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--diff-del) !important' },
  '&.cm-merge-b .cm-changedText, .cm-changedText': { background: 'color-mix(in srgb, var(--ok) 30%, transparent) !important' },
  '&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText': { background: 'color-mix(in srgb, var(--bad) 32%, transparent) !important' },
  // What is new or gone as a whole has no part of it that is.
  '& .cm-wholeLine .cm-changedText, .cm-deletedChunk:not(:has(+ .cm-changedLine)) .cm-deletedText': { background: 'none !important' },
  '.cm-changeGutter': { width: '3px', paddingLeft: '0' },
  '.cm-changedLineGutter': { background: 'var(--ok) !important' },
  '&.cm-merge-a .cm-changedLineGutter, .cm-deletedLineGutter': { background: 'var(--bad) !important' },
  '.cm-collapsedLines': {
    background: 'var(--bg-2) !important',
    color: 'var(--text-2) !important',
    fontFamily: 'var(--font-ui)',
    fontSize: 'var(--text-xs)',
    padding: '2px 12px',
    borderBlock: '1px solid var(--line)',
    cursor: 'default',
  },
  // The sign of the library is in few fonts.
  '.cm-collapsedLines:before, .cm-collapsedLines:after': { content: '"⋯" !important' },
  '.cm-collapsedLines:hover': { color: 'var(--text-0) !important' },
});

// Lines that have nothing to be compared with on the other side.
const whole = Decoration.line({ class: 'cm-wholeLine' });
const wholeLines = EditorView.decorations.of((view) => {
  const found = getChunks(view.state);
  const marks = [];
  for (const chunk of found?.chunks ?? []) {
    const [from, to, other] = found?.side === 'a' ? [chunk.fromA, chunk.endA, chunk.fromB === chunk.toB] : [chunk.fromB, chunk.endB, chunk.fromA === chunk.toA];
    if (!other || to < view.viewport.from || from > view.viewport.to) continue;
    for (let at = Math.max(from, view.viewport.from); at <= Math.min(to, view.viewport.to, view.state.doc.length); ) {
      const line = view.state.doc.lineAt(at);
      marks.push(whole.range(line.from));
      at = line.to + 1;
    }
  }
  return Decoration.set(marks);
});

function base(options: DifferenceOptions, language: Extension, label: string): Extension {
  return [
    EditorState.readOnly.of(true),
    readable(label),
    EditorState.phrases.of({ '$ unchanged lines': '$ unchanged lines' }),
    lineNumbers(),
    highlightSpecialChars(),
    drawSelection(),
    search({ top: true }),
    keymap.of(searchKeymap),
    syntaxHighlighting(style),
    theme,
    colours,
    wholeLines,
    options.wrap ? EditorView.lineWrapping : [],
    language,
  ];
}

export function createDifference(parent: HTMLElement, options: DifferenceOptions): Difference {
  const made = options.layout === 'split' ? split(parent, options) : unified(parent, options);
  parent.scrollTop = options.scroll;
  return {
    destroy: made.destroy,
    get scroll() {
      return parent.scrollTop;
    },
  };
}

function unified(parent: HTMLElement, options: DifferenceOptions) {
  const language = new Compartment();
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.after,
      extensions: [
        base(options, language.of([]), options.label),
        unifiedMergeView({ original: options.before, mergeControls: false, collapseUnchanged: collapse, diffConfig, allowInlineDiffs: false }),
      ],
    }),
  });
  return { destroy: colour(options.name, language, [view], () => view.destroy()) };
}

function split(parent: HTMLElement, options: DifferenceOptions) {
  const language = new Compartment();
  const view = new MergeView({
    parent,
    a: { doc: options.before, extensions: base(options, language.of([]), `${options.label}, before`) },
    b: { doc: options.after, extensions: base(options, language.of([]), `${options.label}, after`) },
    collapseUnchanged: collapse,
    diffConfig,
  });
  return { destroy: colour(options.name, language, [view.a, view.b], () => view.destroy()) };
}

// Colours come when their language is loaded, if it is still wanted then.
function colour(name: string, language: Compartment, views: readonly EditorView[], destroy: () => void): () => void {
  let alive = true;
  void languageOf(name).then((support) => {
    if (support && alive) for (const view of views) view.dispatch({ effects: language.reconfigure(support) });
  });
  return () => {
    alive = false;
    destroy();
  };
}
