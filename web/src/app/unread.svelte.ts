// Number of unread notifications of the user.

import { get } from './api';

class Unread {
  count = $state(0);

  /** Loads the number. A failure keeps the old one: the bell is not worth an error message. */
  async load(): Promise<void> {
    try {
      this.count = (await get<{ unread: number }>('/me/notifications/unread')).unread;
    } catch {
      // The next poll tries again.
    }
  }
}

export const unread = new Unread();
