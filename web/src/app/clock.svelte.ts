// Reactive current time, for texts such as `3 minutes ago`.

class Clock {
  now = $state(Date.now());

  constructor() {
    if (typeof window !== 'undefined') setInterval(() => (this.now = Date.now()), 30_000);
  }
}

export const clock = new Clock();
