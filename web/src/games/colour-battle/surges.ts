// Surges: stretches of a game in which a bot gains much more of the canvas than the others.

/** A stretch is this share of the game, but not shorter than `MIN_TURNS`. */
const STRETCH_SHARE = 1 / 30;
const MIN_TURNS = 8;
const MAX_SURGES = 6;
/** Minimum gain beyond the average of all bots, in per cent of the canvas. */
const MIN_GAIN = 1.5;

export interface Surge {
  /** First turn of the stretch. */
  turn: number;
  seat: number;
  gain: number;
  turns: number;
}

/** The largest surges in order of time. Stretches do not overlap. */
export function findSurges(lines: number[][]): Surge[] {
  const last = (lines[0]?.length ?? 0) - 1;
  const turns = Math.max(MIN_TURNS, Math.round(last * STRETCH_SHARE));
  const all: (Surge & { above: number })[] = [];
  for (let turn = 0; turn + turns <= last; turn += 1) {
    let sum = 0;
    let best = -Infinity;
    let seat = 0;
    for (let i = 0; i < lines.length; i += 1) {
      const gain = (lines[i]?.[turn + turns] ?? 0) - (lines[i]?.[turn] ?? 0);
      sum += gain;
      if (gain > best) [best, seat] = [gain, i];
    }
    const above = best - sum / lines.length;
    if (above >= MIN_GAIN) all.push({ turn: turn + 1, seat, gain: best, turns, above });
  }
  all.sort((a, b) => b.above - a.above);
  const kept: Surge[] = [];
  for (const { above: _, ...surge } of all) {
    if (kept.length < MAX_SURGES && kept.every((other) => Math.abs(other.turn - surge.turn) >= turns)) kept.push(surge);
  }
  return kept.sort((a, b) => a.turn - b.turn);
}
