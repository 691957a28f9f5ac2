// Groups of competitions on the home page, in order.

import type { CompetitionItem, CompetitionState } from './types';

export const GROUPS = ['now', 'open', 'over', 'soon', 'draft'] as const;
export type Group = (typeof GROUPS)[number];

const GROUP_OF: { [state in CompetitionState]: Group } = { running: 'now', paused: 'now', waiting: 'now', failed: 'now', open: 'open', closed: 'soon', over: 'over', draft: 'draft' };

/** Competitions by group. Those with a deadline come first among the open ones, the next deadline first. */
export function groupsOf(items: CompetitionItem[]): { [group in Group]: CompetitionItem[] } {
  const groups: { [group in Group]: CompetitionItem[] } = { now: [], open: [], over: [], soon: [], draft: [] };
  for (const item of items) groups[GROUP_OF[item.state]].push(item);
  const deadline = (item: CompetitionItem): number => (item.accepts && item.deadline && !item.deadline.past ? item.deadline.at : Infinity);
  groups.open.sort((one, other) => (deadline(one) === deadline(other) ? 0 : deadline(one) - deadline(other)));
  return groups;
}
