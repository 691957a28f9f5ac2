// The standings as the big screen shows them: the first rows, one value for each, and the movement since the last change.

import { formatCell } from '../standings_table';
import type { Entrant, PhaseStandings, StandingsTable, TableColumn } from '../types';

/** Tables that rank by something else than the result. */
const OTHER_RANKINGS = ['efficiency', 'spread'];
const PLACE_COLUMNS = ['rank', 'place'];

export interface StandingRow {
  entrant: number;
  /** As in the table; empty for an entrant without a place. */
  place: string;
  value: string;
  medal: 'gold' | 'silver' | 'bronze' | null;
  /** Places gained (positive) or lost since the order last changed. */
  moved: number;
}

const placeOf = (row: StandingsTable['rows'][number]): number | undefined => {
  const place = PLACE_COLUMNS.map((id) => row[id]).find((cell) => typeof cell === 'number');
  return typeof place === 'number' ? place : undefined;
};

/** Official tables that rank by the result: one, or one for each role. The result of a bracket comes first. */
export function rankingTables(standings: PhaseStandings | undefined): StandingsTable[] {
  const tables = (standings?.sheets ?? []).filter((table) => table.official && !OTHER_RANKINGS.includes(table.id) && table.rows.length > 0);
  const [knockout] = tables.filter((table) => table.id === 'knockout');
  if (!knockout) return tables;
  // Before the first loss all share the first place.
  const places = new Set(knockout.rows.map(placeOf));
  return places.size > 1 ? [knockout] : tables.filter((table) => table !== knockout);
}

/** The column that shows best how an entrant does: the first with numbers that are no places. */
export const valueColumn = (table: StandingsTable): TableColumn | undefined =>
  table.columns.find((column) => column.kind === 'number' && !column.time && !PLACE_COLUMNS.includes(column.id));

/** Text of the value column's heading, without a unit in brackets. */
export const valueTitle = (table: StandingsTable): string => (valueColumn(table)?.title ?? '').replace(/\s*\[.*\]$/, '');

/** Place of each entrant in its table. */
export const placesIn = (tables: StandingsTable[]): Map<number, number> =>
  new Map(
    tables.flatMap((table) =>
      table.rows.flatMap((row) => {
        const place = placeOf(row);
        return place === undefined ? [] : [[row.entrant, place] as const];
      }),
    ),
  );

/** The first rows of a table. */
export function topRows(table: StandingsTable, count: number, moved: ReadonlyMap<number, number>): StandingRow[] {
  const column = valueColumn(table);
  return table.rows.slice(0, count).map((row) => ({
    entrant: row.entrant,
    place: `${placeOf(row) ?? ''}`,
    value: column ? formatCell(row[column.id], column) : '',
    medal: row.medal,
    moved: moved.get(row.entrant) ?? 0,
  }));
}

/** Entrants on the first place; empty if all share it or none has a place. */
export function leadersOf(table: StandingsTable): number[] {
  const placed = table.rows.filter((row) => placeOf(row) !== undefined);
  const first = placed.filter((row) => placeOf(row) === 1).map((row) => row.entrant);
  return first.length < placed.length || placed.length === 1 ? first : [];
}

/** The first three places of a finished phase, with the entrants that share them. */
export function podiumOf(table: StandingsTable, entrants: (number: number) => Entrant | undefined): { place: number; entrants: number[] }[] {
  const places = new Map<number, number[]>();
  for (const row of table.rows) {
    const place = placeOf(row);
    if (place === undefined || place > 3 || entrants(row.entrant)?.disqualified) continue;
    places.set(place, [...(places.get(place) ?? []), row.entrant]);
  }
  return [...places].map(([place, shared]) => ({ place, entrants: shared })).sort((a, b) => a.place - b.place);
}

/** Remembers the order of each table and how it changed last. */
export class Movement {
  #phase: number | undefined;
  #orders = new Map<string, Map<number, number>>();
  #moved = new Map<string, Map<number, number>>();

  /** Takes the tables of a phase. Another phase starts without any movement. */
  update(phase: number, tables: StandingsTable[]): void {
    if (phase !== this.#phase) {
      this.#phase = phase;
      this.#orders.clear();
      this.#moved.clear();
    }
    for (const table of tables) {
      const before = this.#orders.get(table.id);
      const now = placesIn([table]);
      this.#orders.set(table.id, now);
      if (!before) continue;
      const moved = new Map([...now].flatMap(([entrant, place]) => {
        const change = (before.get(entrant) ?? place) - place;
        return change === 0 ? [] : [[entrant, change] as const];
      }));
      if (moved.size > 0) this.#moved.set(table.id, moved);
    }
  }

  of(table: string): ReadonlyMap<number, number> {
    return this.#moved.get(table) ?? new Map();
  }
}
