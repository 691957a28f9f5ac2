// What the list of matches and the history of the ratings say about single bots: form, movement and trend.

import { ratingLines, type RatingLine } from './charts';
import type { Match, RatingHistory } from './types';

/** Result of a bot in a match. */
export interface MatchResult {
  match: string;
  outcome: 'won' | 'drawn' | 'lost';
  /** Place in the match, and the number of bots. */
  place: number;
  of: number;
}

/** A number for each entrant of a match; the highest is the best. Points if they differ, else the places in the games. */
function strengths(match: Match): number[] {
  if (new Set(match.points).size > 1) return match.entrants.map((_, i) => match.points[i] ?? 0);
  return match.entrants.map((entrant) => -match.games.reduce((sum, game) => sum + (game.seats.find((seat) => seat.entrant === entrant)?.place ?? 0), 0));
}

/** Result of an entrant in a match; undefined if it did not take part or the match is void. */
export function resultOf(match: Match, entrant: number): MatchResult | undefined {
  const at = match.entrants.indexOf(entrant);
  if (at < 0 || match.void !== null) return undefined;
  const all = strengths(match);
  const own = all[at] ?? 0;
  const better = all.filter((one) => one > own).length;
  const equal = all.filter((one) => one === own).length;
  return { match: match.match, place: better + 1, of: all.length, outcome: better > 0 ? 'lost' : equal > 1 ? 'drawn' : 'won' };
}

/** The latest results of each entrant, the newest last. `matches` has the newest first. */
export function recentForm(matches: Match[], most: number): Map<number, MatchResult[]> {
  const form = new Map<number, MatchResult[]>();
  for (const match of matches) {
    for (const entrant of new Set(match.entrants)) {
      const result = resultOf(match, entrant);
      if (!result) continue;
      const results = form.get(entrant) ?? [];
      if (results.length < most) form.set(entrant, [result, ...results]);
    }
  }
  return form;
}

/** Whether results tell bots apart. In games in which the bots do not play against each other, all places are equal. */
export const tellsApart = (form: Map<number, MatchResult[]>): boolean => [...form.values()].some((results) => results.some((one) => one.outcome !== 'drawn'));

/** Share of the matches of a phase over which movement is measured. */
const MOVEMENT_SHARE = 0.2;

export interface Movement {
  /** Number of matches after which the earlier order was taken. */
  since: number;
  /** Places gained (positive) or lost, by entrant; missing for bots that had not played then. */
  places: Map<number, number>;
}

/** Places gained or lost in the last fifth of the matches, by rating, among bots of one group (a role). Undefined without an earlier point. */
export function movement(history: RatingHistory, groupOf: (entrant: number) => string): Movement | undefined {
  const now = history.points[history.points.length - 1];
  if (!now) return undefined;
  const then = history.points.findLast((point) => point.matches <= (1 - MOVEMENT_SHARE) * now.matches);
  if (!then) return undefined;
  const old = ranks(then.ratings, groupOf);
  const current = ranks(now.ratings, groupOf);
  const places = new Map<number, number>();
  for (const [entrant, rank] of current) {
    const before = old.get(entrant);
    if (before !== undefined) places.set(entrant, before - rank);
  }
  return { since: then.matches, places };
}

function ranks(ratings: { entrant: number; rating: number }[], groupOf: (entrant: number) => string): Map<number, number> {
  return new Map(ratings.map((own) => [own.entrant, 1 + ratings.filter((other) => groupOf(other.entrant) === groupOf(own.entrant) && other.rating > own.rating).length]));
}

/** SVG path of a rating line in a box of 100 by 20 units. A small range is not stretched: it would look like a large change. */
export function sparkline(line: RatingLine, minSpan: number): string {
  const ratings = line.points.map((point) => point.rating);
  if (ratings.length < 2) return '';
  const [low, high] = [Math.min(...ratings), Math.max(...ratings)];
  const span = Math.max(minSpan, high - low);
  const base = (low + high - span) / 2;
  const last = ratings.length - 1;
  return ratings.map((rating, i) => `${i === 0 ? 'M' : 'L'}${((100 * i) / last).toFixed(1)} ${(18 - (16 * (rating - base)) / span).toFixed(1)}`).join('');
}

/** Rating lines by entrant. */
export const linesByEntrant = (history: RatingHistory): Map<number, RatingLine> => new Map(ratingLines(history).map((line) => [line.entrant, line]));
