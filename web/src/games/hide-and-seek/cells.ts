// Sets of cells as bit masks of rows, and paths that draw them.

export const SIDE = 20;
/** Width of a cell in the drawing. */
export const CELL = 24;

const square = (x: number, y: number): string => `M${x * CELL} ${y * CELL}h${CELL}v${CELL}h${-CELL}z`;

/** Path of the cells in a view: a bit mask for each row. */
export function viewPath(view: number[]): string {
  let path = '';
  for (let y = 0; y < SIDE; y += 1) {
    const row = view[y] ?? 0;
    for (let x = 0; x < SIDE; x += 1) if ((row >> x) & 1) path += square(x, y);
  }
  return path;
}

/** Path of the walls. The map is indexed [x][y]. */
export function wallPath(map: number[][]): string {
  let path = '';
  map.forEach((column, x) => column.forEach((wall, y) => {
    if (wall === 1) path += square(x, y);
  }));
  return path;
}

export const union = (a: number[], b: number[]): number[] => a.map((row, y) => row | (b[y] ?? 0));

/** Cells that stay in view, that come into view and that go out of view. */
export function viewChange(before: number[], now: number[]): { stays: number[]; comes: number[]; goes: number[] } {
  return {
    stays: now.map((row, y) => row & (before[y] ?? 0)),
    comes: now.map((row, y) => row & ~(before[y] ?? 0)),
    goes: before.map((row, y) => row & ~(now[y] ?? 0)),
  };
}
