// Hide and Seek: frame format and description of a step.

import type { FrameIndex } from '../../film';
import { seatColour } from '../../palette';
import Board from './Board.svelte';
import { findMoments } from './moments';
import Notes from './Notes.svelte';
import type { GameView } from '../types';
import { texts } from './texts';

export type Cell = [number, number];

export interface Runner {
  pos: Cell;
  spawn: Cell;
  enemy_is_visible: boolean;
  enemy_pos: Cell;
  enemy_pos_since: number;
  /** Visible cells: a bit mask for each row. */
  view: number[];
  walked: number;
}

export interface HideAndSeekFrame {
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

export const frameOf = (frames: FrameIndex, turn: number): HideAndSeekFrame => frames.frame(turn) as unknown as HideAndSeekFrame;

function describe(frames: FrameIndex, turn: number): string {
  const { last, sees, ending, score } = frameOf(frames, turn);
  if (!last) return `${texts.start} ${sees ? texts.visible : texts.notVisible}`;
  const name = frames.film.names[last.seat] ?? '';
  const parts: string[] = [];
  if (last.fault !== null) parts.push(texts.faulted(name, last.fault));
  else if (last.move === null || last.move === 'STAY') parts.push(texts.stays(name));
  else parts.push(texts.moves(name, texts.directions[last.move] ?? last.move));
  if (ending !== null) parts.push(texts.ended(ending.charAt(0).toUpperCase() + ending.slice(1), score ?? 0));
  else parts.push(sees ? texts.visible : texts.notVisible);
  return parts.join(' ');
}

const view: GameView = {
  Board,
  Notes,
  tall: 1,
  speed: 8,
  ranked: false,
  // Without colours of a competition: red and blue.
  badge: (_, seat, colours) => ({ letter: seat === 0 ? 'S' : 'H', colour: colours ? seatColour(seat, colours) : seat === 0 ? 11 : 0 }),
  chart: { ...texts.chart, hasLeader: false },
  captures: { name: texts.momentName, find: findMoments },
  describe,
};

export default view;
