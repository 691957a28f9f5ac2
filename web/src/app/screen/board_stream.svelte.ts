// The games of one board: its event stream, the pacer, the viewer that shows the film, and the scores of the seats.

import { gameView } from '../../games/views';
import type { Badge } from '../../games/types';
import type { Film, FilmPart } from '../../film';
import type { ViewerHandle } from '../../main';
import { subscribe, type EventSubscription } from '../api';
import type { LiveGameRef } from '../live_sequence';
import { GamePacer } from './pacer';
import { SeatScores, type SeatScore } from './seats';
import { Watchdog } from './watchdog';

/** The server sends something every 15 seconds. */
const MAX_SILENCE_MS = 45_000;

/** What happens on the board, for the rotation. */
export interface BoardEvents {
  started(): void;
  leadChanged(): void;
  ending(): void;
  finished(): void;
}

export class BoardStream {
  film: Film | undefined = $state.raw();
  badges: Badge[] = $state.raw([]);
  seats: SeatScore[] = $state.raw([]);
  /** Names of the winners, when the game is over; empty after a draw. */
  winners: string[] = $state.raw([]);
  ended = $state('');
  finished = $state(false);
  disconnected = $state(false);
  readonly #path: string;
  readonly #events: BoardEvents;
  readonly #pacer: GamePacer;
  readonly #now: () => number;
  #scores: SeatScores | undefined;
  #ranked = false;
  #live = false;
  #viewer: ViewerHandle | undefined;
  /** Parts that came before the viewer was loaded. */
  #pendingParts: FilmPart[] = [];
  #subscription: EventSubscription | undefined;
  readonly #watchdog: Watchdog;

  constructor(path: string, events: BoardEvents, now: () => number) {
    this.#path = path;
    this.#events = events;
    this.#now = now;
    this.#watchdog = new Watchdog(now());
    this.#pacer = new GamePacer(
      {
        head: (film) => this.#start(film as Film),
        part: (part) => this.#add(part),
        end: () => this.#finish(),
        ending: () => this.#events.ending(),
      },
      now(),
    );
  }

  /** Whether games are being played. If not, the stream stays open until the server has sent the current game to its end. */
  setLive(live: boolean): void {
    this.#live = live;
    if (live && !this.#subscription) this.open();
  }

  /** Opens the stream. Only one is open at a time. */
  open(): void {
    this.#subscription?.stop();
    this.#subscription = subscribe(this.#path, {
      on: {
        head: (film: Film) => this.#pacer.head(film, this.#heard()),
        part: (part: FilmPart) => this.#pacer.part(part, this.#heard()),
        end: (game: LiveGameRef) => this.#pacer.end(game, this.#heard()),
        ping: () => this.#heard(),
      },
      onOpen: () => {
        this.disconnected = false;
        this.#heard();
      },
      onLost: () => {
        if (this.#live) this.disconnected = true;
        else this.close();
      },
    });
  }

  /** Closes the stream. The turns that have arrived are still shown. */
  close(): void {
    this.#subscription?.stop();
    this.#subscription = undefined;
    this.disconnected = false;
  }

  tick(): void {
    const now = this.#now();
    this.#pacer.tick(now);
    // While the page is hidden there is no stream.
    if (this.#subscription && !document.hidden && this.#watchdog.isSilent(now, MAX_SILENCE_MS)) this.open();
  }

  #heard(): number {
    const now = this.#now();
    this.#watchdog.heard(now);
    return now;
  }

  /** The viewer shows the current film now. */
  viewerReady(viewer: ViewerHandle): void {
    this.#viewer = viewer;
    const parts = this.#pendingParts;
    this.#pendingParts = [];
    for (const part of parts) this.#append(part);
  }

  #start(film: Film): void {
    const view = gameView(film.game);
    this.#viewer = undefined;
    this.#pendingParts = [];
    this.#scores = new SeatScores(film);
    this.#ranked = view?.ranked ?? false;
    this.film = film;
    this.badges = view ? film.names.map((_, seat) => view.badge(film.first, seat, film.colours)) : [];
    this.winners = [];
    this.ended = '';
    this.finished = false;
    this.#updateSeats();
    this.#events.started();
  }

  #add(part: FilmPart): void {
    if (this.#viewer) this.#append(part);
    else this.#pendingParts.push(part);
    const changed = this.#scores?.add(part) ?? false;
    this.#updateSeats();
    if (changed) this.#events.leadChanged();
  }

  #append(part: FilmPart): void {
    // Turns are missing: the new stream starts with the whole film.
    if (this.#viewer && !this.#viewer.append(part) && this.#subscription) this.open();
  }

  #finish(): void {
    const scores = this.#scores;
    this.finished = true;
    this.ended = scores?.ended ?? '';
    this.winners = (scores?.winners() ?? []).map((seat) => this.film?.names[seat] ?? '');
    this.#updateSeats();
    this.#events.finished();
  }

  #updateSeats(): void {
    this.seats = this.#scores?.seats(this.#ranked) ?? [];
  }
}
