// Something from the server, while it comes, when it is there, and when it does not come.

import { get } from './api';
import type { Page } from './types';

type Query = { [name: string]: string | number | boolean | null | undefined };

/** One answer. What is shown stays while it is fetched anew. */
export class Resource<T> {
  value: T | undefined = $state.raw();
  error: unknown = $state.raw();
  loading = $state(false);
  #now: AbortController | undefined;

  /** Fetches; an older answer that is still on its way is forgotten. */
  async load(path: string, query: Query = {}): Promise<void> {
    this.#now?.abort();
    const mine = new AbortController();
    this.#now = mine;
    this.loading = true;
    try {
      const value = await get<T>(path, { query, signal: mine.signal });
      if (this.#now !== mine) return;
      this.value = value;
      this.error = undefined;
    } catch (error) {
      if (this.#now !== mine || mine.signal.aborted) return;
      this.error = error;
    } finally {
      if (this.#now === mine) this.loading = false;
    }
  }

  /** Nothing any more: the page shows something else now. */
  clear(): void {
    this.#now?.abort();
    this.#now = undefined;
    this.value = undefined;
    this.error = undefined;
    this.loading = false;
  }
}

/** A list that comes page by page; `more` brings the next one. */
export class Listing<T> {
  items: T[] = $state.raw([]);
  next: string | null = $state(null);
  error: unknown = $state.raw();
  loading = $state(false);
  /** How many pages are shown. */
  pages = $state(0);
  /** The first page came. */
  ready = $state(false);
  #path = '';
  #query: Query = {};
  #now: AbortController | undefined;

  async load(path: string, query: Query = {}): Promise<void> {
    this.#path = path;
    this.#query = query;
    await this.#fetch(null);
  }

  /** Fetches the first page anew; what is shown stays until it is there. */
  async refresh(): Promise<void> {
    await this.#fetch(null);
  }

  async more(): Promise<void> {
    if (this.next !== null && !this.loading) await this.#fetch(this.next);
  }

  async #fetch(after: string | null): Promise<void> {
    this.#now?.abort();
    const mine = new AbortController();
    this.#now = mine;
    this.loading = true;
    try {
      const page = await get<Page<T>>(this.#path, { query: { ...this.#query, after }, signal: mine.signal });
      if (this.#now !== mine) return;
      this.items = after === null ? page.items : [...this.items, ...page.items];
      this.next = page.next;
      this.pages = after === null ? 1 : this.pages + 1;
      this.ready = true;
      this.error = undefined;
    } catch (error) {
      if (this.#now !== mine || mine.signal.aborted) return;
      this.error = error;
    } finally {
      if (this.#now === mine) this.loading = false;
    }
  }
}
