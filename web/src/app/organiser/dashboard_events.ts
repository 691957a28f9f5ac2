// Events of the organiser dashboard: the pages show changes without fetching again and again.

import { subscribe } from '../api';
import type { CompetitionChange, SystemInfo, WorkerList } from '../types';

interface Handlers {
  machine?: (machine: SystemInfo) => void;
  workers?: (workers: WorkerList) => void;
  competitions?: (competitions: CompetitionChange[]) => void;
  onLost?: () => void;
  onOpen?: () => void;
}

/** Subscribes to the events. Returns a function that unsubscribes, for use in an effect. */
export function watchDashboard({ machine, workers, competitions, onLost, onOpen }: Handlers): () => void {
  const subscription = subscribe('/dashboard/events', {
    on: {
      machine: (data: SystemInfo) => machine?.(data),
      workers: (data: WorkerList) => workers?.(data),
      competitions: (data: CompetitionChange[]) => competitions?.(data),
    },
    onLost,
    onOpen: () => onOpen?.(),
  });
  return () => subscription.stop();
}

/** Calls an action at most once per interval, and once more after the last call within it. */
export function atMostEvery(intervalMs: number, action: () => void): { call: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = -Infinity;
  return {
    call: () => {
      if (timer !== undefined) return;
      timer = setTimeout(
        () => {
          timer = undefined;
          last = Date.now();
          action();
        },
        Math.max(0, last + intervalMs - Date.now()),
      );
    },
    stop: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  };
}
