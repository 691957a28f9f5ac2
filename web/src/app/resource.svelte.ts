// Reactive data from the API with loading and error state.

import { get } from './api';
import type { ListPage } from './types';

type Query = { [name: string]: string | number | boolean | null | undefined };

/** One response. The old value stays until the new one is loaded. */
export class Resource<T> {
  value: T | undefined = $state.raw();
  error: unknown = $state.raw();
  loading = $state(false);
  #request: AbortController | undefined;

  /** Loads a value and cancels a previous request. */
  async load(path: string, query: Query = {}): Promise<void> {
    this.#request?.abort();
    const current = new AbortController();
    this.#request = current;
    this.loading = true;
    try {
      const value = await get<T>(path, { query, signal: current.signal });
      if (this.#request !== current) return;
      this.value = value;
      this.error = undefined;
    } catch (error) {
      if (this.#request !== current || current.signal.aborted) return;
      this.error = error;
    } finally {
      if (this.#request === current) this.loading = false;
    }
  }

  /** Clears the value and cancels the request. */
  clear(): void {
    this.#request?.abort();
    this.#request = undefined;
    this.value = undefined;
    this.error = undefined;
    this.loading = false;
  }
}

/** A list that is loaded page by page. */
export class Listing<T> {
  items: T[] = $state.raw([]);
  next: string | null = $state(null);
  error: unknown = $state.raw();
  loading = $state(false);
  /** Number of loaded pages. */
  pages = $state(0);
  /** Whether the first page is loaded. */
  ready = $state(false);
  #path = '';
  #query: Query = {};
  #request: AbortController | undefined;

  async load(path: string, query: Query = {}): Promise<void> {
    this.#path = path;
    this.#query = query;
    await this.#fetch(null);
  }

  /** Loads the first page again. The old items stay until it is loaded. */
  async refresh(): Promise<void> {
    await this.#fetch(null);
  }

  async more(): Promise<void> {
    if (this.next !== null && !this.loading) await this.#fetch(this.next);
  }

  async #fetch(after: string | null): Promise<void> {
    this.#request?.abort();
    const current = new AbortController();
    this.#request = current;
    this.loading = true;
    try {
      const page = await get<ListPage<T>>(this.#path, { query: { ...this.#query, after }, signal: current.signal });
      if (this.#request !== current) return;
      this.items = after === null ? page.items : [...this.items, ...page.items];
      this.next = page.next;
      this.pages = after === null ? 1 : this.pages + 1;
      this.ready = true;
      this.error = undefined;
    } catch (error) {
      if (this.#request !== current || current.signal.aborted) return;
      this.error = error;
    } finally {
      if (this.#request === current) this.loading = false;
    }
  }
}
