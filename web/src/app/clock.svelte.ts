// The time of day for what is said of it: `3 minutes ago` must not stay so.

class Clock {
  now = $state(Date.now());

  constructor() {
    if (typeof window !== 'undefined') setInterval(() => (this.now = Date.now()), 30_000);
  }
}

export const clock = new Clock();
