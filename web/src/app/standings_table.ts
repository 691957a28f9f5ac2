// Standings tables: formatting, intervals, and the groups of a podium.

import { decimal, micros, integer } from './format';
import type { PhaseItem, StandingsTable, TableCell, TableColumn } from './types';

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

/** Whether this is the head-to-head table, which the analysis shows as a matrix. */
export const isMatrix = (table: StandingsTable): boolean => table.columns.some((column) => column.id.startsWith('against_'));

/** Whether this table ranks by the result of the games, not by time or spread, and not as a bracket. */
export const ranksResult = (table: StandingsTable): boolean => table.official && !['efficiency', 'spread', 'knockout'].includes(table.id);

/** Rank or place of a row; undefined for a disqualified bot. */
export function rankOf(row: TableRow): number | undefined {
  const rank = row['rank'] ?? row['place'];
  return typeof rank === 'number' ? rank : undefined;
}

/** The column that decides: the first number after the name that is neither a rank nor a time. */
export const decidingColumn = (table: StandingsTable): TableColumn | undefined =>
  table.columns.find((column) => column.kind === 'number' && !column.time && !['rank', 'place'].includes(column.id));

/** Whether no more match of a phase can change its table. */
export const isFinal = (phase: PhaseItem | undefined): boolean => phase?.state === 'published' || phase?.state === 'closed';

/** The first rows of the tables that decide: one group, or one for each role. A finished knockout comes before the table of its phase. */
export interface PodiumGroup {
  id: string;
  title: string;
  rows: { entrant: number; rank: number; value: string }[];
}

export function podiums(tables: StandingsTable[], most: number): PodiumGroup[] {
  const knockout = tables.find((table) => table.official && table.id === 'knockout');
  const deciding = knockout ? [knockout] : tables.filter(ranksResult);
  return deciding.map((table) => {
    const column = decidingColumn(table);
    const placed = table.rows.flatMap((row) => {
      const rank = rankOf(row);
      return rank === undefined ? [] : [{ entrant: row.entrant, rank, value: column ? formatCell(row[column.id], column) : '' }];
    });
    return { id: table.id, title: table.title, rows: placed.slice(0, most) };
  });
}
