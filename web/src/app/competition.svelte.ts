// A competition as its pages see it: what was fetched, what comes by itself, and which phase is looked at.

import { listen, type Listening } from './api';
import { plain } from './format';
import { path } from './match';
import { Resource } from './resource.svelte';
import { router } from './router.svelte';
import type { Competition, Entrant, PhaseItem, Progress, State, Table } from './types';

/** What is said of the whole competition is fetched anew at most so often while games are played. */
const WHOLE_MS = 15_000;

/** And so soon when it must have changed. */
const SOON_MS = 500;

/** A table is fetched anew at most so often, however many games end. */
const TABLE_MS = 2_000;

/** The phase to show when none is named: the latest that has begun, else the first. */
export function latestPhase(phases: PhaseItem[]): number {
  const begun = phases.filter((phase) => phase.state !== 'waiting');
  return (begun[begun.length - 1] ?? phases[0])?.number ?? 1;
}

export class CompetitionView {
  readonly id: string;
  readonly it = new Resource<Competition>();
  readonly table = new Resource<Table>();
  progress: Progress | undefined = $state.raw();
  /** The stream of events is gone for now. */
  lost = $state(false);
  /** Counts what may have changed lists of games: for pages that fetch more than the table. */
  changes = $state(0);
  #listening: Listening | undefined;
  #tableAt = 0;
  #wholeAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string) {
    this.id = id;
  }

  /** Which phase is looked at, from 1. */
  phase = $derived.by(() => {
    const phases = this.it.value?.phases ?? [];
    const named = Number(router.query.get('phase'));
    return phases.some((phase) => phase.number === named) ? named : latestPhase(phases);
  });
  phaseItem: PhaseItem | undefined = $derived(this.it.value?.phases.find((phase) => phase.number === this.phase));
  /** Whether any game can have been played. */
  begun = $derived((this.it.value?.phases ?? []).some((phase) => phase.state !== 'waiting'));
  #byEntrant: Map<number, Entrant> = $derived(
    new Map((this.it.value?.entrants ?? []).flatMap((one): [number, Entrant][] => (one.entrant === null ? [] : [[one.entrant, one]]))),
  );

  api(...parts: (string | number)[]): string {
    return path('competitions', this.id, ...parts);
  }

  /** The address of one of its pages, with the phase if it is not the latest. */
  href(tab: string, phase: number | null = this.phase): string {
    const base = path('c', this.id, ...(tab === '' || tab === 'table' ? [] : [tab]));
    return phase === null || phase === latestPhase(this.it.value?.phases ?? []) ? base : `${base}?phase=${phase}`;
  }

  entrant(number: number): Entrant | undefined {
    return this.#byEntrant.get(number);
  }

  name(number: number): string {
    return plain(this.entrant(number)?.name ?? `#${number}`);
  }

  async load(): Promise<void> {
    this.#wholeAt = Date.now();
    await this.it.load(this.api());
  }

  /** Before the start there is no table to ask for. */
  async loadTable(): Promise<void> {
    if (!this.begun) return;
    this.#tableAt = Date.now();
    await this.table.load(this.api('phases', this.phase, 'table'));
  }

  /** Follows what happens until it is told to stop. */
  follow(): () => void {
    this.#listening = listen(this.api('events'), {
      on: {
        progress: (progress: Progress) => {
          const known = this.it.value?.phase?.number;
          this.progress = progress;
          // The next phase began, or the first: only now is it known who has which number.
          if ((!this.begun || (known !== undefined && known !== progress.phase)) && Date.now() > this.#wholeAt + SOON_MS) void this.load();
        },
        table: (said: { phase: number; revision: number }) => this.#newTable(said),
        state: (said: { state: State; message: string | null }) => {
          if (said.state !== 'running') this.progress = undefined;
          void this.load();
        },
      },
      opened: (again) => {
        this.lost = false;
        if (again) this.#missed();
      },
      lost: () => (this.lost = true),
    });
    return () => {
      this.#listening?.stop();
      clearTimeout(this.#timer);
    };
  }

  #missed(): void {
    void this.load();
    void this.loadTable();
    this.changes += 1;
  }

  #newTable(said: { phase: number; revision: number }): void {
    this.changes += 1;
    if (Date.now() > this.#wholeAt + (this.begun ? WHOLE_MS : SOON_MS)) void this.load();
    if (said.phase !== this.phase || said.revision === this.table.value?.revision || this.#timer !== undefined) return;
    const wait = Math.max(0, this.#tableAt + TABLE_MS - Date.now());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.loadTable();
    }, wait);
  }
}
