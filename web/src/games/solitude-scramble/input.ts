// Solitude Scramble: the three platforms that can be reached from the player's side.

import type { GameInput, InputTarget } from '../types';
import { PLACES, PLATFORM_RADIUS } from './places';
import { texts } from './texts';
import type { SolitudeFrame } from './view';

/** Platforms to the left and to the right of a player who faces the centre. */
const BESIDE: { [side: string]: { L: string; R: string } } = {
  NORTH: { L: 'NE', R: 'NW' },
  EAST: { L: 'SE', R: 'NE' },
  SOUTH: { L: 'SW', R: 'SE' },
  WEST: { L: 'NW', R: 'SW' },
};

/** The platform of an answer from a side. */
export function platformOf(answer: string, side: string): string | undefined {
  if (answer === 'C') return 'CENTER';
  return answer === 'L' || answer === 'R' ? BESIDE[side]?.[answer] : undefined;
}

const input: GameInput = {
  targets({ frame, seat, legal }) {
    const { now } = frame as unknown as SolitudeFrame;
    return legal.flatMap((answer): InputTarget[] => {
      const platform = platformOf(answer, now?.sides[seat] ?? '');
      const place = PLACES[platform ?? ''];
      if (platform === undefined || !place) return [];
      const r = PLATFORM_RADIUS + 6;
      return [
        {
          id: answer,
          x: place.x - r,
          y: place.y - r,
          width: 2 * r,
          height: 2 * r,
          answers: [answer],
          label: texts.input(answer, texts.platforms[platform] ?? platform, now?.platform_scores[platform] ?? 0),
          hint: { ...place, r },
        },
      ];
    });
  },
  prompt: () => texts.inputPrompt,
  describe(answer, { frame, seat }) {
    const { now } = frame as unknown as SolitudeFrame;
    const platform = platformOf(answer, now?.sides[seat] ?? '') ?? answer;
    return texts.input(answer, texts.platforms[platform] ?? platform, now?.platform_scores[platform] ?? 0);
  },
};

export default input;
