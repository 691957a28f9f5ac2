// Word Racer: frame format and description of a turn.

import { viewerTexts } from '../viewer_texts';
import type { FrameIndex } from '../film';
import { letter } from '../palette';
import Board from './Word.svelte';
import type { GameView } from './types';

export interface FoundWord {
  word: string;
  /** Row (0 to 6), or 7 plus the column. */
  line: number;
  start: number;
  cells: number[];
  points: number;
}

export interface WordRacerFrame {
  turn: number;
  turns: number;
  start: string;
  to_move: number | null;
  calls: string;
  last: { caller: number; letter: string; positions: (number | null)[] } | null;
  /** Row by row, `.` for an empty cell. */
  boards: [string, string];
  words: [FoundWord[], FoundWord[]];
  places: [number[], number[]];
  points: [number, number];
  fault: { seat: number; fault: string } | null;
  result: { ended: string } | null;
}

export const frameOf = (frames: FrameIndex, turn: number): WordRacerFrame => frames.frame(turn) as unknown as WordRacerFrame;

/** Words that are new in this turn. */
export function newWords(now: FoundWord[], before: FoundWord[]): FoundWord[] {
  const known = new Set(before.map((found) => `${found.line}/${found.start}/${found.word}`));
  return now.filter((found) => !known.has(`${found.line}/${found.start}/${found.word}`));
}

function describe(frames: FrameIndex, turn: number): string {
  const frame = frameOf(frames, turn);
  const { names } = frames.film;
  if (turn === 0) return viewerTexts.word.start(frame.start);
  if (frame.fault) return viewerTexts.word.fault(names[frame.fault.seat] ?? '', frame.fault.fault);
  const parts: string[] = [];
  const before = frameOf(frames, turn - 1);
  const { last } = frame;
  [0, 1].forEach((seat) => {
    const name = names[seat] ?? '';
    const places = frame.places[seat] ?? [];
    const position = places[places.length - 1];
    if (!last || position === undefined || places.length === before.places[seat]?.length) return;
    if (last.caller === seat) parts.push(viewerTexts.word.called(name, last.letter));
    parts.push(viewerTexts.word.placed(name, last.letter, position));
    const words = newWords(frame.words[seat] ?? [], before.words[seat] ?? []);
    if (words.length > 0) parts.push(viewerTexts.word.found(words.map((found) => `${found.word} +${found.points}`)));
  });
  if (frame.result) parts.push(viewerTexts.word.result(names, frame.points));
  return parts.join(' ');
}

export const wordRacer: GameView = {
  Board,
  speed: 1,
  ranked: false,
  describeAnswer: viewerTexts.word.answer,
  badge: (_, seat) => ({ letter: letter(seat), colour: seat }),
  describe,
};
