// Actions that an organiser can take in each state of a competition, and competition ids.

import type { CompetitionState } from './types';

export type OrganiserAction = 'open' | 'close' | 'start' | 'pause' | 'resume' | 'next' | 'delete';

/** Actions in a state, the most likely one first. The server checks them again. */
export function availableActions(state: CompetitionState, accepts: boolean): OrganiserAction[] {
  switch (state) {
    case 'draft':
      return ['open', 'start', 'delete'];
    case 'open':
      return ['close', 'start'];
    case 'closed':
      return ['start', 'open'];
    case 'running':
      return ['pause'];
    case 'paused':
    case 'failed':
      return ['resume'];
    case 'waiting':
      return ['next', accepts ? 'close' : 'open'];
    case 'over':
      return [];
  }
}

/** Makes a competition id from a name: `Spring Cup 2026!` becomes `spring-cup-2026`. */
export function slug(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 48)
    .replace(/^-+|-+$/g, '');
}

export const isSlug = (id: string): boolean => /^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?$/.test(id);
