// Marks of bots as one line of text: `AI: wrote the search; exploit`.

export interface Mark {
  mark: string;
  note: string | null;
}

/** The marks as a line that `parseMarks` reads. */
export const formatMarks = (marks: Mark[]): string => marks.map((one) => (one.note === null ? one.mark : `${one.mark}: ${one.note.replaceAll(';', ',')}`)).join('; ');

/** Reads marks, separated by semicolons, each with an optional note after a colon. */
export function parseMarks(line: string): Mark[] {
  return line
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, mark = '', note = ''] = /^([^:]*):?(.*)$/s.exec(part) ?? [];
      return { mark: mark.trim(), note: note.trim() === '' ? null : note.trim() };
    });
}
