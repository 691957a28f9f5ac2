// A competition file behind a form. The text is the truth: every change of a field is made in the text by the server, which keeps comments
// and unknown keys, and returns the values and the errors of the new text.

import { send } from '../api';
import type { ChangedFile, FileChange, FileError, FileValues } from '../types';

/** Delay after the last key press in the text, before it is checked. */
const CHECK_DELAY_MS = 600;

/** The value at a path such as `phase.0.format`. */
export function valueAt(values: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, part) => {
    if (Array.isArray(at)) return at[Number(part)];
    return at !== null && typeof at === 'object' ? (at as { [key: string]: unknown })[part] : undefined;
  }, values);
}

/** Errors at a path itself, or with `below` also in the values below it. */
export function errorsAt(errors: FileError[], path: string, below = false): FileError[] {
  return errors.filter((one) => one.path !== null && (one.path === path || (below && one.path.startsWith(`${path}.`))));
}

type Sender = (body: { game: string; competition?: string; file: string; changes: FileChange[] }) => Promise<ChangedFile>;

const sendChanges: Sender = (body) => send<ChangedFile>('POST', '/competition-files/change', body);

export class FileForm {
  text = $state('');
  values: FileValues = $state.raw({});
  errors: FileError[] = $state.raw([]);
  /** Whether a request is on its way. */
  busy = $state(false);
  /** Why the last change failed. */
  error: unknown = $state.raw();
  game: string;
  readonly competition: string | undefined;
  readonly #send: Sender;
  #waiting: FileChange[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stale = false;

  constructor(game: string, competition?: string, sender: Sender = sendChanges) {
    this.game = game;
    this.competition = competition;
    this.#send = sender;
  }

  /** Whether the text is TOML, so that single values can be changed. */
  readable = $state(true);

  /** Begins with another text. */
  async reset(text: string, game = this.game): Promise<void> {
    this.game = game;
    this.text = text;
    this.#stale = true;
    await this.#flush();
  }

  /** The reader has edited the text. It is checked a moment later. */
  edited(): void {
    this.#stale = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#flush(), CHECK_DELAY_MS);
  }

  /** Stops timers. */
  destroy(): void {
    clearTimeout(this.#timer);
  }

  at(path: string): unknown {
    return valueAt(this.values, path);
  }

  list(path: string): unknown[] {
    const found = this.at(path);
    return Array.isArray(found) ? found : [];
  }

  /** Message for a field; empty if it has no error. `below` includes the values of a table. */
  errorOf(path: string, below = false): string {
    return errorsAt(this.errors, path, below)
      .map((one) => (one.hint === '' ? one.what : `${one.what}: ${one.hint}`))
      .join('. ');
  }

  /** Errors that no field of the form shows. */
  errorsElsewhere(shown: (path: string) => boolean): FileError[] {
    return this.errors.filter((one) => one.path === null || !shown(one.path));
  }

  /** Sets a value, or removes it if it is empty. */
  async set(path: string, value: unknown): Promise<void> {
    const isEmpty = value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
    await this.change(isEmpty ? { change: 'remove', path } : { change: 'set', path, value });
  }

  /** Makes changes after those that are on their way. */
  async change(...changes: FileChange[]): Promise<void> {
    this.#waiting.push(...changes);
    await this.#flush();
  }

  async #flush(): Promise<void> {
    if (this.busy) return;
    clearTimeout(this.#timer);
    this.busy = true;
    try {
      while (this.#waiting.length > 0 || this.#stale) {
        const changes = this.#waiting;
        this.#waiting = [];
        this.#stale = false;
        const file = this.text;
        const changed = await this.#send({ game: this.game, ...(this.competition === undefined ? {} : { competition: this.competition }), file, changes });
        this.error = undefined;
        // The reader went on writing: their text wins, and the changes are made in it.
        if (this.text !== file) {
          this.#waiting = [...changes, ...this.#waiting];
          continue;
        }
        this.text = changed.file;
        this.errors = changed.errors;
        this.readable = changed.values !== null;
        if (changed.values !== null) this.values = changed.values;
      }
    } catch (error) {
      this.error = error;
      this.#waiting = [];
      this.#stale = false;
    } finally {
      this.busy = false;
    }
  }
}
