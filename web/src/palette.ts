// Distinct colours for seats, letters for readers with colour blindness, and dash patterns for lines.

/** Twenty colours, ordered so that neighbours differ strongly. Further colours are generated. */
const COLOURS = [
  '#2f6fde', '#f08a24', '#1d9a6c', '#d6336c', '#f2c53d', '#7a4fd0', '#45c4d6', '#8a5a2b', '#9ad14b', '#e89bd0',
  '#17427f', '#c8321f', '#0f6b5c', '#b7a0f2', '#7d8600', '#ffb59a', '#5a6472', '#7fe0b5', '#6e1f4f', '#bdb38f',
];

/** Hue in degrees, saturation and lightness from 0 to 1 of a generated colour. */
const generated = (index: number): [number, number, number] => [Math.round((index * 137.5) % 360), 0.55 + (index % 3) * 0.15, 0.38 + (index % 4) * 0.11];

export function colour(index: number): string {
  const [hue, saturation, lightness] = generated(index);
  return COLOURS[index] ?? `hsl(${hue} ${Math.round(100 * saturation)}% ${Math.round(100 * lightness)}%)`;
}

/** Colour of a seat: that of its bot if it is known. In a game of a bot against itself, the seats have different colours. */
export function seatColour(seat: number, colours: number[] | undefined): number {
  return colours && new Set(colours).size === colours.length ? (colours[seat] ?? seat) : seat;
}

/** Red, green and blue of a colour, from 0 to 1. */
function parts(index: number): number[] {
  const hex = COLOURS[index];
  if (hex !== undefined) return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255);
  const [hue, saturation, lightness] = generated(index);
  return [0, 8, 4].map((n) => {
    const k = (n + hue / 30) % 12;
    return lightness - saturation * Math.min(lightness, 1 - lightness) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  });
}

/** Readable text colour on a seat colour: black or white. */
export function textColourOn(index: number): string {
  const [r = 0, g = 0, b = 0] = parts(index).map(channel);
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
