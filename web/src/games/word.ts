// Word Racer: what its frames say, and a turn in words.

import { en } from '../en';
import type { Reel } from '../film';
import { letter } from '../palette';
import Stage from './Word.svelte';
import type { GameView } from './types';

export interface Found {
  word: string;
  /** Its row (0 to 6), or 7 and its column. */
  line: number;
  start: number;
  cells: number[];
  points: number;
}

export interface Frame {
  turn: number;
  turns: number;
  start: string;
  to_move: number | null;
  calls: string;
  last: { caller: number; letter: string; positions: (number | null)[] } | null;
  /** Row by row, `.` for an empty cell. */
  boards: [string, string];
  words: [Found[], Found[]];
  places: [number[], number[]];
  points: [number, number];
  fault: { seat: number; fault: string } | null;
  result: { ended: string } | null;
}

export const frameOf = (reel: Reel, turn: number): Frame => reel.frame(turn) as unknown as Frame;

/** The words that were not there a turn before. */
export function fresh(now: Found[], before: Found[]): Found[] {
  const known = new Set(before.map((found) => `${found.line}/${found.start}/${found.word}`));
  return now.filter((found) => !known.has(`${found.line}/${found.start}/${found.word}`));
}

function tell(reel: Reel, turn: number): string {
  const frame = frameOf(reel, turn);
  const { names } = reel.film;
  if (turn === 0) return en.word.start(frame.start);
  if (frame.fault) return en.word.fault(names[frame.fault.seat] ?? '', frame.fault.fault);
  const parts: string[] = [];
  const before = frameOf(reel, turn - 1);
  const { last } = frame;
  [0, 1].forEach((seat) => {
    const name = names[seat] ?? '';
    const places = frame.places[seat] ?? [];
    const position = places[places.length - 1];
    if (!last || position === undefined || places.length === before.places[seat]?.length) return;
    if (last.caller === seat) parts.push(en.word.called(name, last.letter));
    parts.push(en.word.placed(name, last.letter, position));
    const words = fresh(frame.words[seat] ?? [], before.words[seat] ?? []);
    if (words.length > 0) parts.push(en.word.found(words.map((found) => `${found.word} +${found.points}`)));
  });
  if (frame.result) parts.push(en.word.result(names, frame.points));
  return parts.join(' ');
}

export const wordRacer: GameView = {
  Stage,
  speed: 1,
  ranked: false,
  answer: en.word.answer,
  badge: (_, seat) => ({ letter: letter(seat), colour: seat }),
  tell,
};
