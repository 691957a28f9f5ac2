// Colour Battle: frame format and description of a round.

import type { Json } from '../../delta';
import type { FrameIndex } from '../../film';
import { letter, seatColour } from '../../palette';
import Board from './Board.svelte';
import type { GameView } from '../types';
import { findSurges } from './surges';
import { texts } from './texts';

export interface Painter {
  seat: number;
  id: number;
  position: [number, number];
  from?: [number, number];
  tiles: number;
  share: number;
  /** Id of the tile before the bot came; 0 is white. */
  floor?: number;
  /** What became of the tile: painted, wiped, kept or clashed. */
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

/** Tiles that bots took from other bots in the last round. */
export const stolenTiles = (frame: ColourBattleFrame): number =>
  frame.bots.filter((bot) => bot.did === 'painted' && bot.floor !== undefined && bot.floor !== 0 && bot.floor !== bot.id).length;

const view: GameView = {
  Board,
  tall: 1,
  speed: 15,
  ranked: true,
  // The letter is that of the id, which is dealt for each game. The colour stays with the bot.
  badge: (first: Json, seat, colours) => {
    const id = (first as unknown as ColourBattleFrame).bots[seat]?.id ?? seat + 1;
    return { letter: letter(id - 1), colour: seatColour(seat, colours) };
  },
  describe,
  chart: { ...texts.chart, hasLeader: true, areasUpTo: 100 },
  captures: {
    name: texts.surgeName,
    find: ({ film }) =>
      findSurges(film.standing.lines).map(({ turn, seat, gain, turns }) => ({
        turn,
        seat,
        kind: 'capture',
        text: texts.surge(film.names[seat] ?? '', gain.toFixed(1), turns),
      })),
  },
};

export default view;
