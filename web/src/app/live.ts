// The order of things on a board that is followed: a head, parts, an end, and the next head not before the end was seen.

export interface Shown {
  phase: number;
  match: string;
  game: number;
  film: string | null;
}

export interface Stage<Part> {
  /** A new game begins: its film so far. */
  head(film: unknown): void;
  part(part: Part): void;
  end(shown: Shown): void;
}

/** So long the last picture of a game stays. */
export const HOLD_MS = 4_000;

/** Holds back the next game while the last one's end is looked at (or for good while `stay`). */
export class Follower<Part> {
  #stage: Stage<Part>;
  #now: () => number;
  #until = 0;
  #waiting: { head: unknown; parts: Part[]; end: Shown | undefined } | undefined;
  #stay = false;

  constructor(stage: Stage<Part>, now: () => number) {
    this.#stage = stage;
    this.#now = now;
  }

  head(film: unknown): void {
    if (this.#held()) this.#waiting = { head: film, parts: [], end: undefined };
    else this.#begin(film);
  }

  part(part: Part): void {
    if (this.#waiting) {
      if (!this.#held()) this.release();
      else {
        this.#waiting.parts.push(part);
        return;
      }
    }
    this.#stage.part(part);
  }

  end(shown: Shown): void {
    if (this.#waiting) {
      if (!this.#held()) this.release();
      else {
        this.#waiting.end = shown;
        return;
      }
    }
    this.#until = this.#now() + HOLD_MS;
    this.#stage.end(shown);
  }

  /** Whoever wants to look at a finished game longer. */
  stay(stay: boolean): void {
    this.#stay = stay;
    if (!stay) {
      this.#until = 0;
      this.release();
    }
  }

  /** Shows what was held back, if it may be shown now. */
  release(): void {
    const next = this.#waiting;
    if (!next || this.#held()) return;
    this.#waiting = undefined;
    this.#begin(next.head);
    for (const part of next.parts) this.#stage.part(part);
    if (next.end) this.end(next.end);
  }

  #held(): boolean {
    return this.#stay || this.#now() < this.#until;
  }

  #begin(film: unknown): void {
    this.#until = 0;
    this.#stage.head(film);
  }
}
