// Connect Five: what its frames say, and a move in words.

import { en } from '../en';
import type { Json } from '../delta';
import type { Reel } from '../film';
import Stage from './Connect.svelte';
import type { GameView } from './types';

export interface Last {
  seat: number;
  player: number;
  named: number;
  column: number;
  row: number;
  drift: number;
}

export interface Frame {
  /** The top row first; 0 empty, 1, 2. */
  board: number[][];
  moves: number;
  /** The player number of each seat. */
  players: [number, number];
  to_move: number | null;
  last: Last | null;
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

export const frameOf = (reel: Reel, turn: number): Frame => reel.frame(turn) as unknown as Frame;

function tell(reel: Reel, turn: number): string {
  const frame = frameOf(reel, turn);
  const name = (seat: number | null): string => reel.film.names[seat ?? 0] ?? '';
  const { last } = frame;
  const parts: string[] = [];
  if (turn === 0) parts.push(en.connect.start(name(frame.to_move)));
  else if (frame.fault) parts.push(en.connect.fault(name(frame.fault.seat), frame.fault.fault));
  else if (last)
    parts.push(
      last.drift === 0
        ? en.connect.drop(name(last.seat), last.named)
        : en.connect.drift(name(last.seat), last.named, last.column),
    );
  if (frame.line.length > 0) parts.push(en.connect.wins(name(frame.winner)));
  else if (frame.ended !== null && frame.winner === null) parts.push(en.connect.full);
  return parts.join(' ');
}

export const connectFive: GameView = {
  Stage,
  speed: 1,
  ranked: false,
  answer: en.connect.answer,
  badge: (first: Json, seat) => {
    const player = (first as unknown as Frame).players[seat] ?? seat + 1;
    return { letter: player === 1 ? 'X' : 'O', colour: seat };
  },
  tell,
};
