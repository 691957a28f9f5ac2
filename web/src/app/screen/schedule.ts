// The next matches of a phase.

import type { Fixture, LiveGame, Match } from '../types';

/** Stage and number of a match, from its name such as `2-15`. */
function position(match: string): [number, number] {
  const [stage = 0, number = 0] = match.split('-').map(Number);
  return [stage, number];
}

const isLater = (one: string, other: string): boolean => {
  const [a, b] = [position(one), position(other)];
  return a[0] !== b[0] ? a[0] > b[0] : a[1] > b[1];
};

/**
 * Match after which the next ones are listed: the schedule can be long, so it is not read from its start. Matches start in the order of the
 * schedule, so the next ones follow the last one that has started.
 */
export function lastStarted(playing: LiveGame[], latest: Match[]): string | undefined {
  const names = [...playing.map((game) => game.match), ...latest.map((match) => match.match)];
  return names.reduce<string | undefined>((last, name) => (last === undefined || isLater(name, last) ? name : last), undefined);
}

/** Fixtures that have not started. */
export function upcoming(fixtures: Fixture[], playing: LiveGame[], count: number): Fixture[] {
  const started = new Set(playing.map((game) => game.match));
  return fixtures.filter((fixture) => fixture.state === 'to come' && !started.has(fixture.match)).slice(0, count);
}
