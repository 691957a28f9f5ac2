// Formatting of numbers, times, sizes and names.

export const plural = (count: number, one: string, many = `${one}s`): string => `${integer(count)} ${count === 1 ? one : many}`;

/** `a, b and c`. */
export const joinWithAnd = (items: string[]): string => (items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items[items.length - 1]}`);

/** A message of the server as a sentence: with a capital letter and a full stop. */
export const sentence = (message: string): string => {
  const text = message.trim();
  if (text === '') return '';
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?:…)]$/.test(text) ? '' : '.'}`;
};

/** A name without bidirectional control characters, which would reverse the text after it. */
export const stripBidi = (name: string): string => name.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');

/** Names of the bots of a game: all of up to four, else the first three. */
export const shortNameList = (names: string[]): string => (names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} others` : names.join(' – '));

/** An integer in groups of three digits, separated by narrow no-break spaces. */
export const integer = (value: number): string =>
  Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+$)/g, '\u202f');

export const decimal = (value: number, decimals: number): string => {
  const text = value.toFixed(decimals);
  return Number(text) === 0 ? text.replace('-', '') : text;
};

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

export const bytes = (count: number): string => {
  if (count < 1024) return `${count} B`;
  if (count < 1024 ** 2) return `${+(count / 1024).toFixed(1)} KiB`;
  if (count < 1024 ** 3) return `${+(count / 1024 ** 2).toFixed(1)} MiB`;
  return `${+(count / 1024 ** 3).toFixed(1)} GiB`;
};

export const micros = (value: number): string => {
  if (value < 0.1) return '< 0.1 µs';
  if (value < 999.5) return `${value < 10 ? value.toFixed(1) : Math.round(value)} µs`;
  if (value < 999_500) return `${(value / 1_000).toPrecision(3)} ms`;
  return `${(value / 1_000_000).toPrecision(3)} s`;
};

/** A duration in its two largest units. */
export const duration = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const units: [number, string][] = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
    [1, 's'],
  ];
  const first = units.findIndex(([size]) => seconds >= size);
  if (first < 0) return '0 s';
  let left = seconds;
  const parts: string[] = [];
  for (const [size, unit] of units.slice(first, first + 2)) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.join(' ');
};

/** Relative time, or undefined after a week: then a date is more useful. */
export const ago = (at: number, now: number): string | undefined => {
  const seconds = Math.round((now - at) / 1000);
  if (seconds < -5 || seconds > 7 * 86_400) return undefined;
  if (seconds < 45) return 'just now';
  if (seconds < 3_600) return `${plural(Math.max(1, Math.round(seconds / 60)), 'minute')} ago`;
  if (seconds < 86_400) return `${plural(Math.round(seconds / 3_600), 'hour')} ago`;
  return `${plural(Math.round(seconds / 86_400), 'day')} ago`;
};

const pad = (value: number): string => String(value).padStart(2, '0');

/** Local date and time, to the minute. */
export const dateTime = (at: number): string => {
  const date = new Date(at);
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${pad(date.getHours())}:${pad(date.getMinutes())}`;
};
