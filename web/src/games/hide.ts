// Hide and Seek: what its frames say, and a step in words.

import { en } from '../en';
import type { Reel } from '../film';
import Stage from './Hide.svelte';
import type { GameView } from './types';

export type Cell = [number, number];

export interface Runner {
  pos: Cell;
  spawn: Cell;
  enemy_is_visible: boolean;
  enemy_pos: Cell;
  enemy_pos_since: number;
  /** The cells it sees: a word of bits for each row. */
  view: number[];
  walked: number;
}

export interface Frame {
  map: unknown;
  step: number;
  steps: number;
  turn: number | null;
  sees: boolean;
  line: Cell[] | null;
  seeker: Runner;
  hider: Runner;
  last: { seat: number; step: number; from: Cell; to: Cell; move: string | null; fault: string | null } | null;
  ending: string | null;
  score: number | null;
}

export const frameOf = (reel: Reel, turn: number): Frame => reel.frame(turn) as unknown as Frame;

function tell(reel: Reel, turn: number): string {
  const { last, sees, ending, score } = frameOf(reel, turn);
  if (!last) return `${en.hide.start} ${sees ? en.hide.see : en.hide.unseen}`;
  const name = reel.film.names[last.seat] ?? '';
  const parts: string[] = [];
  if (last.fault !== null) parts.push(en.hide.faulted(name, last.fault));
  else if (last.move === null || last.move === 'STAY') parts.push(en.hide.stays(name));
  else parts.push(en.hide.moves(name, en.hide.moveWords[last.move] ?? last.move));
  if (ending !== null) parts.push(en.hide.over(ending.charAt(0).toUpperCase() + ending.slice(1), score ?? 0));
  else parts.push(sees ? en.hide.see : en.hide.unseen);
  return parts.join(' ');
}

export const hideAndSeek: GameView = {
  Stage,
  speed: 8,
  ranked: false,
  badge: (_, seat) => ({ letter: seat === 0 ? 'S' : 'H', colour: seat === 0 ? 11 : 0 }),
  tell,
};
