// Calculations for the charts of a competition.

import type { PhaseStandings, RatingHistory } from './types';

/** Round values for the ticks of an axis. */
export function ticks(low: number, high: number, max = 6): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / max;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((m) => m * power >= rough) ?? 10) * power;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => +((first + i) * step).toPrecision(12));
}

/** A number without trailing zeros. */
export const trimNumber = (x: number): string => String(+x.toFixed(6));

/** Scale of a histogram. */
export interface HistogramScale {
  /** Bins that are drawn, from left to right. */
  bins: number[];
  /** Marks of the axis; `at` is in per cent. */
  marks: { at: number; label: string }[];
  binLabel: (bin: number) => string;
  maxCount: number;
}

/** Up to this many different scores are drawn as equally spaced bars, for example won, drawn and lost. */
const MAX_SEPARATE_BARS = 5;

export function histogramScale(histogram: NonNullable<PhaseStandings['histogram']>): HistogramScale {
  const all = Math.max(1, ...histogram.entrants.map((one) => one.counts.length));
  const filled = Array.from({ length: all }, (_, bin) => bin).filter((bin) => histogram.entrants.some((one) => (one.counts[bin] ?? 0) > 0));
  const few = filled.length > 0 && filled.length <= MAX_SEPARATE_BARS;
  const bins = few ? filled : Array.from({ length: all }, (_, bin) => bin);
  const start = (bin: number): number => histogram.from + bin * histogram.width;
  const wholes = Math.abs(histogram.width - 1) < 1e-9 && Number.isInteger(histogram.from);
  const maxCount = Math.max(1, ...histogram.entrants.flatMap((one) => one.counts));
  const binLabel = (bin: number): string => (few || wholes ? trimNumber(start(bin)) : `${trimNumber(start(bin))} to ${trimNumber(start(bin) + histogram.width)}`);
  if (few) return { bins, maxCount, binLabel, marks: bins.map((bin, i) => ({ at: (100 * (i + 0.5)) / bins.length, label: trimNumber(start(bin)) })) };
  const shift = wholes ? 0.5 : 0;
  const high = start(bins.length) - shift * histogram.width;
  const at = (x: number): number => (100 * ((x - histogram.from) / histogram.width + shift)) / bins.length;
  return { bins, maxCount, binLabel, marks: ticks(histogram.from, high).map((x) => ({ at: at(x), label: trimNumber(x) })) };
}

/** SVG path of the bars, in a view box of 100 by 20. */
export function barsPath(counts: number[], scale: HistogramScale): string {
  const width = 100 / scale.bins.length;
  return scale.bins
    .map((bin, i) => {
      const n = counts[bin] ?? 0;
      if (n === 0) return '';
      // A single game must still be visible.
      const high = Math.max(0.8, (20 * n) / scale.maxCount);
      return `M${((i + 0.05) * width).toFixed(2)} 20v-${high.toFixed(2)}h${(width * 0.9).toFixed(2)}v${high.toFixed(2)}z`;
    })
    .join('');
}

/** Summary of a histogram for screen readers. */
export function histogramSummary(counts: number[], scale: HistogramScale): { mostFrequent: string; games: number; lowest: string; highest: string } | undefined {
  let mostFrequent = -1;
  let first = -1;
  let last = -1;
  for (const bin of scale.bins) {
    const n = counts[bin] ?? 0;
    if (n === 0) continue;
    if (first < 0) first = bin;
    last = bin;
    if (mostFrequent < 0 || n > (counts[mostFrequent] ?? 0)) mostFrequent = bin;
  }
  if (mostFrequent < 0) return undefined;
  return { mostFrequent: scale.binLabel(mostFrequent), games: counts[mostFrequent] ?? 0, lowest: scale.binLabel(first), highest: scale.binLabel(last) };
}

/** Win rate of each entrant against each other, by the key `one other`. A draw counts half. */
export function winRates(meetings: PhaseStandings['head_to_head']): Map<string, number> {
  const rates = new Map<string, number>();
  for (const pair of meetings) {
    if (pair.games === 0) continue;
    const share = (pair.won + pair.drawn / 2) / pair.games;
    rates.set(`${pair.one} ${pair.other}`, share);
    rates.set(`${pair.other} ${pair.one}`, 1 - share);
  }
  return rates;
}

export interface RatingLine {
  entrant: number;
  points: { matches: number; rating: number }[];
}

/** Rating history of each entrant, the best last rating first. */
export function ratingLines(history: RatingHistory): RatingLine[] {
  const lines = new Map<number, RatingLine>();
  for (const point of history.points) {
    for (const { entrant, rating } of point.ratings) {
      if (!Number.isFinite(rating)) continue;
      let line = lines.get(entrant);
      if (!line) lines.set(entrant, (line = { entrant, points: [] }));
      line.points.push({ matches: point.matches, rating });
    }
  }
  const end = (line: RatingLine): number => line.points[line.points.length - 1]?.rating ?? 0;
  return [...lines.values()].sort((a, b) => end(b) - end(a));
}
