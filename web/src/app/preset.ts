// A preset's file: who takes part is chosen beside it, so its entrants are taken out and read.

const ENTRANT = /^\s*#?\s*\[\[entrant\]\]/;

/** The file without its entrants, which stand at its end, and the comment that leads to them. */
export function withoutEntrants(file: string): string {
  const lines = file.split('\n');
  let end = lines.findIndex((line) => ENTRANT.test(line));
  if (end < 0) return file;
  // Only if nothing but entrants follows; a file in another order is left as it is.
  if (lines.slice(end).some((line) => /^\s*\[/.test(line) && !ENTRANT.test(line))) return file;
  while (end > 0 && /^\s*(#.*)?$/.test(lines[end - 1] ?? '')) end -= 1;
  return `${lines.slice(0, end).join('\n').trimEnd()}\n`;
}

/** The house bots a file names, without `house:`. */
export function houseBots(file: string): string[] {
  return [...file.matchAll(/^\s*bot\s*=\s*"house:([^"]+)"/gm)].map((found) => found[1] ?? '');
}
