// Validation of the reason of a ruling.

import { admin } from '../../texts/admin';

export const MAX_REASON_LENGTH = 500;

/** Error text for a reason, or an empty string. */
export function reasonError(reason: string): string {
  const length = [...reason.trim()].length;
  if (length === 0) return admin.competition.noReason;
  return length > MAX_REASON_LENGTH ? admin.competition.longReason(MAX_REASON_LENGTH, length) : '';
}
