// Connect Five: frame format and description of a move.

import type { Json } from '../../delta';
import type { FrameIndex } from '../../film';
import Board from './Board.svelte';
import type { GameView } from '../types';
import { texts } from './texts';

export interface LastMove {
  seat: number;
  player: number;
  named: number;
  column: number;
  row: number;
  drift: number;
}

export interface ConnectFiveFrame {
  /** Top row first; 0 is empty, 1 and 2 are players. */
  board: number[][];
  moves: number;
  /** The player number of each seat. */
  players: [number, number];
  to_move: number | null;
  last: LastMove | null;
  /** Cells of the winning line, `[row, column]`. */
  line: [number, number][];
  special: [number, number];
  p: number;
  q: number;
  played: number;
  ended: string | null;
  winner: number | null;
  fault: { fault: string; seat: number } | null;
}

export const frameOf = (frames: FrameIndex, turn: number): ConnectFiveFrame => frames.frame(turn) as unknown as ConnectFiveFrame;

function describe(frames: FrameIndex, turn: number): string {
  const frame = frameOf(frames, turn);
  const name = (seat: number | null): string => frames.film.names[seat ?? 0] ?? '';
  const { last } = frame;
  const parts: string[] = [];
  if (turn === 0) parts.push(texts.start(name(frame.to_move)));
  else if (frame.fault) parts.push(texts.fault(name(frame.fault.seat), frame.fault.fault));
  else if (last)
    parts.push(
      last.drift === 0
        ? texts.drop(name(last.seat), last.named)
        : texts.drift(name(last.seat), last.named, last.column),
    );
  if (frame.line.length > 0) parts.push(texts.wins(name(frame.winner)));
  else if (frame.ended !== null && frame.winner === null) parts.push(texts.full);
  return parts.join(' ');
}

const view: GameView = {
  Board,
  speed: 1,
  ranked: false,
  describeAnswer: texts.answer,
  badge: (first: Json, seat) => {
    const player = (first as unknown as ConnectFiveFrame).players[seat] ?? seat + 1;
    return { letter: player === 1 ? 'X' : 'O', colour: seat };
  },
  describe,
};

export default view;
