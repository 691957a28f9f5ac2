// Where the film stands. `at` is a number between turns, so that a drawing can show a move under way: on the way from turn
// 4 to turn 5 it is 4.3, the turn shown is 5, and its phase 0.3.

/** Turns a second. */
export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 240];
/** A film should not take longer than this unless asked to, in seconds. */
const LONGEST = 90;
/** A single step takes at most so long. */
const STEP_SECONDS = 0.6;
/** What is new of a live film is walked through in so long: about as often something comes. */
const FOLLOW_SECONDS = 0.25;

/** The speed to begin with: the game's own, or faster if the film is long. */
export function firstSpeed(usual: number, turns: number): number {
  return Math.max(usual, SPEEDS.find((speed) => turns / speed <= LONGEST) ?? usual);
}

export class Playback {
  at = $state(0);
  playing = $state(false);
  speed = $state(1);
  /** Nothing moves by itself between two turns. */
  still = $state(false);
  /** The last turn there is. */
  last = $state(0);
  /** Whether more turns will come. */
  live = $state(false);
  /** Whether the newest turn is shown as it comes, because the reader has not gone elsewhere. */
  following = $state(false);
  /** Where a single step leads. */
  private target: number | undefined = $state();
  /** Turns a second on the way to the newest. */
  private pull = 0;

  constructor(last: number, speed: number, live = false) {
    this.last = last;
    this.speed = speed;
    this.live = live;
  }

  /** There are more turns now, or the game is over. */
  grow(last: number, live: boolean): void {
    this.last = last;
    this.live = live;
    if (this.following && this.still) this.at = last;
    if (!live && this.at >= last) this.following = false;
  }

  /** The turn that is shown. */
  get turn(): number {
    return this.still ? Math.floor(this.at + 1e-6) : Math.max(0, Math.ceil(this.at - 1e-6));
  }

  /** How far the move to the turn shown has come, 0 to 1. */
  get phase(): number {
    return this.still || this.at <= 0 ? 1 : 1 - (this.turn - this.at);
  }

  /** Whether the clock has something to do. */
  get moving(): boolean {
    return this.playing || this.target !== undefined || (this.following && this.at < this.last);
  }

  toggle(): void {
    if (this.playing || this.following) {
      this.pause();
      return;
    }
    if (this.at >= this.last && this.live) {
      this.seek(this.last);
      return;
    }
    if (this.at >= this.last) this.at = 0;
    this.target = undefined;
    this.playing = this.last > 0;
  }

  /** Stops, and lets the move under way come to its end. */
  pause(): void {
    this.playing = false;
    this.following = false;
    const end = this.turn;
    this.target = this.still || end === this.at ? undefined : end;
    if (this.still) this.at = end;
  }

  /** Goes to a turn. Who goes to the newest of a live film follows it. */
  seek(turn: number): void {
    this.playing = false;
    this.target = undefined;
    this.at = Math.max(0, Math.min(this.last, Math.round(turn)));
    this.following = this.live && this.at >= this.last;
  }

  step(by: 1 | -1): void {
    const from = this.turn;
    this.seek(from + by);
    if (by < 0 || this.still || this.at === from) return;
    this.target = this.at;
    this.at = from;
  }

  /** Speeds up or slows down by so many notches. */
  hurry(by: 1 | -1): void {
    const next = by > 0 ? SPEEDS.find((s) => s > this.speed) : SPEEDS.findLast((s) => s < this.speed);
    if (next !== undefined) this.speed = next;
  }

  /** So many seconds have passed. */
  tick(seconds: number): void {
    if (this.playing) {
      this.at = Math.min(this.last, this.at + this.speed * seconds);
      if (this.at >= this.last) {
        this.playing = false;
        this.following = this.live;
      }
    } else if (this.target !== undefined) {
      this.at = Math.min(this.target, this.at + Math.max(this.speed, 1 / STEP_SECONDS) * seconds);
      if (this.at >= this.target) this.target = undefined;
    } else if (this.following) {
      // As fast as it takes to be there when the next part comes, and never slower than a single step.
      this.pull = Math.max(this.pull, (this.last - this.at) / FOLLOW_SECONDS, 1 / STEP_SECONDS);
      this.at = Math.min(this.last, this.at + this.pull * seconds);
      if (this.at < this.last) return;
      this.pull = 0;
      this.following = this.live;
    }
  }
}
