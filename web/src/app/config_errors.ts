// Errors in a competition file, by line, as the API reports them.

import type { RequestError } from './api';

export interface ConfigError {
  /** From 1; null for the whole file. */
  line: number | null;
  column: number | null;
  what: string;
  hint: string;
}

/** Errors of a failed request, sorted by line. Empty if the request failed for another reason. */
export function configErrorsOf(error: Pick<RequestError, 'configErrors'>): ConfigError[] {
  return [...(error.configErrors ?? [])].sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
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
