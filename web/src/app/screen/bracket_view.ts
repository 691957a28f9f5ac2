// The part of a bracket that fits the big screen: the current round, some rounds before it, and the rounds to come.

import type { Bracket } from '../types';

type Round = Bracket['rounds'][number];
export type Tie = Round['matches'][number];

export interface BracketColumn {
  name: string;
  ties: (Tie | undefined)[];
  current: boolean;
  /** Whether two ties of the column before feed each tie, so that lines can join them. */
  joined: boolean;
}

export type BracketPage =
  /** Rounds side by side. `third` is the match for the third place. */
  | { kind: 'columns'; columns: BracketColumn[]; third: BracketColumn | undefined }
  /** A large round, page by page. */
  | { kind: 'grid'; name: string; ties: Tie[]; page: number; pages: number };

/** More ties in a column cannot be read from a distance. */
export const MAX_TIES_PER_COLUMN = 8;
const MAX_COLUMNS = 4;
const MAX_TIES_PER_PAGE = 12;

const isThird = (round: { name: string }): boolean => round.name.includes('third place');
const isOpen = (tie: Tie): boolean => !tie.sides.some((side) => side.won);

/** Index of the round that is being played: the first with an open tie, else the last. -1 if there is none. */
export function currentRound(bracket: Bracket): number {
  const at = bracket.rounds.findIndex((round) => round.matches.some(isOpen));
  return at < 0 ? bracket.rounds.length - 1 : at;
}

/** Whether every tie is decided. */
export const isDecided = (bracket: Bracket): boolean => bracket.rounds.length > 0 && bracket.rounds.every((round) => !round.matches.some(isOpen));

/** What to show. `page` counts up; large rounds go through their pages. */
export function bracketPage(bracket: Bracket, page: number): BracketPage | undefined {
  const at = currentRound(bracket);
  const current = bracket.rounds[at];
  if (!current) return undefined;
  if (current.matches.length > MAX_TIES_PER_COLUMN) {
    const pages = Math.ceil(current.matches.length / MAX_TIES_PER_PAGE);
    const shown = page % pages;
    return { kind: 'grid', name: current.name, ties: current.matches.slice(shown * MAX_TIES_PER_PAGE, (shown + 1) * MAX_TIES_PER_PAGE), page: shown + 1, pages };
  }
  const column = (round: Round): BracketColumn => ({ name: round.name, ties: round.matches, current: round === current && !isDecided(bracket), joined: false });
  const main = bracket.rounds.filter((round) => !isThird(round));
  const third = bracket.rounds.find(isThird);
  const shown = main.filter((round) => round.matches.length <= MAX_TIES_PER_COLUMN).map(column);
  const planned = bracket.planned.map((round): BracketColumn => ({ name: round.name, ties: Array.from({ length: round.ties }, () => undefined), current: false, joined: false }));
  shown.push(...planned.filter((round) => !isThird(round)));
  const plannedThird = planned.find(isThird);
  // The current round stays, with what follows; then as many earlier rounds as fit.
  const from = Math.max(0, Math.min(shown.length - MAX_COLUMNS, shown.findIndex((one) => one.ties === current.matches)));
  const columns = shown.slice(from, from + MAX_COLUMNS);
  columns.forEach((one, i) => (one.joined = columns[i - 1]?.ties.length === 2 * one.ties.length));
  return { kind: 'columns', columns, third: third ? column(third) : plannedThird };
}

/** Ties of the current round, open ones first, for the small panel. */
export function currentTies(bracket: Bracket, count: number): { name: string; ties: Tie[] } | undefined {
  const round = bracket.rounds[currentRound(bracket)];
  if (!round) return undefined;
  const open = round.matches.filter((tie) => isOpen(tie));
  return { name: round.name, ties: [...open, ...round.matches.filter((tie) => !isOpen(tie))].slice(0, count) };
}
