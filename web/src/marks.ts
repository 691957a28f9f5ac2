// Moments of a game that are marked on the time line: changes of the lead, faults, and captures, which each game defines.

import type { Film } from './film';
import { viewerTexts } from './viewer_texts';

export type MarkKind = 'lead' | 'fault' | 'capture';

export interface Mark {
  turn: number;
  kind: MarkKind;
  seat?: number;
  text: string;
}

/** Order of kinds within a turn. */
export const MARK_KINDS: MarkKind[] = ['lead', 'capture', 'fault'];
/** A lead counts if it lasts this share of the film. Otherwise close games would have hundreds of marks. */
const LEAD_SHARE = 1 / 100;

/** Seat with the highest value; undefined if several have it. */
export function leaderAt(lines: number[][], turn: number): number | undefined {
  let leader: number | undefined;
  let best = -Infinity;
  lines.forEach((line, seat) => {
    const value = line[turn] ?? 0;
    if (value > best) [best, leader] = [value, seat];
    else if (value === best) leader = undefined;
  });
  return leader;
}

/**
 * Changes of the lead. A new leader counts if it leads alone for `hold` turns, or until the end of a finished game. The first leader is not
 * a change.
 */
export function leadChanges(lines: number[][], hold: number, finished: boolean): { turn: number; seat: number }[] {
  const last = (lines[0]?.length ?? 0) - 1;
  const changes: { turn: number; seat: number }[] = [];
  let leader: number | undefined;
  let candidate: number | undefined;
  let since = 0;
  for (let turn = 0; turn <= last; turn += 1) {
    const best = leaderAt(lines, turn);
    if (best === leader || best === undefined) {
      candidate = undefined;
      continue;
    }
    if (best !== candidate) [candidate, since] = [best, turn];
    if (turn - since + 1 < hold && !(finished && turn === last)) continue;
    if (leader !== undefined) changes.push({ turn: since, seat: best });
    leader = best;
    candidate = undefined;
  }
  return changes;
}

/** Marks of a film. `captures` are those of the game; `hasLeader` tells whether the chart values are scores of the seats. */
export function filmMarks(film: Film, hasLeader: boolean, captures: Mark[]): Mark[] {
  const last = film.deltas.length;
  const name = (seat: number): string => film.names[seat] ?? `${seat}`;
  const { lines } = film.standing;
  const leads =
    hasLeader && lines.length === film.names.length && lines.length > 1 ? leadChanges(lines, Math.max(1, Math.floor(last * LEAD_SHARE)), film.outcome !== undefined) : [];
  const marks: Mark[] = [
    ...leads.map(({ turn, seat }): Mark => ({ turn, kind: 'lead', seat, text: viewerTexts.takesTheLead(name(seat)) })),
    ...captures,
    ...film.faults.map(({ turn, seat, fault }): Mark => ({ turn, kind: 'fault', seat, text: viewerTexts.fault(name(seat), fault, '') })),
  ];
  return marks.filter((mark) => mark.turn >= 0 && mark.turn <= last).sort((a, b) => a.turn - b.turn || MARK_KINDS.indexOf(a.kind) - MARK_KINDS.indexOf(b.kind));
}

/** Turn of the next mark in a direction. */
export function nextMarkTurn(marks: Mark[], turn: number, direction: 1 | -1): number | undefined {
  return direction > 0 ? marks.find((mark) => mark.turn > turn)?.turn : marks.findLast((mark) => mark.turn < turn)?.turn;
}

/** A place on the time line with all marks that are too close to be told apart. */
export interface MarkGroup {
  kind: MarkKind;
  /** Position in per cent. */
  at: number;
  turn: number;
  texts: string[];
}

/** Groups marks of a kind that are less than `distance` per cent apart. A group goes to its first turn. */
export function groupMarks(marks: Mark[], last: number, distance: number): MarkGroup[] {
  const groups: MarkGroup[] = [];
  const latest = new Map<MarkKind, MarkGroup>();
  for (const mark of marks) {
    const at = (100 * mark.turn) / Math.max(1, last);
    const group = latest.get(mark.kind);
    if (group && at - group.at < distance) {
      group.texts.push(mark.text);
      continue;
    }
    const next: MarkGroup = { kind: mark.kind, at, turn: mark.turn, texts: [mark.text] };
    latest.set(mark.kind, next);
    groups.push(next);
  }
  return groups;
}
