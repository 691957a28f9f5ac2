// Phases with the newest counts. Events of a run arrive before the competition is fetched again, and both must not contradict each other.

import type { PhaseItem, Progress } from './types';

export const livePhases = (phases: PhaseItem[], progress: Progress | undefined): PhaseItem[] =>
  phases.map((phase) => {
    if (progress?.phase !== phase.number || phase.state === 'published' || phase.state === 'closed') return phase;
    return { ...phase, state: 'running', matches: Math.max(phase.matches, progress.matches), expected: progress.expected === null ? phase.expected : [progress.expected, progress.expected] };
  });
