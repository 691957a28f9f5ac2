// What the printable sheet shows of a phase.

import type { Bracket, PhaseItem, PhaseStandings, StandingsTable, TableCell, TableColumn } from '../types';

export interface PrintedTable {
  id: string;
  title: string;
  columns: { id: string; title: string; right: boolean }[];
  rows: string[][];
}

export interface PrintedPhase {
  number: number;
  name: string;
  format: string;
  tables: PrintedTable[];
  /** Whether there are several official tables, one for each role. */
  several: boolean;
  /** The first three of each official table, once the phase is finished. */
  podium: { place: number; name: string; title: string }[];
  ties: { round: string; names: [string, string]; score: string; won: number }[];
}

/** Columns of a table beyond which it does not fit the paper. */
const MAX_COLUMNS = 8;

/** A cell as text. */
export function printedCell(cell: TableCell | undefined, column: TableColumn): string {
  if (cell === null || cell === undefined) return '';
  if (typeof cell === 'string') return cell;
  if (typeof cell === 'number') return `${cell.toFixed(column.decimals)}${column.unit}`;
  return `${cell.low.toFixed(column.decimals)} – ${cell.high.toFixed(column.decimals)}`;
}

function printedTable(table: StandingsTable): PrintedTable {
  const columns = table.columns.filter((column) => !column.time).slice(0, MAX_COLUMNS);
  return {
    id: table.id,
    title: table.title,
    columns: columns.map(({ id, title, right }) => ({ id, title, right })),
    rows: table.rows.map((row) => columns.map((column) => printedCell(row[column.id], column))),
  };
}

const PLACES = { gold: 1, silver: 2, bronze: 3 } as const;

export function sheetOf(phase: PhaseItem, standings: PhaseStandings, bracket: Bracket | undefined, name: (entrant: number) => string): PrintedPhase {
  const official = standings.sheets.filter((table) => table.official);
  const isFinished = phase.state === 'published' || phase.state === 'closed';
  const podium = official.flatMap((table) =>
    table.rows.flatMap((row) => (row.medal === null ? [] : [{ place: PLACES[row.medal], name: name(row.entrant), title: table.title }])),
  );
  const side = (entrant: number | null | undefined): string => (entrant === null || entrant === undefined ? '–' : name(entrant));
  const ties = (bracket?.rounds ?? []).flatMap((round) =>
    round.matches.map((match) => ({
      round: round.name,
      names: [side(match.sides[0]?.entrant), side(match.sides[1]?.entrant)] as [string, string],
      score: match.sides.some((one) => one.score !== '') ? match.sides.map((one) => one.score).join(' : ') : '',
      won: match.sides.findIndex((one) => one.won),
    })),
  );
  return { number: phase.number, name: phase.name, format: phase.format, tables: official.map(printedTable), several: official.length > 1, podium: isFinished ? podium : [], ties };
}
