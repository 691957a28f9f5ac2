// Shows live games at a speed that an audience can follow. A game of fast bots is over in milliseconds: its turns are delivered over
// several seconds. The turns of slow bots pass at once. Result and next game come in order. The pacer has no timers: call `tick`.

import type { Film, FilmPart, FilmTurn } from '../../film';
import type { LiveGameRef, LiveView } from '../live_sequence';
import { RESULT_MS } from './rotation';

/** Turns per second that are always delivered. */
const MIN_TURNS_PER_SECOND = 2;
/** Turns that are waiting are delivered at a rate that would take this long. */
const CATCH_UP_MS = 5_000;

/** A game as it comes from the server. */
interface PendingGame {
  head: Film;
  /** Number of the first turn that is waiting. */
  from: number;
  turns: FilmTurn[];
  outcome: FilmPart['outcome'];
  end: LiveGameRef | undefined;
}

export interface PacedView extends LiveView<FilmPart> {
  /** The game is over at the server, but turns are still waiting to be shown. */
  ending(): void;
}

/** A finished film as a live film without turns, and the part that follows. */
export function rewindFilm(film: Film): { head: Film; part: FilmPart } {
  const all = film.names.map((_, seat) => seat);
  const timed = all.map(() => 0);
  const turns = film.deltas.map((delta, i): FilmTurn => {
    const movers = film.movers?.[i];
    const tokens = (film.answers[i] ?? '').split(' ');
    const micros = (movers ?? all).map((seat, at) => {
      const token = tokens[at];
      if (token === undefined || token === '-') return null;
      const count = timed[seat] ?? 0;
      timed[seat] = count + 1;
      return film.micros[seat]?.[count] ?? 0;
    });
    const faults = film.faults.filter((fault) => fault.turn === i + 1);
    return {
      delta,
      answers: film.answers[i] ?? '',
      micros,
      standing: film.standing.lines.map((line) => line[i + 1] ?? 0),
      ...(movers ? { movers } : {}),
      ...(faults.length > 0 ? { faults } : {}),
    };
  });
  const { outcome, movers: _, logs: __, ...rest } = film;
  const head: Film = {
    ...rest,
    live: true,
    deltas: [],
    answers: [],
    micros: all.map(() => []),
    faults: [],
    standing: { of: film.standing.of, lines: film.standing.lines.map((line) => line.slice(0, 1)) },
  };
  return { head, part: { from: 1, turns, ...(outcome ? { outcome } : {}) } };
}

export class GamePacer {
  readonly #view: PacedView;
  #current: PendingGame | undefined;
  #next: PendingGame | undefined;
  /** Set while the result of the current game is shown. */
  #finishedAt: number | undefined;
  /** Turns that may be delivered, with a fraction. */
  #credit = 1;
  #tickedAt: number;

  constructor(view: PacedView, now: number) {
    this.#view = view;
    this.#tickedAt = now;
  }

  head(film: Film, now: number): void {
    let game: PendingGame = { head: film, from: film.deltas.length + 1, turns: [], outcome: undefined, end: undefined };
    if (film.outcome) {
      const { head, part } = rewindFilm(film);
      game = { head, from: 1, turns: part.turns, outcome: part.outcome, end: undefined };
    }
    // Without an end this is the same game again, because the connection was lost or too slow.
    if (this.#current === undefined || (this.#current.end === undefined && this.#finishedAt === undefined)) this.#start(game, now);
    // Only one game waits: a newer one replaces it.
    else this.#next = game;
    this.tick(now);
  }

  part(part: FilmPart, now: number): void {
    const game = this.#next ?? this.#current;
    if (!game) return;
    const known = game.from + game.turns.length;
    if (part.from > known) {
      // Turns are missing. The view finds out and asks for the whole film.
      if (game === this.#current) this.#view.part(part);
      return;
    }
    game.turns.push(...part.turns.slice(known - part.from));
    if (part.outcome) game.outcome = part.outcome;
    this.tick(now);
  }

  end(ref: LiveGameRef, now: number): void {
    const game = this.#next ?? this.#current;
    if (!game) return;
    game.end = ref;
    if (game === this.#current && this.#finishedAt === undefined && game.turns.length > 0) this.#view.ending();
    this.tick(now);
  }

  /** Whether something is waiting to be shown. */
  get busy(): boolean {
    return this.#next !== undefined || (this.#current !== undefined && (this.#current.turns.length > 0 || this.#current.end !== undefined));
  }

  /** Delivers what is due. */
  tick(now: number): void {
    const elapsed = Math.max(0, now - this.#tickedAt);
    this.#tickedAt = now;
    if (this.#finishedAt !== undefined) {
      if (this.#next && now >= this.#finishedAt + RESULT_MS) this.#start(this.#next, now);
      return;
    }
    const game = this.#current;
    if (!game) return;
    const waiting = game.turns.length;
    const rate = Math.max(MIN_TURNS_PER_SECOND / 1000, waiting / CATCH_UP_MS);
    // A turn after a pause is shown at once, but a pause does not save up for many turns.
    this.#credit = Math.min(Math.max(1, waiting), this.#credit + elapsed * rate);
    const count = Math.min(waiting, Math.floor(this.#credit));
    if (count > 0) {
      this.#credit -= count;
      this.#deliver(game, count);
    }
    if (game.turns.length > 0 || game.end === undefined) return;
    // The last part may have come without turns.
    if (game.outcome) this.#deliver(game, 0);
    this.#finishedAt = now;
    this.#view.end(game.end);
    game.end = undefined;
  }

  #deliver(game: PendingGame, count: number): void {
    const turns = game.turns.splice(0, count);
    const part: FilmPart = { from: game.from, turns };
    game.from += turns.length;
    if (game.turns.length === 0 && game.outcome) {
      part.outcome = game.outcome;
      game.outcome = undefined;
    }
    this.#view.part(part);
  }

  #start(game: PendingGame, now: number): void {
    this.#current = game;
    this.#next = undefined;
    this.#finishedAt = undefined;
    this.#credit = 1;
    this.#tickedAt = now;
    this.#view.head(game.head);
    if (game.end !== undefined && game.turns.length > 0) this.#view.ending();
  }
}

