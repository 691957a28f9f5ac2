// A form: what is wrong with which field, and one thing at a time. What was typed stays typed whatever happens.

import { tick } from 'svelte';
import { Refusal } from './api';
import { site } from './site.svelte';

export type Wrong<F extends string> = { [field in F]?: string };

export class Form<F extends string> {
  wrong: Wrong<F> = $state({});
  /** What is wrong with no field in particular. */
  error: unknown = $state.raw();
  busy = $state(false);
  readonly #fields: readonly F[];
  #element: HTMLElement | undefined;

  /** The fields that the server may name. */
  constructor(fields: readonly F[]) {
    this.#fields = fields;
  }

  /** For `{@attach form.here}` on the form element. */
  here = (element: HTMLElement): (() => void) => {
    this.#element = element;
    return () => (this.#element = undefined);
  };

  /** What is wrong with a field, or nothing. */
  of(field: F): string {
    return this.wrong[field] ?? '';
  }

  /** Does it, unless something is wrong already; whether it was done. */
  async run(wrong: Wrong<F>, act: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.error = undefined;
    this.wrong = wrong;
    if (Object.values(wrong).some((words) => words !== undefined && words !== '')) {
      await this.focusWrong();
      return false;
    }
    this.busy = true;
    try {
      await this.#once(act);
      return true;
    } catch (error) {
      this.refuse(error);
      return false;
    } finally {
      this.busy = false;
      // Only now are the fields there to be reached again.
      await this.focusWrong();
    }
  }

  /** A page that was open for long may have an old word against forgery: then nothing was done, and it is done with a fresh one. */
  async #once(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Refusal) || error.status !== 403 || error.code !== 'csrf') throw error;
      await site.load();
      await act();
    }
  }

  /** Tells a refusal at the field it is about. */
  refuse(error: unknown): void {
    const field = error instanceof Refusal ? this.#fields.find((known) => known === error.field) : undefined;
    if (field === undefined) {
      this.error = error;
      return;
    }
    const { message, hint, details } = error as Refusal;
    this.wrong = { [field]: [message, hint, ...details].filter((words) => words !== '').join(' ') } as Wrong<F>;
  }

  clear(): void {
    this.wrong = {};
    this.error = undefined;
  }

  async focusWrong(): Promise<void> {
    await tick();
    this.#element?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }
}
