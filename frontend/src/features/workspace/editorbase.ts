// How texts look in the viewer and in differences: colours, fonts, languages.
import { HighlightStyle, LanguageDescription } from '@codemirror/language';
import { languages } from '@codemirror/language-data';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

export const style = HighlightStyle.define([
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

export const theme = EditorView.theme({
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

/** The language of a file by its name; null when it is not known or can't be loaded: colours are not needed to read. */
export async function languageOf(name: string): Promise<Extension | null> {
  try {
    return (await LanguageDescription.matchFilename(languages, name)?.load()) ?? null;
  } catch {
    return null;
  }
}

/** Not editable, but it takes the focus: for scrolling, selecting and finding. */
export function readable(label: string): Extension {
  return [
    EditorView.editable.of(false),
    EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': label, 'aria-readonly': 'true', role: 'textbox', 'aria-multiline': 'true' }),
  ];
}
