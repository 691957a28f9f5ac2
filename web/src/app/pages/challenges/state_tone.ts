// Tone of the badge of a challenge.

import type { Challenge } from '../../types';

export function stateTone(state: Challenge['state']): 'plain' | 'accent' | 'good' | 'bad' {
  return ({ queued: 'plain', playing: 'accent', done: 'good', failed: 'bad', cancelled: 'plain' } as const)[state];
}
