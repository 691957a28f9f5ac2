// Film format (docs/film.md), and an index for fast random access to the frames of a film.

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
  stats?: number[];
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
  /** Numbers of the bots among all that take part, by seat: a bot has one colour in all its games. */
  colours?: number[];
  /** Games of the match that each seat has won before this one, by seat. Missing for the first game of a match. */
  wins?: number[];
  settings: { [name: string]: Json };
  seed?: string;
  first: Json;
  deltas: Json[];
  answers: string[];
  movers?: number[][];
  micros: number[][];
  faults: FaultNote[];
  standing: { of: string; lines: number[][] };
  /** Missing while the game is in progress. */
  outcome?: Outcome;
  /** Whether the game is in progress: more parts follow. */
  live?: boolean;
  score: { name: string; unit: string; decimals: number };
  /** Statistic that results show beside the score. */
  beside?: { stat: number; name: string; decimals: number };
  digest?: string;
  /** The game in its competition, if the film comes from a stream of live games. */
  at?: { phase: number; match: string; game: number };
  logs?: LogLine[];
}

/** One turn of a live film. */
export interface FilmTurn {
  delta: Json;
  answers: string;
  /** Missing when all seats were asked. */
  movers?: number[];
  /** In the order of the answers; null for a seat that is out of the game. */
  micros: (number | null)[];
  standing: number[];
  faults?: FaultNote[];
}

/** Continuation of a live film. */
export interface FilmPart {
  /** The number of its first turn. */
  from: number;
  turns: FilmTurn[];
  /** Only in the last part. */
  outcome?: Outcome;
}

/** Appends a part to a film. Turns that the film already has are skipped. Undefined if turns in between are missing. */
export function extendFilm(film: Film, part: FilmPart): Film | undefined {
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

/** Newest format version that this viewer reads. */
export const MAX_FILM_VERSION = 1;

/** Reason why a value cannot be shown as a film, or undefined. */
export function filmProblem(film: unknown): 'not-a-film' | 'newer' | undefined {
  const candidate = film as Partial<Film> | null;
  if (typeof candidate !== 'object' || candidate === null || candidate.agon !== 'film' || typeof candidate.version !== 'number') return 'not-a-film';
  if (candidate.version > MAX_FILM_VERSION) return 'newer';
  return Array.isArray(candidate.deltas) && Array.isArray(candidate.names) ? undefined : 'not-a-film';
}

/** Answer of one seat in one turn. */
export interface TurnAnswer {
  /** Token of the record; `-` if the seat is out of the game. */
  token: string;
  /** Charged time in microseconds. */
  micros: number | undefined;
}

/** Number of turns between two stored key frames. */
const KEY_FRAME_INTERVAL = 16;
/** Number of recently requested frames that are cached. */
const MAX_RECENT_FRAMES = 4;

/** Random access to the frames, answers, faults and logs of a film. */
export class FrameIndex {
  readonly film: Film;
  /** Number of the last turn; 0 is the start. */
  readonly last: number;
  readonly seats: number;
  /** Turns with a fault, sorted and unique. */
  readonly faultTurns: number[];
  private readonly keyFrames: Json[];
  private recent: { turn: number; frame: Json }[] = [];
  /** Number of timed answers after each turn, per seat. */
  private timedAnswers: Uint32Array[] | undefined;
  /** The same counts of the previous, shorter film. */
  private previousTimedAnswers: Uint32Array[] | undefined;

  /** `previous` is the index of a shorter version of the same film. Its caches are reused. */
  constructor(film: Film, previous?: FrameIndex) {
    this.film = film;
    this.last = film.deltas.length;
    this.seats = film.names.length;
    this.keyFrames = previous?.keyFrames ?? [film.first];
    this.recent = previous?.recent ?? [];
    this.previousTimedAnswers = previous?.timedAnswers;
    this.faultTurns = [...new Set(film.faults.map((fault) => fault.turn))].sort((a, b) => a - b);
  }

  /** Frame after a turn. */
  frame(turn: number): Json {
    const wanted = Math.max(0, Math.min(this.last, Math.floor(turn)));
    const cached = this.recent.find((entry) => entry.turn === wanted);
    if (cached) return cached.frame;
    const key = Math.min(Math.floor(wanted / KEY_FRAME_INTERVAL), this.keyFrames.length - 1);
    let at = key * KEY_FRAME_INTERVAL;
    let frame = this.keyFrames[key] as Json;
    for (const entry of this.recent) {
      if (entry.turn <= wanted && entry.turn > at) ({ turn: at, frame } = entry);
    }
    while (at < wanted) {
      frame = patch(frame, this.film.deltas[at] as Json);
      at += 1;
      if (at === this.keyFrames.length * KEY_FRAME_INTERVAL) this.keyFrames.push(frame);
    }
    this.recent = [{ turn: wanted, frame }, ...this.recent].slice(0, MAX_RECENT_FRAMES);
    return frame;
  }

  /** Seats that answered in a turn. */
  movers(turn: number): number[] {
    return this.film.movers?.[turn - 1] ?? Array.from({ length: this.seats }, (_, seat) => seat);
  }

  /** Answer of a seat in a turn; undefined if the seat was not asked. */
  answerOf(turn: number, seat: number): TurnAnswer | undefined {
    if (turn < 1 || turn > this.last) return undefined;
    const token = this.film.answers[turn - 1]?.split(' ')[this.movers(turn).indexOf(seat)];
    if (token === undefined) return undefined;
    const count = this.countTimedAnswers()[seat]?.[turn] ?? 0;
    return { token, micros: token === '-' ? undefined : this.film.micros[seat]?.[count - 1] };
  }

  private countTimedAnswers(): Uint32Array[] {
    if (this.timedAnswers) return this.timedAnswers;
    const counts = this.film.names.map((_, seat) => {
      const line = new Uint32Array(this.last + 1);
      line.set(this.previousTimedAnswers?.[seat] ?? []);
      return line;
    });
    for (let turn = this.previousTimedAnswers?.[0]?.length ?? 1; turn <= this.last; turn += 1) {
      for (const line of counts) line[turn] = line[turn - 1] as number;
      const answers = this.film.answers[turn - 1]?.split(' ') ?? [];
      this.movers(turn).forEach((seat, i) => {
        const line = counts[seat];
        if (line && answers[i] !== undefined && answers[i] !== '-') line[turn] = (line[turn] as number) + 1;
      });
    }
    this.timedAnswers = counts;
    this.previousTimedAnswers = undefined;
    return counts;
  }

  faults(turn: number): FaultNote[] {
    return this.film.faults.filter((fault) => fault.turn === turn);
  }

  logs(turn: number): LogLine[] {
    return this.film.logs?.filter((line) => line.turn === turn) ?? [];
  }

  /** Next turn with a fault in the given direction. */
  nextFaultTurn(turn: number, direction: 1 | -1): number | undefined {
    return direction > 0 ? this.faultTurns.find((t) => t > turn) : this.faultTurns.findLast((t) => t < turn);
  }
}
