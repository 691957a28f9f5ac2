// Solitude Scramble: frame format and description of a turn.

import type { FrameIndex } from '../../film';
import type { Mark } from '../../marks';
import { letter, seatColour } from '../../palette';
import Board from './Board.svelte';
import Notes from './Notes.svelte';
import type { GameView } from '../types';
import { texts } from './texts';

export interface Deal {
  platform_scores: { [platform: string]: number };
  sides: string[];
}

export interface RevealedTurn extends Deal {
  turn: number;
  moves: string[];
  went: (string | null)[];
  collided: string[];
  awards: number[];
}

export interface SolitudeFrame {
  turn: number;
  turns: number;
  over: boolean;
  now: Deal | null;
  last: RevealedTurn | null;
  totals: number[];
}

export const frameOf = (frames: FrameIndex, turn: number): SolitudeFrame => frames.frame(turn) as unknown as SolitudeFrame;

function describe(frames: FrameIndex, turn: number): string {
  const last = frameOf(frames, turn).last;
  const names = frames.film.names;
  if (!last) return texts.ready;
  const parts: string[] = [];
  last.went.forEach((platform, seat) => {
    const name = names[seat] ?? '';
    if (platform === null) parts.push(texts.forfeited(name));
    else if ((last.awards[seat] ?? 0) > 0)
      parts.push(texts.alone(name, texts.platforms[platform] ?? platform, last.awards[seat] ?? 0));
  });
  for (const platform of last.collided) {
    const collided = names.filter((_, seat) => last.went[seat] === platform);
    parts.push(texts.collided(collided, texts.platforms[platform] ?? platform));
  }
  return `${parts.join('; ')}.`;
}

/** A collision of at least this many bots is marked on the time line. */
const BIG_COLLISION = 3;

function crashes(frames: FrameIndex): Mark[] {
  const marks: Mark[] = [];
  for (let turn = 1; turn <= frames.last; turn += 1) {
    const last = frameOf(frames, turn).last;
    for (const platform of last?.collided ?? []) {
      const bots = last?.went.filter((went) => went === platform).length ?? 0;
      if (bots >= BIG_COLLISION) marks.push({ turn, kind: 'capture', text: texts.crash(bots, texts.platforms[platform] ?? platform) });
    }
  }
  return marks;
}

const view: GameView = {
  Board,
  Notes,
  tall: 0.8,
  speed: 0.5,
  ranked: true,
  badge: (_, seat, colours) => ({ letter: letter(seat), colour: seatColour(seat, colours) }),
  describe,
  chart: { ...texts.chart, hasLeader: true },
  captures: { name: texts.crashName, find: crashes },
};

export default view;
