// Errors in a competition file, by line: from the structured error of the API, or parsed from its message.

import type { RequestError } from './api';

export interface ConfigError {
  /** From 1; null for the whole file. */
  line: number | null;
  column: number | null;
  what: string;
  hint: string;
}

// `cup.toml:17:10: there is no format "group"`; the file name and the column are optional.
const PLACE = /^(?:error: )?(?:[^\s:]*[^\s:\d][^\s:]*:)?(\d+):(?:(\d+):)?\s+(.+)$/;
const HINT = /^\s*hint:\s*(.+)$/;

/** Errors of a failed request, sorted by line. Empty if the request failed for another reason. */
export function configErrorsOf(error: Pick<RequestError, 'message' | 'details' | 'configErrors'>): ConfigError[] {
  const errors = error.configErrors ?? parseMessages([error.message, ...error.details]);
  return [...errors].sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
}

function parseMessages(texts: string[]): ConfigError[] {
  const found: ConfigError[] = [];
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    const place = PLACE.exec(line);
    const hint = HINT.exec(line);
    if (place) found.push({ line: Number(place[1]), column: place[2] === undefined ? null : Number(place[2]), what: place[3] ?? '', hint: '' });
    else if (hint && found.length > 0) (found.at(-1) as ConfigError).hint = hint[1] ?? '';
  }
  return found;
}

/** Start and end offset of a line in a text. */
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
