// HTTP client of the app: typed responses and errors, and server-sent events with automatic reconnection.

import { withQuery } from './path_pattern';
import type { ApiError } from './types';

export const BASE = '/api/v1';

type Headers = { [name: string]: string };
type Query = { [name: string]: string | number | boolean | null | undefined };

/** A failed request. `status` is 0 if there was no response. */
export class RequestError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;
  readonly field: string | undefined;
  readonly details: string[];
  /** Errors in a competition file. */
  readonly configErrors: ApiError['error']['mistakes'];
  /** Seconds to wait before a retry, if the server sent `Retry-After`. */
  readonly retryAfter: number | undefined;

  constructor(status: number, code: string, message: string, more: Partial<ApiError['error']> & { retryAfter?: number } = {}) {
    super(message);
    this.name = 'RequestError';
    this.status = status;
    this.code = code;
    this.hint = more.hint ?? '';
    this.field = more.field;
    this.details = more.details ?? [];
    this.configErrors = more.mistakes;
    this.retryAfter = more.retryAfter;
  }
}

let csrfToken: string | null = null;

/** Sets the CSRF token (`Site.csrf`) that is sent with every change. */
export function setCsrfToken(token: string | null): void {
  csrfToken = token;
}

/** Converts an error response. `text` is its body, `retryAfterHeader` its `Retry-After` header. */
export function parseError(status: number, text: string, retryAfterHeader: string | null): RequestError {
  const retryAfter = retryAfterHeader !== null && /^\d+$/.test(retryAfterHeader) ? Number(retryAfterHeader) : undefined;
  try {
    const error = (JSON.parse(text) as Partial<ApiError> | null)?.error;
    if (error && typeof error.code === 'string' && typeof error.message === 'string') return new RequestError(status, error.code, error.message, { ...error, retryAfter });
  } catch {
    // Not an error of the API, for example a page of a reverse proxy.
  }
  return new RequestError(status, `http-${status}`, `The server returned status ${status}.`, { retryAfter });
}

async function request<T>(method: string, path: string, init: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`${BASE}${path}`, { method, credentials: 'same-origin', redirect: 'error', ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new RequestError(0, 'offline', 'Server not reachable.', { hint: 'Check your connection and try again.' });
  }
  const text = await response.text();
  if (!response.ok) throw parseError(response.status, text, response.headers.get('Retry-After'));
  if (text === '') return undefined as T;
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new RequestError(response.status, 'garbled', 'The server sent an invalid response.', { hint: 'Reload the page.' });
  }
}

/** Sends a GET request. */
export function get<T>(path: string, options: { query?: Query; signal?: AbortSignal; headers?: Headers } = {}): Promise<T> {
  return request<T>('GET', withQuery(path, options.query ?? {}), { signal: options.signal, headers: { Accept: 'application/json', ...options.headers } });
}

/** Sends a request that changes something. It is never retried automatically, because the first try may have succeeded. */
export function send<T>(method: 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, body?: unknown, more: Headers = {}): Promise<T> {
  const headers: Headers = { Accept: 'application/json', ...more };
  if (csrfToken !== null) headers['X-CSRF-Token'] = csrfToken;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  return request<T>(method, path, { headers, body: body === undefined ? undefined : JSON.stringify(body) });
}

/** Sends a file as it is. */
export function sendFile<T>(path: string, file: File): Promise<T> {
  const headers: { [name: string]: string } = { Accept: 'application/json', 'Content-Type': 'application/octet-stream' };
  if (csrfToken !== null) headers['X-CSRF-Token'] = csrfToken;
  return request<T>('PUT', path, { headers, body: file });
}

/** Uploads a form with files. `onProgress` receives the share sent, 0 to 1. */
export function upload<T>(path: string, form: FormData, onProgress: (share: number) => void, signal?: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const xhr = new XMLHttpRequest();
    xhr.open('POST', `${BASE}${path}`);
    xhr.setRequestHeader('Accept', 'application/json');
    if (csrfToken !== null) xhr.setRequestHeader('X-CSRF-Token', csrfToken);
    xhr.upload.onprogress = (event) => {
      if (event.lengthComputable && event.total > 0) onProgress(event.loaded / event.total);
    };
    xhr.onload = () => {
      if (xhr.status < 200 || xhr.status >= 300) {
        reject(parseError(xhr.status, xhr.responseText, xhr.getResponseHeader('Retry-After')));
        return;
      }
      try {
        resolve(JSON.parse(xhr.responseText) as T);
      } catch {
        reject(new RequestError(xhr.status, 'garbled', 'The server sent an invalid response.'));
      }
    };
    xhr.onerror = () => reject(new RequestError(0, 'offline', 'Connection lost during the upload.', { hint: 'Check your connection and submit again.' }));
    xhr.onabort = () => reject(new DOMException('Aborted', 'AbortError'));
    signal?.addEventListener('abort', () => xhr.abort());
    xhr.send(form);
  });
}

export interface EventSubscription {
  stop(): void;
}

interface EventOptions {
  /** Handlers by event name. They receive the parsed JSON data. */
  on: { [name: string]: (data: never) => void };
  /** The stream is open. After a reconnection, events may have been missed. */
  onOpen?: (reconnected: boolean) => void;
  /** The connection is lost. The client reconnects automatically. */
  onLost?: () => void;
  /** Stays connected while the page is hidden. */
  whileHidden?: boolean;
}

/** Delay in milliseconds before a retry; `tries` counts from 0, `random` (0 to 1) spreads the retries of many clients. */
export function retryDelay(tries: number, random: number): number {
  return Math.min(30_000, 1_000 * 2 ** Math.min(tries, 5)) * (0.5 + random / 2);
}

/** Subscribes to server-sent events. Reconnects with a growing delay, and disconnects while the page is hidden, unless told otherwise. */
export function subscribe(path: string, options: EventOptions): EventSubscription {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let tries = 0;
  let wasOpen = false;

  const close = (): void => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = (): void => {
    close();
    const current = new EventSource(`${BASE}${path}`);
    source = current;
    current.onopen = () => {
      tries = 0;
      options.onOpen?.(wasOpen);
      wasOpen = true;
    };
    current.onerror = () => {
      if (source !== current) return;
      close();
      timer = setTimeout(open, retryDelay(tries, Math.random()));
      tries += 1;
      // Last, because the callback may end the subscription.
      options.onLost?.();
    };
    for (const [name, handle] of Object.entries(options.on)) {
      current.addEventListener(name, (event) => {
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
  const update = (): void => {
    if (document.hidden && options.whileHidden !== true) close();
    else if (!source) open();
  };
  document.addEventListener('visibilitychange', update);
  update();
  return {
    stop: () => {
      document.removeEventListener('visibilitychange', update);
      close();
    },
  };
}
