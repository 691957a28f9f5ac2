// Numbers, times and sizes as people read them.

export const plural = (count: number, one: string, many = `${one}s`): string => `${whole(count)} ${count === 1 ? one : many}`;

export const list = (items: string[]): string => (items.length < 2 ? (items[0] ?? '') : `${items.slice(0, -1).join(', ')} and ${items[items.length - 1]}`);

/** The server's words as a sentence: a capital letter first, a full stop last. */
export const sentence = (words: string): string => {
  const said = words.trim();
  if (said === '') return '';
  return `${said.charAt(0).toUpperCase()}${said.slice(1)}${/[.!?:…)]$/.test(said) ? '' : '.'}`;
};

/** A name within a line of ours, without the invisible letters that turn what follows round. */
export const plain = (name: string): string => name.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '');

/** Some names of a field: all of a small one, the first three of a large one. */
export const field = (names: string[]): string => (names.length > 4 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} others` : names.join(' – '));

/** A whole number, in groups of three (narrow, unbreakable spaces between them). */
export const whole = (value: number): string =>
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

/** A length of time: the two largest units that matter. */
export const lasting = (ms: number): string => {
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
  const said: string[] = [];
  for (const [size, unit] of units.slice(first, first + 2)) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) said.push(`${count} ${unit}`);
  }
  return said.join(' ');
};

/** How long ago, in words; beyond a week nothing: then the date says more. */
export const ago = (at: number, now: number): string | undefined => {
  const seconds = Math.round((now - at) / 1000);
  if (seconds < -5 || seconds > 7 * 86_400) return undefined;
  if (seconds < 45) return 'just now';
  if (seconds < 3_600) return `${plural(Math.max(1, Math.round(seconds / 60)), 'minute')} ago`;
  if (seconds < 86_400) return `${plural(Math.round(seconds / 3_600), 'hour')} ago`;
  return `${plural(Math.round(seconds / 86_400), 'day')} ago`;
};

const pad = (value: number): string => String(value).padStart(2, '0');

/** Date and time of the reader's clock, to the minute. */
export const dateTime = (at: number): string => {
  const it = new Date(at);
  return `${it.getFullYear()}-${pad(it.getMonth() + 1)}-${pad(it.getDate())} ${pad(it.getHours())}:${pad(it.getMinutes())}`;
};
