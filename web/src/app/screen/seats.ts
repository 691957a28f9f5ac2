// Scores of the game on the shown board, from its film and the parts that follow. Keeps the latest values only.

import type { Film, FilmPart, Outcome } from '../../film';

export interface SeatScore {
  seat: number;
  name: string;
  role: string | undefined;
  /** Latest value of the score chart; undefined if the chart has one line for the whole game. */
  value: number | undefined;
  /** Place and final score, when the game is over. */
  place: number | undefined;
  score: string | undefined;
}

export class SeatScores {
  readonly #film: Pick<Film, 'names' | 'roles' | 'score'>;
  #values: number[] | undefined;
  #outcome: Outcome | undefined;
  #leader: number | undefined;
  #turn: number;

  constructor(film: Film) {
    this.#film = { names: film.names, roles: film.roles, score: film.score };
    this.#turn = film.deltas.length;
    this.#values = film.standing.lines.length === film.names.length && film.names.length > 1 ? film.standing.lines.map((line) => line[line.length - 1] ?? 0) : undefined;
    this.#leader = this.#leaderNow();
    this.#outcome = film.outcome;
  }

  get turn(): number {
    return this.#turn;
  }

  get finished(): boolean {
    return this.#outcome !== undefined;
  }

  /** Adds a part. Returns whether another seat leads now. */
  add(part: FilmPart): boolean {
    const last = part.turns[part.turns.length - 1];
    this.#turn = Math.max(this.#turn, part.from + part.turns.length - 1);
    if (last && this.#values) this.#values = last.standing;
    if (part.outcome) this.#outcome = part.outcome;
    const before = this.#leader;
    const now = this.#leaderNow();
    // A draw in between does not count: the lead changes when another seat is ahead.
    if (now !== undefined) this.#leader = now;
    return before !== undefined && now !== undefined && before !== now;
  }

  /** The seats in their order, or by place and score if there are many. */
  seats(byScore: boolean): SeatScore[] {
    const all = this.#film.names.map((name, seat): SeatScore => {
      const result = this.#outcome?.seats[seat];
      return {
        seat,
        name,
        role: this.#film.roles?.[seat],
        value: this.#values?.[seat],
        place: result?.place,
        score: result && formatScore(result.score, this.#film.score),
      };
    });
    if (byScore) all.sort((a, b) => (a.place ?? 0) - (b.place ?? 0) || (b.value ?? 0) - (a.value ?? 0) || a.seat - b.seat);
    return all;
  }

  /** Seats on the first place, when the game is over; empty if all share it. */
  winners(): number[] {
    const seats = this.#outcome?.seats ?? [];
    const first = seats.flatMap((one, seat) => (one.place === 1 ? [seat] : []));
    return first.length === seats.length ? [] : first;
  }

  /** How the game ended, in the words of the game. */
  get ended(): string {
    return this.#outcome?.ended ?? '';
  }

  /** The only seat with the highest value. */
  #leaderNow(): number | undefined {
    const values = this.#values;
    if (!values) return undefined;
    const most = Math.max(...values);
    const at = values.indexOf(most);
    return values.indexOf(most, at + 1) < 0 ? at : undefined;
  }
}

/** A score with the decimals and the unit of its game. */
export const formatScore = (value: number, score: Film['score']): string => `${+value.toFixed(score.decimals)}${score.unit === '' ? '' : ` ${score.unit}`}`;

/** A value of the score chart: whole numbers as they are, others with one decimal. */
export const formatValue = (value: number): string => (Number.isInteger(value) ? `${value}` : value.toFixed(1));
