// Words for the faults of bots.

import { plural } from '../format';

const FAULTS: { [fault: string]: [one: string, many: string] } = {
  timeout: ['timeout', 'timeouts'],
  crash: ['crash', 'crashes'],
  illegal: ['illegal answer', 'illegal answers'],
  garbled: ['unreadable answer', 'unreadable answers'],
};

/** `Illegal answer`. */
export const faultName = (fault: string): string => {
  const word = FAULTS[fault]?.[0] ?? fault;
  return word.charAt(0).toUpperCase() + word.slice(1);
};

/** `9 crashes`. */
export const faultCount = (fault: string, count: number): string => plural(count, ...(FAULTS[fault] ?? [fault, fault]));

/** `2 timeouts, 9 crashes`; empty without faults. */
export const faultCounts = (faults: { [fault: string]: number }): string =>
  Object.entries(faults)
    .filter(([, count]) => count > 0)
    .map(([fault, count]) => faultCount(fault, count))
    .join(', ');

/** The same from a cell of a table, in which the server names each fault: `2 timeout, 9 crash`. */
export const faultsOfCell = (cell: string): string => cell.replace(/(\d+) ([a-z]+)/g, (all: string, count: string, fault: string) => (Object.hasOwn(FAULTS, fault) ? faultCount(fault, Number(count)) : all));
