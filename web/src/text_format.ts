// Helpers for texts of the viewer and of the games.

/** Joins names: `a`, `a and b`, `a, b and c`. */
export const list = (items: string[]): string =>
  items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items[items.length - 1]}`;

/** A number with its noun: `1 step`, `2 steps`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
