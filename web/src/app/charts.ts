// The numbers behind the charts.

import type { RatingHistory, Table } from './types';

/** Round values on an axis, a handful of them. */
export function ticks(low: number, high: number, most = 6): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((m) => m * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => +((first + i) * step).toPrecision(12));
}

export const short = (x: number): string => String(+x.toFixed(6));

/** Bins that are drawn, from left to right, and where the axis has its marks (in per cent). */
export interface Scale {
  bins: number[];
  marks: { at: number; says: string }[];
  name: (bin: number) => string;
  most: number;
}

/** With so few different scores each has a bar of its own, wherever it lies: won, drawn, lost. */
const FEW = 5;

export function scale(histogram: NonNullable<Table['histogram']>): Scale {
  const all = Math.max(1, ...histogram.entrants.map((one) => one.counts.length));
  const filled = Array.from({ length: all }, (_, bin) => bin).filter((bin) => histogram.entrants.some((one) => (one.counts[bin] ?? 0) > 0));
  const few = filled.length > 0 && filled.length <= FEW;
  const bins = few ? filled : Array.from({ length: all }, (_, bin) => bin);
  const start = (bin: number): number => histogram.from + bin * histogram.width;
  const wholes = Math.abs(histogram.width - 1) < 1e-9 && Number.isInteger(histogram.from);
  const most = Math.max(1, ...histogram.entrants.flatMap((one) => one.counts));
  const name = (bin: number): string => (few || wholes ? short(start(bin)) : `${short(start(bin))} to ${short(start(bin) + histogram.width)}`);
  if (few) return { bins, most, name, marks: bins.map((bin, i) => ({ at: (100 * (i + 0.5)) / bins.length, says: short(start(bin)) })) };
  const shift = wholes ? 0.5 : 0;
  const high = start(bins.length) - shift * histogram.width;
  const at = (x: number): number => (100 * ((x - histogram.from) / histogram.width + shift)) / bins.length;
  return { bins, most, name, marks: ticks(histogram.from, high).map((x) => ({ at: at(x), says: short(x) })) };
}

/** Bars as a path on a strip 100 wide and 20 high. */
export function bars(counts: number[], on: Scale): string {
  const width = 100 / on.bins.length;
  return on.bins
    .map((bin, i) => {
      const n = counts[bin] ?? 0;
      if (n === 0) return '';
      // What came once must still be seen.
      const high = Math.max(0.8, (20 * n) / on.most);
      return `M${((i + 0.05) * width).toFixed(2)} 20v-${high.toFixed(2)}h${(width * 0.9).toFixed(2)}v${high.toFixed(2)}z`;
    })
    .join('');
}

/** The same in words. */
export function told(counts: number[], on: Scale): { most: string; games: number; least: string; last: string } | undefined {
  let often = -1;
  let first = -1;
  let last = -1;
  for (const bin of on.bins) {
    const n = counts[bin] ?? 0;
    if (n === 0) continue;
    if (first < 0) first = bin;
    last = bin;
    if (often < 0 || n > (counts[often] ?? 0)) often = bin;
  }
  if (often < 0) return undefined;
  return { most: on.name(often), games: counts[often] ?? 0, least: on.name(first), last: on.name(last) };
}

/** What share each has won against each, draws counting half: by `one other`. */
export function shares(meetings: Table['head_to_head']): Map<string, number> {
  const found = new Map<string, number>();
  for (const met of meetings) {
    if (met.games === 0) continue;
    const share = (met.won + met.drawn / 2) / met.games;
    found.set(`${met.one} ${met.other}`, share);
    found.set(`${met.other} ${met.one}`, 1 - share);
  }
  return found;
}

export interface Line {
  entrant: number;
  points: { matches: number; rating: number }[];
}

/** A line for each entrant; whoever came later begins later. */
export function lines(history: RatingHistory): Line[] {
  const found = new Map<number, Line>();
  for (const point of history.points) {
    for (const { entrant, rating } of point.ratings) {
      if (!Number.isFinite(rating)) continue;
      let line = found.get(entrant);
      if (!line) found.set(entrant, (line = { entrant, points: [] }));
      line.points.push({ matches: point.matches, rating });
    }
  }
  const end = (line: Line): number => line.points[line.points.length - 1]?.rating ?? 0;
  return [...found.values()].sort((a, b) => end(b) - end(a));
}
