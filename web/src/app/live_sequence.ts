// Order of live updates on one board: head, parts, end. The next head is delayed until the end was visible for a while.

/** Identifies a game that was shown live. */
export interface LiveGameRef {
  phase: number;
  match: string;
  game: number;
  film: string | null;
}

/** Receives the updates in order. */
export interface LiveView<Part> {
  /** A new game starts. `film` contains all turns so far. */
  head(film: unknown): void;
  part(part: Part): void;
  end(shown: LiveGameRef): void;
}

/** Delay between the end of a game and the start of the next one. */
export const NEXT_GAME_DELAY_MS = 4_000;

/** Delays the next game while the end of the previous one is shown, and as long as the user stays on it. */
export class LiveSequencer<Part> {
  #view: LiveView<Part>;
  #now: () => number;
  #holdUntil = 0;
  #waiting: { head: unknown; parts: Part[]; end: LiveGameRef | undefined } | undefined;
  #stays = false;

  constructor(view: LiveView<Part>, now: () => number) {
    this.#view = view;
    this.#now = now;
  }

  head(film: unknown): void {
    if (this.#isHolding()) this.#waiting = { head: film, parts: [], end: undefined };
    else this.#start(film);
  }

  part(part: Part): void {
    if (this.#waiting) {
      if (!this.#isHolding()) this.release();
      else {
        this.#waiting.parts.push(part);
        return;
      }
    }
    this.#view.part(part);
  }

  end(game: LiveGameRef): void {
    if (this.#waiting) {
      if (!this.#isHolding()) this.release();
      else {
        this.#waiting.end = game;
        return;
      }
    }
    this.#holdUntil = this.#now() + NEXT_GAME_DELAY_MS;
    this.#view.end(game);
  }

  /** Whether to stay on the finished game. */
  stay(stays: boolean): void {
    this.#stays = stays;
    if (!stays) {
      this.#holdUntil = 0;
      this.release();
    }
  }

  /** Shows the delayed game, if its delay has passed. */
  release(): void {
    const next = this.#waiting;
    if (!next || this.#isHolding()) return;
    this.#waiting = undefined;
    this.#start(next.head);
    for (const part of next.parts) this.#view.part(part);
    if (next.end) this.end(next.end);
  }

  #isHolding(): boolean {
    return this.#stays || this.#now() < this.#holdUntil;
  }

  #start(film: unknown): void {
    this.#holdUntil = 0;
    this.#view.head(film);
  }
}
