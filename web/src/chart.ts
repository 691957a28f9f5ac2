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

/** SVG path of a line of values. It always contains the last value. */
export function linePath(values: number[], top: number): string {
  const last = values.length - 1;
  if (last < 0) return '';
  const stride = Math.max(1, Math.ceil(last / MAX_POINTS));
  let text = '';
  for (let i = 0; ; i = Math.min(last, i + stride)) {
    const x = last === 0 ? 0 : (100 * i) / last;
    const y = 100 - (100 * (values[i] ?? 0)) / top;
    text += `${text === '' ? 'M' : 'L'}${x.toFixed(2)} ${y.toFixed(2)}`;
    if (i === last) return text;
  }
}
