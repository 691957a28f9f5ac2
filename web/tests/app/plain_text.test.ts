import { expect, test } from 'vitest';
import { plainParagraphs } from '../../src/app/plain_text';

test('a text without markup is split into its paragraphs', () => {
  expect(plainParagraphs('One line.\nThe same paragraph.\n\n  Another one - with a dash, and 3. numbers.\n')).toEqual(['One line.\nThe same paragraph.', 'Another one - with a dash, and 3. numbers.']);
  expect(plainParagraphs('')).toEqual([]);
});

test.each(['*one*', '# Title', '- item', '1. item', '`code`', '[link](/games)', 'a < b', 'https://example.org', '    code', 'Title\n---', 'x &amp; y', 'a | b'])('%j has markup', (text) => {
  expect(plainParagraphs(text)).toBeUndefined();
});
