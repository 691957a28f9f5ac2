// The result of a game for one of its players.

import type { Outcome } from '../../film';

export type OwnResult = { kind: 'won' | 'lost' | 'drawn' } | { kind: 'placed'; place: number; of: number };

export function ownResult(outcome: Outcome, seat: number): OwnResult | undefined {
  const own = outcome.seats[seat];
  if (!own) return undefined;
  const of = outcome.seats.length;
  const equal = outcome.seats.filter((one) => one.place === own.place).length;
  if (equal === of && of > 1) return { kind: 'drawn' };
  if (own.place === 1 && equal === 1) return { kind: 'won' };
  return of === 2 ? { kind: 'lost' } : { kind: 'placed', place: own.place, of };
}
