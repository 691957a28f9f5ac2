// The mark of a bot: a symmetric pattern of five by five cells, computed from its name.

const SIDE = 5;

/** FNV-1a, with a final mix so that similar names differ in all bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/** The cells row by row; true cells are filled. Left and right are mirrored. */
export function identiconCells(name: string): boolean[] {
  const bits = hash(name);
  return Array.from({ length: SIDE * SIDE }, (_, i) => {
    const column = i % SIDE;
    const half = Math.min(column, SIDE - 1 - column);
    const cell = Math.floor(i / SIDE) * 3 + half;
    // The centre is always filled, so that no mark is empty.
    return cell === 8 || ((bits >>> cell) & 1) === 1;
  });
}
