import { expect, test } from 'vitest';
import { IDENTICON_SIDE, identiconCells, identiconPath } from '../src/identicon';

const names = Array.from({ length: 500 }, (_, i) => `bot-${i}`);

test('a name always has the same mark', () => {
  expect(identiconCells('planner')).toEqual(identiconCells('planner'));
  // Marks are in people's heads and on printed sheets: this one must not change.
  expect(identiconPath('planner')).toMatchInlineSnapshot(`"M1 0h1v1h-1zM3 0h1v1h-1zM1 2h1v1h-1zM2 2h1v1h-1zM3 2h1v1h-1zM1 3h1v1h-1zM2 3h1v1h-1zM3 3h1v1h-1zM2 4h1v1h-1z"`);
});

test('marks are symmetric, and neither empty nor full', () => {
  for (const name of [...names, '', 'Ω', '</svg>']) {
    const cells = identiconCells(name);
    expect(cells).toHaveLength(IDENTICON_SIDE ** 2);
    for (let row = 0; row < IDENTICON_SIDE; row += 1) {
      const line = cells.slice(row * IDENTICON_SIDE, (row + 1) * IDENTICON_SIDE);
      expect(line, name).toEqual(line.toReversed());
    }
    const filled = cells.filter(Boolean).length;
    expect(filled).toBeGreaterThan(4);
    expect(filled).toBeLessThan(21);
  }
});

test('similar names have different marks', () => {
  expect(new Set(names.slice(0, 20).map(identiconPath)).size).toBe(20);
  expect(new Set(names.map(identiconPath)).size).toBeGreaterThan(480);
});

test('the path has numbers and commands only', () => {
  for (const name of ['"><script>', 'a b', '🤖']) expect(identiconPath(name)).toMatch(/^(M\d \dh1v1h-1z)+$/);
});
