// Colour Battle: what its frames say, and a round in words.

import { en } from '../en';
import type { Json } from '../delta';
import type { Reel } from '../film';
import { letter } from '../palette';
import Stage from './Colour.svelte';
import type { GameView } from './types';

export interface Painter {
  seat: number;
  id: number;
  position: [number, number];
  from?: [number, number];
  tiles: number;
  share: number;
  did?: string;
  move?: string;
  fault?: string;
}

export interface Frame {
  round: number;
  rounds: number;
  side: number;
  /** Row by row from y = 0, which is drawn at the bottom. */
  grid: number[];
  white: number;
  bots: Painter[];
  clashes: [number, number][];
}

export const frameOf = (reel: Reel, turn: number): Frame => reel.frame(turn) as unknown as Frame;

function tell(reel: Reel, turn: number): string {
  const frame = frameOf(reel, turn);
  if (turn === 0) return en.colour.start(frame.bots.length, frame.side);
  const best = frame.bots.reduce((a, b) => (b.tiles > a.tiles ? b : a));
  const white = ((100 * frame.white) / (frame.side * frame.side)).toFixed(1);
  return en.colour.state(reel.film.names[best.seat] ?? '', best.share.toFixed(1), white, frame.clashes.length);
}

export const colourBattle: GameView = {
  Stage,
  speed: 15,
  ranked: true,
  badge: (first: Json, seat) => {
    const id = (first as unknown as Frame).bots[seat]?.id ?? seat + 1;
    return { letter: letter(id - 1), colour: id - 1 };
  },
  tell,
};
