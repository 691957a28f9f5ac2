// Where the bots have been: positions by turn, kept small so that a trail costs nothing while the film plays.

import type { FrameIndex } from '../../film';
import { frameOf } from './view';

export class PositionLog {
  /** For each turn x and y of each seat. */
  private readonly turns: (Int16Array | undefined)[] = [];

  at(frames: FrameIndex, turn: number): Int16Array {
    const known = this.turns[turn];
    if (known) return known;
    const { bots } = frameOf(frames, turn);
    const positions = new Int16Array(2 * bots.length);
    for (let seat = 0; seat < bots.length; seat += 1) {
      const position = bots[seat]?.position;
      positions[2 * seat] = position?.[0] ?? 0;
      positions[2 * seat + 1] = position?.[1] ?? 0;
    }
    this.turns[turn] = positions;
    return positions;
  }

  /** Positions in the turns before and up to `turn`, oldest first. The list is reused by the next call. */
  trail(frames: FrameIndex, turn: number, length: number): Int16Array[] {
    const from = Math.max(0, turn - length);
    this.shown.length = turn - from + 1;
    for (let i = from; i <= turn; i += 1) this.shown[i - from] = this.at(frames, i);
    return this.shown;
  }

  private readonly shown: Int16Array[] = [];
}
