// Markdown as data, never as HTML. markdown-it parses the text; this file turns its tokens into the blocks that the pages draw.

import MarkdownIt, { type Token } from 'markdown-it';

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'break' }
  | { kind: 'strong'; inner: Inline[] }
  | { kind: 'em'; inner: Inline[] }
  | { kind: 'deleted'; inner: Inline[] }
  | { kind: 'link'; href: string; inner: Inline[] };

export interface ListItem {
  inner: Inline[];
  blocks: Block[];
}

export type Block =
  | { kind: 'heading'; level: number; inner: Inline[] }
  | { kind: 'paragraph'; inner: Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'list'; ordered: boolean; start: number; items: ListItem[] }
  | { kind: 'quote'; blocks: Block[] }
  | { kind: 'table'; head: Inline[][]; rows: Inline[][][]; right: boolean[] }
  | { kind: 'rule' };

// HTML stays text. The parser leaves out text that is nested deeper than this.
const parser = new MarkdownIt('default', { html: false, maxNesting: 20 });
// Every link is parsed, so that an unsafe one keeps its words; `safeHref` decides about the address.
parser.validateLink = () => true;

export function markdown(text: string): Block[] {
  return blocks(new TokenReader(parser.parse(text, {})));
}

/** Markdown of a single line. */
export function inline(text: string): Inline[] {
  return inlines(new TokenReader(parser.parseInline(text, {})[0]?.children ?? []));
}

/** Returns the address if it is safe: http(s), mailto, or an address of this site. */
export function safeHref(href: string): string | undefined {
  const bare = href.replace(/[\u0000-\u0020]/g, '');
  if (/^(https?:\/\/|mailto:)/i.test(bare)) return bare;
  if (/^(#|\/(?![/\\]))/.test(bare)) return bare;
  return undefined;
}

/** Reads tokens in order. Opening and closing tokens are always paired. */
class TokenReader {
  #tokens: Token[];
  #at = 0;

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  /** The next token; `undefined` at the end of the text and at a closing token, which it skips. */
  next(): Token | undefined {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    return token?.nesting === -1 ? undefined : token;
  }
}

/** Calls `read` for each token up to the closing token. */
function each<T>(tokens: TokenReader, read: (token: Token) => T | undefined): T[] {
  const found: T[] = [];
  for (let token = tokens.next(); token; token = tokens.next()) {
    const part = read(token);
    if (part !== undefined) found.push(part);
  }
  return found;
}

const blocks = (tokens: TokenReader): Block[] => each(tokens, (token) => block(token, tokens));

function block(token: Token, tokens: TokenReader): Block | undefined {
  switch (token.type) {
    case 'heading_open':
      return { kind: 'heading', level: Number(token.tag.slice(1)), inner: content(tokens) };
    case 'paragraph_open':
      return { kind: 'paragraph', inner: content(tokens) };
    case 'fence':
    case 'code_block':
      return { kind: 'code', text: token.content.replace(/\n$/, '') };
    case 'bullet_list_open':
    case 'ordered_list_open':
      return { kind: 'list', ordered: token.tag === 'ol', start: Number(token.attrGet('start') ?? 1), items: each(tokens, () => item(tokens)) };
    case 'blockquote_open':
      return { kind: 'quote', blocks: blocks(tokens) };
    case 'table_open':
      return table(tokens);
    case 'hr':
      return { kind: 'rule' };
    default:
      if (token.nesting === 1) blocks(tokens);
      return undefined;
  }
}

/** Text of a heading, paragraph or cell, up to its closing token. */
const content = (tokens: TokenReader): Inline[] => each(tokens, (token) => inlines(new TokenReader(token.children ?? []))).flat();

/** A list item. Its first paragraph is its own text. */
function item(tokens: TokenReader): ListItem {
  const [first, ...rest] = blocks(tokens);
  if (first?.kind === 'paragraph') return { inner: first.inner, blocks: rest };
  return { inner: [], blocks: first ? [first, ...rest] : rest };
}

function table(tokens: TokenReader): Block {
  const right: boolean[] = [];
  const cell = (token: Token): Inline[] => {
    if (token.type === 'th_open') right.push(token.attrGet('style') === 'text-align:right');
    return content(tokens);
  };
  // Head and body, each with rows, each with cells.
  const [head = [], rows = []] = each(tokens, () => each(tokens, () => each(tokens, cell)));
  return { kind: 'table', head: head[0] ?? [], rows, right };
}

const inlines = (tokens: TokenReader): Inline[] => {
  const parts: Inline[] = [];
  for (let token = tokens.next(); token; token = tokens.next()) {
    for (const part of inlinePart(token, tokens)) {
      const last = parts[parts.length - 1];
      if (part.kind === 'text' && last?.kind === 'text') last.text += part.text;
      else if (part.kind !== 'text' || part.text !== '') parts.push(part);
    }
  }
  return parts;
};

function inlinePart(token: Token, tokens: TokenReader): Inline[] {
  switch (token.type) {
    case 'code_inline':
      return [{ kind: 'code', text: token.content }];
    case 'softbreak':
      return [{ kind: 'text', text: ' ' }];
    case 'hardbreak':
      return [{ kind: 'break' }];
    case 'strong_open':
      return [{ kind: 'strong', inner: inlines(tokens) }];
    case 'em_open':
      return [{ kind: 'em', inner: inlines(tokens) }];
    case 's_open':
      return [{ kind: 'deleted', inner: inlines(tokens) }];
    case 'link_open': {
      const [href, inner] = [safeHref(String(token.attrGet('href') ?? '')), inlines(tokens)];
      return href === undefined ? inner : [{ kind: 'link', href, inner }];
    }
    case 'image':
      // Pages load no pictures from other sites.
      return inlines(new TokenReader(token.children ?? []));
    default:
      return [{ kind: 'text', text: token.content }];
  }
}
