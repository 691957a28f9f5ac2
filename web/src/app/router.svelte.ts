// Real links, handled here: the address, the page behind it, where the page was scrolled to, and where the focus goes.

import { tick } from 'svelte';
import { find } from './routes';

/** Paths that the server answers itself. */
const SERVERS = /^\/(api|assets|healthz|metrics)(\/|$)/;

interface Kept {
  /** Where the page was scrolled to when it was left. */
  y?: number;
}

class Router {
  path = $state('/');
  search = $state('');
  query: URLSearchParams = $derived(new URLSearchParams(this.search));
  found = $derived(find(this.path));
  /** Counts the pages gone to; the first one came with the document. */
  visits = $state(0);
  #wantFocus = false;
  #restore: (() => void) | undefined;

  start(): void {
    history.scrollRestoration = 'manual';
    this.#read();
    window.addEventListener('popstate', (event) => {
      const before = this.path + this.search;
      if (location.pathname + location.search === before) return;
      this.#arrive((event.state as Kept | null)?.y ?? 0);
    });
    window.addEventListener('beforeunload', () => this.#keep());
    document.addEventListener('click', (event) => this.#click(event));
    const kept = (history.state as Kept | null)?.y;
    if (kept) this.#scrollTo(kept);
  }

  /** Goes to an address of this site. */
  go(href: string, options: { replace?: boolean } = {}): void {
    const url = new URL(href, location.href);
    if (url.origin !== location.origin || SERVERS.test(url.pathname)) {
      location.assign(url);
      return;
    }
    this.#keep();
    if (options.replace) history.replaceState(null, '', url);
    else history.pushState(null, '', url);
    this.#arrive(0);
  }

  /** Changes the query of the page that is shown: no new page, and no new entry unless asked for. */
  setQuery(change: { [name: string]: string | null }, options: { push?: boolean } = {}): void {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(change)) {
      if (value === null) url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    if (options.push) history.pushState(null, '', url);
    else history.replaceState(history.state, '', url);
    this.#read();
  }

  /** A page calls this with its heading when it is there. */
  heading(element: HTMLElement): void {
    if (!this.#wantFocus) return;
    this.#wantFocus = false;
    element.focus({ preventScroll: true });
  }

  #read(): void {
    this.path = location.pathname;
    this.search = location.search;
  }

  #arrive(y: number): void {
    const before = this.found?.key;
    this.#read();
    const same = before !== undefined && this.found?.key === before;
    if (!same) {
      this.visits += 1;
      this.#wantFocus = true;
    }
    if (!same || y > 0) this.#scrollTo(y);
    if (location.hash.length > 1 && !same) void tick().then(() => document.getElementById(location.hash.slice(1))?.scrollIntoView());
  }

  #keep(): void {
    try {
      history.replaceState({ ...(history.state as Kept | null), y: scrollY }, '');
    } catch {
      // Browsers limit how often; then the page comes back at its top.
    }
  }

  /** A page grows as its parts arrive: scrolled when it is long enough, unless the reader scrolled meanwhile. */
  #scrollTo(y: number): void {
    this.#restore?.();
    window.scrollTo(0, y);
    if (y === 0) return;
    const attempt = (): void => window.scrollTo(0, y);
    const watch = new ResizeObserver(attempt);
    const stop = (): void => {
      watch.disconnect();
      clearTimeout(timer);
      for (const kind of ['wheel', 'touchstart', 'keydown', 'pointerdown']) window.removeEventListener(kind, stop);
      this.#restore = undefined;
    };
    const timer = setTimeout(stop, 2_000);
    for (const kind of ['wheel', 'touchstart', 'keydown', 'pointerdown']) window.addEventListener(kind, stop, { passive: true });
    this.#restore = stop;
    watch.observe(document.body);
  }

  #click(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element | null)?.closest?.('a');
    if (!link || link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (SERVERS.test(link.pathname)) return;
    // Within the page: the browser knows how.
    if (link.hash !== '' && link.pathname === location.pathname && link.search === location.search) return;
    event.preventDefault();
    this.go(link.href);
  }
}

export const router = new Router();
