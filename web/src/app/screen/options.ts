// Query parameters of the big screen: `?rotate=20&show=board,standings,bracket&start=2027-04-26T20:00`.

/** Parts of the screen that can be left out. */
export const SCREEN_PARTS = ['board', 'standings', 'bracket', 'next', 'moments'] as const;
export type ScreenPart = (typeof SCREEN_PARTS)[number];

export interface ScreenOptions {
  /** Time that a board is shown before the next one. */
  rotateMs: number;
  show: ReadonlySet<ScreenPart>;
  /** When the competition will start, for the countdown; milliseconds since the epoch. */
  start: number | undefined;
}

const DEFAULT_ROTATE_SECONDS = 20;
const MIN_ROTATE_SECONDS = 5;
const MAX_ROTATE_SECONDS = 600;

/** Reads the parameters. Missing, unknown and malformed values get their default: a projector shows no error that its audience cannot fix. */
export function parseOptions(query: URLSearchParams): ScreenOptions {
  const seconds = Number(query.get('rotate') ?? NaN);
  const rotate = Number.isFinite(seconds) ? Math.max(MIN_ROTATE_SECONDS, Math.min(MAX_ROTATE_SECONDS, seconds)) : DEFAULT_ROTATE_SECONDS;
  const wanted = (query.get('show') ?? '').split(',').map((part) => part.trim().toLowerCase());
  const known = SCREEN_PARTS.filter((part) => wanted.includes(part));
  const start = Date.parse(query.get('start') ?? '');
  return { rotateMs: 1000 * rotate, show: new Set(known.length > 0 ? known : SCREEN_PARTS), start: Number.isNaN(start) ? undefined : start };
}
