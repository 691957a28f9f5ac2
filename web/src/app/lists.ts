// Short lists come whole, with or without the envelope of a page.

import type { Page } from './types';

export const itemsOf = <T>(answer: T[] | Page<T> | undefined): T[] => (answer === undefined ? [] : Array.isArray(answer) ? answer : answer.items);

/** Where to go after signing in: an address of this site, and no other. */
export function wayBack(to: string | null): string {
  if (to === null || !to.startsWith('/') || /^\/[/\\]/.test(to) || /[\u0000-\u001f\\]/.test(to) || /^\/sign(in|up)([/?#]|$)/.test(to)) return '/me';
  return to;
}
