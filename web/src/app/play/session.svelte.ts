// A game of a person: its state as the server reports it, the answers that are sent, and what the viewer shows.

import { extendFilm, FrameIndex, type Film, type FilmPart, type Outcome } from '../../film';
import type { Json } from '../../delta';
import type { ViewerHandle } from '../../main';
import { get, RequestError, send, subscribe, type EventSubscription } from '../api';
import { path } from '../path_pattern';
import type { PlayAsk, PlayInfo, PlayTicket } from '../types';
import { forgetSeat, saveSeat, type SeatKey } from './seat_keys';

/** What the session needs from the app; tests replace it. */
export interface PlayServices {
  get: typeof get;
  send: typeof send;
  subscribe: typeof subscribe;
  now(): number;
}

const SERVICES: PlayServices = { get, send, subscribe, now: () => Date.now() };

/** A part of a film as the server sends it to a seat: what is hidden from the seat is missing. */
interface SeatPart {
  from: number;
  turns: { delta: Json; answers?: string; movers?: number[]; micros?: (number | null)[]; standing?: number[]; faults?: FilmPart['turns'][number]['faults'] }[];
  outcome?: Outcome;
}

export interface PlayEnd {
  outcome: Outcome | null;
  played: string | null;
}

/** A request with the time from which its clock runs, by the clock of the browser. */
export interface OpenAsk extends PlayAsk {
  since: number;
}

export type Connection = 'none' | 'connecting' | 'open' | 'lost' | 'gone';

export class PlaySession {
  readonly id: string;
  info: PlayInfo | undefined = $state.raw();
  connection: Connection = $state('none');
  /** The film that the viewer starts with. A new one needs a new viewer. */
  film: Film | undefined = $state.raw();
  /** All turns so far. */
  frames: FrameIndex | undefined = $state.raw();
  ask: OpenAsk | undefined = $state.raw();
  /** An answer is on its way. */
  sending = $state(false);
  /** Why the last answer was not accepted. */
  refused = $state('');
  /** Error of a request, or of loading the game. */
  error: unknown = $state.raw();
  /** Seats that the game waits for. */
  waiting: number[] = $state.raw([]);
  end: PlayEnd | undefined = $state.raw();
  left = $state(false);
  seat: SeatKey | undefined = $state.raw();
  readonly #services: PlayServices;
  #viewer: ViewerHandle | undefined;
  /** Parts that came before the viewer was loaded. */
  #pendingParts: FilmPart[] = [];
  #subscription: EventSubscription | undefined;
  /** The stream has just been opened: a request that comes now may be an old one. */
  #replaying = false;

  constructor(id: string, seat: SeatKey | undefined, services: PlayServices = SERVICES) {
    this.id = id;
    this.seat = seat;
    this.#services = services;
  }

  /** Whether the person at this page has a seat in a game that runs. */
  get playing(): boolean {
    return this.seat !== undefined && this.film !== undefined && this.end === undefined && !this.left && this.connection !== 'gone';
  }

  /** Loads the game and opens the stream of the seat. */
  async start(): Promise<void> {
    await this.reload();
    // The key is that of a seat that was left.
    if (this.seat && this.info?.seats[this.seat.seat]?.mine === false) this.#forget();
    if (this.seat && this.info) this.open();
  }

  async reload(): Promise<void> {
    try {
      this.info = await this.#services.get<PlayInfo>(path('play', this.id), { headers: this.#headers() });
      this.error = undefined;
    } catch (error) {
      // Without an answer the game may go on.
      if (error instanceof RequestError && error.status === 0 && this.info) return;
      this.error = error;
      if (error instanceof RequestError && error.status === 404) this.#gone();
    }
  }

  /** Takes a free seat. */
  async join(seat: number, name: string): Promise<void> {
    const body = name.trim() === '' ? {} : { name: name.trim() };
    const ticket = await this.#services.send<PlayTicket>('POST', path('play', this.id, 'seats', seat), body);
    this.seat = { seat: ticket.seat, key: ticket.key };
    saveSeat(this.id, this.seat);
    this.left = false;
    await this.start();
  }

  /** Sends an answer to the current request. */
  async answer(text: string): Promise<void> {
    const { ask } = this;
    if (!ask || this.sending || !this.seat) return;
    this.sending = true;
    this.error = undefined;
    this.refused = '';
    try {
      await this.#services.send('POST', path('play', this.id, 'answers'), { turn: ask.turn, answer: text }, this.#headers());
      this.#close(ask);
    } catch (error) {
      this.#answerFailed(ask, error);
    } finally {
      this.sending = false;
    }
  }

  #answerFailed(ask: OpenAsk, error: unknown): void {
    const status = error instanceof RequestError ? error.status : undefined;
    if (status === 409) this.#close(ask);
    else if (status === 422 && error instanceof RequestError) this.refused = [error.message, ...error.details, error.hint].filter((text) => text !== '').join(' ');
    else this.error = error;
  }

  /** The request is answered. A newer one may have arrived meanwhile. */
  #close(ask: OpenAsk): void {
    if (this.ask?.turn !== ask.turn) return;
    this.ask = undefined;
    this.refused = '';
  }

  async leave(): Promise<void> {
    if (!this.seat) return;
    await this.#services.send('DELETE', path('play', this.id, 'seats', this.seat.seat), undefined, this.#headers());
    this.left = true;
    this.ask = undefined;
    // The stream tells how the game ended. A lobby that was left has no end.
    if (!this.film) this.#forget();
    await this.reload();
  }

  open(): void {
    this.#subscription?.stop();
    if (!this.seat) return;
    if (this.connection !== 'lost') this.connection = 'connecting';
    this.#replaying = true;
    this.#subscription = this.#services.subscribe(`${path('play', this.id, 'events')}?key=${encodeURIComponent(this.seat.key)}`, {
      on: {
        lobby: (info: PlayInfo) => (this.info = info),
        head: (film: Film) => this.#head(film),
        part: (part: SeatPart) => this.#part(part),
        ask: (ask: PlayAsk) => this.#asked(ask),
        refused: ({ turn, message }: { turn: number; message: string }) => {
          if (this.ask?.turn === turn) this.refused = message;
        },
        wait: ({ seats }: { seats: number[] }) => (this.waiting = seats),
        end: (end: PlayEnd) => this.#ended(end),
        ping: () => undefined,
      },
      onOpen: () => {
        this.connection = 'open';
        this.#replaying = true;
      },
      onLost: () => this.#lost(),
      // Whoever waits for another person may look at something else, and sees in the title when it is their turn.
      whileHidden: true,
    });
  }

  stop(): void {
    this.#subscription?.stop();
    this.#subscription = undefined;
  }

  #forget(): void {
    this.stop();
    this.seat = undefined;
    forgetSeat(this.id);
  }

  #lost(): void {
    if (this.end) {
      this.stop();
      return;
    }
    this.connection = 'lost';
    // A stream that is refused looks like one that is lost: the game itself tells which it is.
    void this.reload().then(() => {
      // A game that could not be played has no end event, and who has left may get none.
      if (this.info?.state === 'over' && (this.info.error !== null || this.left) && !this.end) this.#ended({ outcome: null, played: this.info.played });
    });
  }

  #gone(): void {
    this.connection = 'gone';
    this.ask = undefined;
    this.stop();
  }

  /** The stream begins. After a reconnection it begins again, and the viewer keeps what it has. */
  #head(head: Film): void {
    const film: Film = { ...head, live: true };
    const known = this.frames;
    if (known && film.deltas.length <= known.last) return;
    this.frames = new FrameIndex(film);
    this.film = film;
    this.#viewer = undefined;
    this.#pendingParts = [];
  }

  #part(raw: SeatPart): void {
    const { frames } = this;
    if (!frames) return;
    const part: FilmPart = { ...raw, turns: raw.turns.map((turn) => ({ ...turn, answers: turn.answers ?? '', micros: turn.micros ?? [], standing: turn.standing ?? [] })) };
    const film = extendFilm(frames.film, part);
    if (!film) {
      this.#restart();
      return;
    }
    if (film.deltas.length > frames.last) {
      // A turn has been played, so its request is over. Without an answer, the clock ran out.
      this.ask = undefined;
      this.refused = '';
      this.waiting = [];
    }
    this.frames = new FrameIndex(film, frames);
    if (this.#viewer) this.#append(this.#viewer, part);
    else this.#pendingParts.push(part);
  }

  /** Turns are missing: everything is sent again. */
  #restart(): void {
    this.frames = undefined;
    this.film = undefined;
    this.open();
  }

  #asked(ask: PlayAsk): void {
    const now = this.#services.now();
    const known = this.ask?.turn === ask.turn ? this.ask.since : undefined;
    const passed = now - ask.asked_at;
    // The clocks of browser and server may differ. A time that makes no sense counts as none.
    const replayed = this.#replaying && ask.limit_ms !== null && passed > 0 && passed <= ask.limit_ms;
    this.ask = { ...ask, since: known ?? (replayed ? ask.asked_at : now) };
    this.#replaying = false;
  }

  #ended(end: PlayEnd): void {
    this.ask = undefined;
    this.waiting = [];
    this.refused = '';
    this.connection = 'open';
    this.end = end;
    this.stop();
    const { frames } = this;
    if (frames && end.outcome && frames.film.outcome === undefined) this.#part({ from: frames.last + 1, turns: [], outcome: end.outcome });
  }

  /** The viewer shows the current film now. */
  viewerReady(viewer: ViewerHandle): void {
    this.#viewer = viewer;
    const parts = this.#pendingParts;
    this.#pendingParts = [];
    for (const part of parts) this.#append(viewer, part);
  }

  #append(viewer: ViewerHandle, part: FilmPart): void {
    if (viewer.append(part) || !this.frames) return;
    // A new viewer with all turns.
    this.#viewer = undefined;
    this.film = this.frames.film;
  }

  /** What the seat sees now. */
  get frame(): Json {
    return this.frames?.frame(this.frames.last) ?? null;
  }

  #headers(): { [name: string]: string } {
    return this.seat ? { 'X-Agon-Seat': this.seat.key } : {};
  }
}
