// Calculations for the score chart.

/** Maximum number of points per line; more are not visible. */
const MAX_POINTS = 400;

/** Highest value, rounded up to a round number for the axis. */
export function axisMax(lines: number[][]): number {
  let max = 0;
  for (const line of lines) for (const value of line) if (value > max) max = value;
  if (max <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(max));
  const step = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((m) => m * power >= max) ?? 10;
  return +(step * power).toPrecision(3);
}

/** Turns at which a chart has points. The last turn is always one of them. */
function sampledTurns(last: number): number[] {
  const stride = Math.max(1, Math.ceil(last / MAX_POINTS));
  const turns: number[] = [];
  for (let i = 0; i < last; i += stride) turns.push(i);
  if (last >= 0) turns.push(last);
  return turns;
}

const x = (turn: number, last: number): string => (last === 0 ? 0 : (100 * turn) / last).toFixed(2);
const y = (value: number, top: number): string => (100 - (100 * value) / top).toFixed(2);

/** SVG path of a line of values. It always contains the last value. */
export function linePath(values: number[], top: number): string {
  const last = values.length - 1;
  return sampledTurns(last)
    .map((turn, i) => `${i === 0 ? 'M' : 'L'}${x(turn, last)} ${y(values[turn] ?? 0, top)}`)
    .join('');
}

/** SVG paths of areas that are stacked on top of each other, the first at the bottom. */
export function areaPaths(lines: number[][], top: number): string[] {
  const last = (lines[0]?.length ?? 0) - 1;
  const turns = sampledTurns(last);
  let below = turns.map(() => 0);
  return lines.map((values) => {
    const above = turns.map((turn, i) => (below[i] ?? 0) + (values[turn] ?? 0));
    const edge = (heights: number[]): string[] => turns.map((turn, i) => `${x(turn, last)} ${y(heights[i] ?? 0, top)}`);
    const path = turns.length === 0 ? '' : `M${edge(above).join('L')}L${edge(below).reverse().join('L')}z`;
    below = above;
    return path;
  });
}

export interface ChartLabel {
  seat: number;
  /** Distance from the top in per cent. */
  y: number;
}

/** Moves labels apart so that they do not overlap. Those at the top are kept if there are too many. */
export function spreadLabels(labels: ChartLabel[], distance: number): ChartLabel[] {
  const kept = labels
    .map((label) => ({ ...label }))
    .sort((a, b) => a.y - b.y)
    .slice(0, Math.floor(100 / distance));
  kept.forEach((label, i) => (label.y = Math.max(label.y, (kept[i - 1]?.y ?? -distance) + distance)));
  kept.forEach((label, i) => (label.y = Math.min(label.y, 100 - distance * (kept.length - 1 - i))));
  return kept;
}

/** A value as text, without needless decimals. */
export const valueText = (value: number): string => `${+value.toFixed(Math.abs(value) < 10 ? 2 : 1)}`;
