// Cells of a standings table: formatting and intervals.

import { decimal, micros, integer } from './format';
import type { StandingsTable, TableCell, TableColumn } from './types';

export type TableRow = StandingsTable['rows'][number];

export interface Interval {
  low: number;
  high: number;
}

export function isInterval(cell: TableCell | undefined): cell is Interval {
  return typeof cell === 'object' && cell !== null && typeof cell.low === 'number' && typeof cell.high === 'number';
}

/** Text of a cell. */
export function formatCell(cell: TableCell | undefined, column: TableColumn): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'string') return cell;
  if (isInterval(cell)) return `${formatNumber(cell.low, column)} to ${formatNumber(cell.high, column)}`;
  if (typeof cell !== 'number') return '';
  if (column.kind === 'time' && !/\[.*\]/.test(column.title)) return micros(cell);
  const unit = column.unit && !column.title.includes(column.unit) ? ` ${column.unit}` : '';
  return `${formatNumber(cell, column)}${unit}`;
}

function formatNumber(value: number, column: TableColumn): string {
  if (typeof column.decimals === 'number') return column.decimals === 0 ? integer(value) : decimal(value, column.decimals);
  return Number.isInteger(value) ? integer(value) : decimal(value, 2);
}

/** Whether the cells of a column are right-aligned. */
export function isRightAligned(column: TableColumn): boolean {
  return column.right || ['number', 'time'].includes(column.kind);
}

/** Whether this is the head-to-head table, which the charts tab shows. */
export const isMatrix = (table: StandingsTable): boolean => table.columns.some((column) => column.id.startsWith('against_'));
