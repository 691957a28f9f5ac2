// State of a form: field errors and one submission at a time. Input is never cleared on errors.

import { tick } from 'svelte';
import { RequestError } from './api';
import { site } from './site.svelte';

export type FieldErrors<F extends string> = { [field in F]?: string };

export class Form<F extends string> {
  fieldErrors: FieldErrors<F> = $state({});
  /** Error that does not belong to a field. */
  error: unknown = $state.raw();
  busy = $state(false);
  readonly #fields: readonly F[];
  #element: HTMLElement | undefined;

  /** `fields` are the fields that an error of the server can name. */
  constructor(fields: readonly F[]) {
    this.#fields = fields;
  }

  /** For `{@attach form.attach}` on the form element. */
  attach = (element: HTMLElement): (() => void) => {
    this.#element = element;
    return () => (this.#element = undefined);
  };

  /** Error of a field, or an empty string. */
  errorOf(field: F): string {
    return this.fieldErrors[field] ?? '';
  }

  /** Runs an action unless there are field errors. Returns whether the action succeeded. */
  async run(errors: FieldErrors<F>, action: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.error = undefined;
    this.fieldErrors = errors;
    if (Object.values(errors).some((text) => text !== undefined && text !== '')) {
      await this.focusFirstError();
      return false;
    }
    this.busy = true;
    try {
      await this.#runWithFreshCsrf(action);
      return true;
    } catch (error) {
      this.showError(error);
      return false;
    } finally {
      this.busy = false;
      // Fields can take the focus only after `busy` is reset.
      await this.focusFirstError();
    }
  }

  /** Runs an action. If the CSRF token of the page has expired, loads a new one and runs the action once more. */
  async #runWithFreshCsrf(action: () => Promise<unknown>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== 403 || error.code !== 'csrf') throw error;
      await site.load();
      await action();
    }
  }

  /** Shows an error at its field, or for the whole form. */
  showError(error: unknown): void {
    const field = error instanceof RequestError ? this.#fields.find((known) => known === error.field) : undefined;
    if (field === undefined) {
      this.error = error;
      return;
    }
    const { message, hint, details } = error as RequestError;
    this.fieldErrors = { [field]: [message, hint, ...details].filter((text) => text !== '').join(' ') } as FieldErrors<F>;
  }

  clear(): void {
    this.fieldErrors = {};
    this.error = undefined;
  }

  async focusFirstError(): Promise<void> {
    await tick();
    this.#element?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }
}
