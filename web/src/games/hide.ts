// Hide and Seek: frame format and description of a step.

import { viewerTexts } from '../viewer_texts';
import type { FrameIndex } from '../film';
import Board from './Hide.svelte';
import type { GameView } from './types';

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
  if (!last) return `${viewerTexts.hide.start} ${sees ? viewerTexts.hide.visible : viewerTexts.hide.notVisible}`;
  const name = frames.film.names[last.seat] ?? '';
  const parts: string[] = [];
  if (last.fault !== null) parts.push(viewerTexts.hide.faulted(name, last.fault));
  else if (last.move === null || last.move === 'STAY') parts.push(viewerTexts.hide.stays(name));
  else parts.push(viewerTexts.hide.moves(name, viewerTexts.hide.directions[last.move] ?? last.move));
  if (ending !== null) parts.push(viewerTexts.hide.ended(ending.charAt(0).toUpperCase() + ending.slice(1), score ?? 0));
  else parts.push(sees ? viewerTexts.hide.visible : viewerTexts.hide.notVisible);
  return parts.join(' ');
}

export const hideAndSeek: GameView = {
  Board,
  speed: 8,
  ranked: false,
  badge: (_, seat) => ({ letter: seat === 0 ? 'S' : 'H', colour: seat === 0 ? 11 : 0 }),
  describe,
};
