// Hide and Seek: the cells that the player can step to, and its own cell to stay.

import type { GameInput, InputTarget } from '../types';
import { CELL } from './cells';
import { texts } from './texts';
import type { HideAndSeekFrame } from './view';

/** Steps as the drawing has them: y grows downwards. */
const STEPS: { [answer: string]: { dx: number; dy: number; arrow: number } } = {
  L: { dx: -1, dy: 0, arrow: 180 },
  R: { dx: 1, dy: 0, arrow: 0 },
  U: { dx: 0, dy: -1, arrow: 270 },
  D: { dx: 0, dy: 1, arrow: 90 },
  S: { dx: 0, dy: 0, arrow: 0 },
};
/** The area of a step reaches this many cells, so that a finger finds it. */
const REACH = 2;

const input: GameInput = {
  targets({ frame, seat, legal }) {
    const { seeker, hider } = frame as unknown as HideAndSeekFrame;
    const { pos } = seat === 0 ? seeker : hider;
    if (!pos) return [];
    const [column, row] = pos;
    return legal.flatMap((answer): InputTarget[] => {
      const step = STEPS[answer];
      if (!step) return [];
      const { dx, dy } = step;
      const more = REACH - 1;
      const target = {
        id: answer,
        x: (column + dx - (dx < 0 ? more : 0)) * CELL,
        y: (row + dy - (dy < 0 ? more : 0)) * CELL,
        width: CELL * (dx === 0 ? 1 : REACH),
        height: CELL * (dy === 0 ? 1 : REACH),
        answers: [answer],
        label: texts.input[answer] ?? answer,
      };
      if (dx === 0 && dy === 0) return [target];
      return [{ ...target, hint: { x: (column + dx + 0.5) * CELL, y: (row + dy + 0.5) * CELL, r: CELL * 0.36, arrow: step.arrow } }];
    });
  },
  settings: { steps: '300' },
  prompt: () => texts.inputPrompt,
  describe: (answer) => texts.input[answer] ?? answer,
};

export default input;
