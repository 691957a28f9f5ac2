// Motion of a turn: the bots run to their platforms; those that meet hit each other, fly apart and shake the board.

import { ease, progressBetween } from '../types';

/** Progress at which the bots start and arrive. */
const START = 0.2;
const IMPACT = 0.55;
/** The board has stopped shaking at this progress. */
const STILL = 0.85;

/** How far a bot has come, from 0 (its side) to 1 (its goal). A bot that collides runs too far, into the others, and is thrown back. */
export function travelled(progress: number, collides: boolean): number {
  if (progress >= 1) return 1;
  const run = progressBetween(progress, START, IMPACT);
  if (!collides) return ease(run);
  // Faster and faster until the impact.
  if (run < 1) return 1.12 * run * run;
  const back = progressBetween(progress, IMPACT, STILL);
  return 1 + 0.12 * (1 - back) * Math.cos(back * 3 * Math.PI) - 0.2 * Math.sin(back * Math.PI) * (1 - back);
}

/** Displacement of the board after the impact. `strength` is the number of bots that collided. */
export function shake(progress: number, strength: number): { x: number; y: number } {
  const t = progressBetween(progress, IMPACT, STILL);
  if (strength === 0 || t <= 0 || t >= 1) return { x: 0, y: 0 };
  const size = 3.2 * strength * (1 - t) ** 2;
  return { x: size * Math.sin(t * 34), y: size * Math.cos(t * 27) };
}

/** Size of the burst at the point of impact, from 0 to 1, and how visible it is. */
export function burst(progress: number): { size: number; opacity: number } {
  const t = progressBetween(progress, IMPACT, STILL);
  return { size: Math.sqrt(t), opacity: progress >= 1 ? 0 : t === 0 ? 0 : 1 - t };
}

/** Progress of the points and marks that appear when all have arrived. */
export const revealed = (progress: number): number => progressBetween(progress, IMPACT + 0.05, 0.8);
