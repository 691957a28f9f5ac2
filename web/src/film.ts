// A film: what `agon` hands to the viewer (docs/film.md), and a reel that finds any of its frames quickly.

import { patch, type Json } from './delta';

export interface FaultNote {
  turn: number;
  seat: number;
  fault: string;
  says: string;
  stderr?: string;
}

export interface LogLine {
  turn: number;
  seat: number;
  text: string;
}

export interface SeatOutcome {
  score: number;
  place: number;
}

export interface Outcome {
  seats: SeatOutcome[];
  ended: string;
}

export interface Film {
  agon: 'film';
  version: number;
  game: string;
  title: string;
  names: string[];
  roles?: string[];
  contributors?: (string | null)[];
  settings: { [name: string]: Json };
  seed?: string;
  first: Json;
  deltas: Json[];
  answers: string[];
  movers?: number[][];
  micros: number[][];
  faults: FaultNote[];
  standing: { of: string; lines: number[][] };
  /** Missing as long as the game is on. */
  outcome?: Outcome;
  /** The game is on: parts of it follow. */
  live?: boolean;
  score: { name: string; unit: string; decimals: number };
  digest?: string;
  logs?: LogLine[];
}

/** A turn of a game that is on. */
export interface PartTurn {
  delta: Json;
  answers: string;
  /** Missing when all seats were asked. */
  movers?: number[];
  /** In the order of the answers; null for a seat that is no longer asked. */
  micros: (number | null)[];
  standing: number[];
  faults?: FaultNote[];
}

/** What follows a live film. */
export interface Part {
  /** The number of its first turn. */
  from: number;
  turns: PartTurn[];
  /** With the last one. */
  outcome?: Outcome;
}

/** The film with what follows it; nothing if turns between them are missing. What it has already is passed over. */
export function extended(film: Film, part: Part): Film | undefined {
  const last = film.deltas.length;
  if (part.from > last + 1) return undefined;
  const turns = part.turns.slice(last + 1 - part.from);
  const all = film.names.map((_, seat) => seat);
  const asked = turns.map((turn) => turn.movers ?? all);
  const next: Film = {
    ...film,
    deltas: [...film.deltas, ...turns.map((turn) => turn.delta)],
    answers: [...film.answers, ...turns.map((turn) => turn.answers)],
    micros: film.micros.map((micros, seat) => [...micros, ...turns.flatMap((turn, i) => turn.micros[asked[i]?.indexOf(seat) ?? -1] ?? [])]),
    faults: [...film.faults, ...turns.flatMap((turn) => turn.faults ?? [])],
    standing: {
      of: film.standing.of,
      lines: film.standing.lines.map((line, i) => [...line, ...turns.map((turn) => turn.standing[i] ?? 0)]),
    },
  };
  if (film.movers || turns.some((turn) => turn.movers)) next.movers = [...(film.movers ?? film.deltas.map(() => all)), ...asked];
  if (part.outcome) {
    next.outcome = part.outcome;
    delete next.live;
  }
  return next;
}

/** The newest version of the format that this viewer reads. */
export const VERSION = 1;

/** Why this cannot be shown, or nothing. */
export function problem(film: unknown): 'not-a-film' | 'newer' | undefined {
  const it = film as Partial<Film> | null;
  if (typeof it !== 'object' || it === null || it.agon !== 'film' || typeof it.version !== 'number') return 'not-a-film';
  if (it.version > VERSION) return 'newer';
  return Array.isArray(it.deltas) && Array.isArray(it.names) ? undefined : 'not-a-film';
}

/** What one seat did in one turn. */
export interface Deed {
  /** As the record has it; `-` when the seat is no longer asked. */
  answer: string;
  /** Charged, in microseconds. */
  micros: number | undefined;
}

/** Every so many frames one is kept. */
const STRIDE = 16;
/** So many of the last frames asked for are kept too. */
const RECENT = 4;

export class Reel {
  readonly film: Film;
  /** The last turn; 0 is the start. */
  readonly last: number;
  readonly seats: number;
  /** Turns with a fault, in order, each once. */
  readonly faultTurns: number[];
  private readonly keys: Json[];
  private recent: { turn: number; frame: Json }[] = [];
  /** For each seat, how many of its answers have a time after each turn. */
  private counts: Uint32Array[] | undefined;
  /** The same of the shorter film. */
  private before: Uint32Array[] | undefined;

  /** `before` is a reel of the same film when it was shorter: what it has computed need not be computed again. */
  constructor(film: Film, before?: Reel) {
    this.film = film;
    this.last = film.deltas.length;
    this.seats = film.names.length;
    this.keys = before?.keys ?? [film.first];
    this.recent = before?.recent ?? [];
    this.before = before?.counts;
    this.faultTurns = [...new Set(film.faults.map((fault) => fault.turn))].sort((a, b) => a - b);
  }

  /** The frame after so many turns. */
  frame(turn: number): Json {
    const want = Math.max(0, Math.min(this.last, Math.floor(turn)));
    const known = this.recent.find((entry) => entry.turn === want);
    if (known) return known.frame;
    const key = Math.min(Math.floor(want / STRIDE), this.keys.length - 1);
    let at = key * STRIDE;
    let frame = this.keys[key] as Json;
    for (const entry of this.recent) {
      if (entry.turn <= want && entry.turn > at) ({ turn: at, frame } = entry);
    }
    while (at < want) {
      frame = patch(frame, this.film.deltas[at] as Json);
      at += 1;
      if (at === this.keys.length * STRIDE) this.keys.push(frame);
    }
    this.recent = [{ turn: want, frame }, ...this.recent].slice(0, RECENT);
    return frame;
  }

  /** Who was asked in this turn. */
  movers(turn: number): number[] {
    return this.film.movers?.[turn - 1] ?? Array.from({ length: this.seats }, (_, seat) => seat);
  }

  /** What a seat did in this turn; nothing if it was not asked. */
  deed(turn: number, seat: number): Deed | undefined {
    if (turn < 1 || turn > this.last) return undefined;
    const answer = this.film.answers[turn - 1]?.split(' ')[this.movers(turn).indexOf(seat)];
    if (answer === undefined) return undefined;
    const count = this.timed()[seat]?.[turn] ?? 0;
    return { answer, micros: answer === '-' ? undefined : this.film.micros[seat]?.[count - 1] };
  }

  private timed(): Uint32Array[] {
    if (this.counts) return this.counts;
    const counts = this.film.names.map((_, seat) => {
      const line = new Uint32Array(this.last + 1);
      line.set(this.before?.[seat] ?? []);
      return line;
    });
    for (let turn = this.before?.[0]?.length ?? 1; turn <= this.last; turn += 1) {
      for (const line of counts) line[turn] = line[turn - 1] as number;
      const answers = this.film.answers[turn - 1]?.split(' ') ?? [];
      this.movers(turn).forEach((seat, i) => {
        const line = counts[seat];
        if (line && answers[i] !== undefined && answers[i] !== '-') line[turn] = (line[turn] as number) + 1;
      });
    }
    this.counts = counts;
    this.before = undefined;
    return counts;
  }

  faults(turn: number): FaultNote[] {
    return this.film.faults.filter((fault) => fault.turn === turn);
  }

  logs(turn: number): LogLine[] {
    return this.film.logs?.filter((line) => line.turn === turn) ?? [];
  }

  /** The next turn with a fault after this one (or before it). */
  faultFrom(turn: number, direction: 1 | -1): number | undefined {
    return direction > 0 ? this.faultTurns.find((t) => t > turn) : this.faultTurns.findLast((t) => t < turn);
  }
}
