// The code editor and the view of differences: CodeMirror with the colours of the site. Only the page of the editor loads it.
//
// Both live in a shadow root. There, CodeMirror sets its styles through style sheet objects; elsewhere it would add a style element, which the
// server forbids.

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { python } from '@codemirror/lang-python';
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { unifiedMergeView } from '@codemirror/merge';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { Finding } from './findings';

const theme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--card)', fontSize: '.9rem', height: '100%' },
  '&.cm-focused': { outline: '3px solid var(--accent)', outlineOffset: '-3px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--wash)', color: 'var(--quiet)', border: '0' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent) 9%, transparent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'color-mix(in srgb, var(--accent) 28%, transparent)' },
  '.cm-panels, .cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--ink)', border: '1px solid var(--line)' },
  '.cm-diagnostic': { borderLeft: '5px solid var(--warn)', whiteSpace: 'pre-wrap' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-changedLine': { backgroundColor: 'color-mix(in srgb, var(--good) 12%, transparent)' },
  '.cm-changedText': { background: 'color-mix(in srgb, var(--good) 30%, transparent)' },
  '.cm-deletedChunk': { backgroundColor: 'color-mix(in srgb, var(--bad) 12%, transparent)' },
  '.cm-deletedChunk .cm-deletedText': { background: 'color-mix(in srgb, var(--bad) 30%, transparent)' },
  '.cm-collapsedLines': { color: 'var(--quiet)', background: 'var(--wash)' },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword], color: 'var(--accent)', fontWeight: '600' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
  { tag: [tags.comment], color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: [tags.definition(tags.variableName), tags.definition(tags.propertyName), tags.function(tags.variableName), tags.className], color: 'var(--link)' },
  { tag: tags.invalid, color: 'var(--bad)' },
]);

const isPython = (path: string): boolean => /\.pyi?$/i.test(path);

/** What editor and view of differences have in common. */
const look = (path: string): Extension[] => [lineNumbers(), theme, syntaxHighlighting(colours), isPython(path) ? python() : []];

function shadowBox(host: HTMLElement): { root: ShadowRoot; box: HTMLElement } {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const box = document.createElement('div');
  box.style.height = '100%';
  root.replaceChildren(box);
  return { root, box };
}

interface Options {
  /** Name for screen readers. */
  label: (path: string) => string;
  onChange: (path: string, text: string) => void;
}

export class CodeEditor {
  readonly #view: EditorView;
  readonly #options: Options;
  /** States of the files, with their history. */
  readonly #states = new Map<string, EditorState>();
  #path = '';

  constructor(host: HTMLElement, options: Options) {
    this.#options = options;
    const { root, box } = shadowBox(host);
    this.#view = new EditorView({ parent: box, root });
  }

  #state(path: string, text: string): EditorState {
    return EditorState.create({
      doc: text,
      extensions: [
        look(path),
        lintGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of('    '),
        bracketMatching(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSelectionMatches(),
        search({ top: true }),
        // Escape, then Tab leaves the editor.
        keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap, indentWithTab]),
        EditorView.contentAttributes.of({ 'aria-label': this.#options.label(path), spellcheck: 'false', autocapitalize: 'off' }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) this.#options.onChange(path, update.state.doc.toString());
        }),
      ],
    });
  }

  /** Shows a file. A file that was shown before keeps its history, unless its text is another one now. */
  open(path: string, text: string): void {
    if (this.#path !== '') this.#states.set(this.#path, this.#view.state);
    const known = this.#states.get(path);
    this.#path = path;
    this.#view.setState(known && known.doc.toString() === text ? known : this.#state(path, text));
  }

  /** Forgets all files, before other ones are shown. */
  clear(): void {
    this.#states.clear();
    this.#path = '';
  }

  /** Marks the lines of findings. */
  mark(findings: Finding[]): void {
    const { doc } = this.#view.state;
    const diagnostics = findings.map((one): Diagnostic => {
      const line = doc.line(Math.min(Math.max(1, one.line), doc.lines));
      return { from: line.from, to: line.to, severity: one.severity, message: one.text };
    });
    this.#view.dispatch(setDiagnostics(this.#view.state, diagnostics));
  }

  /** Moves the cursor to a line and focuses the editor. */
  goTo(lineNumber: number): void {
    const { doc } = this.#view.state;
    const line = doc.line(Math.min(Math.max(1, lineNumber), doc.lines));
    this.#view.dispatch({ selection: { anchor: line.from }, effects: EditorView.scrollIntoView(line.from, { y: 'center' }) });
    this.#view.focus();
  }

  focus(): void {
    this.#view.focus();
  }

  destroy(): void {
    this.#view.destroy();
  }
}

/** Shows what changed in a file. Returns a function that removes it. */
export function showDifference(host: HTMLElement, path: string, before: string, after: string, label: string): () => void {
  const { root, box } = shadowBox(host);
  const view = new EditorView({
    parent: box,
    root,
    state: EditorState.create({
      doc: after,
      extensions: [
        look(path),
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        unifiedMergeView({ original: before, mergeControls: false, gutter: true, collapseUnchanged: { margin: 3, minSize: 6 } }),
      ],
    }),
  });
  return () => view.destroy();
}
