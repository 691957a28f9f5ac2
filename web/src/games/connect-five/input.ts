// Connect Five: a column is an answer. The hint is the cell where the piece lands unless it drifts.

import type { GameInput } from '../types';
import { CELL, ROWS, TOP, x, y } from './geometry';
import { texts } from './texts';
import type { ConnectFiveFrame } from './view';

/** The lowest empty row of a column; the top row has number 0. */
export function landingRow(board: number[][], column: number): number | undefined {
  const row = board.findLastIndex((cells) => cells[column] === 0);
  return row < 0 ? undefined : row;
}

const input: GameInput = {
  targets({ frame, legal }) {
    const { board } = frame as unknown as ConnectFiveFrame;
    return legal.flatMap((answer) => {
      const column = Number(answer);
      const row = landingRow(board, column);
      if (!Number.isInteger(column) || row === undefined) return [];
      return [
        {
          id: answer,
          x: x(column) - CELL / 2,
          y: TOP - CELL,
          width: CELL,
          height: (ROWS + 1) * CELL,
          answers: [answer],
          label: texts.input(column),
          hint: { x: x(column), y: y(row), r: 21 },
        },
      ];
    });
  },
  prompt: () => texts.inputPrompt,
  describe: (answer) => texts.input(Number(answer)),
};

export default input;
