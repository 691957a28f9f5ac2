// Badge colours of states.

import type { Submission, Worker } from './types';

export type Tone = 'plain' | 'good' | 'bad' | 'warn' | 'accent';

export const submissionTone = (state: Submission['state']): Tone =>
  (({ queued: 'plain', checking: 'accent', accepted: 'good', refused: 'bad', broke: 'warn' }) as const)[state];

export const workerTone = (state: Worker['state']): Tone =>
  (({ playing: 'good', idle: 'plain', draining: 'accent', failing: 'bad', refused: 'bad', lost: 'warn' }) as const)[state];
