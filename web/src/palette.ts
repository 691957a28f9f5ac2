// Distinct colours for seats, letters for readers with colour blindness, and dash patterns for lines.

/** Twenty colours, ordered so that neighbours differ strongly. Further colours are generated. */
const COLOURS = [
  '#2f6fde', '#f08a24', '#1d9a6c', '#d6336c', '#f2c53d', '#7a4fd0', '#45c4d6', '#8a5a2b', '#9ad14b', '#e89bd0',
  '#17427f', '#c8321f', '#0f6b5c', '#b7a0f2', '#7d8600', '#ffb59a', '#5a6472', '#7fe0b5', '#6e1f4f', '#bdb38f',
];

export function colour(index: number): string {
  return COLOURS[index] ?? `hsl(${Math.round((index * 137.5) % 360)} ${55 + (index % 3) * 15}% ${38 + (index % 4) * 11}%)`;
}

/** Readable text colour on a seat colour: black or white. */
export function textColourOn(index: number): string {
  const hex = COLOURS[index];
  if (hex === undefined) return '#ffffff';
  const [r, g, b] = [1, 3, 5].map((i) => channel(parseInt(hex.slice(i, i + 2), 16) / 255)) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#101216' : '#ffffff';
}

function channel(value: number): number {
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩБГДЖ';

export function letter(index: number): string {
  return LETTERS[index] ?? '?';
}

const DASHES = ['none', '7 3', '2 3', '9 3 2 3', '1 4'];

export function dash(index: number): string {
  return DASHES[index % DASHES.length] ?? 'none';
}
