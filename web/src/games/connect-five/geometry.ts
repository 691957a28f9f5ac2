// Measures of the drawing.

export const COLUMNS = 9;
export const ROWS = 7;
/** Side of a cell. */
export const CELL = 60;
/** Space above the board, in which a piece appears. */
export const TOP = 92;
export const VIEW_BOX = `0 0 600 ${TOP + ROWS * CELL + 46}`;

/** Centre of a column. */
export const x = (column: number): number => 30 + (column + 0.5) * CELL;
/** Centre of a row. */
export const y = (row: number): number => TOP + (row + 0.5) * CELL;
