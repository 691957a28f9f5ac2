// The clock of a request.

export interface TimeLeft {
  seconds: number;
  /** Of the whole time, 0 to 1. */
  share: number;
}

/** Time left for a request that was made at `since`; undefined without a clock. */
export function timeLeft(limitMs: number | null, since: number, now: number): TimeLeft | undefined {
  if (limitMs === null) return undefined;
  const left = Math.max(0, Math.min(limitMs, limitMs - (now - since)));
  return { seconds: left / 1000, share: limitMs > 0 ? left / limitMs : 0 };
}
