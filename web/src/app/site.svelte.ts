// Whose site this is and who looks at it.

import { get, send, useCsrf } from './api';
import type { Me, Site } from './types';

class SiteState {
  site: Site | undefined = $state.raw();
  error: unknown = $state.raw();
  me: Me | null = $derived(this.site?.me ?? null);

  /** Takes what the server said: after signing in, up or out it says it anew. */
  take(site: Site): void {
    this.site = site;
    this.error = undefined;
    useCsrf(site.csrf);
  }

  async load(): Promise<void> {
    try {
      this.take(await get<Site>('/site'));
    } catch (error) {
      this.error = error;
    }
  }

  async signOut(): Promise<void> {
    this.take(await send<Site>('DELETE', '/session'));
  }
}

export const site = new SiteState();
