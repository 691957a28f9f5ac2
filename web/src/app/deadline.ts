// Deadlines for submissions: whether one is past, and how much time is left.

import { duration } from './format';
import type { Deadline } from './types';

/** Whether bots can be submitted now: the state allows it and no deadline is past. */
export const acceptsAt = (competition: { accepts: boolean; deadline: Deadline | null }, now: number): boolean =>
  competition.accepts && (competition.deadline === null || now <= competition.deadline.at);

/** Remaining time in its two largest units; empty if there is none. */
export const timeLeft = (deadline: Deadline, now: number): string => (now > deadline.at ? '' : duration(deadline.at - now));

/** Milliseconds until the countdown must be drawn again: every second in the last hour, else every half minute. */
export const nextTick = (deadline: Deadline, now: number): number => (deadline.at - now < 3_600_000 ? 1_000 : 30_000);
