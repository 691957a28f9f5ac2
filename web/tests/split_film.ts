// Splits a finished film into the parts of a live film.

import { extendFilm, type Film, type FilmPart } from '../src/film';

/** Returns a live film with the first turns, and the remaining turns in parts of `size` turns. */
export function splitFilm(film: Film, first: number, size: number): { head: Film; parts: FilmPart[] } {
  const all = film.names.map((_, seat) => seat);
  const counts = film.names.map(() => 0);
  const turns = film.deltas.map((delta, i) => {
    const movers = film.movers?.[i] ?? all;
    const answers = film.answers[i] as string;
    const micros = movers.map((seat, at) => {
      if (answers.split(' ')[at] === '-') return null;
      counts[seat] = (counts[seat] as number) + 1;
      return film.micros[seat]?.[(counts[seat] as number) - 1] ?? null;
    });
    const faults = film.faults.filter((fault) => fault.turn === i + 1);
    const standing = film.standing.lines.map((line) => line[i + 1] as number);
    return { delta, answers, ...(film.movers ? { movers } : {}), micros, standing, ...(faults.length > 0 ? { faults } : {}) };
  });
  const { outcome, movers: _, ...rest } = film;
  const empty: Film = {
    ...rest,
    live: true,
    deltas: [],
    answers: [],
    micros: film.names.map(() => []),
    faults: [],
    standing: { of: film.standing.of, lines: film.standing.lines.map((line) => [line[0] as number]) },
  };
  const head = extendFilm(empty, { from: 1, turns: turns.slice(0, first) }) as Film;
  const parts: FilmPart[] = [];
  for (let from = first; from < turns.length; from += size) parts.push({ from: from + 1, turns: turns.slice(from, from + size) });
  parts.push({ from: turns.length + 1, turns: [], outcome: outcome as NonNullable<Film['outcome']> });
  return { head, parts };
}
