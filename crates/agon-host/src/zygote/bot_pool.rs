//! Pool of loaded bots that wait for their next game. Each thread has its own, because a bot stays on the core of its games.

use std::cell::RefCell;

use super::{BotPoolKey, ForkedBot};

/// Maximum number of idle bots in a thread; the oldest is evicted first.
const MAX_IDLE_BOTS: usize = 64;

thread_local! {
    static POOL: RefCell<Vec<(BotPoolKey, Box<ForkedBot>)>> = const { RefCell::new(Vec::new()) };
}

/// Takes an idle bot with this pool key, if there is one.
pub fn take(key: BotPoolKey) -> Option<Box<ForkedBot>> {
    loop {
        let mut bot = POOL.with_borrow_mut(|pool| {
            let place = pool.iter().rposition(|(waiting, _)| *waiting == key)?;
            Some(pool.remove(place).1)
        })?;
        if bot.is_alive() {
            return Some(bot);
        }
    }
}

/// Adds a bot that has answered everything.
pub fn put(key: BotPoolKey, bot: Box<ForkedBot>) {
    let gone = POOL.try_with(|pool| {
        let mut pool = pool.borrow_mut();
        pool.push((key, bot));
        if pool.len() > MAX_IDLE_BOTS { Some(pool.remove(0)) } else { None }
    });
    // Drop outside the borrow, because ending a bot takes time.
    drop(gone);
}

/// Ends all idle bots of this thread.
pub fn clear() {
    let all = POOL.try_with(RefCell::take);
    drop(all);
}
