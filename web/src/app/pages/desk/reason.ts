// A ruling's reason.

import { desk } from '../../texts/desk';

export const LONGEST_REASON = 500;

export function badReason(reason: string): string {
  const has = [...reason.trim()].length;
  if (has === 0) return desk.competition.noReason;
  return has > LONGEST_REASON ? desk.competition.longReason(LONGEST_REASON, has) : '';
}
