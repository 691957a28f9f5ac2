//! Limits of live streams. A stream is open for hours, so the number of streams is limited, not their rate: in total, for clients that are
//! not signed in, for each address and for each account. One client cannot take the streams of all others.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::caller::Caller;
use crate::config::StreamLimits;
use crate::error::{ApiError, ApiResult};
use crate::middleware::address::NetworkWidth;
use crate::state::AppState;

/// Time after which a client may ask again for a stream, in seconds.
const RETRY_SECONDS: u64 = 30;

/// Who holds streams.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Holder {
    Account(i64),
    Network(NetworkWidth, IpAddr),
}

/// Open streams by holder.
#[derive(Default)]
pub struct StreamCounts(Mutex<OpenStreams>);

#[derive(Default)]
struct OpenStreams {
    total: usize,
    anonymous: usize,
    by_holder: HashMap<Holder, usize>,
}

impl StreamCounts {
    fn lock(&self) -> MutexGuard<'_, OpenStreams> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of open streams.
    pub fn total(&self) -> usize {
        self.lock().total
    }

    /// Counts a stream, or says which limit is reached.
    fn open(&self, limits: StreamLimits, caller: &Caller, address: IpAddr) -> ApiResult<Vec<Holder>> {
        // The streams of a user do not depend on other clients of the same address.
        let holders = match caller.user() {
            Some(me) => vec![(Holder::Account(me.id), limits.per_account)],
            None => [NetworkWidth::Host, NetworkWidth::Site]
                .map(|width| {
                    let most = limits.per_address.saturating_mul(width.factor() as usize);
                    (Holder::Network(width, width.network(address)), most)
                })
                .to_vec(),
        };
        let mut open = self.lock();
        if let Some((holder, most)) = holders
            .iter()
            .find(|(holder, most)| open.by_holder.get(holder).is_some_and(|count| count >= most))
        {
            let (whose, hint) = match holder {
                Holder::Account(_) => ("of your account", "close other pages with live games"),
                Holder::Network(..) => ("from your address", "close other pages with live games, or sign in"),
            };
            let message = format!("{most} live streams {whose} are open, which is the limit");
            return Err(ApiError::too_many_requests(message, RETRY_SECONDS).hint(hint));
        }
        if open.total >= limits.total {
            return Err(ApiError::busy("too many open live streams", RETRY_SECONDS));
        }
        let anonymous = caller.user().is_none();
        if anonymous && open.anonymous >= limits.anonymous {
            return Err(ApiError::busy("too many open live streams", RETRY_SECONDS)
                .hint("sign in: some streams are reserved for users"));
        }
        open.total += 1;
        open.anonymous += usize::from(anonymous);
        let holders: Vec<Holder> = holders.into_iter().map(|(holder, _)| holder).collect();
        for holder in &holders {
            *open.by_holder.entry(*holder).or_default() += 1;
        }
        Ok(holders)
    }

    fn close(&self, holders: &[Holder]) {
        let mut open = self.lock();
        open.total = open.total.saturating_sub(1);
        if holders.iter().any(|holder| matches!(holder, Holder::Network(..))) {
            open.anonymous = open.anonymous.saturating_sub(1);
        }
        for holder in holders {
            if let Some(count) = open.by_holder.get_mut(holder) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    open.by_holder.remove(holder);
                }
            }
        }
    }
}

/// Permission for one stream. Dropping it frees the place.
pub struct StreamPermit {
    app: AppState,
    holders: Vec<Holder>,
}

impl StreamPermit {
    /// Counts a stream of this caller, or fails.
    pub fn acquire(app: &AppState, caller: &Caller, address: IpAddr) -> ApiResult<Self> {
        if app.is_stopping() {
            return Err(ApiError::busy("the server is stopping", 10));
        }
        let holders = app.streams.open(app.config.streams, caller, address)?;
        Ok(Self { app: app.clone(), holders })
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        self.app.streams.close(&self.holders);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::{AuthMethod, CurrentUser, Role};

    const LIMITS: StreamLimits = StreamLimits { total: 12, anonymous: 10, per_address: 2, per_account: 3 };

    fn user(id: i64) -> Caller {
        let me = CurrentUser { id, name: "Ada".to_owned(), role: Role::Author };
        Caller::authenticated(me, AuthMethod::Token { id: 1 })
    }

    #[test]
    fn closed_streams_leave_no_entries() {
        let counts = StreamCounts::default();
        let open = |caller: &Caller, address: &str| counts.open(LIMITS, caller, address.parse().unwrap());
        let mut all = Vec::new();
        for _ in 0..2 {
            all.push(open(&Caller::anonymous(), "192.0.2.1").unwrap());
        }
        assert_eq!(open(&Caller::anonymous(), "192.0.2.1").unwrap_err().status(), 429);
        for _ in 0..3 {
            all.push(open(&user(1), "192.0.2.1").unwrap());
        }
        assert_eq!(open(&user(1), "192.0.2.9").unwrap_err().status(), 429);
        for holders in all {
            counts.close(&holders);
        }
        let left = counts.lock();
        assert_eq!((left.total, left.anonymous, left.by_holder.len()), (0, 0, 0));
    }

    #[test]
    fn ipv6_networks_share_a_limit_and_some_streams_are_for_users() {
        let counts = StreamCounts::default();
        let open = |caller: &Caller, address: String| counts.open(LIMITS, caller, address.parse().unwrap());
        let opened = (0..12).filter(|n| open(&Caller::anonymous(), format!("2001:db8:1:{n}::1")).is_ok());
        assert_eq!(opened.count(), 8, "four times the limit of a /64");
        let opened = (0..12).filter(|n| open(&Caller::anonymous(), format!("192.{n}.2.1")).is_ok());
        assert_eq!(opened.count(), 2, "up to the limit for clients that are not signed in");
        assert!(open(&user(1), "192.0.2.1".to_owned()).is_ok());
        assert!(open(&user(2), "192.0.2.1".to_owned()).is_ok());
        assert_eq!(open(&user(3), "192.0.2.1".to_owned()).unwrap_err().status(), 503);
    }
}
