// What an organiser can do with a competition in each of its states.

import type { State } from './types';

export type Action = 'open' | 'close' | 'start' | 'pause' | 'resume' | 'next';
export type Deed = Action | 'delete';

/** The first one is what is most likely wanted. The server has the last word. */
export function deeds(state: State, accepts: boolean): Deed[] {
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

/** An address made of a name: `Spring Cup 2026!` gives `spring-cup-2026`. */
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
