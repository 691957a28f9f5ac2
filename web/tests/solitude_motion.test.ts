// Motion of a turn of Solitude Scramble.

import { expect, test } from 'vitest';
import { burst, revealed, shake, travelled } from '../src/games/solitude-scramble/motion';

const steps = Array.from({ length: 101 }, (_, i) => i / 100);

test('bots start at their side and end at their platform', () => {
  for (const collides of [true, false]) {
    expect([travelled(0, collides), travelled(1, collides)]).toEqual([0, 1]);
    for (const t of steps) expect(Math.abs(travelled(t, collides))).toBeLessThanOrEqual(1.2);
  }
  expect(Math.max(...steps.map((t) => travelled(t, true))), 'a collision runs too far').toBeGreaterThan(1.05);
  expect(Math.max(...steps.map((t) => travelled(t, false)))).toBe(1);
});

test('the board shakes after the impact only, and never when it is shown without motion', () => {
  for (const still of [0, 0.3, 0.55, 0.85, 1]) expect(shake(still, 4)).toEqual({ x: 0, y: 0 });
  expect(steps.every((t) => shake(t, 0).x === 0)).toBe(true);
  const strength = (bots: number): number => Math.max(...steps.map((t) => Math.hypot(shake(t, bots).x, shake(t, bots).y)));
  expect(strength(4)).toBeGreaterThan(strength(2));
  expect(burst(1).opacity).toBe(0);
  expect(revealed(1)).toBe(1);
});
