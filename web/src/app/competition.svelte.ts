// State of a competition's pages: fetched data, live events and the selected phase.

import { subscribe, type EventSubscription } from './api';
import { colour } from '../palette';
import { stripBidi } from './format';
import { path } from './path_pattern';
import { Resource } from './resource.svelte';
import { router } from './router.svelte';
import { VIEWS, type View } from './routes';
import type { Competition, CompetitionState, Entrant, PhaseItem, PhaseStandings, Progress } from './types';

/** Minimum interval between two fetches of the competition while games are played. */
const COMPETITION_INTERVAL_MS = 15_000;

/** The same when the competition must have changed. */
const COMPETITION_CHANGED_INTERVAL_MS = 500;

/** Minimum interval between two fetches of the table. */
const TABLE_INTERVAL_MS = 2_000;

/** Default phase: the latest that has started, else the first. */
export function latestPhase(phases: PhaseItem[]): number {
  const started = phases.filter((phase) => phase.state !== 'waiting');
  return (started[started.length - 1] ?? phases[0])?.number ?? 1;
}

export class CompetitionView {
  readonly id: string;
  readonly competition = new Resource<Competition>();
  readonly table = new Resource<PhaseStandings>();
  progress: Progress | undefined = $state.raw();
  /** Whether the event stream is disconnected. */
  disconnected = $state(false);
  /** Counts changes that affect lists of games, for pages that fetch more than the table. */
  changes = $state(0);
  #subscription: EventSubscription | undefined;
  #tableLoadedAt = 0;
  #tablePhase: number | undefined;
  #competitionLoadedAt = 0;
  #tableTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string) {
    this.id = id;
  }

  /** Number of the selected phase, from 1. */
  phase = $derived.by(() => {
    const phases = this.competition.value?.phases ?? [];
    const selected = Number(router.query.get('phase'));
    return phases.some((phase) => phase.number === selected) ? selected : latestPhase(phases);
  });
  phaseItem: PhaseItem | undefined = $derived(this.competition.value?.phases.find((phase) => phase.number === this.phase));
  /** Whether any phase has started. */
  hasStarted = $derived((this.competition.value?.phases ?? []).some((phase) => phase.state !== 'waiting'));
  #byEntrant: Map<number, Entrant> = $derived(
    new Map((this.competition.value?.entrants ?? []).flatMap((one): [number, Entrant][] => (one.entrant === null ? [] : [[one.entrant, one]]))),
  );

  api(...parts: (string | number)[]): string {
    return path('competitions', this.id, ...parts);
  }

  /** Address of a view, with the phase if it is not the default. */
  href(view: View, phase: number | null = this.phase): string {
    const base = path('c', this.id, ...VIEWS[view].path.split('/').filter(Boolean));
    return phase === null || phase === latestPhase(this.competition.value?.phases ?? []) ? base : `${base}?phase=${phase}`;
  }

  entrant(number: number): Entrant | undefined {
    return this.#byEntrant.get(number);
  }

  name(number: number): string {
    return stripBidi(this.entrant(number)?.name ?? `#${number}`);
  }

  /** The colour of a bot in all tables, charts and games of the competition. */
  colour(number: number): string {
    return colour(number);
  }

  async load(): Promise<void> {
    this.#competitionLoadedAt = Date.now();
    await this.competition.load(this.api());
  }

  /** Fetches the table; the table of the same phase stays until then. There is none before the start. */
  async loadTable(): Promise<void> {
    if (!this.hasStarted) return;
    if (this.#tablePhase !== this.phase) this.table.clear();
    this.#tablePhase = this.phase;
    this.#tableLoadedAt = Date.now();
    await this.table.load(this.api('phases', this.phase, 'table'));
  }

  /** Subscribes to the events of the competition. Returns a function that unsubscribes. */
  subscribe(): () => void {
    this.#subscription = subscribe(this.api('events'), {
      on: {
        progress: (progress: Progress) => {
          const known = this.competition.value?.phase?.number;
          this.progress = progress;
          // A phase has started. Entrant numbers are known only now.
          if ((!this.hasStarted || (known !== undefined && known !== progress.phase)) && Date.now() > this.#competitionLoadedAt + COMPETITION_CHANGED_INTERVAL_MS) void this.load();
        },
        table: (event: { phase: number; revision: number }) => this.#onTableEvent(event),
        // The standings are frozen, or no longer, or places were revealed: everything that is shown may be another one.
        freeze: () => this.#reloadAll(),
        state: (event: { state: CompetitionState; message: string | null }) => {
          if (event.state !== 'running') this.progress = undefined;
          void this.load();
        },
      },
      onOpen: (reconnected) => {
        this.disconnected = false;
        if (reconnected) this.#reloadAll();
      },
      onLost: () => (this.disconnected = true),
    });
    return () => {
      this.#subscription?.stop();
      clearTimeout(this.#tableTimer);
      // Otherwise no table would be loaded after the next subscription.
      this.#tableTimer = undefined;
    };
  }

  #reloadAll(): void {
    void this.load();
    void this.loadTable();
    this.changes += 1;
  }

  #onTableEvent(event: { phase: number; revision: number }): void {
    this.changes += 1;
    if (Date.now() > this.#competitionLoadedAt + (this.hasStarted ? COMPETITION_INTERVAL_MS : COMPETITION_CHANGED_INTERVAL_MS)) void this.load();
    if (event.phase !== this.phase || event.revision === this.table.value?.revision || this.#tableTimer !== undefined) return;
    const wait = Math.max(0, this.#tableLoadedAt + TABLE_INTERVAL_MS - Date.now());
    this.#tableTimer = setTimeout(() => {
      this.#tableTimer = undefined;
      void this.loadTable();
    }, wait);
  }
}
