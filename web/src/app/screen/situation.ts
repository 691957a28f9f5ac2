// What is going on in a competition, for the big screen.

import type { Competition } from '../types';

export type Situation =
  /** Before the first game. */
  | { kind: 'upcoming'; accepts: boolean; until: Countdown | undefined }
  | { kind: 'running' }
  | { kind: 'paused' }
  /** Between two phases. */
  | { kind: 'between'; next: string | undefined; until: Countdown | undefined }
  | { kind: 'failed' }
  | { kind: 'over' };

export interface Countdown {
  to: 'start' | 'deadline';
  /** Milliseconds since the epoch. */
  at: number;
}

/** `start` is the time that the address of the page gives for the start. */
export function situationOf(competition: Competition, start: number | undefined, now: number): Situation {
  const { deadline } = competition;
  const accepts = competition.accepts && (deadline === null || now <= deadline.at);
  const toDeadline: Countdown | undefined = competition.accepts && deadline !== null && now <= deadline.at ? { to: 'deadline', at: deadline.at } : undefined;
  const toStart: Countdown | undefined = start !== undefined && start > now ? { to: 'start', at: start } : undefined;
  // The next thing that happens.
  const until = [toDeadline, toStart].filter((one) => one !== undefined).sort((a, b) => a.at - b.at)[0];
  switch (competition.state) {
    case 'draft':
    case 'open':
    case 'closed':
      return { kind: 'upcoming', accepts, until };
    case 'waiting':
      return { kind: 'between', next: competition.phases.find((phase) => phase.state === 'waiting')?.name, until };
    case 'running':
      return { kind: 'running' };
    case 'paused':
      return { kind: 'paused' };
    case 'failed':
      return { kind: 'failed' };
    case 'over':
      return { kind: 'over' };
  }
}

/** Parts of a countdown: days, then hours, minutes and seconds with two digits. */
export function countdownParts(ms: number): { days: number; hours: string; minutes: string; seconds: string } {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const two = (value: number): string => String(value).padStart(2, '0');
  return {
    days: Math.floor(seconds / 86_400),
    hours: two(Math.floor(seconds / 3_600) % 24),
    minutes: two(Math.floor(seconds / 60) % 60),
    seconds: two(seconds % 60),
  };
}

/** Phases that ended since `before`: phase number to state. */
export function endedPhases(before: ReadonlyMap<number, string>, competition: Competition): number[] {
  const isOver = (state: string | undefined): boolean => state === 'published' || state === 'closed';
  return competition.phases.filter((phase) => isOver(phase.state) && before.has(phase.number) && !isOver(before.get(phase.number))).map((phase) => phase.number);
}
