// What the standings show beside the points: movement and rating from the history of ratings, form from the latest matches.

import type { CompetitionView } from './competition.svelte';
import { linesByEntrant, movement, recentForm, sparkline, tellsApart, type MatchResult, type Movement } from './results';
import { Resource } from './resource.svelte';
import type { ListPage, Match, RatingHistory } from './types';

/** Both lists are large, so they are fetched less often than the table. */
const REFRESH_INTERVAL_MS = 15_000;
const MAX_RESULTS = 5;
/** Matches can have many games. About as many games are fetched at once. */
const MAX_GAMES = 400;
/** The smallest range of ratings that fills the height of a sparkline. */
const MIN_RATING_SPAN = 60;

export class Insights {
  #view: CompetitionView;
  #history = new Resource<RatingHistory>();
  #matches = new Resource<ListPage<Match>>();
  #loadedAt = 0;

  form: Map<number, MatchResult[]> = $derived.by(() => {
    const form = recentForm(this.#matches.value?.items ?? [], MAX_RESULTS);
    return tellsApart(form) ? form : new Map<number, MatchResult[]>();
  });
  moved: Movement | undefined = $derived.by(() => (this.#history.value ? movement(this.#history.value, (entrant) => this.#view.entrant(entrant)?.role ?? '') : undefined));
  /** Path of the rating line and the last rating, by entrant. */
  trends: Map<number, { path: string; rating: number }> = $derived.by(() => {
    const lines = this.#history.value ? linesByEntrant(this.#history.value) : new Map();
    return new Map([...lines].flatMap(([entrant, line]): [number, { path: string; rating: number }][] => {
      const path = sparkline(line, MIN_RATING_SPAN);
      return path === '' ? [] : [[entrant, { path, rating: line.points[line.points.length - 1]?.rating ?? 0 }]];
    }));
  });

  constructor(view: CompetitionView) {
    this.#view = view;
  }

  clear(): void {
    this.#history.clear();
    this.#matches.clear();
    this.#loadedAt = 0;
  }

  /** Fetches both lists, unless they are recent. */
  refresh(): void {
    if (Date.now() < this.#loadedAt + REFRESH_INTERVAL_MS) return;
    this.#loadedAt = Date.now();
    const view = this.#view;
    const phase = view.phaseItem;
    const perMatch = Math.max(1, (phase?.games ?? 0) / Math.max(1, phase?.matches ?? 0));
    void this.#history.load(view.api('phases', view.phase, 'ratings'));
    void this.#matches.load(view.api('phases', view.phase, 'matches'), { limit: Math.max(10, Math.min(100, Math.floor(MAX_GAMES / perMatch))) });
  }
}
