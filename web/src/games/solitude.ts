// Solitude Scramble: what its frames say, and a turn in words.

import { en } from '../en';
import type { Reel } from '../film';
import { letter } from '../palette';
import Stage from './Solitude.svelte';
import Notes from './SolitudeNotes.svelte';
import type { GameView } from './types';

export interface Deal {
  platform_scores: { [platform: string]: number };
  sides: string[];
}

export interface Revealed extends Deal {
  turn: number;
  moves: string[];
  went: (string | null)[];
  collided: string[];
  awards: number[];
}

export interface Frame {
  turn: number;
  turns: number;
  over: boolean;
  now: Deal | null;
  last: Revealed | null;
  totals: number[];
}

export const frameOf = (reel: Reel, turn: number): Frame => reel.frame(turn) as unknown as Frame;

function tell(reel: Reel, turn: number): string {
  const last = frameOf(reel, turn).last;
  const names = reel.film.names;
  if (!last) return en.solitude.ready;
  const parts: string[] = [];
  last.went.forEach((platform, seat) => {
    const name = names[seat] ?? '';
    if (platform === null) parts.push(en.solitude.none(name));
    else if ((last.awards[seat] ?? 0) > 0)
      parts.push(en.solitude.alone(name, en.solitude.platforms[platform] ?? platform, last.awards[seat] ?? 0));
  });
  for (const platform of last.collided) {
    const met = names.filter((_, seat) => last.went[seat] === platform);
    parts.push(en.solitude.met(met, en.solitude.platforms[platform] ?? platform));
  }
  return `${parts.join('; ')}.`;
}

export const solitude: GameView = {
  Stage,
  Notes,
  speed: 0.5,
  ranked: true,
  badge: (_, seat) => ({ letter: letter(seat), colour: seat }),
  tell,
};
