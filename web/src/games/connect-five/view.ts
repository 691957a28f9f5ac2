// Connect Five: frame format and description of a move.

import type { Json } from '../../delta';
import type { FrameIndex } from '../../film';
import type { Mark } from '../../marks';
import { seatColour } from '../../palette';
import Board from './Board.svelte';
import { newThreats } from './lines';
import Notes from './Notes.svelte';
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

/** A move of the list: its turn, the column that was named and the one where the piece landed. */
export interface ListedMove extends LastMove {
  turn: number;
}

const moveLists = new WeakMap<FrameIndex, ListedMove[]>();

/** All moves of the film. Turns with a fault have none. */
export function moveList(frames: FrameIndex): ListedMove[] {
  const known = moveLists.get(frames);
  if (known) return known;
  const moves: ListedMove[] = [];
  for (let turn = 1; turn <= frames.last; turn += 1) {
    const { last, fault } = frameOf(frames, turn);
    if (last && fault === null) moves.push({ ...last, turn });
  }
  moveLists.set(frames, moves);
  return moves;
}

/** Turns in which a player can complete five with the next move, for the first time with this cell. */
function threatMarks(frames: FrameIndex): Mark[] {
  const marks: Mark[] = [];
  for (const { turn, seat, player } of moveList(frames)) {
    const frame = frameOf(frames, turn);
    const columns = newThreats(frame.board, frameOf(frames, turn - 1).board)
      .filter((threat) => threat.player === player)
      .map((threat) => threat.column);
    if (columns.length > 0 && frame.winner === null) marks.push({ turn, seat, kind: 'capture', text: texts.threatens(frames.film.names[seat] ?? '', columns) });
  }
  return marks;
}

const view: GameView = {
  Board,
  Notes,
  tall: 0.95,
  speed: 1,
  ranked: false,
  describeAnswer: texts.answer,
  badge: (first: Json, seat, colours) => {
    const player = (first as unknown as ConnectFiveFrame).players[seat] ?? seat + 1;
    return { letter: player === 1 ? 'X' : 'O', colour: seatColour(seat, colours) };
  },
  describe,
  // The longest line is an estimate, not a score.
  chart: { ...texts.chart, hasLeader: false },
  captures: { name: texts.threatName, find: threatMarks },
};

export default view;
