//! Loaded bots that wait for their next game. Each thread has its own: a bot stays on the core of its games.

use std::cell::RefCell;

use super::Link;

/// So many wait at most; the one that has waited longest goes.
const MOST: usize = 64;

thread_local! {
    static STABLE: RefCell<Vec<(String, Box<Link>)>> = const { RefCell::new(Vec::new()) };
}

/// A bot of this kind that waits, if there is one.
pub fn take(kind: &str) -> Option<Box<Link>> {
    loop {
        let mut link = STABLE.with_borrow_mut(|stable| {
            let place = stable.iter().rposition(|(waiting, _)| waiting == kind)?;
            Some(stable.remove(place).1)
        })?;
        if link.lives() {
            return Some(link);
        }
    }
}

/// Lets a bot wait that has answered everything.
pub fn put(kind: String, link: Box<Link>) {
    let gone = STABLE.try_with(|stable| {
        let mut stable = stable.borrow_mut();
        stable.push((kind, link));
        if stable.len() > MOST { Some(stable.remove(0)) } else { None }
    });
    // Ended outside, for that takes time.
    drop(gone);
}

/// Ends all that wait on this thread.
pub fn clear() {
    let all = STABLE.try_with(RefCell::take);
    drop(all);
}
