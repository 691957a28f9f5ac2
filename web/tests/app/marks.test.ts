// Marks of bots as a line of text.

import { describe, expect, it } from 'vitest';
import { formatMarks, parseMarks } from '../../src/app/marks';

describe('marks as a line of text', () => {
  it('are read with and without notes', () => {
    expect(parseMarks('AI: wrote the search; exploit')).toEqual([
      { mark: 'AI', note: 'wrote the search' },
      { mark: 'exploit', note: null },
    ]);
    expect(parseMarks(' ; AI : ; ')).toEqual([{ mark: 'AI', note: null }]);
    expect(parseMarks('')).toEqual([]);
  });
  it('are written so that they are read back', () => {
    const marks = [
      { mark: 'AI', note: 'a: b, c' },
      { mark: 'exploit', note: null },
    ];
    expect(parseMarks(formatMarks(marks))).toEqual(marks);
    expect(parseMarks(formatMarks([{ mark: 'AI', note: 'one; two' }]))).toEqual([{ mark: 'AI', note: 'one, two' }]);
  });
});
