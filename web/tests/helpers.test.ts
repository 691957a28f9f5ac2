import { describe, expect, test } from 'vitest';
import { ceiling, path } from '../src/chart';
import { en } from '../src/en';
import { fresh } from '../src/games/word';
import { turnOf, withTurn } from '../src/moment';
import { colour, inkOn, letter } from '../src/palette';
import { firstSpeed, Playback, SPEEDS } from '../src/playback.svelte';

describe('the link to a moment', () => {
  test('is read wherever it stands', () => {
    expect(turnOf('#t=123')).toBe(123);
    expect(turnOf('#game=4&t=7')).toBe(7);
    expect(turnOf('#t=7&game=4')).toBe(7);
    for (const none of ['', '#', '#t=', '#t=x', '#at=4', '#t=-1', '#t=1x']) expect(turnOf(none), none).toBeUndefined();
  });

  test('leaves the rest alone', () => {
    expect(withTurn('', 5)).toBe('#t=5');
    expect(withTurn('#game=4', 5)).toBe('#game=4&t=5');
    expect(withTurn('#t=1&game=a%20b', 5)).toBe('#t=5&game=a%20b');
  });
});

describe('playback', () => {
  test('plays to the end and stops there', () => {
    const film = new Playback(3, 2);
    film.toggle();
    film.tick(0.25);
    expect([film.turn, film.phase, film.playing]).toEqual([1, 0.5, true]);
    film.tick(10);
    expect([film.turn, film.phase, film.playing]).toEqual([3, 1, false]);
    film.toggle();
    expect([film.turn, film.playing], 'from the end it begins anew').toEqual([0, true]);
  });

  test('a step forward is under way for a while, a step back is not', () => {
    const film = new Playback(5, 1);
    film.step(1);
    film.tick(0.1);
    expect(film.turn).toBe(1);
    expect(film.phase).toBeLessThan(1);
    film.tick(2);
    expect([film.at, film.moving]).toEqual([1, false]);
    film.step(-1);
    expect([film.at, film.moving]).toEqual([0, false]);
    film.step(-1);
    expect(film.at).toBe(0);
  });

  test('pausing lets the move come to its end', () => {
    const film = new Playback(5, 1);
    film.toggle();
    film.tick(1.5);
    film.toggle();
    expect([film.playing, film.turn, film.moving]).toEqual([false, 2, true]);
    film.tick(5);
    expect([film.at, film.moving]).toEqual([2, false]);
  });

  test('holds still between turns when asked to', () => {
    const film = new Playback(5, 1);
    film.still = true;
    film.toggle();
    film.tick(1.5);
    expect([film.turn, film.phase]).toEqual([1, 1]);
    film.step(1);
    expect([film.at, film.phase, film.moving]).toEqual([2, 1, false]);
  });

  test('has speeds to choose from, and begins faster with a long film', () => {
    const film = new Playback(5, 1);
    for (let i = 0; i < 20; i += 1) film.hurry(1);
    expect(film.speed).toBe(SPEEDS.at(-1));
    for (let i = 0; i < 20; i += 1) film.hurry(-1);
    expect(film.speed).toBe(SPEEDS[0]);
    expect(firstSpeed(1, 60)).toBe(1);
    expect(firstSpeed(1, 2000)).toBe(30);
  });
});

describe('playback of a live film', () => {
  const live = (last: number): Playback => {
    const film = new Playback(last, 1, true);
    film.seek(last);
    return film;
  };

  test('follows the newest turn, and is there before the next part comes', () => {
    const film = live(3);
    expect([film.at, film.following, film.moving]).toEqual([3, true, false]);
    film.grow(7, true);
    expect([film.turn, film.moving]).toEqual([3, true]);
    film.tick(0.1);
    expect(film.turn).toBeGreaterThan(3);
    expect(film.turn).toBeLessThan(7);
    film.tick(0.16);
    expect([film.at, film.following, film.moving]).toEqual([7, true, false]);
  });

  test('stays where the reader went, until the reader comes back', () => {
    const film = live(5);
    film.seek(2);
    film.grow(9, true);
    expect([film.turn, film.following, film.moving]).toEqual([2, false, false]);
    film.seek(9);
    expect(film.following).toBe(true);
    film.step(-1);
    expect([film.turn, film.following]).toEqual([8, false]);
    film.toggle();
    film.tick(5);
    expect([film.turn, film.playing, film.following], 'playing on comes to the newest and follows').toEqual([9, false, true]);
    film.toggle();
    film.grow(12, true);
    expect([film.turn, film.following], 'a pause holds').toEqual([9, false]);
  });

  test('is an ordinary replay when the game is over', () => {
    const film = live(4);
    film.grow(6, false);
    film.tick(1);
    expect([film.turn, film.following, film.moving]).toEqual([6, false, false]);
    film.toggle();
    expect([film.turn, film.playing]).toEqual([0, true]);
    const still = live(4);
    still.still = true;
    still.grow(6, false);
    expect([still.turn, still.following]).toEqual([6, false]);
  });
});

describe('the chart', () => {
  test('has a top that people read easily', () => {
    expect(ceiling([[0, 3], [38]])).toBe(40);
    expect(ceiling([[107]])).toBe(120);
    expect(ceiling([[0.13]])).toBe(0.15);
    expect(ceiling([[0], []])).toBe(1);
  });

  test('ends with the last value, however long the game', () => {
    expect(path([0, 5, 10], 10)).toBe('M0.00 100.00L50.00 50.00L100.00 0.00');
    const long = path(Array.from({ length: 6001 }, (_, i) => i), 6000);
    expect(long.endsWith('L100.00 0.00')).toBe(true);
    expect(long.split('L').length).toBeLessThan(410);
  });
});

test('twenty bots have twenty colours and letters, and their letters are legible', () => {
  const light = (hex: string): number => {
    const part = (i: number): number => {
      const c = parseInt(hex.slice(i, i + 2), 16) / 255;
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
  };
  const ids = Array.from({ length: 20 }, (_, i) => i);
  expect(new Set(ids.map(colour)).size).toBe(20);
  expect(new Set(Array.from({ length: 64 }, (_, i) => letter(i))).size).toBe(64);
  for (const id of ids) {
    const [a, b] = [light(colour(id)), light(inkOn(id))].sort((x, y) => x - y) as [number, number];
    expect((b + 0.05) / (a + 0.05), `letter on ${colour(id)}`).toBeGreaterThan(4.5);
  }
});

test('words that were there before are not new', () => {
  const at = { word: 'AT', line: 0, start: 0, cells: [0, 1], points: 1 };
  const down = { ...at, line: 7 };
  expect(fresh([at, down], [at])).toEqual([down]);
});

test('times and answers are told in words', () => {
  expect([0.04, 4.2, 758, 10_500, 2_000_000].map(en.micros)).toEqual(['< 0.1 µs', '4.2 µs', '758 µs', '10.5 ms', '2.00 s']);
  expect(en.answerWord('!timeout', undefined)).toBe('timeout');
  expect(en.answerWord('L', undefined)).toBe('left');
  expect(en.answerWord('4', en.connect.answer)).toBe('column 4');
  expect([en.word.answer('X12'), en.word.answer('26')]).toEqual(['X at 12', 'at 26']);
});
