// The read-only editor of the file viewer. It is loaded when the first text is
// shown, and each language when the first file of it is.
import { HighlightStyle, LanguageDescription, bracketMatching, foldGutter, foldKeymap, syntaxHighlighting } from '@codemirror/language';
import { languages } from '@codemirror/language-data';
import { highlightSelectionMatches, openSearchPanel, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import {
  EditorView,
  drawSelection,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { replacement } from '$lib/state/files/windows';

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

const style = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: 'var(--syn-keyword)' },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: 'var(--syn-string)' },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: 'var(--syn-number)' },
  { tag: [tags.comment, tags.meta], color: 'var(--syn-comment)' },
  { tag: [tags.function(tags.variableName), tags.function(tags.definition(tags.variableName)), tags.heading], color: 'var(--syn-title)' },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.tagName], color: 'var(--syn-type)' },
  { tag: [tags.attributeName, tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--syn-attr)' },
  { tag: [tags.link, tags.url], color: 'var(--accent)' },
  { tag: tags.heading, fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strong, fontWeight: '600' },
  { tag: tags.inserted, color: 'var(--ok)' },
  { tag: tags.deleted, color: 'var(--bad)' },
]);

const theme = EditorView.theme({
  '&': { height: '100%', fontSize: 'var(--text-sm)', backgroundColor: 'var(--bg-1)', color: 'var(--text-0)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.55' },
  '.cm-content': { padding: '6px 0' },
  '.cm-gutters': { backgroundColor: 'var(--bg-1)', color: 'var(--text-2)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 4px 0 12px', minWidth: '36px' },
  '.cm-foldGutter .cm-gutterElement': { color: 'var(--text-2)' },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 30%, transparent)',
  },
  '.cm-selectionMatch': { backgroundColor: 'color-mix(in srgb, var(--accent) 18%, transparent)' },
  '.cm-searchMatch': { backgroundColor: 'color-mix(in srgb, var(--warn) 30%, transparent)' },
  '.cm-searchMatch-selected': { backgroundColor: 'color-mix(in srgb, var(--warn) 60%, transparent)' },
  '.cm-matchingBracket': { outline: '1px solid var(--text-2)', backgroundColor: 'transparent' },
  '.cm-specialChar': { color: 'var(--warn)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--bg-3)', border: 'none', color: 'var(--text-1)', padding: '0 4px' },
  '.cm-panels': { backgroundColor: 'var(--bg-2)', color: 'var(--text-0)', borderColor: 'var(--line)' },
  '.cm-panel.cm-search': { padding: '6px 26px 6px 8px', fontFamily: 'var(--font-ui)' },
  '.cm-panel.cm-search label': { fontSize: 'var(--text-sm)', color: 'var(--text-1)' },
  '.cm-panel.cm-search [name=close]': { color: 'var(--text-1)', fontSize: '16px', right: '8px', top: '6px' },
  '.cm-textfield': {
    backgroundColor: 'var(--bg-0)',
    border: '1px solid var(--line)',
    borderRadius: '5px',
    fontSize: 'var(--text-sm)',
    padding: '3px 6px',
  },
  '.cm-button': {
    backgroundImage: 'none',
    backgroundColor: 'var(--bg-1)',
    border: '1px solid var(--line)',
    borderRadius: '5px',
    color: 'var(--text-0)',
    fontSize: 'var(--text-sm)',
    padding: '2px 8px',
  },
});

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
        // Not editable, but it takes the focus: for scrolling, selecting and finding.
        EditorView.editable.of(false),
        EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': options.label, 'aria-readonly': 'true', role: 'textbox', 'aria-multiline': 'true' }),
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
  const found = LanguageDescription.matchFilename(languages, options.name);
  // Without its colours a file can still be read.
  found?.load().then(
    (support) => alive && view.dispatch({ effects: language.reconfigure(support) }),
    () => {},
  );

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
