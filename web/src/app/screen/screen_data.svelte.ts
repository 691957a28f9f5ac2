// Data of the big screen beside the competition and its table: bracket, next matches, and what has just happened. Everything is fetched when
// the competition reports a change, at most once per interval. There are no timers: the page calls `tick`.

import { get } from '../api';
import type { CompetitionView } from '../competition.svelte';
import { Resource } from '../resource.svelte';
import type { Bracket, Competition, Fixture, ListPage, Match, PhaseStandings, Schedule } from '../types';
import { MomentQueue } from './moments';
import { lastStarted, upcoming } from './schedule';
import { endedPhases } from './situation';
import { leadersOf, Movement, placesIn, rankingTables } from './standings';
import { bracketUpsets, matchUpset, NewMatches, type Upset } from './upsets';

/** Minimum interval between two fetches of the matches, of the schedule and of the bracket. */
const FETCH_INTERVAL_MS = 4_000;
const FETCH_TIMEOUT_MS = 30_000;
/** What is shown is fetched again after this time even if no event came, in case one was lost. */
const REFRESH_INTERVAL_MS = 60_000;
const LATEST_MATCHES = 20;
const MAX_NEXT_MATCHES = 4;
/** Fixtures that are fetched to find the next ones: some of them may have started. */
const FIXTURES_FETCHED = 40;

export class ScreenData {
  readonly bracket = new Resource<Bracket>();
  next: Fixture[] = $state.raw([]);
  latest: Match[] = $state.raw([]);
  readonly moments = new MomentQueue();
  /** Movement in the tables that are shown. A new object after each change. */
  moved: { of: Movement['of'] } = $state.raw({ of: () => new Map() });
  readonly #view: CompetitionView;
  readonly #movement = new Movement();
  #newMatches = new NewMatches();
  /** Places when the latest matches were fetched: before the matches that come with the next fetch. */
  #places: Map<number, number> = new Map();
  #phaseStates = new Map<number, string>();
  #state: string | undefined;
  #leaders: { phase: number; entrants: number[] } | undefined;
  #fetchedAt = -Infinity;
  #fetchedChanges = -1;
  #phase: number | undefined;
  #fetching = false;

  readonly #now: () => number;

  constructor(view: CompetitionView, now: () => number) {
    this.#view = view;
    this.#now = now;
  }

  /** Fetches what has changed. */
  tick(): void {
    const now = this.#now();
    const view = this.#view;
    if (!view.competition.value || !view.hasStarted) return;
    if (view.phase !== this.#phase) this.#changePhase(view.phase);
    const since = now - this.#fetchedAt;
    const due = since >= REFRESH_INTERVAL_MS || (since >= FETCH_INTERVAL_MS && view.changes !== this.#fetchedChanges);
    if (!due || this.#fetching || document.hidden) return;
    this.#fetchedAt = now;
    this.#fetchedChanges = view.changes;
    void this.#fetch();
  }

  /** Compares the competition with what was known, and announces what has ended. */
  competitionChanged(competition: Competition): void {
    const ended = endedPhases(this.#phaseStates, competition);
    const finished = this.#state !== undefined && this.#state !== 'over' && competition.state === 'over';
    this.#phaseStates = new Map(competition.phases.map((phase) => [phase.number, phase.state]));
    this.#state = competition.state;
    const last = competition.phases.at(-1)?.number;
    if (finished && last !== undefined) void this.#announceWinners(last, true);
    for (const phase of ended) if (phase !== last && !finished) void this.#announceWinners(phase, false);
  }

  /** Takes a new table: movement and a new leader. */
  tableChanged(phase: number, table: PhaseStandings): void {
    const tables = rankingTables(table);
    this.#movement.update(phase, tables);
    this.moved = { of: (id) => this.#movement.of(id) };
    const [first] = tables;
    const entrants = tables.length === 1 && first ? leadersOf(first) : [];
    const before = this.#leaders?.phase === phase ? this.#leaders.entrants : undefined;
    this.#leaders = { phase, entrants };
    const [leader] = entrants;
    // Before each has played a few matches, the lead says nothing.
    const counts = table.matches >= 2 * (first?.rows.length ?? 0) && this.#view.competition.value?.state === 'running';
    if (counts && leader !== undefined && entrants.length === 1 && before?.length === 1 && !before.includes(leader)) {
      this.moments.add({ kind: 'leader', name: this.#view.name(leader) }, `leader ${phase} ${leader} ${table.revision}`, this.#now());
    }
  }

  async #fetch(): Promise<void> {
    const view = this.#view;
    const phase = view.phase;
    const playing = view.progress?.playing ?? [];
    // A dead connection must not hold up all later requests.
    const signal = AbortSignal.timeout(FETCH_TIMEOUT_MS);
    this.#fetching = true;
    try {
      const bracketBefore = this.bracket.value;
      const [matches] = await Promise.all([
        get<ListPage<Match>>(view.api('phases', phase, 'matches'), { query: { limit: LATEST_MATCHES }, signal }),
        view.phaseItem?.bracket ? this.bracket.load(view.api('phases', phase, 'bracket')) : undefined,
      ]);
      const after = lastStarted(playing, matches.items);
      const schedule = await get<Schedule>(view.api('phases', phase, 'schedule'), { query: { after, limit: FIXTURES_FETCHED }, signal });
      if (view.phase !== phase) return;
      this.latest = matches.items;
      this.next = upcoming(schedule.fixtures.items, playing, MAX_NEXT_MATCHES);
      this.#findUpsets(matches.items, bracketBefore);
    } catch {
      // The page shows what it has. The next change, or the refresh interval, tries again.
    } finally {
      this.#fetching = false;
    }
  }

  #findUpsets(matches: Match[], bracketBefore: Bracket | undefined): void {
    const fresh = this.#newMatches.of(matches);
    const bracket = this.bracket.value;
    if (this.#view.phaseItem?.bracket) {
      if (bracketBefore && bracket && bracket !== bracketBefore) for (const upset of bracketUpsets(bracketBefore, bracket)) this.#announceUpset(upset, true);
    } else if (this.#places.size > 0) {
      for (const match of fresh) {
        const upset = matchUpset(match, this.#places);
        if (upset) this.#announceUpset(upset, false, match.match);
      }
    }
    const table = this.#view.table.value;
    // After a few matches the places are chance.
    const counts = table !== undefined && table.matches >= 2 * table.entrants.length;
    this.#places = counts ? placesIn(rankingTables(table)) : new Map();
  }

  #announceUpset(upset: Upset, seeded: boolean, match = ''): void {
    const { winner, loser, winnerPlace, loserPlace, size } = upset;
    const moment = { kind: 'upset', winner: this.#view.name(winner), loser: this.#view.name(loser), winnerPlace, loserPlace, seeded } as const;
    this.moments.add(moment, `upset ${this.#phase} ${winner} ${loser} ${match}`, this.#now(), size);
  }

  async #announceWinners(phase: number, final: boolean): Promise<void> {
    const view = this.#view;
    let names: string[] = [];
    try {
      const tables = rankingTables(await get<PhaseStandings>(view.api('phases', phase, 'table')));
      names = tables.flatMap((table) => leadersOf(table)).map((entrant) => view.name(entrant));
    } catch {
      // Without the table the moment has no names, and is not shown.
    }
    if (names.length === 0) return;
    const phaseName = view.competition.value?.phases.find((one) => one.number === phase)?.name ?? '';
    this.moments.add(final ? { kind: 'champion', names } : { kind: 'phase', phase: phaseName, names }, `${final ? 'champion' : 'phase'} ${phase}`, this.#now());
  }

  #changePhase(phase: number): void {
    this.#phase = phase;
    this.bracket.clear();
    this.next = [];
    this.latest = [];
    this.#newMatches = new NewMatches();
    this.#places = new Map();
    this.#fetchedAt = -Infinity;
  }
}

