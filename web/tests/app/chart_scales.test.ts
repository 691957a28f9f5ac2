// Axis marks of the charts. The vectors are shared with the Rust tests of the report pages and of the API: for the same data, both draw the
// same marks.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { render } from 'svelte/server';
import { describe, expect, test } from 'vitest';
import RatingChart from '../../src/app/components/charts/RatingChart.svelte';
import StripChart from '../../src/app/components/charts/StripChart.svelte';
import { position } from '../../src/app/charts';
import type { CompetitionView } from '../../src/app/competition.svelte';
import type { AxisMark, AxisScale, HistogramScale, RatingHistory } from '../../src/app/types';

interface Vector {
  name: string;
  input: { [kind: string]: unknown };
  /** As in the API. */
  scale: AxisScale | HistogramScale;
  /** Position in per cent and label of each mark. */
  drawn: [number, string][];
}

const vectors = JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../crates/agon-report/testdata/chart_scales.json'), 'utf8')) as Vector[];
const view = { id: 'cup', entrant: () => undefined, name: () => 'Ann' } as unknown as CompetitionView;

/** Position and label of each mark of an axis, in the order of the axis. `side` is the CSS property of the position. */
function drawnMarks(html: string, axis: string, side: 'left' | 'top'): [number, string][] {
  const [, inner = ''] = new RegExp(`<div class="${axis}[^>]*>(.*?)</div>`, 's').exec(html) ?? [];
  return [...inner.matchAll(new RegExp(`style="${side}: ?([\\d.]+)%;?"[^>]*>([^<]*)</span>`, 'g'))].map(([, at, label]) => [Number(at), label ?? '']);
}

const strip = (marks: AxisMark[]): string =>
  render(StripChart, { props: { view, caption: 'c', axis: 'a', titles: [], marks, strips: [{ entrant: 0, figures: [], label: 'l' }] } }).body;

const line = (history: Partial<RatingHistory>, scale: AxisScale): string => {
  const other: AxisScale = { kind: 'linear', min: 0, max: 1, marks: [] };
  return render(RatingChart, { props: { view, history: { points: [{ matches: 1, ratings: [{ entrant: 0, rating: 1500 }] }], rating_scale: scale, match_scale: other, ...history }, scale } }).body;
};

describe('axis marks equal the shared vectors', () => {
  test.each(vectors)('$name', ({ input, scale, drawn }) => {
    if ('rating_history' in input) {
      const marks = drawnMarks(line({}, scale as AxisScale), 'y-axis', 'top');
      expect(marks).toEqual(drawn.map(([at, label]) => [+(100 - at).toFixed(2), label]));
    } else if ('counts' in input) {
      const flat: AxisScale = { kind: 'linear', min: 0, max: 3000, marks: [] };
      expect(drawnMarks(line({ match_scale: scale as AxisScale }, flat), 'x-axis', 'left')).toEqual(drawn);
    } else {
      expect(drawnMarks(strip(scale.marks), 'axis', 'left')).toEqual(drawn);
    }
  });

  test.each(vectors.filter(({ scale }) => 'kind' in scale))('values are drawn where the marks are: $name', ({ scale }) => {
    for (const mark of scale.marks) expect(position(mark.value, scale as AxisScale)).toBeCloseTo(mark.position, 3);
  });
});
