// Near misses and sightings.

import type { FrameIndex } from '../../film';
import type { Mark } from '../../marks';
import { texts } from './texts';

/** A near miss: the seeker comes this close, and the hider gets away again. Distances are in steps round the walls. */
const NEAR = 2;
const AWAY = 5;
/** Sightings that follow each other within this share of the film are one. */
const SIGHTING_GAP_SHARE = 1 / 50;

/** Turns of the smallest distance in each near miss. */
export function nearMisses(distances: number[]): { turn: number; distance: number }[] {
  const found: { turn: number; distance: number }[] = [];
  let closest: { turn: number; distance: number } | undefined;
  distances.forEach((distance, turn) => {
    if (distance <= NEAR && distance > 0 && distance < (closest?.distance ?? Infinity)) closest = { turn, distance };
    if (distance < AWAY || !closest) return;
    if (closest.turn > 0) found.push(closest);
    closest = undefined;
  });
  return found;
}

/** Turns in which the players see each other after a time in which they did not. */
export function sightings(sees: boolean[], minGap: number): number[] {
  const found: number[] = [];
  let seenAt = -Infinity;
  sees.forEach((visible, turn) => {
    if (!visible) return;
    if (turn > 0 && turn - seenAt > minGap) found.push(turn);
    seenAt = turn;
  });
  return found;
}

/** Whether they see each other, by turn. Reads the deltas, so that long films need not be unfolded. */
function visibility({ film }: FrameIndex): boolean[] {
  const sees = [(film.first as { sees?: boolean }).sees === true];
  for (const delta of film.deltas) {
    const change = (delta as { sees?: unknown } | null)?.sees;
    sees.push(typeof change === 'boolean' ? change : (sees.at(-1) ?? false));
  }
  return sees;
}

export function findMoments(frames: FrameIndex): Mark[] {
  const distances = frames.film.standing.lines[0] ?? [];
  const misses = nearMisses(distances).map(({ turn, distance }): Mark => ({ turn, kind: 'capture', text: texts.nearMiss(distance) }));
  const gap = Math.max(2, Math.floor(frames.last * SIGHTING_GAP_SHARE));
  const seen = sightings(visibility(frames), gap).map((turn): Mark => ({ turn, kind: 'capture', text: texts.sighting }));
  return [...misses, ...seen].sort((a, b) => a.turn - b.turn);
}
