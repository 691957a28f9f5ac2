//! Pool of loaded bots that wait for their next game. Each thread has its own, because a bot stays on the core of its games.

use std::cell::RefCell;

use super::ForkedBot;

/// Maximum number of idle bots in a thread; the oldest is evicted first.
const MOST: usize = 64;

thread_local! {
    static POOL: RefCell<Vec<(String, Box<ForkedBot>)>> = const { RefCell::new(Vec::new()) };
}

/// Takes an idle bot with this pool key, if there is one.
pub fn take(kind: &str) -> Option<Box<ForkedBot>> {
    loop {
        let mut link = POOL.with_borrow_mut(|stable| {
            let place = stable.iter().rposition(|(waiting, _)| waiting == kind)?;
            Some(stable.remove(place).1)
        })?;
        if link.lives() {
            return Some(link);
        }
    }
}

/// Adds a bot that has answered everything.
pub fn put(kind: String, link: Box<ForkedBot>) {
    let gone = POOL.try_with(|stable| {
        let mut stable = stable.borrow_mut();
        stable.push((kind, link));
        if stable.len() > MOST { Some(stable.remove(0)) } else { None }
    });
    // Drop outside the borrow, because ending a bot takes time.
    drop(gone);
}

/// Ends all idle bots of this thread.
pub fn clear() {
    let all = POOL.try_with(RefCell::take);
    drop(all);
}
