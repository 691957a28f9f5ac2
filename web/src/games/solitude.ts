// Solitude Scramble: frame format and description of a turn.

import { viewerTexts } from '../viewer_texts';
import type { FrameIndex } from '../film';
import { letter } from '../palette';
import Board from './Solitude.svelte';
import Notes from './SolitudeNotes.svelte';
import type { GameView } from './types';

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
  if (!last) return viewerTexts.solitude.ready;
  const parts: string[] = [];
  last.went.forEach((platform, seat) => {
    const name = names[seat] ?? '';
    if (platform === null) parts.push(viewerTexts.solitude.forfeited(name));
    else if ((last.awards[seat] ?? 0) > 0)
      parts.push(viewerTexts.solitude.alone(name, viewerTexts.solitude.platforms[platform] ?? platform, last.awards[seat] ?? 0));
  });
  for (const platform of last.collided) {
    const collided = names.filter((_, seat) => last.went[seat] === platform);
    parts.push(viewerTexts.solitude.collided(collided, viewerTexts.solitude.platforms[platform] ?? platform));
  }
  return `${parts.join('; ')}.`;
}

export const solitude: GameView = {
  Board,
  Notes,
  speed: 0.5,
  ranked: true,
  badge: (_, seat) => ({ letter: letter(seat), colour: seat }),
  describe,
};
