// A moment in a competition file: date, time and time zone, such as 2027-04-26T23:59:00+02:00.

export interface Moment {
  /** As an input of type datetime-local has it: 2027-04-26T23:59. */
  local: string;
  /** `Z` or an offset such as `+02:00`. */
  offset: string;
}

const MOMENT = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2})(?::\d{2}(?:\.\d+)?)?([Zz]|[+-]\d{2}:\d{2})$/;

/** Parts of a moment, or undefined if the text is none. */
export function splitMoment(text: string): Moment | undefined {
  const found = MOMENT.exec(text.trim());
  return found ? { local: `${found[1]}T${found[2]}`, offset: (found[3] ?? 'Z').toUpperCase() } : undefined;
}

/** The text of a moment; empty if date or time is missing. */
export function joinMoment({ local, offset }: Moment): string {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(local) ? `${local.slice(0, 16)}:00${offset}` : '';
}

/** An offset in minutes east of Greenwich as text: `+02:00`. */
export function offsetText(minutes: number): string {
  if (minutes === 0) return 'Z';
  const absolute = Math.abs(minutes);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(absolute / 60))}:${two(absolute % 60)}`;
}

/** The offset of this browser at a local date and time, or now. */
export function ownOffset(local: string): string {
  const at = local === '' ? new Date() : new Date(local);
  return offsetText(-(Number.isNaN(at.getTime()) ? new Date() : at).getTimezoneOffset());
}

/** All offsets in use, from west to east. `also` is added if it is not among them. */
export function offsets(also: string): string[] {
  const quarters = [-570, -210, 210, 270, 330, 345, 390, 525, 570, 630, 765];
  const whole = Array.from({ length: 27 }, (_, i) => (i - 12) * 60);
  const all = [...whole, ...quarters].sort((one, other) => one - other).map(offsetText);
  return all.includes(also) ? all : [...all, also];
}
