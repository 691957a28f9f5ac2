// States of the bots of an account.

import type { MyBot } from './types';

/**
 * Whether a bot takes no part because its first version was rejected. The server then gives its name free, as if it had been withdrawn; an author
 * who withdraws a bot does that with an accepted one.
 */
export const wasRejected = (bot: Pick<MyBot, 'version' | 'latest'>): boolean => bot.version === null && (bot.latest?.state === 'refused' || bot.latest?.state === 'broke');
