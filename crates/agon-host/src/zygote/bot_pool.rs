//! Loaded bots that wait for their next game. Each thread has its own: a bot stays on the core of its games.

use std::cell::RefCell;

use super::ForkedBot;

/// So many wait at most; the one that has waited longest goes.
const MOST: usize = 64;

thread_local! {
    static POOL: RefCell<Vec<(String, Box<ForkedBot>)>> = const { RefCell::new(Vec::new()) };
}

/// A bot of this kind that waits, if there is one.
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

/// Lets a bot wait that has answered everything.
pub fn put(kind: String, link: Box<ForkedBot>) {
    let gone = POOL.try_with(|stable| {
        let mut stable = stable.borrow_mut();
        stable.push((kind, link));
        if stable.len() > MOST { Some(stable.remove(0)) } else { None }
    });
    // Ended outside, for that takes time.
    drop(gone);
}

/// Ends all that wait on this thread.
pub fn clear() {
    let all = POOL.try_with(RefCell::take);
    drop(all);
}
