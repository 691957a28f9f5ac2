// Which colour helps which word.

import type { Submission } from './types';

export type Tone = 'plain' | 'good' | 'bad' | 'warn' | 'accent';

export const submissionTone = (state: Submission['state']): Tone =>
  (({ queued: 'plain', checking: 'accent', accepted: 'good', refused: 'bad', broke: 'warn' }) as const)[state];
