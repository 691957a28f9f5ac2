// Notices a stream that has gone silent. A connection can be dead without an error, for example after a cable was pulled; a page that is
// open all day must not wait for it for ever. The watchdog has no timers.

export class Watchdog {
  #heardAt: number;

  constructor(now: number) {
    this.#heardAt = now;
  }

  /** Something came from the server. */
  heard(now: number): void {
    this.#heardAt = now;
  }

  /** Whether the stream was silent for too long. Then the time starts again, because the caller opens a new stream. */
  isSilent(now: number, maxSilenceMs: number): boolean {
    if (now - this.#heardAt < maxSilenceMs) return false;
    this.#heardAt = now;
    return true;
  }
}
