// Rules are written in a small part of Markdown; nothing of it ever becomes markup of its own.

import { describe, expect, test } from 'vitest';
import { inline, markdown, safeHref, type Block } from '../../src/app/markdown';

const words = (text: string): Block[] => markdown(text);

describe('blocks', () => {
  test('headings, paragraphs, rules', () => {
    expect(words('# One\n\nTwo\nthree\n\n---\n## Four ##')).toEqual([
      { kind: 'heading', level: 1, inner: [{ kind: 'text', text: 'One' }] },
      { kind: 'paragraph', inner: [{ kind: 'text', text: 'Two three' }] },
      { kind: 'rule' },
      { kind: 'heading', level: 2, inner: [{ kind: 'text', text: 'Four' }] },
    ]);
  });

  test('code keeps every letter, fenced or indented, even when it is not closed', () => {
    expect(words('```python\nif a < b:\n    **x**\n```\nafter')[0]).toEqual({ kind: 'code', text: 'if a < b:\n    **x**' });
    expect(words('    one\n\n    two\nafter')[0]).toEqual({ kind: 'code', text: 'one\n\ntwo' });
    expect(words('```\n# no heading')).toEqual([{ kind: 'code', text: '# no heading' }]);
  });

  test('lists lie in lists, and lines go on', () => {
    const [list] = words('1. one\n   goes on\n2. two\n   - a\n   - b\n\n3. three');
    expect(list).toMatchObject({ kind: 'list', ordered: true, start: 1 });
    if (list?.kind !== 'list') throw new Error('no list');
    expect(list.items.map((item) => item.inner[0])).toEqual([{ kind: 'text', text: 'one goes on' }, { kind: 'text', text: 'two' }, { kind: 'text', text: 'three' }]);
    expect(list.items[1]?.blocks[0]).toMatchObject({ kind: 'list', ordered: false, items: [{}, {}] });
  });

  test('tables have as many cells as their head', () => {
    const [table] = words('| a | b |\n|---|--:|\n| 1 | `x|y` |\n| 2 |\n| 3 | 4 | 5 |\nafter');
    expect(table).toMatchObject({ kind: 'table', right: [false, true] });
    if (table?.kind !== 'table') throw new Error('no table');
    expect(table.rows.map((row) => row.length)).toEqual([2, 2, 2]);
    expect(table.rows[0]?.[1]).toEqual([{ kind: 'code', text: 'x|y' }]);
  });

  test('quotes', () => {
    expect(words('> one\n> two')).toEqual([{ kind: 'quote', blocks: [{ kind: 'paragraph', inner: [{ kind: 'text', text: 'one two' }] }] }]);
  });
});

describe('lines', () => {
  test('code, strong, emphasis, links', () => {
    expect(inline('a `b*c*` **d _e_** [f](https://g.example/h) 2*3*4 snake_case_name')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'code', text: 'b*c*' },
      { kind: 'text', text: ' ' },
      { kind: 'strong', inner: [{ kind: 'text', text: 'd ' }, { kind: 'em', inner: [{ kind: 'text', text: 'e' }] }] },
      { kind: 'text', text: ' ' },
      { kind: 'link', href: 'https://g.example/h', inner: [{ kind: 'text', text: 'f' }] },
      { kind: 'text', text: ' 2*3*4 snake_case_name' },
    ]);
  });

  test('a backslash takes the meaning away', () => {
    expect(inline('\\*not\\* \\`this\\`')).toEqual([{ kind: 'text', text: '*not* `this`' }]);
  });

  test('markup stays text', () => {
    expect(inline('<img src=x onerror=alert(1)>')).toEqual([{ kind: 'text', text: '<img src=x onerror=alert(1)>' }]);
  });

  test('links lead to the web or to this site, and nowhere else', () => {
    expect(safeHref('https://example.org')).toBe('https://example.org');
    expect(safeHref('/games')).toBe('/games');
    expect(safeHref('#rules')).toBe('#rules');
    for (const bad of ['javascript:alert(1)', 'JaVaScRiPt:alert', 'java\nscript:x', 'data:text/html,x', '//evil.example', '/\\evil.example', 'vbscript:x', 'file:///etc/passwd', '']) expect(safeHref(bad)).toBeUndefined();
    expect(inline('[x](javascript:alert)')).toEqual([{ kind: 'text', text: 'x' }]);
    expect(inline('![picture](https://example.org/x.png)')).toEqual([{ kind: 'text', text: 'picture' }]);
  });
});

test('what is nested without end, or long, is read in good time', () => {
  expect(markdown('> '.repeat(5_000) + 'x').length).toBe(1);
  expect(markdown('- '.repeat(5_000) + 'x').length).toBe(1);
  expect(markdown('*'.repeat(3_000) + 'x').length).toBeGreaterThan(0);
  expect(markdown('[a]('.repeat(2_000)).length).toBe(1);
  expect(markdown('`a'.repeat(2_000)).length).toBe(1);
});
