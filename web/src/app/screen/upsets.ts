// Finds upsets: matches and ties in which a bot beats another one that stands much higher.

import type { Bracket, Match } from '../types';

export interface Upset {
  winner: number;
  loser: number;
  winnerPlace: number;
  loserPlace: number;
  /** How many places lie between the two. */
  size: number;
}

/** Minimum distance of two places, as a share of the field: between two bots, and in a game of several, which has many outcomes. */
const MIN_SHARE_OF_FIELD = 1 / 3;
const MIN_SHARE_OF_FIELD_IN_GROUPS = 1 / 2;
/** The minimum in a small field. Neighbours often change places. */
const MIN_PLACES = 3;
/** The minimum distance of two seeds. A tie of a bracket is played once. */
const MIN_SEEDS = 2;

const minPlaces = (field: number, seats: number): number => Math.max(MIN_PLACES, Math.ceil(field * (seats > 2 ? MIN_SHARE_OF_FIELD_IN_GROUPS : MIN_SHARE_OF_FIELD)));

/** The entrant with the most points. Undefined if the best share them. Without points, the places in the games decide. */
export function matchWinner(match: Match): number | undefined {
  const worth = new Map(match.entrants.map((entrant, i) => [entrant, match.points[i] ?? 0]));
  if (new Set(worth.values()).size < 2) {
    for (const game of match.games) for (const seat of game.seats) worth.set(seat.entrant, (worth.get(seat.entrant) ?? 0) - seat.place);
  }
  const [first, second] = [...worth].sort((a, b) => b[1] - a[1]);
  return first && (second === undefined || first[1] > second[1]) ? first[0] : undefined;
}

/**
 * The upset of a match, if it is one: the winner beats a bot that stood much higher before. `places` are the places before the match.
 * Bots of different roles are ranked in different tables and cannot be compared.
 */
export function matchUpset(match: Match, places: Map<number, number>): Upset | undefined {
  if (match.void !== null || match.entrants.length < 2) return undefined;
  const roles = new Set(match.games.flatMap((game) => game.seats.map((seat) => seat.role)));
  if (roles.size > 1) return undefined;
  const winner = matchWinner(match);
  const winnerPlace = winner === undefined ? undefined : places.get(winner);
  if (winner === undefined || winnerPlace === undefined) return undefined;
  let best: { loser: number; place: number } | undefined;
  for (const loser of match.entrants) {
    const place = places.get(loser);
    if (loser !== winner && place !== undefined && (best === undefined || place < best.place)) best = { loser, place };
  }
  if (!best || winnerPlace - best.place < minPlaces(places.size, match.entrants.length)) return undefined;
  return { winner, loser: best.loser, winnerPlace, loserPlace: best.place, size: winnerPlace - best.place };
}

/** Ties of a bracket that are decided, each by the seeds of its two sides and its round. */
function decidedTies(bracket: Bracket): Map<string, Bracket['rounds'][number]['matches'][number]> {
  return new Map(
    bracket.rounds.flatMap((round) =>
      round.matches.filter((tie) => tie.sides.some((side) => side.won)).map((tie) => [`${round.name} ${tie.sides.map((side) => side.entrant).join(' ')}`, tie] as const),
    ),
  );
}

/** Ties that were decided since the bracket looked like `before`, and that the lower seed won. */
export function bracketUpsets(before: Bracket, after: Bracket): Upset[] {
  const known = decidedTies(before);
  return [...decidedTies(after)].flatMap(([key, tie]): Upset[] => {
    const winner = tie.sides.find((side) => side.won);
    const loser = tie.sides.find((side) => !side.won);
    if (known.has(key) || winner?.entrant == null || loser?.entrant == null || winner.seed === null || loser.seed === null) return [];
    const size = winner.seed - loser.seed;
    return size < MIN_SEEDS ? [] : [{ winner: winner.entrant, loser: loser.entrant, winnerPlace: winner.seed, loserPlace: loser.seed, size }];
  });
}

/** Matches that are new in a list of the latest ones. Remembers only the last list. */
export class NewMatches {
  #known: Set<string> | undefined;

  /** The new matches, oldest first. The first list has none: its matches were played before the page was opened. */
  of(latest: Match[]): Match[] {
    const key = (match: Match): string => `${match.phase} ${match.match}`;
    const known = this.#known;
    this.#known = new Set(latest.map(key));
    if (known === undefined) return [];
    return latest.filter((match) => !known.has(key(match))).reverse();
  }
}
