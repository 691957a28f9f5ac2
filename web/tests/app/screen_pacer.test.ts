// The pacer of the big screen: fast games are shown at a speed that can be followed, and nothing is lost.

import { describe, expect, test } from 'vitest';
import { extendFilm, type Film, type FilmPart } from '../../src/film';
import { GamePacer, rewindFilm } from '../../src/app/screen/pacer';
import { RESULT_MS } from '../../src/app/screen/rotation';
import type { LiveGameRef } from '../../src/app/live_sequence';

const ref = (game: number): LiveGameRef => ({ phase: 1, match: '1-1', game, film: null });

/** A finished film of two seats that take turns; a second answer of the first seat is a fault. */
function filmOf(turns: number): Film {
  const numbers = Array.from({ length: turns }, (_, i) => i);
  return {
    agon: 'film',
    version: 1,
    game: 'any',
    title: 'Any',
    names: ['Ann', 'Bob'],
    settings: {},
    first: { at: 0 },
    deltas: numbers.map((i) => ({ at: i + 1 })),
    answers: numbers.map((i) => (i === 2 ? '!crash' : `${i}`)),
    movers: numbers.map((i) => [i % 2]),
    micros: [numbers.filter((i) => i % 2 === 0), numbers.filter((i) => i % 2 === 1)],
    faults: turns > 2 ? [{ turn: 3, seat: 0, fault: 'crash', says: 'no' }] : [],
    standing: { of: 'points', lines: [[0, ...numbers], [0, ...numbers.map((i) => 2 * i)]] },
    outcome: { seats: [{ score: 1, place: 2 }, { score: 2, place: 1 }], ended: 'full board' },
    score: { name: 'score', unit: '', decimals: 0 },
  };
}

/** What a viewer would show, with the times. */
class Shown {
  films: Film[] = [];
  log: string[] = [];
  now = 0;
  gaps = 0;
  pacer = new GamePacer(
    {
      head: (film) => {
        this.films.push(film as Film);
        this.log.push(`${this.now} head`);
      },
      part: (part) => {
        const last = this.films.at(-1) as Film;
        const next = extendFilm(last, part);
        if (next) this.films[this.films.length - 1] = next;
        else this.gaps += 1;
      },
      end: (game) => this.log.push(`${this.now} end ${game.game}`),
      ending: () => this.log.push(`${this.now} ending`),
    },
    0,
  );
  get turns(): number {
    return this.films.at(-1)?.deltas.length ?? 0;
  }
  /** Lets time pass in steps of the page's timer. */
  pass(ms: number): void {
    for (const end = this.now + ms; this.now < end; ) {
      this.now += 250;
      this.pacer.tick(this.now);
    }
  }
}

const parts = (film: Film, size: number): { head: Film; parts: FilmPart[] } => {
  const { head, part } = rewindFilm(film);
  const all: FilmPart[] = [];
  for (let at = 0; at < part.turns.length; at += size) all.push({ from: at + 1, turns: part.turns.slice(at, at + size) });
  const last = all.at(-1);
  if (last && part.outcome) last.outcome = part.outcome;
  return { head, parts: all };
};

describe('rewindFilm', () => {
  test.each([1, 2, 7, 30])('a film of %i turns and its part make the same film again', (turns) => {
    const film = filmOf(turns);
    const { head, part } = rewindFilm(film);
    expect(head.live).toBe(true);
    expect(head.outcome).toBeUndefined();
    expect(head.deltas).toEqual([]);
    expect(extendFilm(head, part)).toEqual(film);
  });

  test('a film in which all seats answer in every turn stays without movers', () => {
    const { movers: _, ...film } = { ...filmOf(3), answers: ['a b', 'c -', '!crash d'], micros: [[1, 2, 3], [4, 5]] };
    const { head, part } = rewindFilm(film as Film);
    expect(part.turns.map((turn) => turn.micros)).toEqual([[1, 4], [2, null], [3, 5]]);
    expect(extendFilm(head, part)).toEqual(film);
  });
});

describe('pacing', () => {
  test('a game that is over at once takes several seconds, and its end comes after its last turn', () => {
    const shown = new Shown();
    const { head, parts: all } = parts(filmOf(40), 40);
    shown.pacer.head(head, 0);
    for (const part of all) shown.pacer.part(part, 0);
    shown.pacer.end(ref(1), 0);
    expect(shown.turns).toBeLessThan(3);
    expect(shown.log).toEqual(['0 head', '0 ending']);
    shown.pass(5_000);
    expect(shown.turns).toBeGreaterThan(20);
    expect(shown.turns).toBeLessThan(40);
    shown.pass(15_000);
    expect(shown.films).toEqual([filmOf(40)]);
    expect(shown.log.at(-1)).toMatch(/^1\d{4} end 1$/);
    expect(shown.gaps).toBe(0);
  });

  test('a film that is finished when it comes is shown from its start', () => {
    const shown = new Shown();
    shown.pacer.head(filmOf(10), 0);
    shown.pacer.end(ref(1), 0);
    expect(shown.films[0]?.live).toBe(true);
    shown.pass(20_000);
    expect(shown.films).toEqual([filmOf(10)]);
  });

  test('the turns of a slow game are shown as they come', () => {
    const shown = new Shown();
    const { head, parts: all } = parts(filmOf(12), 1);
    shown.pacer.head(head, 0);
    for (const [i, part] of all.entries()) {
      shown.pass(1_000);
      shown.pacer.part(part, shown.now);
      expect(shown.turns).toBe(i + 1);
    }
    shown.pacer.end(ref(1), shown.now);
    expect(shown.log.at(-1)).toBe('12000 end 1');
  });

  test('a steady fast game is a few seconds behind, however long it lasts', () => {
    const shown = new Shown();
    const { head, parts: all } = parts(filmOf(4_000), 10);
    shown.pacer.head(head, 0);
    let late = 0;
    for (const part of all) {
      shown.pacer.part(part, shown.now);
      shown.pass(250);
      late = Math.max(late, part.from + 9 - shown.turns);
    }
    // Forty turns per second, five seconds.
    expect(late).toBeLessThan(260);
    expect(shown.gaps).toBe(0);
  });
});

describe('the next game', () => {
  const play = (shown: Shown, turns: number, game: number): void => {
    const { head, parts: all } = parts(filmOf(turns), turns);
    shown.pacer.head(head, shown.now);
    for (const part of all) shown.pacer.part(part, shown.now);
    shown.pacer.end(ref(game), shown.now);
  };

  test('waits until the result was shown', () => {
    const shown = new Shown();
    play(shown, 4, 1);
    play(shown, 4, 2);
    shown.pass(30_000);
    const times = shown.log.filter((line) => !line.endsWith('ending')).map((line) => Number(line.split(' ')[0]));
    expect(shown.films).toHaveLength(2);
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(RESULT_MS);
    expect(shown.log.at(-1)).toMatch(/end 2$/);
  });

  test('only the newest game waits', () => {
    const shown = new Shown();
    for (let game = 1; game <= 50; game += 1) play(shown, 20, game);
    shown.pass(60_000);
    expect(shown.films).toHaveLength(2);
    expect(shown.log.filter((line) => line.includes('end ')).map((line) => line.split(' ')[2])).toEqual(['1', '50']);
    expect(shown.pacer.busy).toBe(false);
  });

  test('the same game again, after a lost connection, replaces the film at once', () => {
    const shown = new Shown();
    const { head, parts: all } = parts(filmOf(30), 10);
    shown.pacer.head(head, 0);
    shown.pacer.part(all[0] as FilmPart, 0);
    const again = extendFilm(extendFilm(head, all[0] as FilmPart) as Film, all[1] as FilmPart) as Film;
    shown.pacer.head(again, 100);
    expect(shown.turns).toBe(20);
    shown.pacer.part(all[2] as FilmPart, 100);
    shown.pacer.end(ref(1), 100);
    shown.pass(20_000);
    expect(shown.turns).toBe(30);
  });

  test('a part with a gap is passed on, so that the viewer asks for the whole film', () => {
    const shown = new Shown();
    const { head, parts: all } = parts(filmOf(30), 10);
    shown.pacer.head(head, 0);
    shown.pacer.part(all[1] as FilmPart, 0);
    expect(shown.gaps).toBe(1);
  });

  test('parts and ends without a film are ignored', () => {
    const shown = new Shown();
    shown.pacer.part({ from: 1, turns: [] }, 0);
    shown.pacer.end(ref(1), 0);
    shown.pass(1000);
    expect(shown.log).toEqual([]);
  });
});
