// The draft of a bot: its files, saved on the server a moment after each change.

import { get, RequestError, send } from '../api';
import { withQuery } from '../path_pattern';
import type { Draft, DraftCheck, DraftFile } from '../types';

/** Delay after the last change, before the draft is saved. */
const SAVE_DELAY_MS = 1_500;
/** Interval at which the state of a check is asked for. */
const CHECK_POLL_MS = 1_000;

/** Whether a name can be that of a file in a bot's folder. The same rule as on the server. */
export function isFileName(path: string): boolean {
  return path.length <= 200 && path.split('/').every((part) => /^[A-Za-z0-9_\-+][A-Za-z0-9_\-.+ ]*$/.test(part) && !/[ .]$/.test(part));
}

/** The content of the saved state, to see whether something changed. */
const snapshot = (files: DraftFile[]): string => JSON.stringify(files);

export class DraftState {
  files: DraftFile[] = $state.raw([]);
  source: Draft['source'] = $state('starter');
  check: DraftCheck | null = $state.raw(null);
  /** `conflict`: the draft was changed elsewhere. */
  saving: 'saved' | 'waiting' | 'saving' | 'failed' | 'conflict' = $state('saved');
  error: unknown = $state.raw();
  loaded = $state(false);
  revision = $state(0);
  readonly #path: string;
  #saved = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #poll: ReturnType<typeof setTimeout> | undefined;
  #request: Promise<void> | undefined;
  #destroyed = false;

  /** `base` is the path of the competition in the API. */
  constructor(base: string, bot: number | undefined) {
    this.#path = withQuery(`${base}/draft`, { bot });
  }

  /** A path below the draft: `check`, `trials/1`. */
  below(part: string): string {
    const [path, query] = this.#path.split('?');
    return `${path}/${part}${query === undefined ? '' : `?${query}`}`;
  }

  async load(): Promise<void> {
    try {
      const draft = await get<Draft>(this.#path);
      this.files = draft.files;
      this.source = draft.source;
      this.revision = draft.revision;
      this.check = draft.check;
      this.#saved = snapshot(draft.files);
      this.saving = 'saved';
      this.error = undefined;
      this.loaded = true;
      if (draft.check && isPending(draft.check)) this.#watch();
    } catch (error) {
      this.error = error;
    }
  }

  /** Replaces the files, and saves them a moment later. */
  set(files: DraftFile[]): void {
    this.files = files;
    if (snapshot(files) === this.#saved && this.saving !== 'conflict') return;
    if (this.saving !== 'conflict') this.saving = 'waiting';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.save(), SAVE_DELAY_MS);
  }

  setText(path: string, text: string): void {
    if (this.files.some((file) => file.path === path && file.text !== text)) this.set(this.files.map((file) => (file.path === path ? { path, text } : file)));
  }

  /** Saves now, after a save that is on its way. Returns whether everything is saved. */
  async save(leaving = false): Promise<boolean> {
    clearTimeout(this.#timer);
    await this.#request;
    if (this.saving === 'conflict' || (this.#destroyed && !leaving)) return false;
    const content = snapshot(this.files);
    if (content === this.#saved && this.revision > 0) {
      this.saving = 'saved';
      return true;
    }
    this.saving = 'saving';
    let done = false;
    this.#request = (async () => {
      try {
        const stored = await send<{ revision: number; changed: number }>('PUT', this.#path, { files: this.files, revision: this.revision });
        this.revision = stored.revision;
        this.#saved = content;
        this.source = 'draft';
        this.saving = snapshot(this.files) === content ? 'saved' : 'waiting';
        this.error = undefined;
        done = true;
      } catch (error) {
        this.error = error;
        this.saving = error instanceof RequestError && error.status === 409 && error.code === 'conflict' ? 'conflict' : 'failed';
      }
    })();
    await this.#request;
    return done;
  }

  /** After a conflict: this draft replaces the other one. */
  async keepMine(): Promise<void> {
    const { files } = this;
    const other = await get<Draft>(this.#path);
    this.revision = other.revision;
    this.saving = 'waiting';
    this.files = files;
    this.#saved = '';
    await this.save();
  }

  /** Deletes the draft and begins again. */
  async discard(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#request;
    await send('DELETE', this.#path);
    await this.load();
  }

  /** Saves and checks. */
  async startCheck(): Promise<void> {
    if (!(await this.save())) return;
    this.check = await send<DraftCheck>('POST', this.below('check'));
    this.#watch();
  }

  #watch(): void {
    clearTimeout(this.#poll);
    this.#poll = setTimeout(() => {
      void get<DraftCheck>(this.below('check')).then(
        (check) => {
          if (this.#destroyed) return;
          this.check = check;
          if (isPending(check)) this.#watch();
        },
        () => {
          if (!this.#destroyed) this.#watch();
        },
      );
    }, CHECK_POLL_MS);
  }

  /** Whether there are changes that are not saved. */
  get dirty(): boolean {
    return this.saving !== 'saved';
  }

  destroy(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#poll);
    // What was written last is saved all the same.
    if (this.saving === 'waiting') void this.save(true);
    this.#destroyed = true;
  }
}

export const isPending = (check: DraftCheck): boolean => check.state === 'queued' || check.state === 'checking';
