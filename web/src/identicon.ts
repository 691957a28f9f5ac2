// The mark of a bot: a small pattern with mirror symmetry, made from its name. A name has the same mark in every game, on every page.

/** Cells per side of the pattern. */
export const IDENTICON_SIDE = 5;
/** Columns that the name decides; the others mirror them. */
const OWN_COLUMNS = 3;
const OWN_CELLS = OWN_COLUMNS * IDENTICON_SIDE;
/** A pattern with fewer or more filled cells looks like an empty or a full square. */
const MIN_FILLED = 5;
const MAX_FILLED = 11;

/** 32 bits of a name (FNV-1a, then the final mixing of MurmurHash3, so that similar names differ in all bits). */
function hash(name: string, salt: number): number {
  let bits = 0x811c9dc5 ^ salt;
  for (let i = 0; i < name.length; i += 1) bits = Math.imul(bits ^ name.charCodeAt(i), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** Whether each cell is filled, row by row. */
export function identiconCells(name: string): boolean[] {
  let bits = 0;
  let filled = 0;
  for (let salt = 0; filled < MIN_FILLED || filled > MAX_FILLED; salt += 1) {
    bits = hash(name, salt) & ((1 << OWN_CELLS) - 1);
    filled = bits.toString(2).replaceAll('0', '').length;
  }
  return Array.from({ length: IDENTICON_SIDE * IDENTICON_SIDE }, (_, cell) => {
    const column = cell % IDENTICON_SIDE;
    const own = Math.min(column, IDENTICON_SIDE - 1 - column);
    return ((bits >> (Math.floor(cell / IDENTICON_SIDE) * OWN_COLUMNS + own)) & 1) === 1;
  });
}

const paths = new Map<string, string>();

/** SVG path of the pattern in a square of five units. */
export function identiconPath(name: string): string {
  const known = paths.get(name);
  if (known !== undefined) return known;
  let path = '';
  identiconCells(name).forEach((filled, cell) => {
    if (filled) path += `M${cell % IDENTICON_SIDE} ${Math.floor(cell / IDENTICON_SIDE)}h1v1h-1z`;
  });
  paths.set(name, path);
  return path;
}
