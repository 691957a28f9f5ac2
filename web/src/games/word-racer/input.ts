// Word Racer: a free cell. A player who calls also chooses the letter, in a second step.

import type { GameInput, InputTarget } from '../types';
import { CELL, x, y } from './geometry';
import { texts } from './texts';
import type { WordRacerFrame } from './view';

/** The letter, if one is called, and the cell of an answer: `Q17` or `17`. */
export function partsOf(answer: string): { letter: string; cell: number } | undefined {
  const found = /^([A-Z]?)(\d+)$/.exec(answer);
  return found ? { letter: found[1] ?? '', cell: Number(found[2]) } : undefined;
}

const input: GameInput = {
  targets({ frame, legal }) {
    const { asked, calls } = frame as unknown as WordRacerFrame;
    const preview = asked === 'place' ? calls.at(-1) : undefined;
    const targets = new Map<number, InputTarget>();
    for (const answer of legal) {
      const parts = partsOf(answer);
      if (!parts) continue;
      const { cell } = parts;
      const target = targets.get(cell);
      if (target) target.answers.push(answer);
      else targets.set(cell, { id: `${cell}`, x: x(cell) + 1, y: y(cell) + 1, width: CELL - 2, height: CELL - 2, answers: [answer], label: texts.input(cell), preview });
    }
    return [...targets.values()].sort((a, b) => Number(a.id) - Number(b.id));
  },
  prompt({ frame }) {
    const { asked, calls } = frame as unknown as WordRacerFrame;
    return asked === 'place' ? texts.inputPlace(calls.at(-1) ?? '') : texts.inputCallPrompt;
  },
  describe: (answer) => {
    const parts = partsOf(answer);
    if (!parts) return answer;
    return parts.letter === '' ? texts.input(parts.cell) : texts.inputCall(parts.letter, parts.cell);
  },
  choice: (answer) => partsOf(answer)?.letter ?? answer,
  choiceTitle: texts.inputLetter,
};

export default input;
