// The site and the current user.

import { get, send, setCsrfToken } from './api';
import type { CurrentUser, Site } from './types';

class SiteState {
  site: Site | undefined = $state.raw();
  error: unknown = $state.raw();
  me: CurrentUser | null = $derived(this.site?.me ?? null);

  /** Sets the site. Sign-in, sign-up and sign-out return a new one. */
  set(site: Site): void {
    this.site = site;
    this.error = undefined;
    setCsrfToken(site.csrf);
  }

  async load(): Promise<void> {
    try {
      this.set(await get<Site>('/site'));
    } catch (error) {
      this.error = error;
    }
  }

  async signOut(): Promise<void> {
    this.set(await send<Site>('DELETE', '/session'));
  }
}

export const site = new SiteState();
