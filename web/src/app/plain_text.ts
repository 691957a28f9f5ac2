// Texts that need no Markdown parser, which is larger than most pages.

/** Characters and lines that mean something in Markdown. */
const MARKUP = /[*_`#[\]<>|\\~&]|^\s*(?:[-+]|\d+[.)])\s|^\s*(?:-{3,}|={3,})\s*$|^ {4}|\/\//m;

/** The paragraphs of a text without markup; undefined if it has any. */
export function plainParagraphs(text: string): string[] | undefined {
  if (MARKUP.test(text)) return undefined;
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== '');
}
