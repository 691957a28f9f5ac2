// How the app talks to the server: typed answers, typed refusals, and events that come back by themselves.

import { withQuery } from './match';
import type { ApiError } from './types';

export const BASE = '/api/v1';

type Query = { [name: string]: string | number | boolean | null | undefined };

/** What the server (or the way to it) said no with. `status` 0: no answer came at all. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly field: string | undefined;
  readonly details: string[];
  /** Of a competition file. */
  readonly mistakes: ApiError['error']['mistakes'];
  /** In how many seconds to try again, where the server says so. */
  readonly after: number | undefined;

  constructor(status: number, code: string, message: string, more: Partial<ApiError['error']> & { after?: number } = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.hint = more.hint ?? '';
    this.field = more.field;
    this.details = more.details ?? [];
    this.mistakes = more.mistakes;
    this.after = more.after;
  }
}

let csrf: string | null = null;

/** The server's word that a request came from this page; see Site. */
export function useCsrf(word: string | null): void {
  csrf = word;
}

/** A refusal out of an answer that is not one of success. `text` is its body. */
export function refusalOf(status: number, text: string, retryAfter: string | null): Refusal {
  const after = retryAfter !== null && /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  try {
    const said = (JSON.parse(text) as Partial<ApiError> | null)?.error;
    if (said && typeof said.code === 'string' && typeof said.message === 'string') return new Refusal(status, said.code, said.message, { ...said, after });
  } catch {
    // Something before the server answered, in its own way.
  }
  return new Refusal(status, `http-${status}`, `The server answered ${status}.`, { after });
}

async function ask<T>(method: string, path: string, init: RequestInit): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(`${BASE}${path}`, { method, credentials: 'same-origin', redirect: 'error', ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Refusal(0, 'offline', 'The server cannot be reached.', { hint: 'Check your connection, then try again.' });
  }
  const text = await answer.text();
  if (!answer.ok) throw refusalOf(answer.status, text, answer.headers.get('Retry-After'));
  if (text === '') return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new Refusal(answer.status, 'garbled', 'The server’s answer cannot be read.', { hint: 'Load the page again.' });
  }
}

/** Reads. */
export function get<T>(path: string, options: { query?: Query; signal?: AbortSignal } = {}): Promise<T> {
  return ask<T>('GET', withQuery(path, options.query ?? {}), { signal: options.signal, headers: { Accept: 'application/json' } });
}

/** Changes something. Never tried a second time by itself: nobody knows whether the first was heard. */
export function send<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown): Promise<T> {
  const headers: { [name: string]: string } = { Accept: 'application/json' };
  if (csrf !== null) headers['X-CSRF-Token'] = csrf;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  return ask<T>(method, path, { headers, body: body === undefined ? undefined : JSON.stringify(body) });
}

/** Sends files, telling how far it is (0 to 1). */
export function upload<T>(path: string, form: FormData, progress: (share: number) => void, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', `${BASE}${path}`);
    request.setRequestHeader('Accept', 'application/json');
    if (csrf !== null) request.setRequestHeader('X-CSRF-Token', csrf);
    request.upload.onprogress = (event) => {
      if (event.lengthComputable && event.total > 0) progress(event.loaded / event.total);
    };
    request.onload = () => {
      if (request.status < 200 || request.status >= 300) {
        reject(refusalOf(request.status, request.responseText, request.getResponseHeader('Retry-After')));
        return;
      }
      try {
        resolve(JSON.parse(request.responseText) as T);
      } catch {
        reject(new Refusal(request.status, 'garbled', 'The server’s answer cannot be read.'));
      }
    };
    request.onerror = () => reject(new Refusal(0, 'offline', 'The connection broke while sending.', { hint: 'Check your connection, then send again.' }));
    request.onabort = () => reject(new DOMException('Aborted', 'AbortError'));
    signal?.addEventListener('abort', () => request.abort());
    request.send(form);
  });
}

export interface Listening {
  stop(): void;
}

interface EventOptions {
  /** Called with each event of a name, its data read from JSON. */
  on: { [name: string]: (data: never) => void };
  /** The stream is (again) there; `again` when something may have been missed. */
  opened?: (again: boolean) => void;
  /** The stream is gone; it is tried again by itself. */
  lost?: () => void;
}

/** How long to wait before the n-th try (from 0), in milliseconds; `chance` spreads those who lost it together. */
export function backOff(tries: number, chance: number): number {
  return Math.min(30_000, 1_000 * 2 ** Math.min(tries, 5)) * (0.5 + chance / 2);
}

/** Server-sent events. Comes back after a loss with growing pauses; sleeps while nobody looks at the page. */
export function listen(path: string, options: EventOptions): Listening {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let tries = 0;
  let ever = false;

  const close = (): void => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = (): void => {
    close();
    const own = new EventSource(`${BASE}${path}`);
    source = own;
    own.onopen = () => {
      tries = 0;
      options.opened?.(ever);
      ever = true;
    };
    own.onerror = () => {
      if (source !== own) return;
      close();
      timer = setTimeout(open, backOff(tries, Math.random()));
      tries += 1;
      // Last: whoever hears it may have had enough.
      options.lost?.();
    };
    for (const [name, handle] of Object.entries(options.on)) {
      own.addEventListener(name, (event) => {
        let data: unknown;
        try {
          data = JSON.parse((event as MessageEvent<string>).data);
        } catch {
          return;
        }
        handle(data as never);
      });
    }
  };
  const look = (): void => {
    if (document.hidden) close();
    else if (!source) open();
  };
  document.addEventListener('visibilitychange', look);
  look();
  return {
    stop: () => {
      document.removeEventListener('visibilitychange', look);
      close();
    },
  };
}
