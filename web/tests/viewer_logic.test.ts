import { describe, expect, test } from 'vitest';
import { axisMax, linePath } from '../src/chart';
import { viewerTexts } from '../src/viewer_texts';
import { texts as connectFive } from '../src/games/connect-five/texts';
import { texts as wordRacer } from '../src/games/word-racer/texts';
import { newWords } from '../src/games/word-racer/view';
import colourBattle from '../src/games/colour-battle/view';
import { turnFromHash, hashWithTurn } from '../src/turn_hash';
import { colour, textColourOn, letter } from '../src/palette';
import { initialSpeed, Playback, SPEEDS } from '../src/playback.svelte';

describe('turn hash', () => {
  test('turnFromHash finds the turn at any position', () => {
    expect(turnFromHash('#t=123')).toBe(123);
    expect(turnFromHash('#game=4&t=7')).toBe(7);
    expect(turnFromHash('#t=7&game=4')).toBe(7);
    for (const none of ['', '#', '#t=', '#t=x', '#at=4', '#t=-1', '#t=1x']) expect(turnFromHash(none), none).toBeUndefined();
  });

  test('hashWithTurn keeps other parts', () => {
    expect(hashWithTurn('', 5)).toBe('#t=5');
    expect(hashWithTurn('#game=4', 5)).toBe('#game=4&t=5');
    expect(hashWithTurn('#t=1&game=a%20b', 5)).toBe('#t=5&game=a%20b');
  });
});

describe('playback', () => {
  test('toggle plays to the end and stops', () => {
    const playback = new Playback(3, 2);
    playback.toggle();
    playback.tick(0.25);
    expect([playback.turn, playback.progress, playback.playing]).toEqual([1, 0.5, true]);
    playback.tick(10);
    expect([playback.turn, playback.progress, playback.playing]).toEqual([3, 1, false]);
    playback.toggle();
    expect([playback.turn, playback.playing], 'at the end it restarts').toEqual([0, true]);
  });

  test('step forward is animated, step back is immediate', () => {
    const playback = new Playback(5, 1);
    playback.step(1);
    playback.tick(0.1);
    expect(playback.turn).toBe(1);
    expect(playback.progress).toBeLessThan(1);
    playback.tick(2);
    expect([playback.position, playback.moving]).toEqual([1, false]);
    playback.step(-1);
    expect([playback.position, playback.moving]).toEqual([0, false]);
    playback.step(-1);
    expect(playback.position).toBe(0);
  });

  test('steps add up, also before the first one is drawn', () => {
    const playback = new Playback(9, 1);
    for (let i = 0; i < 4; i += 1) playback.step(1);
    expect(playback.goal).toBe(4);
    playback.step(-1);
    playback.step(1);
    playback.step(1);
    playback.tick(9);
    expect([playback.turn, playback.moving]).toEqual([5, false]);
  });

  test('pause completes the current move', () => {
    const playback = new Playback(5, 1);
    playback.toggle();
    playback.tick(1.5);
    playback.toggle();
    expect([playback.playing, playback.turn, playback.moving]).toEqual([false, 2, true]);
    playback.tick(5);
    expect([playback.position, playback.moving]).toEqual([2, false]);
  });

  test('reduced motion shows whole turns only', () => {
    const playback = new Playback(5, 1);
    playback.reducedMotion = true;
    playback.toggle();
    playback.tick(1.5);
    expect([playback.turn, playback.progress]).toEqual([1, 1]);
    playback.step(1);
    expect([playback.position, playback.progress, playback.moving]).toEqual([2, 1, false]);
  });

  test('changeSpeed stays within the list, and a long film starts faster', () => {
    const playback = new Playback(5, 1);
    for (let i = 0; i < 20; i += 1) playback.changeSpeed(1);
    expect(playback.speed).toBe(SPEEDS.at(-1));
    for (let i = 0; i < 20; i += 1) playback.changeSpeed(-1);
    expect(playback.speed).toBe(SPEEDS[0]);
    expect(initialSpeed(1, 60)).toBe(1);
    expect(initialSpeed(1, 2000)).toBe(30);
  });
});

describe('playback of a live film', () => {
  const live = (last: number): Playback => {
    const playback = new Playback(last, 1, true);
    playback.seek(last);
    return playback;
  };

  test('following arrives at the newest turn before the next part', () => {
    const playback = live(3);
    expect([playback.position, playback.following, playback.moving]).toEqual([3, true, false]);
    playback.extend(7, true);
    expect([playback.turn, playback.moving]).toEqual([3, true]);
    playback.tick(0.1);
    expect(playback.turn).toBeGreaterThan(3);
    expect(playback.turn).toBeLessThan(7);
    playback.tick(0.16);
    expect([playback.position, playback.following, playback.moving]).toEqual([7, true, false]);
  });

  test('seek stops following until the newest turn is selected again', () => {
    const playback = live(5);
    playback.seek(2);
    playback.extend(9, true);
    expect([playback.turn, playback.following, playback.moving]).toEqual([2, false, false]);
    playback.seek(9);
    expect(playback.following).toBe(true);
    playback.step(-1);
    expect([playback.turn, playback.following]).toEqual([8, false]);
    playback.toggle();
    playback.tick(5);
    expect([playback.turn, playback.playing, playback.following], 'playback reaches the newest turn and follows').toEqual([9, false, true]);
    playback.toggle();
    playback.extend(12, true);
    expect([playback.turn, playback.following], 'pause stops following').toEqual([9, false]);
  });

  test('playback is a normal replay after the game has ended', () => {
    const playback = live(4);
    playback.extend(6, false);
    playback.tick(1);
    expect([playback.turn, playback.following, playback.moving]).toEqual([6, false, false]);
    playback.toggle();
    expect([playback.turn, playback.playing]).toEqual([0, true]);
    const reduced = live(4);
    reduced.reducedMotion = true;
    reduced.extend(6, false);
    expect([reduced.turn, reduced.following]).toEqual([6, false]);
  });
});

describe('score chart', () => {
  test('axisMax rounds up to a round value', () => {
    expect(axisMax([[0, 3], [38]])).toBe(40);
    expect(axisMax([[107]])).toBe(120);
    expect(axisMax([[0.13]])).toBe(0.15);
    expect(axisMax([[0], []])).toBe(1);
  });

  test('linePath always contains the last value', () => {
    expect(linePath([0, 5, 10], 10)).toBe('M0.00 100.00L50.00 50.00L100.00 0.00');
    const long = linePath(Array.from({ length: 6001 }, (_, i) => i), 6000);
    expect(long.endsWith('L100.00 0.00')).toBe(true);
    expect(long.split('L').length).toBeLessThan(410);
  });
});

test('twenty seats have distinct colours and readable letters', () => {
  const luminance = (hex: string): number => {
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
    const [a, b] = [luminance(colour(id)), luminance(textColourOn(id))].sort((x, y) => x - y) as [number, number];
    expect((b + 0.05) / (a + 0.05), `letter on ${colour(id)}`).toBeGreaterThan(4.5);
  }
});

test('newWords excludes words of the previous turn', () => {
  const at = { word: 'AT', line: 0, start: 0, cells: [0, 1], points: 1 };
  const down = { ...at, line: 7 };
  expect(newWords([at, down], [at])).toEqual([down]);
});

test('viewer texts format times and answers', () => {
  expect([0.04, 4.2, 758, 10_500, 2_000_000].map(viewerTexts.micros)).toEqual(['< 0.1 µs', '4.2 µs', '758 µs', '10.5 ms', '2.00 s']);
  expect(viewerTexts.describeAnswer('!timeout', undefined)).toBe('timeout');
  expect(viewerTexts.describeAnswer('L', undefined)).toBe('left');
  expect(viewerTexts.describeAnswer('4', connectFive.answer)).toBe('column 4');
  expect([wordRacer.answer('X12'), wordRacer.answer('26')]).toEqual(['X at 12', 'at 26']);
});

describe('colours of bots', () => {
  const frame = (ids: number[]) => ({ bots: ids.map((id, seat) => ({ seat, id })) }) as unknown as Parameters<typeof colourBattle.badge>[0];

  test('a bot keeps its colour when ids are dealt again', () => {
    const games = [frame([3, 1, 2]), frame([2, 3, 1])];
    expect(games.map((first) => colourBattle.badge(first, 0).colour)).toEqual([0, 0]);
    expect(games.map((first) => colourBattle.badge(first, 0).letter)).toEqual(['C', 'B']);
  });

  test('a bot keeps its colour in another arena, where it has another seat', () => {
    expect(colourBattle.badge(frame([1, 2]), 0, [7, 4]).colour).toBe(7);
    expect(colourBattle.badge(frame([1, 2]), 1, [9, 7]).colour).toBe(7);
  });
});
