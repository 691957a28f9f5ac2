// An elimination as boxes and lines: where each match stands. Each match stands between those its sides came from.

import type { Bracket } from './types';

export const WIDE = 216;
export const GAP = 36;
export const HIGH = 46;
const EVERY = 62;
const TOP = 26;

type Round = Bracket['rounds'][number];
export type Tie = Round['matches'][number];

export interface Spot {
  round: number;
  index: number;
  x: number;
  y: number;
}

export interface Drawing {
  wide: number;
  high: number;
  titles: { x: number; text: string }[];
  spots: (Spot & { tie: Tie; third: boolean })[];
  joins: string[];
}

const isThird = (round: Round | undefined): boolean => round?.name.includes('third place') ?? false;

/** In which column each round stands: the match for the third place with the final beside it. */
function columnsOf(bracket: Bracket): number[] {
  let column = 0;
  return bracket.rounds.map((round) => (isThird(round) ? column : column++));
}

/** The match of an earlier round that this side won, if its place comes from that win. */
function feeder(bracket: Bracket, round: number, entrant: number | null): [number, number] | undefined {
  if (entrant === null || isThird(bracket.rounds[round])) return undefined;
  for (let earlier = round - 1; earlier >= 0; earlier -= 1) {
    const matches = bracket.rounds[earlier]?.matches ?? [];
    if (isThird(bracket.rounds[earlier])) continue;
    const at = matches.findIndex((tie) => tie.sides.some((side) => side.entrant === entrant));
    if (at < 0) continue;
    return matches[at]?.sides.some((side) => side.entrant === entrant && side.won) ? [earlier, at] : undefined;
  }
  return undefined;
}

/** Before anybody has won, the next round halves this one: two neighbours feed one. */
function expected(bracket: Bracket, round: number, index: number, side: number): [number, number] | undefined {
  if (isThird(bracket.rounds[round])) return undefined;
  let before = round - 1;
  while (before >= 0 && isThird(bracket.rounds[before])) before -= 1;
  const matches = bracket.rounds[before]?.matches.length ?? 0;
  return matches === 2 * (bracket.rounds[round]?.matches.length ?? 0) ? [before, 2 * index + side] : undefined;
}

function feeders(bracket: Bracket, round: number, index: number): [number, number][] {
  const sides = bracket.rounds[round]?.matches[index]?.sides ?? [];
  return sides.flatMap((side, i) => {
    const from = side.entrant === null ? expected(bracket, round, index, i) : feeder(bracket, round, side.entrant);
    return from ? [from] : [];
  });
}

export function draw(bracket: Bracket): Drawing {
  const columns = columnsOf(bracket);
  const ys: (number | undefined)[][] = bracket.rounds.map((round) => round.matches.map(() => undefined));
  let free = TOP;
  const put = (round: number, index: number): number => {
    const known = ys[round]?.[index];
    if (known !== undefined) return known;
    const from = feeders(bracket, round, index).map(([r, i]) => put(r, i));
    const y = from.length > 0 ? from.reduce((sum, one) => sum + one, 0) / from.length : free;
    if (from.length === 0) free += EVERY;
    const row = ys[round];
    if (row) row[index] = y;
    return y;
  };
  // From the last round back, so that what belongs together is placed together.
  for (let round = bracket.rounds.length - 1; round >= 0; round -= 1) {
    if (!isThird(bracket.rounds[round])) bracket.rounds[round]?.matches.forEach((_, index) => put(round, index));
  }
  bracket.rounds.forEach((round, n) => {
    if (!isThird(round)) return;
    const beside = columns.flatMap((column, other) => (column === columns[n] ? (ys[other] ?? []) : []));
    const y = Math.max(TOP - EVERY, ...beside.map((one) => one ?? 0)) + EVERY + 16;
    ys[n] = round.matches.map((_, i) => y + i * EVERY);
  });
  const x = (round: number): number => 1 + (columns[round] ?? 0) * (WIDE + GAP);
  const spots = bracket.rounds.flatMap((round, n) =>
    round.matches.map((tie, index) => ({ round: n, index, x: x(n), y: ys[n]?.[index] ?? TOP, tie, third: isThird(round) })),
  );
  const joins = spots.flatMap((spot) =>
    feeders(bracket, spot.round, spot.index).map(([r, i]) => {
      const y = (ys[r]?.[i] ?? TOP) + HIGH / 2;
      return `M${x(r) + WIDE} ${y}H${spot.x - GAP / 2}V${spot.y + HIGH / 2}H${spot.x}`;
    }),
  );
  const titled = new Set<number>();
  const titles = bracket.rounds.flatMap((round, n) => {
    const column = columns[n] ?? 0;
    if (isThird(round) || titled.has(column)) return [];
    titled.add(column);
    return [{ x: x(n), text: round.name }];
  });
  return {
    wide: (Math.max(0, ...columns) + 1) * (WIDE + GAP) - GAP + 2,
    high: Math.max(TOP, ...spots.map((spot) => spot.y)) + HIGH + 8,
    titles,
    spots,
    joins,
  };
}
