// State of the big screen: connects the data, the rotation and the moments with one timer, the keys and the pointer.

import { get } from '../api';
import type { CompetitionView } from '../competition.svelte';
import { site } from '../site.svelte';
import type { Bracket, Competition, LiveGame, PhaseStandings, Site, StandingsTable } from '../types';
import type { BoardEvents } from './board_stream.svelte';
import { actionOf, type ScreenAction } from './keys';
import type { Moment } from './moments';
import { parseOptions, type ScreenOptions } from './options';
import { keepAwake, toggleFullScreen, watchPointer } from './presence';
import { Rotation, type IdleScene, type Scene } from './rotation';
import { ScreenData } from './screen_data.svelte';
import { situationOf, type Situation } from './situation';
import { rankingTables } from './standings';
import { Watchdog } from './watchdog';

const TICK_INTERVAL_MS = 250;
/** Keys that move the focus, press buttons and leave full screen. */
const BROWSER_KEYS = new Set(['Tab', 'Enter', 'Escape']);
/** Long lists and tables beside the board go to their next page after this time. */
const PAGE_INTERVAL_MS = 12_000;
/** After this time without an event the stream of the competition is opened again: while games are played, and else. */
const MAX_SILENCE_RUNNING_MS = 60_000;
const MAX_SILENCE_IDLE_MS = 180_000;
/** How long the screen says that the connection is back. */
const CONNECTED_AGAIN_MS = 5_000;

export class StageState {
  readonly data: ScreenData;
  scene: Scene = $state.raw({ kind: 'wait' });
  moment: Moment | undefined = $state.raw();
  elapsed: number | undefined = $state();
  /** Time of day, updated every second. */
  time = $state(Date.now());
  page = $state(0);
  paused = $state(false);
  pointer = $state(false);
  connection: 'up' | 'lost' | 'back' = $state('up');
  readonly #view: CompetitionView;
  readonly #options: ScreenOptions;
  readonly #rotation: Rotation;
  readonly #ticks = new Set<() => void>();
  readonly #reconnect: () => void;
  readonly #watchdog: Watchdog;
  /** What the last event changed. */
  #heard: { progress: unknown; changes: number; state: unknown } = { progress: undefined, changes: 0, state: undefined };
  #connectedAt: number | undefined;
  #startedAt: number;

  /** `reconnect` opens the stream of the competition again and loads what may have been missed. */
  constructor(view: CompetitionView, query: URLSearchParams, reconnect: () => void) {
    this.#view = view;
    this.#reconnect = reconnect;
    this.#options = parseOptions(query);
    this.#startedAt = this.now();
    this.#rotation = new Rotation(this.#options.rotateMs, this.#startedAt);
    this.#watchdog = new Watchdog(this.#startedAt);
    this.data = new ScreenData(view, this.now);
  }

  /** Milliseconds since the epoch that never go back, even if the clock of the machine is set. */
  readonly now = (): number => performance.timeOrigin + performance.now();

  situation: Situation = $derived.by(() => {
    const competition = this.#view.competition.value;
    return competition ? situationOf(competition, this.#options.start, this.time) : { kind: 'running' };
  });
  playing: LiveGame[] = $derived.by(() => (this.situation.kind === 'running' ? (this.#view.progress?.playing ?? []) : []));
  tables: StandingsTable[] = $derived.by(() => rankingTables(this.#view.table.value));
  bracket: Bracket | undefined = $derived.by(() => {
    const bracket = this.data.bracket.value;
    return this.#options.show.has('bracket') && bracket && bracket.rounds.length > 0 ? bracket : undefined;
  });
  showsStandings = $derived.by(() => this.#options.show.has('standings') && this.tables.length > 0);
  showsNext = $derived.by(() => this.#options.show.has('next') && this.data.next.length + this.data.latest.length > 0);

  readonly boardEvents: BoardEvents = {
    started: () => this.#rotation.gameStarted(),
    leadChanged: () => this.#rotation.leadChanged(this.now()),
    ending: () => this.#rotation.gameEnding(),
    finished: () => this.#rotation.gameFinished(this.now()),
  };

  readonly onTick = (call: () => void): (() => void) => {
    this.#ticks.add(call);
    return () => this.#ticks.delete(call);
  };

  /** Starts the timer and listens to keys and pointer. Returns a function that ends all of it. */
  start(): () => void {
    this.#tick();
    // Loaded now, so that the first game after hours of waiting does not depend on the network.
    void import('../../main').catch(() => undefined);
    const timer = setInterval(() => this.#tick(), TICK_INTERVAL_MS);
    const stopPointer = watchPointer((active) => (this.pointer = active));
    const stopAwake = keepAwake();
    const onKey = (event: KeyboardEvent): void => {
      // The viewer has keys of its own. On the big screen it is only a picture.
      if (!BROWSER_KEYS.has(event.key)) event.stopImmediatePropagation();
      const action = actionOf(event, event.target instanceof Element ? event.target : null);
      if (!action) return;
      event.preventDefault();
      this.act(action);
    };
    window.addEventListener('keydown', onKey, { capture: true });
    return () => {
      clearInterval(timer);
      stopPointer();
      stopAwake();
      window.removeEventListener('keydown', onKey, { capture: true });
    };
  }

  act(action: ScreenAction): void {
    const now = this.now();
    if (action === 'full-screen') void toggleFullScreen();
    else if (action === 'pause') this.#rotation.pause(!this.#rotation.paused, now);
    else this.#rotation.step(action === 'next' ? 1 : -1, now);
    this.#show(now);
  }

  competitionChanged(competition: Competition): void {
    this.data.competitionChanged(competition);
    // The last table of a finished competition has the medals.
    if (competition.state === 'over') this.loadTable();
  }

  tableChanged(table: PhaseStandings): void {
    this.data.tableChanged(this.#view.phase, table);
  }

  loadTable(): void {
    void this.#view.loadTable();
  }

  #tick(): void {
    const now = this.now();
    const time = Math.floor(Date.now() / 1000) * 1000;
    if (time !== this.time) this.time = time;
    this.page = Math.floor((now - this.#startedAt) / PAGE_INTERVAL_MS);
    this.#updateConnection(now);
    this.#watch(now);
    this.data.tick();
    this.#rotation.scenes(this.#breaks(), this.#idleScenes(), now);
    this.#rotation.boards(this.#options.show.has('board') ? this.playing : [], now);
    for (const call of this.#ticks) call();
    this.#show(now);
  }

  #show(now: number): void {
    const scene = this.#rotation.scene;
    const same = scene.kind === this.scene.kind && (scene.kind !== 'board' || scene.board === (this.scene as { board: number }).board);
    if (!same) this.scene = scene;
    this.paused = this.#rotation.paused;
    this.elapsed = this.#rotation.elapsed(now);
    this.moment = this.#options.show.has('moments') ? this.data.moments.current(now, this.#rotation.inGame) : undefined;
  }

  /** Scenes between two boards. */
  #breaks(): IdleScene[] {
    return this.bracket !== undefined ? ['bracket'] : [];
  }

  /** Scenes without a board. */
  #idleScenes(): IdleScene[] {
    const scenes: IdleScene[] = [];
    const { kind } = this.situation;
    if (kind === 'upcoming') return ['lobby'];
    if (kind === 'over') scenes.push('podium');
    // By the phase, because between two games none is being played.
    if (kind === 'running' && this.#view.phaseItem?.hidden && this.#options.show.has('board')) scenes.push('hidden');
    if (this.showsStandings) scenes.push('standings');
    if (this.bracket !== undefined) scenes.push('bracket');
    return scenes.length > 0 ? scenes : ['wait'];
  }

  #updateConnection(now: number): void {
    if (this.#view.disconnected) {
      this.connection = 'lost';
      this.#connectedAt = undefined;
    } else if (this.connection === 'lost') {
      this.connection = 'back';
      this.#connectedAt = now;
      void this.#reloadIfUpdated();
    } else if (this.connection === 'back' && now - (this.#connectedAt ?? now) >= CONNECTED_AGAIN_MS) this.connection = 'up';
  }

  #watch(now: number): void {
    const { progress, changes, competition } = this.#view;
    const heard = { progress, changes, state: competition.value?.state };
    const before = this.#heard;
    this.#heard = heard;
    // A hidden page has no stream, and a lost one is being opened already.
    if (document.hidden || this.#view.disconnected || heard.progress !== before.progress || heard.changes !== before.changes || heard.state !== before.state) this.#watchdog.heard(now);
    else if (this.#watchdog.isSilent(now, this.situation.kind === 'running' ? MAX_SILENCE_RUNNING_MS : MAX_SILENCE_IDLE_MS)) this.#reconnect();
  }

  /** After an update of the server this page would miss parts of the app that it has not loaded yet. */
  async #reloadIfUpdated(): Promise<void> {
    try {
      const { version } = await get<Site>('/site');
      if (site.site && version !== site.site.version) location.reload();
    } catch {
      // The next reconnection asks again.
    }
  }
}
