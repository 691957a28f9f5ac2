// Which colour helps which word.

import type { State, Submission } from './types';

export type Tone = 'plain' | 'good' | 'bad' | 'warn' | 'accent';

export const submissionTone = (state: Submission['state']): Tone =>
  (({ queued: 'plain', checking: 'accent', accepted: 'good', refused: 'bad', broke: 'warn' }) as const)[state];

export const stateTone = (state: State): Tone =>
  (({ draft: 'plain', open: 'good', closed: 'plain', running: 'accent', paused: 'warn', waiting: 'warn', over: 'plain', failed: 'bad' }) as const)[state];
