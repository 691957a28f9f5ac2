// Moments: short announcements across the whole screen. The queue decides which one is shown and for how long. It has no timers.

export type Moment =
  | { kind: 'champion'; names: string[] }
  | { kind: 'phase'; phase: string; names: string[] }
  | { kind: 'upset'; winner: string; loser: string; winnerPlace: number; loserPlace: number; seeded: boolean }
  | { kind: 'leader'; name: string };
export type MomentKind = Moment['kind'];

interface KindRules {
  /** How long it is shown. */
  showMs: number;
  /** Minimum time between two of the kind. */
  gapMs: number;
  /** It is dropped if it has waited this long. */
  keepMs: number;
  /** How long it waits for the game that is shown: the screen is a few seconds behind, and must not tell the end of its own game. */
  holdMs: number;
  priority: number;
}

const RULES: { [kind in MomentKind]: KindRules } = {
  champion: { showMs: 12_000, gapMs: 0, keepMs: 120_000, holdMs: 30_000, priority: 4 },
  phase: { showMs: 10_000, gapMs: 0, keepMs: 120_000, holdMs: 30_000, priority: 3 },
  upset: { showMs: 7_000, gapMs: 90_000, keepMs: 30_000, holdMs: 0, priority: 2 },
  leader: { showMs: 6_000, gapMs: 120_000, keepMs: 15_000, holdMs: 0, priority: 1 },
};

/** Pause between two moments. */
const PAUSE_MS = 1_500;
const MAX_WAITING = 8;
/** Moments whose keys are remembered, so that none is shown twice. */
const MAX_KNOWN_KEYS = 200;

interface WaitingMoment {
  moment: Moment;
  /** Larger ones are shown first. */
  size: number;
  at: number;
}

export class MomentQueue {
  #waiting: WaitingMoment[] = [];
  #known = new Set<string>();
  #shown: { moment: Moment; until: number } | undefined;
  #lastShown: { [kind in MomentKind]?: number } = {};
  #freeAt = 0;

  /** Adds a moment. `key` identifies what happened; a second moment with the same key is ignored. */
  add(moment: Moment, key: string, now: number, size = 0): void {
    if (this.#known.has(key)) return;
    this.#known.add(key);
    const [oldest] = this.#known;
    if (this.#known.size > MAX_KNOWN_KEYS && oldest !== undefined) this.#known.delete(oldest);
    this.#waiting.push({ moment, size, at: now });
    this.#waiting.sort((a, b) => RULES[b.moment.kind].priority - RULES[a.moment.kind].priority || b.size - a.size || a.at - b.at);
    this.#waiting.length = Math.min(this.#waiting.length, MAX_WAITING);
  }

  /** The moment to be shown now. `inGame`: a game is being shown that has not come to its end. */
  current(now: number, inGame = false): Moment | undefined {
    if (this.#shown && now >= this.#shown.until) {
      this.#freeAt = this.#shown.until + PAUSE_MS;
      this.#shown = undefined;
    }
    this.#waiting = this.#waiting.filter((one) => now - one.at < RULES[one.moment.kind].keepMs);
    if (this.#shown) return this.#shown.moment;
    if (now < this.#freeAt) return undefined;
    const at = this.#waiting.findIndex((one) => {
      const { gapMs, holdMs } = RULES[one.moment.kind];
      return now >= (this.#lastShown[one.moment.kind] ?? -Infinity) + gapMs && !(inGame && now < one.at + holdMs);
    });
    const [next] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (!next) return undefined;
    const { kind } = next.moment;
    this.#lastShown[kind] = now;
    this.#shown = { moment: next.moment, until: now + RULES[kind].showMs };
    return next.moment;
  }
}
