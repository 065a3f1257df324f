// The read-only editor of the file viewer. It is loaded when the first text is
// shown, and each language when the first file of it is.
import { bracketMatching, foldGutter, foldKeymap, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  EditorView,
  drawSelection,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { replacement } from '$lib/state/files/windows';
import { languageOf, readable, style, theme } from './editorbase';

export interface Editor {
  /** Replaces what changed, so that the reader keeps the place. */
  update(text: string): void;
  wrap(on: boolean): void;
  find(): void;
  destroy(): void;
}

export interface EditorOptions {
  text: string;
  /** Decides the language. */
  name: string;
  label: string;
  wrap: boolean;
  /** Line numbers say nothing in the middle of a file. */
  numbered: boolean;
  /** Begin at the end of the text. */
  atEnd: boolean;
}

export function createEditor(parent: HTMLElement, options: EditorOptions): Editor {
  const wrapping = new Compartment();
  const language = new Compartment();
  const wrapped = (on: boolean): Extension => (on ? EditorView.lineWrapping : []);

  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        EditorState.readOnly.of(true),
        readable(options.label),
        options.numbered ? lineNumbers() : [],
        foldGutter(),
        highlightSpecialChars(),
        drawSelection(),
        bracketMatching(),
        highlightSelectionMatches(),
        search({ top: true }),
        keymap.of([...searchKeymap, ...foldKeymap]),
        syntaxHighlighting(style),
        theme,
        wrapping.of(wrapped(options.wrap)),
        language.of([]),
      ],
    }),
  });
  if (options.atEnd) view.dispatch({ effects: EditorView.scrollIntoView(view.state.doc.length, { y: 'end' }) });

  let alive = true;
  void languageOf(options.name).then((support) => support && alive && view.dispatch({ effects: language.reconfigure(support) }));

  return {
    update(text) {
      // Compared as the editor keeps it: with one kind of line end.
      const change = replacement(view.state.doc.toString(), EditorState.create({ doc: text }).doc.toString());
      if (change) view.dispatch({ changes: change });
    },
    wrap: (on) => view.dispatch({ effects: wrapping.reconfigure(wrapped(on)) }),
    find: () => openSearchPanel(view),
    destroy() {
      alive = false;
      view.destroy();
    },
  };
}
