// Responses that are either an array or a page of a list.

import type { ListPage } from './types';

export const itemsOf = <T>(response: T[] | ListPage<T> | undefined): T[] => (response === undefined ? [] : Array.isArray(response) ? response : response.items);
