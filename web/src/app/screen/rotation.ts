// Decides what the main area of the big screen shows. It is fed with events and the time, and has no timers of its own.

export type Scene =
  | { kind: 'board'; board: number }
  | { kind: 'bracket' | 'standings' | 'hidden' | 'lobby' | 'podium' | 'wait' };
export type IdleScene = Exclude<Scene['kind'], 'board'>;

export interface RotationBoard {
  board: number;
  hidden: boolean;
  /** When its game started; milliseconds since the epoch. */
  since: number;
}

/** How long the result of a game is shown before the board changes. */
export const RESULT_MS = 6_000;
/** A board stays at least this long after a lead change. */
export const LEAD_CHANGE_STAY_MS = 8_000;
/** A game that has lasted this long gets more time. */
export const LONG_GAME_MS = 180_000;
const LONG_GAME_FACTOR = 1.5;
/** Whatever happens on a board, the next one comes after this multiple of the usual time. */
const MAX_STAY_FACTOR = 2;
/** A board without a game is left after this time, and later if a game on it has not been shown to its end. */
export const GONE_MS = 4_000;
export const GONE_IN_GAME_MS = 15_000;
/** Scenes that are shown while there is no game change to a board after this time. */
const MIN_IDLE_SCENE_MS = 3_000;
/** Boards that are shown between two breaks. */
const MAX_BOARDS_BETWEEN_BREAKS = 3;

/** Boards whose last time is remembered. */
const MAX_REMEMBERED_BOARDS = 200;

const same = (one: Scene, other: Scene): boolean => one.kind === other.kind && (one.kind !== 'board' || one.board === (other as { board: number }).board);

export class Rotation {
  readonly #rotateMs: number;
  #boards: RotationBoard[] = [];
  /** Scenes between boards, and scenes without any visible board. */
  #breaks: IdleScene[] = [];
  #idle: IdleScene[] = ['wait'];
  #scene: Scene = { kind: 'wait' };
  #since: number;
  #paused = false;
  /** When each board was last shown, oldest first. */
  readonly #lastShown = new Map<number, number>();
  #boardsSinceBreak = 0;
  #nextBreak = 0;
  #leadChangedAt: number | undefined;
  #finishedAt: number | undefined;
  #ending = false;
  #inGame = false;
  #goneSince: number | undefined;

  constructor(rotateMs: number, now: number) {
    this.#rotateMs = rotateMs;
    this.#since = now;
  }

  get scene(): Scene {
    return this.#scene;
  }

  get paused(): boolean {
    return this.#paused;
  }

  /** The games being played. */
  boards(boards: RotationBoard[], now: number): void {
    this.#boards = [...boards].sort((a, b) => a.board - b.board);
    this.tick(now);
  }

  /** Scenes that exist at the moment: between two boards, and while no board can be shown. */
  scenes(breaks: IdleScene[], idle: IdleScene[], now: number): void {
    this.#breaks = breaks;
    this.#idle = idle.length > 0 ? idle : ['wait'];
    this.tick(now);
  }

  /** Whether a game is being shown that has not come to its end. */
  get inGame(): boolean {
    return this.#inGame;
  }

  /** The lead of the game on the shown board has changed. */
  leadChanged(now: number): void {
    this.#leadChangedAt = now;
  }

  /** The game on the shown board is over, but its last turns are still to be shown. */
  gameEnding(): void {
    this.#ending = true;
  }

  /** The result of the game is shown now. */
  gameFinished(now: number): void {
    this.#ending = false;
    this.#inGame = false;
    this.#finishedAt = now;
  }

  /** The next game has started on the shown board. */
  gameStarted(): void {
    this.#ending = false;
    this.#inGame = true;
    this.#finishedAt = undefined;
    this.#leadChangedAt = undefined;
  }

  pause(paused: boolean, now: number): void {
    if (this.#paused && !paused) this.#since = now;
    this.#paused = paused;
    this.tick(now);
  }

  /** Goes to the next or previous scene at once: the boards by number, then the breaks. */
  step(by: 1 | -1, now: number): void {
    const all = this.#allScenes();
    const at = all.findIndex((one) => same(one, this.#scene));
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length];
    if (next) this.#show(next, now);
  }

  /** Changes the scene if it is time. */
  tick(now: number): Scene {
    const boards = this.#visible();
    if (this.#scene.kind !== 'board') this.#tickIdle(boards, now);
    else this.#tickBoard(this.#scene.board, boards, now);
    return this.#scene;
  }

  /** Share of the scene's time that has passed, 0 to 1; undefined if it does not end by itself. */
  elapsed(now: number): number | undefined {
    if (this.#paused || this.#allScenes().length < 2) return undefined;
    return Math.max(0, Math.min(1, (now - this.#since) / Math.max(1, this.#dueAt() - this.#since)));
  }

  #visible(): RotationBoard[] {
    return this.#boards.filter((board) => !board.hidden);
  }

  #allScenes(): Scene[] {
    const boards = this.#visible();
    if (boards.length === 0) return this.#idle.map((kind) => ({ kind }));
    return [...boards.map((one): Scene => ({ kind: 'board', board: one.board })), ...this.#breaks.map((kind): Scene => ({ kind }))];
  }

  #tickIdle(boards: RotationBoard[], now: number): void {
    const { kind } = this.#scene as { kind: IdleScene };
    const wanted = boards.length > 0 ? this.#breaks.includes(kind) : this.#idle.includes(kind);
    if (!wanted) {
      if (boards.length === 0 || kind === 'wait' || now - this.#since >= MIN_IDLE_SCENE_MS) this.#advance(now);
    } else if (!this.#paused && now >= this.#dueAt()) this.#advance(now);
  }

  #tickBoard(board: number, boards: RotationBoard[], now: number): void {
    const current = this.#boards.find((one) => one.board === board);
    // A hidden game is left at once, even while the rotation is paused.
    if (current?.hidden) {
      this.#advance(now);
      return;
    }
    if (current) this.#goneSince = undefined;
    else this.#goneSince ??= now;
    if (this.#paused && boards.length > 0) return;
    const result = this.#finishedAt === undefined ? 0 : this.#finishedAt + RESULT_MS;
    const wait = this.#inGame ? GONE_IN_GAME_MS : GONE_MS;
    const gone = this.#goneSince !== undefined && now >= Math.max(this.#goneSince + wait, result) && (!this.#ending || now >= this.#latest());
    if (gone || now >= this.#dueAt()) this.#advance(now);
  }

  /** When a board is left, whatever happens on it. */
  #latest(): number {
    return this.#since + MAX_STAY_FACTOR * this.#rotateMs;
  }

  #dueAt(): number {
    const scene = this.#scene;
    if (scene.kind !== 'board') return this.#since + this.#rotateMs;
    const game = this.#boards.find((one) => one.board === scene.board);
    // A long game is measured when its board is chosen, so that the time does not grow while it is shown.
    const long = game !== undefined && this.#since - game.since >= LONG_GAME_MS;
    const usual = this.#since + this.#rotateMs * (long ? LONG_GAME_FACTOR : 1);
    if (this.#finishedAt !== undefined) {
      // The result is shown to its end. A new game is started only if there is time for it.
      const shown = this.#finishedAt + RESULT_MS;
      return usual - shown < this.#rotateMs / 3 ? shown : usual;
    }
    const stays = Math.max(usual, this.#leadChangedAt === undefined ? 0 : this.#leadChangedAt + LEAD_CHANGE_STAY_MS, this.#ending ? Infinity : 0);
    return Math.min(stays, this.#latest());
  }

  #advance(now: number): void {
    this.#show(this.#next(), now);
  }

  #next(): Scene {
    const boards = this.#visible();
    if (boards.length === 0) {
      const at = this.#idle.indexOf(this.#scene.kind as IdleScene);
      return { kind: this.#idle[(at + 1) % this.#idle.length] ?? 'wait' };
    }
    const enough = this.#boardsSinceBreak >= Math.min(boards.length, MAX_BOARDS_BETWEEN_BREAKS);
    if (enough && this.#scene.kind === 'board' && this.#breaks.length > 0) {
      const kind = this.#breaks[this.#nextBreak % this.#breaks.length];
      if (kind) return { kind };
    }
    // The board that was not shown for the longest time.
    const shown = (board: RotationBoard): number => this.#lastShown.get(board.board) ?? -1;
    const [first, ...rest] = boards;
    const next = rest.reduce((best, one) => (shown(one) < shown(best ?? one) ? one : best), first);
    return next ? { kind: 'board', board: next.board } : { kind: 'wait' };
  }

  #show(scene: Scene, now: number): void {
    if (scene.kind === 'board') {
      this.#remember(scene.board, now);
      this.#boardsSinceBreak += 1;
    } else {
      this.#boardsSinceBreak = 0;
      this.#nextBreak += 1;
    }
    this.#since = now;
    this.#goneSince = undefined;
    // The only board goes on: its game is not started again.
    if (same(scene, this.#scene)) return;
    this.#finishedAt = undefined;
    this.#leadChangedAt = undefined;
    this.#ending = false;
    this.#inGame = false;
    this.#scene = scene;
  }

  #remember(board: number, now: number): void {
    this.#lastShown.delete(board);
    this.#lastShown.set(board, now);
    const [oldest] = this.#lastShown.keys();
    if (this.#lastShown.size > MAX_REMEMBERED_BOARDS && oldest !== undefined) this.#lastShown.delete(oldest);
  }
}
