// Competition file of a preset. Entrants are chosen in the form, so they are removed from the file.

const ENTRANT = /^\s*#?\s*\[\[entrant\]\]/;

/** Removes the entrants at the end of the file and the comment before them. */
export function withoutEntrants(file: string): string {
  const lines = file.split('\n');
  let end = lines.findIndex((line) => ENTRANT.test(line));
  if (end < 0) return file;
  // Only if nothing but entrants follows. A file in another order stays unchanged.
  if (lines.slice(end).some((line) => /^\s*\[/.test(line) && !ENTRANT.test(line))) return file;
  while (end > 0 && /^\s*(#.*)?$/.test(lines[end - 1] ?? '')) end -= 1;
  return `${lines.slice(0, end).join('\n').trimEnd()}\n`;
}

/** Names of the house bots in a file, without `house:`. */
export function houseBots(file: string): string[] {
  return [...file.matchAll(/^\s*bot\s*=\s*"house:([^"]+)"/gm)].map((found) => found[1] ?? '');
}
