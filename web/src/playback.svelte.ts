// Playback position of a film. `position` is a fractional turn, so that a move can be animated: on the way from turn 4 to turn 5 it
// is for example 4.3. Then the turn shown is 5 and its progress is 0.3.

/** Playback speeds in turns per second. */
export const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120, 240];
/** The initial speed is chosen so that a film takes at most this long. */
const MAX_FILM_SECONDS = 90;
/** Maximum duration of the animation of one step. */
const STEP_SECONDS = 0.6;
/** Duration in which new turns of a live film are played, about the interval between two parts. */
const FOLLOW_SECONDS = 0.25;

/** Initial speed: the game's usual speed, or faster for a long film. */
export function initialSpeed(usual: number, turns: number): number {
  return Math.max(usual, SPEEDS.find((speed) => turns / speed <= MAX_FILM_SECONDS) ?? usual);
}

export class Playback {
  position = $state(0);
  playing = $state(false);
  speed = $state(1);
  /** No animation between turns. */
  reducedMotion = $state(false);
  /** Number of the last available turn. */
  last = $state(0);
  /** Whether more turns will be appended. */
  live = $state(false);
  /** Whether playback stays at the newest turn of a live film. */
  following = $state(false);
  /** Turn at which the current step ends. */
  private stepTarget: number | undefined = $state();
  /** Speed towards the newest turn, in turns per second. */
  private followSpeed = 0;

  constructor(last: number, speed: number, live = false) {
    this.last = last;
    this.speed = speed;
    this.live = live;
  }

  /** Adds turns, or marks the game as finished. */
  extend(last: number, live: boolean): void {
    this.last = last;
    this.live = live;
    if (this.following && this.reducedMotion) this.position = last;
    if (!live && this.position >= last) this.following = false;
  }

  /** Turn that is shown. */
  get turn(): number {
    return this.reducedMotion ? Math.floor(this.position + 1e-6) : Math.max(0, Math.ceil(this.position - 1e-6));
  }

  /** Turn at which the current step ends; otherwise the turn that is shown. Steps count from here, so that fast key presses add up. */
  get goal(): number {
    return this.stepTarget ?? this.turn;
  }

  /** Progress of the animation to the turn shown, 0 to 1. */
  get progress(): number {
    return this.reducedMotion || this.position <= 0 ? 1 : 1 - (this.turn - this.position);
  }

  /** Whether `tick` has something to do. */
  get moving(): boolean {
    return this.playing || this.stepTarget !== undefined || (this.following && this.position < this.last);
  }

  toggle(): void {
    if (this.playing || this.following) {
      this.pause();
      return;
    }
    if (this.position >= this.last && this.live) {
      this.seek(this.last);
      return;
    }
    if (this.position >= this.last) this.position = 0;
    this.stepTarget = undefined;
    this.playing = this.last > 0;
  }

  /** Pauses after the current move is completed. */
  pause(): void {
    this.playing = false;
    this.following = false;
    const end = this.turn;
    this.stepTarget = this.reducedMotion || end === this.position ? undefined : end;
    if (this.reducedMotion) this.position = end;
  }

  /** Goes to a turn. At the newest turn of a live film, playback follows the film. */
  seek(turn: number): void {
    this.playing = false;
    this.stepTarget = undefined;
    this.position = Math.max(0, Math.min(this.last, Math.round(turn)));
    this.following = this.live && this.position >= this.last;
  }

  step(by: 1 | -1): void {
    const from = this.goal;
    this.seek(from + by);
    if (by < 0 || this.reducedMotion || this.position === from) return;
    this.stepTarget = this.position;
    this.position = from;
  }

  /** Selects the next faster or slower speed. */
  changeSpeed(by: 1 | -1): void {
    const next = by > 0 ? SPEEDS.find((s) => s > this.speed) : SPEEDS.findLast((s) => s < this.speed);
    if (next !== undefined) this.speed = next;
  }

  /** Advances the playback by a time. */
  tick(seconds: number): void {
    if (this.playing) {
      this.position = Math.min(this.last, this.position + this.speed * seconds);
      if (this.position >= this.last) {
        this.playing = false;
        this.following = this.live;
      }
    } else if (this.stepTarget !== undefined) {
      this.position = Math.min(this.stepTarget, this.position + Math.max(this.speed, 1 / STEP_SECONDS) * seconds);
      if (this.position >= this.stepTarget) this.stepTarget = undefined;
    } else if (this.following) {
      // Fast enough to arrive before the next part, but not slower than a single step.
      this.followSpeed = Math.max(this.followSpeed, (this.last - this.position) / FOLLOW_SECONDS, 1 / STEP_SECONDS);
      this.position = Math.min(this.last, this.position + this.followSpeed * seconds);
      if (this.position < this.last) return;
      this.followSpeed = 0;
      this.following = this.live;
    }
  }
}
