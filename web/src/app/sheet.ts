// What stands in the cells of a table, and what of it can be drawn.

import { decimal, micros, whole } from './format';
import type { Cell, Column, Sheet } from './types';

export type Row = Sheet['rows'][number];

export interface Interval {
  low: number;
  high: number;
}

export function isInterval(cell: Cell | undefined): cell is Interval {
  return typeof cell === 'object' && cell !== null && typeof cell.low === 'number' && typeof cell.high === 'number';
}

/** A cell in words, as the column wants it. */
export function shown(cell: Cell | undefined, column: Column): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'string') return cell;
  if (isInterval(cell)) return `${number(cell.low, column)} to ${number(cell.high, column)}`;
  if (typeof cell !== 'number') return '';
  if (column.kind === 'time' && !/\[.*\]/.test(column.title)) return micros(cell);
  const unit = column.unit && !column.title.includes(column.unit) ? ` ${column.unit}` : '';
  return `${number(cell, column)}${unit}`;
}

function number(value: number, column: Column): string {
  if (typeof column.decimals === 'number') return column.decimals === 0 ? whole(value) : decimal(value, column.decimals);
  return Number.isInteger(value) ? whole(value) : decimal(value, 2);
}

/** Whether a column's cells stand at the right. */
export function isRight(column: Column): boolean {
  return column.right || ['number', 'time'].includes(column.kind);
}

/** A table of all pairs is drawn elsewhere. */
export const isMatrix = (sheet: Sheet): boolean => sheet.columns.some((column) => column.id.startsWith('against_'));

/** From the least to the most that a column of intervals has, with the values beside them. */
export function span(rows: Row[], interval: string, value: string | undefined): Interval | undefined {
  let low = Infinity;
  let high = -Infinity;
  for (const row of rows) {
    const cell = row[interval];
    const middle = value === undefined ? undefined : row[value];
    for (const x of [isInterval(cell) ? cell.low : undefined, isInterval(cell) ? cell.high : undefined, middle]) {
      if (typeof x !== 'number' || !Number.isFinite(x)) continue;
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
  }
  if (low > high) return undefined;
  // A single value stands in the middle.
  return low === high ? { low: low - 1, high: high + 1 } : { low, high };
}

/** Where a value lies on a strip of 100. */
export const place = (x: number, on: Interval): number => +((100 * (x - on.low)) / (on.high - on.low)).toFixed(2);
