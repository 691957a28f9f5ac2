// Where both players have been: their steps by turn, and how often each was on each cell.

import type { FrameIndex } from '../../film';
import { CELL, SIDE } from './cells';
import { frameOf } from './view';

const CELLS = SIDE * SIDE;
/** Steps of brightness of the heat map. */
export const HEAT_LEVELS = 5;

export class VisitLog {
  /** Seat times `CELLS` plus the cell where its move ended, for each turn; -1 without a move. */
  private readonly steps: number[] = [-1];
  private counts = new Uint16Array(2 * CELLS);
  private countedTurn = -1;

  private stepAt(frames: FrameIndex, turn: number): number {
    for (let next = this.steps.length; next <= turn; next += 1) {
      const { last } = frameOf(frames, next);
      this.steps.push(last ? (last.seat & 1) * CELLS + last.to[1] * SIDE + last.to[0] : -1);
    }
    return this.steps[turn] ?? -1;
  }

  /** Cells of a seat in the last turns as `x,y` of a polyline, oldest first. */
  trail(frames: FrameIndex, seat: number, turn: number, turns: number): string {
    const points: string[] = [];
    for (let t = Math.max(1, turn - turns); t <= turn; t += 1) {
      const step = this.stepAt(frames, t);
      if (step < 0 || (step >= CELLS) !== (seat === 1)) continue;
      const cell = step % CELLS;
      points.push(`${((cell % SIDE) + 0.5) * CELL},${(Math.floor(cell / SIDE) + 0.5) * CELL}`);
    }
    return points.join(' ');
  }

  /** Number of turns that each seat spent on each cell up to a turn: first all cells of seat 0, then those of seat 1. */
  visits(frames: FrameIndex, turn: number): Uint16Array {
    if (turn < this.countedTurn || this.countedTurn < 0) {
      this.counts = new Uint16Array(2 * CELLS);
      const start = frameOf(frames, 0);
      [start.seeker, start.hider].forEach(({ pos }, seat) => (this.counts[seat * CELLS + pos[1] * SIDE + pos[0]] = 1));
      this.countedTurn = 0;
    }
    for (let t = this.countedTurn + 1; t <= turn; t += 1) {
      const step = this.stepAt(frames, t);
      if (step >= 0) this.counts[step] = (this.counts[step] ?? 0) + 1;
    }
    this.countedTurn = turn;
    return this.counts;
  }
}

/**
 * Paths of the heat map for each seat and level. Each cell is divided along its diagonal: the lower left half is for seat 0, the upper right
 * half for seat 1.
 */
export function heatPaths(visits: Uint16Array): string[][] {
  return [0, 1].map((seat) => {
    const own = visits.subarray(seat * CELLS, (seat + 1) * CELLS);
    const max = Math.max(1, own.reduce((a, b) => Math.max(a, b), 0));
    const paths = Array.from({ length: HEAT_LEVELS }, () => '');
    own.forEach((count, cell) => {
      if (count === 0) return;
      const level = Math.min(HEAT_LEVELS - 1, Math.floor(HEAT_LEVELS * Math.sqrt(count / max) - 1e-9));
      const [x, y] = [(cell % SIDE) * CELL, Math.floor(cell / SIDE) * CELL];
      paths[level] += seat === 0 ? `M${x} ${y}v${CELL}h${CELL}z` : `M${x} ${y}h${CELL}v${CELL}z`;
    });
    return paths;
  });
}
