// Parser for the subset of Markdown that rules use. Unknown syntax stays text. The result is data, never HTML.

export type Inline =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string }
  | { kind: 'strong'; inner: Inline[] }
  | { kind: 'em'; inner: Inline[] }
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

const BULLET = /^( *)([-*+]|\d{1,9}[.)])( +)(.*)$/;
const HEADING = /^ {0,3}(#{1,6}) +(.*?) *#* *$/;
const FENCE = /^ {0,3}(```+|~~~+)/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const DIVIDER = /^ *\|?( *:?-+:? *\|)+ *:?-*:? *$/;

/** Maximum nesting of lists and quotes. */
const MAX_DEPTH = 6;

export function markdown(text: string, depth = 0): Block[] {
  const lines = text.replace(/\r\n?/g, '\n').replace(/\t/g, '    ').split('\n');
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const [block, next] = blockAt(lines, at, depth);
    if (block) blocks.push(block);
    at = next;
  }
  return blocks;
}

function blockAt(lines: string[], at: number, depth: number): [Block | undefined, number] {
  const line = lines[at] ?? '';
  if (line.trim() === '') return [undefined, at + 1];
  const fence = FENCE.exec(line)?.[1];
  if (fence) return fencedCode(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading) return [{ kind: 'heading', level: heading[1]?.length ?? 1, inner: inline(heading[2] ?? '') }, at + 1];
  if (RULE.test(line)) return [{ kind: 'rule' }, at + 1];
  if (/^ {4}/.test(line)) return indentedCode(lines, at);
  if (depth < MAX_DEPTH && /^ {0,3}>/.test(line)) return quote(lines, at, depth);
  if (depth < MAX_DEPTH && BULLET.test(line)) return list(lines, at, depth);
  if (line.includes('|') && DIVIDER.test(lines[at + 1] ?? '')) return table(lines, at);
  return paragraph(lines, at);
}

function fencedCode(lines: string[], at: number, fence: string): [Block, number] {
  const close = new RegExp(`^ {0,3}${fence[0] === '`' ? '`' : '~'}{${fence.length},} *$`);
  let end = at + 1;
  while (end < lines.length && !close.test(lines[end] ?? '')) end += 1;
  return [{ kind: 'code', text: lines.slice(at + 1, end).join('\n') }, end + 1];
}

function indentedCode(lines: string[], at: number): [Block, number] {
  let end = at;
  while (end < lines.length && (/^ {4}/.test(lines[end] ?? '') || (lines[end]?.trim() === '' && /^ {4}/.test(lines[end + 1] ?? '')))) end += 1;
  return [{ kind: 'code', text: lines.slice(at, end).map((line) => line.slice(4)).join('\n') }, end];
}

function quote(lines: string[], at: number, depth: number): [Block, number] {
  let end = at;
  while (end < lines.length && /^ {0,3}>/.test(lines[end] ?? '')) end += 1;
  const inner = lines.slice(at, end).map((line) => line.replace(/^ {0,3}> ?/, ''));
  return [{ kind: 'quote', blocks: markdown(inner.join('\n'), depth + 1) }, end];
}

function list(lines: string[], at: number, depth: number): [Block, number] {
  const first = BULLET.exec(lines[at] ?? '');
  const ordered = /\d/.test(first?.[2] ?? '');
  const edge = first?.[1]?.length ?? 0;
  const items: ListItem[] = [];
  while (at < lines.length) {
    const bullet = BULLET.exec(lines[at] ?? '');
    if (!bullet || bullet[1]?.length !== edge || /\d/.test(bullet[2] ?? '') !== ordered) break;
    const inset = edge + (bullet[2]?.length ?? 1) + 1;
    const own = [bullet[4] ?? ''];
    at += 1;
    while (at < lines.length && continuesItem(lines, at, inset)) {
      own.push((lines[at] ?? '').replace(new RegExp(`^ {0,${inset}}`), ''));
      at += 1;
    }
    const [lead, ...rest] = markdown(own.join('\n'), depth + 1);
    if (lead?.kind === 'paragraph') items.push({ inner: lead.inner, blocks: rest });
    else items.push({ inner: [], blocks: lead ? [lead, ...rest] : rest });
    while (lines[at]?.trim() === '' && BULLET.exec(lines[at + 1] ?? '')?.[1]?.length === edge) at += 1;
  }
  return [{ kind: 'list', ordered, start: ordered ? parseInt(first?.[2] ?? '1', 10) : 1, items }, at];
}

/** Whether a line continues the list item above it. */
function continuesItem(lines: string[], at: number, inset: number): boolean {
  const line = lines[at] ?? '';
  if (line.trim() === '') return new RegExp(`^ {${inset}}`).test(lines[at + 1] ?? '');
  if (new RegExp(`^ {${Math.min(inset, 2)}}`).test(line)) return true;
  // Lazy continuation line.
  return !BULLET.test(line) && !HEADING.test(line) && !FENCE.test(line) && lines[at - 1]?.trim() !== '';
}

function cells(line: string): string[] {
  const parts: string[] = [];
  let cell = '';
  let code = false;
  const inner = line.trim().replace(/^\|/, '').replace(/\|$/, '');
  for (let i = 0; i < inner.length; i += 1) {
    const c = inner[i] ?? '';
    if (c === '\\' && inner[i + 1] === '|') {
      cell += '|';
      i += 1;
      continue;
    }
    if (c === '`') code = !code;
    if (c === '|' && !code) {
      parts.push(cell.trim());
      cell = '';
    } else cell += c;
  }
  return [...parts, cell.trim()];
}

function table(lines: string[], at: number): [Block, number] {
  const head = cells(lines[at] ?? '');
  const right = cells(lines[at + 1] ?? '').map((mark) => mark.endsWith(':'));
  const rows: Inline[][][] = [];
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? '').includes('|')) {
    const row = cells(lines[end] ?? '');
    rows.push(head.map((_, i) => inline(row[i] ?? '')));
    end += 1;
  }
  return [{ kind: 'table', head: head.map((cell) => inline(cell)), rows, right }, end];
}

function paragraph(lines: string[], at: number): [Block, number] {
  let end = at + 1;
  const ends = (line: string): boolean => line.trim() === '' || HEADING.test(line) || FENCE.test(line) || BULLET.test(line) || RULE.test(line) || /^ {0,3}>/.test(line);
  while (end < lines.length && !ends(lines[end] ?? '')) end += 1;
  return [{ kind: 'paragraph', inner: inline(lines.slice(at, end).map((line) => line.trim()).join(' ')) }, end];
}

/** Returns the address if it is safe: http(s), mailto, or an address of this site. */
export function safeHref(href: string): string | undefined {
  const bare = href.replace(/[\u0000-\u0020]/g, '');
  if (/^(https?:\/\/|mailto:)/i.test(bare)) return bare;
  if (/^(#|\/(?![/\\]))/.test(bare)) return bare;
  return undefined;
}

const MARKS = /(`+)(.+?)\1(?!`)|!?\[([^\]]*)\]\(([^()\s]*)(?:\s+"[^"]*")?\)|(\*\*|__)(?=\S)(.+?)(?<=\S)\5|(?<![\w*])(\*|_)(?=[^\s*_])(.+?)(?<=[^\s])\7(?![\w*])|\\([\\`*_{}[\]()#+\-.!|<>])/;

export function inline(text: string, depth = 0): Inline[] {
  const parts: Inline[] = [];
  const pushText = (added: string): void => {
    const last = parts[parts.length - 1];
    if (added === '') return;
    if (last?.kind === 'text') last.text += added;
    else parts.push({ kind: 'text', text: added });
  };
  let rest = text;
  while (rest !== '') {
    const found = depth < MAX_DEPTH ? MARKS.exec(rest) : null;
    if (!found) break;
    pushText(rest.slice(0, found.index));
    rest = rest.slice(found.index + found[0].length);
    if (found[1] !== undefined) parts.push({ kind: 'code', text: (found[2] ?? '').trim() });
    else if (found[3] !== undefined) {
      const href = safeHref(found[4] ?? '');
      const inner = inline(found[3], depth + 1);
      if (href === undefined || found[0].startsWith('!')) parts.push(...inner);
      else parts.push({ kind: 'link', href, inner });
    } else if (found[5] !== undefined) parts.push({ kind: 'strong', inner: inline(found[6] ?? '', depth + 1) });
    else if (found[7] !== undefined) parts.push({ kind: 'em', inner: inline(found[8] ?? '', depth + 1) });
    else pushText(found[9] ?? '');
  }
  pushText(rest);
  return parts;
}
