// Measures of the drawing of one board.

export const SIDE = 7;
/** Side of a cell. */
export const CELL = 50;
export const VIEW_BOX = '-4 -4 394 394';

/** Left and upper edge of a cell, which counts row by row. */
export const x = (cell: number): number => (cell % SIDE) * CELL;
export const y = (cell: number): number => Math.floor(cell / SIDE) * CELL;
