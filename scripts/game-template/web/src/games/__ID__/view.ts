// __TITLE__: frame format and description of a move.

import type { FrameIndex } from '../../film';
import { letter, seatColour } from '../../palette';
import Board from './Board.svelte';
import type { GameView } from '../types';
import { texts } from './texts';

// FILL IN: what `View::frame` in crates/agon-games/src/__MODULE__/view.rs sends.
export interface __TYPE__Frame {
  turn: number;
  last: number | null;
  to_move: number | null;
  ended: string | null;
}

export const frameOf = (frames: FrameIndex, turn: number): __TYPE__Frame => frames.frame(turn) as unknown as __TYPE__Frame;

function describe(frames: FrameIndex, turn: number): string {
  const frame = frameOf(frames, turn);
  const parts: string[] = [];
  if (turn === 0) parts.push(texts.start(frames.film.names[frame.to_move ?? 0] ?? ''));
  else if (frame.last !== null) parts.push(texts.move(frame.last));
  if (frame.ended !== null) parts.push(texts.ended(frame.ended));
  return parts.join(' ');
}

const view: GameView = {
  Board,
  // Height of the board as a multiple of its width.
  tall: 0.4,
  speed: 1,
  ranked: false,
  badge: (_first, seat, colours) => ({ letter: letter(seat), colour: seatColour(seat, colours) }),
  describe,
};

export default view;
