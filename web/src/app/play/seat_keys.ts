// The seats that this window has taken, by game. They are kept until the window is closed, so that a reload goes on.

import type { NewPlay } from '../types';

export interface SeatKey {
  seat: number;
  key: string;
}

const keyName = (id: string): string => `agon-seat-${id}`;
const setupName = (id: string): string => `agon-setup-${id}`;

function read<T>(name: string): T | undefined {
  try {
    return (JSON.parse(sessionStorage.getItem(name) ?? 'null') as T | null) ?? undefined;
  } catch {
    return undefined;
  }
}

function write(name: string, value: unknown): void {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Browsers can forbid it. Then a reload loses the seat.
  }
}

export const savedSeat = (id: string): SeatKey | undefined => read<SeatKey>(keyName(id));
export const saveSeat = (id: string, seat: SeatKey): void => write(keyName(id), seat);

export function forgetSeat(id: string): void {
  try {
    sessionStorage.removeItem(keyName(id));
  } catch {
    // Then nothing is kept either.
  }
}

/** How the game was set up, to play it again. */
export const savedSetup = (id: string): NewPlay | undefined => read<NewPlay>(setupName(id));
export const saveSetup = (id: string, setup: NewPlay): void => write(setupName(id), setup);

/** The seat in the hash of an address, `#seat=0&key=KEY`, as a program prints it. */
export function seatFromHash(hash: string): SeatKey | undefined {
  const values = new URLSearchParams(hash.replace(/^#/, ''));
  const [seat, key] = [values.get('seat'), values.get('key')];
  return seat !== null && /^\d{1,3}$/.test(seat) && key !== null && /^[0-9a-zA-Z_-]{8,128}$/.test(key) ? { seat: Number(seat), key } : undefined;
}
