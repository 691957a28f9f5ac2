// Markdown of rules and of descriptions by organisers. The result never contains raw HTML.

import { describe, expect, test } from 'vitest';
import { inline, markdown, safeHref, type Block } from '../../src/app/markdown';

/** Much more than a busy machine needs. A parser with quadratic time needs more than 5 seconds. */
const MAX_PARSE_MS = 4_000;

const parse = (text: string): Block[] => markdown(text);

describe('blocks', () => {
  test('headings, paragraphs, rules', () => {
    expect(parse('# One\n\nTwo\nthree\n\n---\n## Four ##')).toEqual([
      { kind: 'heading', level: 1, inner: [{ kind: 'text', text: 'One' }] },
      { kind: 'paragraph', inner: [{ kind: 'text', text: 'Two three' }] },
      { kind: 'rule' },
      { kind: 'heading', level: 2, inner: [{ kind: 'text', text: 'Four' }] },
    ]);
  });

  test('fenced and indented code keeps its text, even without a closing fence', () => {
    expect(parse('```python\nif a < b:\n    **x**\n```\nafter')[0]).toEqual({ kind: 'code', text: 'if a < b:\n    **x**' });
    expect(parse('    one\n\n    two\nafter')[0]).toEqual({ kind: 'code', text: 'one\n\ntwo' });
    expect(parse('```\n# no heading')).toEqual([{ kind: 'code', text: '# no heading' }]);
  });

  test('nested lists and continuation lines', () => {
    const [list] = parse('1. one\n   goes on\n2. two\n   - a\n   - b\n\n3. three');
    expect(list).toMatchObject({ kind: 'list', ordered: true, start: 1 });
    if (list?.kind !== 'list') throw new Error('no list');
    expect(list.items.map((item) => item.inner[0])).toEqual([{ kind: 'text', text: 'one goes on' }, { kind: 'text', text: 'two' }, { kind: 'text', text: 'three' }]);
    expect(list.items[1]?.blocks[0]).toMatchObject({ kind: 'list', ordered: false, items: [{}, {}] });
  });

  test('table rows have as many cells as the head', () => {
    const [table] = parse('| a | b |\n|---|--:|\n| 1 | `x\\|y` |\n| 2 |\n| 3 | 4 | 5 |\n\nafter');
    expect(table).toMatchObject({ kind: 'table', right: [false, true] });
    if (table?.kind !== 'table') throw new Error('no table');
    expect(table.rows.map((row) => row.length)).toEqual([2, 2, 2]);
    expect(table.rows[0]?.[1]).toEqual([{ kind: 'code', text: 'x|y' }]);
  });

  test('quotes', () => {
    expect(parse('> one\n> two')).toEqual([{ kind: 'quote', blocks: [{ kind: 'paragraph', inner: [{ kind: 'text', text: 'one two' }] }] }]);
  });
});

describe('inlines', () => {
  test('code, strong, emphasis, links', () => {
    expect(inline('a `b*c*` **d _e_** [f](https://g.example/h) 2 * 3 * 4 snake_case_name')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'code', text: 'b*c*' },
      { kind: 'text', text: ' ' },
      { kind: 'strong', inner: [{ kind: 'text', text: 'd ' }, { kind: 'em', inner: [{ kind: 'text', text: 'e' }] }] },
      { kind: 'text', text: ' ' },
      { kind: 'link', href: 'https://g.example/h', inner: [{ kind: 'text', text: 'f' }] },
      { kind: 'text', text: ' 2 * 3 * 4 snake_case_name' },
    ]);
  });

  test('a backslash escapes', () => {
    expect(inline('\\*not\\* \\`this\\`')).toEqual([{ kind: 'text', text: '*not* `this`' }]);
  });

  test('HTML stays text', () => {
    expect(inline('<img src=x onerror=alert(1)>')).toEqual([{ kind: 'text', text: '<img src=x onerror=alert(1)>' }]);
  });

  test('safeHref accepts only web, mail and local addresses', () => {
    expect(safeHref('https://example.org')).toBe('https://example.org');
    expect(safeHref('/games')).toBe('/games');
    expect(safeHref('#rules')).toBe('#rules');
    for (const bad of ['javascript:alert(1)', 'JaVaScRiPt:alert', 'java\nscript:x', 'data:text/html,x', '//evil.example', '/\\evil.example', 'vbscript:x', 'file:///etc/passwd', '']) expect(safeHref(bad)).toBeUndefined();
    expect(inline('[x](javascript:alert)')).toEqual([{ kind: 'text', text: 'x' }]);
    expect(inline('![picture](https://example.org/x.png)')).toEqual([{ kind: 'text', text: 'picture' }]);
  });
});

test('line breaks, deleted text and addresses by reference', () => {
  expect(parse('a  \nb ~~c~~ [d]\n\n[d]: /e')).toEqual([
    { kind: 'paragraph', inner: [{ kind: 'text', text: 'a' }, { kind: 'break' }, { kind: 'text', text: 'b ' }, { kind: 'deleted', inner: [{ kind: 'text', text: 'c' }] }, { kind: 'text', text: ' ' }, { kind: 'link', href: '/e', inner: [{ kind: 'text', text: 'd' }] }] },
  ]);
});

test('HTML blocks and entities stay text', () => {
  expect(parse('<script>\nalert(1)\n</script>')).toEqual([{ kind: 'paragraph', inner: [{ kind: 'text', text: '<script> alert(1) </script>' }] }]);
  expect(inline('a &lt;b&gt; c')).toEqual([{ kind: 'text', text: 'a <b> c' }]);
});

test('deeply nested and long input of 64 KB is parsed quickly', () => {
  const long = (part: string): string => part.repeat(64_000 / part.length);
  for (const part of ['> ', '- ', '*', '*a ', '**a ', '_a', '[', '![a', '[a](', '`a', '|', '<a ']) {
    const started = performance.now();
    markdown(`${long(part)}x`);
    expect(performance.now() - started, part).toBeLessThan(MAX_PARSE_MS);
  }
});
