// Mistakes in a competition file, by line: as the server tells them, or read out of its words.

import type { Refusal } from './api';

export interface Mistake {
  /** From 1; null for the file as a whole. */
  line: number | null;
  column: number | null;
  what: string;
  hint: string;
}

// `cup.toml:17:10: there is no format "group"`, or without the file's name, or with the line alone.
const PLACE = /^(?:error: )?(?:[^\s:]*[^\s:\d][^\s:]*:)?(\d+):(?:(\d+):)?\s+(.+)$/;
const HINT = /^\s*hint:\s*(.+)$/;

/** All mistakes of a refusal, in the order of their lines; empty if it is about something else. */
export function mistakesOf(error: Pick<Refusal, 'message' | 'details' | 'mistakes'>): Mistake[] {
  const told = error.mistakes ?? read([error.message, ...error.details]);
  return [...told].sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
}

function read(texts: string[]): Mistake[] {
  const found: Mistake[] = [];
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const place = PLACE.exec(line);
    const hint = HINT.exec(line);
    if (place) found.push({ line: Number(place[1]), column: place[2] === undefined ? null : Number(place[2]), what: place[3] ?? '', hint: '' });
    else if (hint && found.length > 0) (found.at(-1) as Mistake).hint = hint[1] ?? '';
  }
  return found;
}

/** Where a line lies in a text: from its first character to its end. */
export function lineSpan(text: string, line: number): [number, number] {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const end = text.indexOf('\n', start);
    if (end < 0) return [text.length, text.length];
    start = end + 1;
  }
  const end = text.indexOf('\n', start);
  return [start, end < 0 ? text.length : end];
}
