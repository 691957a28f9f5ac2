// Colour Battle: frame format and description of a round.

import type { Json } from '../../delta';
import type { FrameIndex } from '../../film';
import { letter } from '../../palette';
import Board from './Board.svelte';
import type { GameView } from '../types';
import { texts } from './texts';

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

export interface ColourBattleFrame {
  round: number;
  rounds: number;
  side: number;
  /** Row by row from y = 0, which is drawn at the bottom. */
  grid: number[];
  white: number;
  bots: Painter[];
  clashes: [number, number][];
}

export const frameOf = (frames: FrameIndex, turn: number): ColourBattleFrame => frames.frame(turn) as unknown as ColourBattleFrame;

function describe(frames: FrameIndex, turn: number): string {
  const frame = frameOf(frames, turn);
  if (turn === 0) return texts.start(frame.bots.length, frame.side);
  const leader = frame.bots.reduce((a, b) => (b.tiles > a.tiles ? b : a));
  const white = ((100 * frame.white) / (frame.side * frame.side)).toFixed(1);
  return texts.state(frames.film.names[leader.seat] ?? '', leader.share.toFixed(1), white, frame.clashes.length);
}

const view: GameView = {
  Board,
  speed: 15,
  ranked: true,
  // The letter is that of the id, which is dealt for each game. The colour stays with the bot.
  badge: (first: Json, seat, colours) => {
    const id = (first as unknown as ColourBattleFrame).bots[seat]?.id ?? seat + 1;
    return { letter: letter(id - 1), colour: colours?.[seat] ?? seat };
  },
  describe,
};

export default view;
