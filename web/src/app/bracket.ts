// Layout of an elimination bracket: boxes for matches, lines between them. A match is placed between the matches that feed it.

import type { Bracket } from './types';

export const BOX_WIDTH = 216;
const COLUMN_GAP = 36;
export const BOX_HEIGHT = 46;
const ROW_SPACING = 62;
const TOP_MARGIN = 26;

type BracketRound = Bracket['rounds'][number];
export type BracketMatch = BracketRound['matches'][number];

export interface MatchBox {
  round: number;
  index: number;
  x: number;
  y: number;
  match: BracketMatch;
  third: boolean;
}

export interface BracketLayout {
  width: number;
  height: number;
  titles: { x: number; text: string }[];
  boxes: MatchBox[];
  /** SVG paths of the lines between matches. */
  connectors: string[];
}

const isThird = (round: { name: string } | undefined): boolean => round?.name.includes('third place') ?? false;

/** Column of each round. The match for third place shares the column of the final. */
function columnsOf(bracket: Bracket): number[] {
  let column = 0;
  return bracket.rounds.map((round) => (isThird(round) ? column : column++));
}

/** The earlier match that an entrant won to reach this round: round and index. */
function feederOf(bracket: Bracket, round: number, entrant: number | null): [number, number] | undefined {
  if (entrant === null || isThird(bracket.rounds[round])) return undefined;
  for (let earlier = round - 1; earlier >= 0; earlier -= 1) {
    const matches = bracket.rounds[earlier]?.matches ?? [];
    if (isThird(bracket.rounds[earlier])) continue;
    const at = matches.findIndex((match) => match.sides.some((side) => side.entrant === entrant));
    if (at < 0) continue;
    return matches[at]?.sides.some((side) => side.entrant === entrant && side.won) ? [earlier, at] : undefined;
  }
  return undefined;
}

/** The match that will feed a side that is still open, if the round before has twice as many matches. */
function expectedFeeder(bracket: Bracket, round: number, index: number, side: number): [number, number] | undefined {
  if (isThird(bracket.rounds[round])) return undefined;
  let previous = round - 1;
  while (previous >= 0 && isThird(bracket.rounds[previous])) previous -= 1;
  const matches = bracket.rounds[previous]?.matches.length ?? 0;
  return matches === 2 * (bracket.rounds[round]?.matches.length ?? 0) ? [previous, 2 * index + side] : undefined;
}

function feeders(bracket: Bracket, round: number, index: number): [number, number][] {
  const sides = bracket.rounds[round]?.matches[index]?.sides ?? [];
  return sides.flatMap((side, i) => {
    const from = side.entrant === null ? expectedFeeder(bracket, round, index, i) : feederOf(bracket, round, side.entrant);
    return from ? [from] : [];
  });
}

const openTie = (): BracketMatch => ({ match: null, sides: [0, 1].map(() => ({ entrant: null, seed: null, score: '', won: false })), note: '' });

/** A knockout with the rounds that are still to come, with open ties. Other brackets are not changed: their lines are known only with their entrants. */
export function withPlanned(bracket: Bracket): Bracket {
  const sizes = [...bracket.rounds.filter((round) => !isThird(round)).map((round) => round.matches.length).slice(-1), ...bracket.planned.filter((round) => !isThird(round)).map((round) => round.ties)];
  // Byes make the first round smaller.
  const halves = sizes.every((size, i) => i === 0 || (i === 1 && bracket.rounds.length === 1 ? size * 2 >= (sizes[0] ?? 0) : size * 2 === sizes[i - 1]));
  if (bracket.planned.length === 0 || !halves || sizes.at(-1) !== 1 || bracket.rounds[0]?.name.startsWith('winners')) return bracket;
  return { ...bracket, rounds: [...bracket.rounds, ...bracket.planned.map((round) => ({ name: round.name, matches: Array.from({ length: round.ties }, openTie) }))], planned: [] };
}

export function layoutBracket(bracket: Bracket): BracketLayout {
  const columns = columnsOf(bracket);
  const ys: (number | undefined)[][] = bracket.rounds.map((round) => round.matches.map(() => undefined));
  let nextFreeY = TOP_MARGIN;
  const place = (round: number, index: number): number => {
    const known = ys[round]?.[index];
    if (known !== undefined) return known;
    const from = feeders(bracket, round, index).map(([r, i]) => place(r, i));
    const y = from.length > 0 ? from.reduce((sum, one) => sum + one, 0) / from.length : nextFreeY;
    if (from.length === 0) nextFreeY += ROW_SPACING;
    const row = ys[round];
    if (row) row[index] = y;
    return y;
  };
  // Start with the last round, so that the feeders of a match are placed side by side.
  for (let round = bracket.rounds.length - 1; round >= 0; round -= 1) {
    if (!isThird(bracket.rounds[round])) bracket.rounds[round]?.matches.forEach((_, index) => place(round, index));
  }
  bracket.rounds.forEach((round, n) => {
    if (!isThird(round)) return;
    const beside = columns.flatMap((column, other) => (column === columns[n] ? (ys[other] ?? []) : []));
    const y = Math.max(TOP_MARGIN - ROW_SPACING, ...beside.map((one) => one ?? 0)) + ROW_SPACING + 16;
    ys[n] = round.matches.map((_, i) => y + i * ROW_SPACING);
  });
  const x = (round: number): number => 1 + (columns[round] ?? 0) * (BOX_WIDTH + COLUMN_GAP);
  const boxes = bracket.rounds.flatMap((round, n) =>
    round.matches.map((match, index) => ({ round: n, index, x: x(n), y: ys[n]?.[index] ?? TOP_MARGIN, match, third: isThird(round) })),
  );
  const connectors = boxes.flatMap((box) =>
    feeders(bracket, box.round, box.index).map(([r, i]) => {
      const y = (ys[r]?.[i] ?? TOP_MARGIN) + BOX_HEIGHT / 2;
      return `M${x(r) + BOX_WIDTH} ${y}H${box.x - COLUMN_GAP / 2}V${box.y + BOX_HEIGHT / 2}H${box.x}`;
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
    width: (Math.max(0, ...columns) + 1) * (BOX_WIDTH + COLUMN_GAP) - COLUMN_GAP + 2,
    height: Math.max(TOP_MARGIN, ...boxes.map((box) => box.y)) + BOX_HEIGHT + 8,
    titles,
    boxes,
    connectors,
  };
}
