// A match as a scoreboard: a row for each bot, with its points and its score in each game.

import type { Match, MatchGame } from './types';

export interface ScoreRow {
  entrant: number;
  points: number;
  seats: (MatchGame['seats'][number] | undefined)[];
}

/** Rows of a match, the best bot first: by points, then by the places in the games. */
export function scoreRows(match: Match): ScoreRow[] {
  const rows = match.entrants.map((entrant, i) => ({ entrant, points: match.points[i] ?? 0, seats: match.games.map((game) => game.seats.find((seat) => seat.entrant === entrant)) }));
  const places = (row: ScoreRow): number => row.seats.reduce((sum, seat) => sum + (seat?.place ?? 0), 0);
  return rows.sort((one, other) => other.points - one.points || places(one) - places(other));
}

/** Whether matches give points. Without points, the scores decide. */
export const hasPoints = (match: Match): boolean => match.points.some((points) => points !== 0);

/** Whether a bot won a game alone. */
export const wonAlone = (game: MatchGame, entrant: number): boolean => game.seats.filter((seat) => seat.place === 1).length === 1 && game.seats.some((seat) => seat.place === 1 && seat.entrant === entrant);
