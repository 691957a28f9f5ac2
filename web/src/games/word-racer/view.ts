// Word Racer: frame format and description of a turn.

import type { FrameIndex } from '../../film';
import { letter, seatColour } from '../../palette';
import type { Mark } from '../../marks';
import Board from './Board.svelte';
import Notes from './Notes.svelte';
import type { GameView } from '../types';
import { texts } from './texts';

export interface FoundWord {
  word: string;
  /** Row (0 to 6), or 7 plus the column. */
  line: number;
  start: number;
  cells: number[];
  points: number;
}

/** Where a letter brings the most points. */
export interface BestPlaces {
  points: number;
  cells: number[];
}

export interface WordRacerFrame {
  turn: number;
  turns: number;
  start: string;
  to_move: number | null;
  /** What the player to move has to do. */
  asked?: 'call' | 'place' | null;
  calls: string;
  last: { caller: number; letter: string; positions: (number | null)[] } | null;
  /** Row by row, `.` for an empty cell. */
  boards: [string, string];
  words: [FoundWord[], FoundWord[]];
  places: [number[], number[]];
  /** Null while they are hidden from a player. */
  points: [number | null, number | null];
  /** For each seat: where the last called letter brings the most points, on its board before it wrote the letter. Missing in older films. */
  best?: [BestPlaces, BestPlaces] | null;
  fault: { seat: number; fault: string } | null;
  result: { ended: string } | null;
}

export const frameOf = (frames: FrameIndex, turn: number): WordRacerFrame => frames.frame(turn) as unknown as WordRacerFrame;

/** Words that are new in this turn. */
export function newWords(now: FoundWord[], before: FoundWord[]): FoundWord[] {
  const known = new Set(before.map((found) => `${found.line}/${found.start}/${found.word}`));
  return now.filter((found) => !known.has(`${found.line}/${found.start}/${found.word}`));
}

export type PlaceHint = 'open' | 'missed';

/**
 * The best places for the last called letter that are worth showing on a board: `open` while the player has to write it, `missed` in the turn in which
 * it wrote it where it brings less.
 */
export function bestPlaces(frames: FrameIndex, turn: number, seat: number): (BestPlaces & { hint: PlaceHint }) | undefined {
  const frame = frameOf(frames, turn);
  const best = frame.best?.[seat];
  if (!best || best.points === 0) return undefined;
  const places = frame.places[seat] ?? [];
  if (places.length < frame.calls.length) return frame.to_move === seat && frame.asked === 'place' ? { ...best, hint: 'open' } : undefined;
  const before = frameOf(frames, Math.max(0, turn - 1));
  const written = places[places.length - 1];
  if (turn === 0 || written === undefined || before.places[seat]?.length === places.length || best.cells.includes(written)) return undefined;
  return { ...best, hint: 'missed' };
}

function describe(frames: FrameIndex, turn: number): string {
  const frame = frameOf(frames, turn);
  const { names } = frames.film;
  if (turn === 0) return texts.start(frame.start);
  if (frame.fault) return texts.fault(names[frame.fault.seat] ?? '', frame.fault.fault);
  const parts: string[] = [];
  const before = frameOf(frames, turn - 1);
  const { last } = frame;
  [0, 1].forEach((seat) => {
    const name = names[seat] ?? '';
    const places = frame.places[seat] ?? [];
    const position = places[places.length - 1];
    if (last?.caller === seat && frame.calls.length > before.calls.length) parts.push(texts.called(name, last.letter));
    if (!last || position === undefined || places.length === before.places[seat]?.length) return;
    parts.push(texts.placed(name, last.letter, position));
    const words = newWords(frame.words[seat] ?? [], before.words[seat] ?? []);
    if (words.length > 0) parts.push(texts.found(words.map((found) => `${found.word} +${found.points}`)));
    const missed = bestPlaces(frames, turn, seat);
    if (missed?.hint === 'missed') parts.push(texts.missed(last.letter, missed.points, missed.cells[0] ?? 0, missed.cells.length));
  });
  if (frame.result) parts.push(texts.result(names, frame.points.map((points) => points ?? 0)));
  return parts.join(' ');
}

/** Words of at least this many letters are marked on the time line. */
const LONG_WORD = 5;

/** New long words of both players. */
export function longWords(frames: FrameIndex): Mark[] {
  const marks: Mark[] = [];
  for (let turn = 1; turn <= frames.last; turn += 1) {
    const [now, before] = [frameOf(frames, turn), frameOf(frames, turn - 1)];
    [0, 1].forEach((seat) => {
      for (const found of newWords(now.words[seat] ?? [], before.words[seat] ?? [])) {
        if (found.cells.length >= LONG_WORD) marks.push({ turn, seat, kind: 'capture', text: texts.longWord(frames.film.names[seat] ?? '', found.word, found.points) });
      }
    });
  }
  return marks;
}

const view: GameView = {
  Board,
  Notes,
  tall: 2.2,
  speed: 1,
  ranked: false,
  describeAnswer: texts.answer,
  badge: (_, seat, colours) => ({ letter: letter(seat), colour: seatColour(seat, colours) }),
  describe,
  chart: { ...texts.chart, hasLeader: true },
  captures: { name: texts.longWordName, find: longWords },
};

export default view;
