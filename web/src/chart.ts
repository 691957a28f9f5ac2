// The numbers behind the chart.

/** So many points a line has at most: more cannot be seen. */
const MOST_POINTS = 400;

/** The highest value, rounded up to what an axis likes. */
export function ceiling(lines: number[][]): number {
  let most = 0;
  for (const line of lines) for (const value of line) if (value > most) most = value;
  if (most <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  const step = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((m) => m * power >= most) ?? 10;
  return +(step * power).toPrecision(3);
}

/** A line of values as a path; the last value is always on it. */
export function path(values: number[], top: number): string {
  const last = values.length - 1;
  if (last < 0) return '';
  const stride = Math.max(1, Math.ceil(last / MOST_POINTS));
  let text = '';
  for (let i = 0; ; i = Math.min(last, i + stride)) {
    const x = last === 0 ? 0 : (100 * i) / last;
    const y = 100 - (100 * (values[i] ?? 0)) / top;
    text += `${text === '' ? 'M' : 'L'}${x.toFixed(2)} ${y.toFixed(2)}`;
    if (i === last) return text;
  }
}
