// Colour Battle: a step to one of the neighbouring tiles, or none. On a large canvas the areas that react are larger than a tile.

import type { GameInput, InputTarget } from '../types';
import { texts } from './texts';
import type { ColourBattleFrame } from './view';

/** Steps with the y axis upwards. The arrow is in degrees, 90 points down. */
const STEPS: { [answer: string]: { dx: number; dy: number; arrow: number } } = {
  U: { dx: 0, dy: 1, arrow: 270 },
  D: { dx: 0, dy: -1, arrow: 90 },
  L: { dx: -1, dy: 0, arrow: 180 },
  R: { dx: 1, dy: 0, arrow: 0 },
  S: { dx: 0, dy: 0, arrow: 0 },
};
/** An area is at least this part of the canvas wide, so that a finger finds it. */
const MIN_PART = 1 / 12;

const input: GameInput = {
  targets({ frame, seat, legal }) {
    const { side, bots } = frame as unknown as ColourBattleFrame;
    const own = bots[seat];
    if (!own) return [];
    const size = Math.max(1, side * MIN_PART);
    const [column, row] = own.position;
    return legal.flatMap((answer): InputTarget[] => {
      const step = STEPS[answer];
      if (!step) return [];
      const [x, y] = [column + step.dx, row + step.dy];
      // A step over the edge is possible, but it leads nowhere.
      if (x < 0 || y < 0 || x >= side || y >= side) return [];
      // The area of a step begins at its side of the own tile; the drawing has its y axis downwards.
      const centre = { x: column + 0.5 + (step.dx * (size + 1)) / 2, y: side - 0.5 - row - (step.dy * (size + 1)) / 2 };
      if (answer === 'S') return [{ id: answer, x: column, y: side - 1 - row, width: 1, height: 1, answers: [answer], label: texts.input[answer] ?? answer }];
      return [
        {
          id: answer,
          x: centre.x - size / 2,
          y: centre.y - size / 2,
          width: size,
          height: size,
          answers: [answer],
          label: texts.input[answer] ?? answer,
          hint: { ...centre, r: size * 0.4, arrow: step.arrow },
        },
      ];
    });
  },
  settings: { rounds: '100' },
  prompt: () => texts.inputPrompt,
  describe: (answer) => texts.input[answer] ?? answer,
};

export default input;
