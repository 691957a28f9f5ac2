// The result of a game as text.

import type { Film } from './film';
import { viewerTexts } from './viewer_texts';

const MAX_PLACES = 4;

/** The first places with their scores, and the statistic that stands beside the score: `1. ann 0.75 (21 word points), 2. learner ...`. */
export function resultText(film: Film): string {
  const score = (value: number): string => `${+value.toFixed(film.score.decimals)}${film.score.unit === '' ? '' : ` ${film.score.unit}`}`;
  const beside = (stats: number[] | undefined): string => {
    const value = film.beside === undefined ? undefined : stats?.[film.beside.stat];
    return film.beside === undefined || value === undefined ? '' : ` (${+value.toFixed(film.beside.decimals)} ${film.beside.name})`;
  };
  return (film.outcome?.seats ?? [])
    .map((seat, i) => ({ ...seat, name: film.names[i] ?? `${i}` }))
    .sort((a, b) => a.place - b.place)
    .slice(0, MAX_PLACES)
    .map((seat) => viewerTexts.place(seat.place, seat.name, score(seat.score) + beside(seat.stats)))
    .join(', ');
}
