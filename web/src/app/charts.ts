// Drawing of the charts of a competition. The server computes the scales.

import type { AxisScale, HistogramScale, PhaseStandings, RatingHistory } from './types';

/** Position of a value on an axis, in per cent. */
export function position(x: number, scale: AxisScale): number {
  if (scale.kind === 'linear') return (100 * (x - scale.min)) / (scale.max - scale.min);
  return (100 * Math.log(Math.max(x, scale.min) / scale.min)) / Math.log(scale.max / scale.min);
}

/** SVG path of the bars, in a view box of 100 by 20. */
export function barsPath(counts: number[], scale: HistogramScale): string {
  const width = 100 / scale.bins.length;
  return scale.bins
    .map((bin, i) => {
      const n = counts[bin] ?? 0;
      if (n === 0) return '';
      // A single game must still be visible.
      const high = Math.max(0.8, (20 * n) / scale.max_count);
      return `M${((i + 0.05) * width).toFixed(2)} 20v-${high.toFixed(2)}h${(width * 0.9).toFixed(2)}v${high.toFixed(2)}z`;
    })
    .join('');
}

/** Summary of a histogram for screen readers. */
export function histogramSummary(counts: number[], scale: HistogramScale): { mostFrequent: string; games: number; lowest: string; highest: string } | undefined {
  const filled = scale.bins.map((bin, i) => ({ n: counts[bin] ?? 0, label: scale.bin_labels[i] ?? '' })).filter(({ n }) => n > 0);
  const [first, last] = [filled[0], filled[filled.length - 1]];
  if (!first || !last) return undefined;
  const most = filled.reduce((best, one) => (one.n > best.n ? one : best));
  return { mostFrequent: most.label, games: most.n, lowest: first.label, highest: last.label };
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
