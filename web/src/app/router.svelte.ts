// Client-side router: current address and route, scroll position and focus. Links are plain `<a>` elements.

import { tick } from 'svelte';
import { currentPath, findRoute } from './routes';

/** Paths that the server handles. */
const SERVER_PATHS = /^\/(api|assets|healthz|readyz|metrics)(\/|$)/;

interface HistoryState {
  /** Scroll position when the page was left. */
  scrollY?: number;
}

/** The link that was clicked, in HTML or in a drawing; undefined for downloads. */
function linkOf(target: Element | null): { url: URL; target: string } | undefined {
  const link = (target?.closest?.('a') ?? null) as HTMLAnchorElement | SVGAElement | null;
  if (!link || link.hasAttribute('download') || !link.hasAttribute('href')) return undefined;
  if (link instanceof SVGAElement) return { url: new URL(link.href.baseVal, location.href), target: link.target.baseVal };
  return { url: new URL(link.href), target: link.target };
}

class Router {
  path = $state('/');
  search = $state('');
  query: URLSearchParams = $derived(new URLSearchParams(this.search));
  route = $derived(findRoute(this.path));
  #focusHeading = false;
  #cancelScroll: (() => void) | undefined;

  start(): void {
    history.scrollRestoration = 'manual';
    this.#read();
    window.addEventListener('popstate', (event) => {
      const before = this.path + this.search;
      if (location.pathname + location.search === before) return;
      this.#navigated((event.state as HistoryState | null)?.scrollY ?? 0);
    });
    window.addEventListener('beforeunload', () => this.#saveScroll());
    document.addEventListener('click', (event) => this.#click(event));
    const savedY = (history.state as HistoryState | null)?.scrollY;
    if (savedY) this.#scrollTo(savedY);
  }

  /** Navigates to an address of this site. */
  go(href: string, options: { replace?: boolean } = {}): void {
    const url = new URL(href, location.href);
    if (url.origin !== location.origin || SERVER_PATHS.test(url.pathname)) {
      location.assign(url);
      return;
    }
    this.#saveScroll();
    if (options.replace) history.replaceState(null, '', url);
    else history.pushState(null, '', url);
    this.#navigated(0);
  }

  /** Changes the query of the current page. With `push` it adds a history entry. */
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

  /** Focuses the heading of a page after navigation. Pages call it when the heading exists. */
  headingShown(element: HTMLElement): void {
    if (!this.#focusHeading) return;
    this.#focusHeading = false;
    element.focus({ preventScroll: true });
  }

  #read(): void {
    const path = currentPath(location.pathname);
    if (path !== location.pathname) history.replaceState(history.state, '', `${path}${location.search}${location.hash}`);
    this.path = path;
    this.search = location.search;
  }

  #navigated(y: number): void {
    const before = this.route?.key;
    this.#read();
    const same = before !== undefined && this.route?.key === before;
    if (!same) {
      this.#focusHeading = true;
    }
    if (!same || y > 0) this.#scrollTo(y);
    if (location.hash.length > 1 && !same) void tick().then(() => document.getElementById(location.hash.slice(1))?.scrollIntoView());
  }

  #saveScroll(): void {
    try {
      history.replaceState({ ...(history.state as HistoryState | null), scrollY }, '');
    } catch {
      // Browsers limit the rate of this call. Then the page starts at the top.
    }
  }

  /** Restores a scroll position while the page grows, until the user scrolls or two seconds have passed. */
  #scrollTo(y: number): void {
    this.#cancelScroll?.();
    window.scrollTo(0, y);
    if (y === 0) return;
    const attempt = (): void => window.scrollTo(0, y);
    const observer = new ResizeObserver(attempt);
    const stop = (): void => {
      observer.disconnect();
      clearTimeout(timer);
      for (const kind of ['wheel', 'touchstart', 'keydown', 'pointerdown']) window.removeEventListener(kind, stop);
      this.#cancelScroll = undefined;
    };
    const timer = setTimeout(stop, 2_000);
    for (const kind of ['wheel', 'touchstart', 'keydown', 'pointerdown']) window.addEventListener(kind, stop, { passive: true });
    this.#cancelScroll = stop;
    observer.observe(document.body);
  }

  #click(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = linkOf(event.target as Element | null);
    if (!link || link.target !== '' || link.url.origin !== location.origin) return;
    if (SERVER_PATHS.test(link.url.pathname)) return;
    // The browser handles links within the page.
    if (link.url.hash !== '' && link.url.pathname === location.pathname && link.url.search === location.search) return;
    event.preventDefault();
    this.go(link.url.href);
  }
}

export const router = new Router();
