//! How often somebody may do what: a bucket of tokens for each account, address and name, in bounded memory.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::config::{Limits, Rate};
use crate::error::{ApiError, ApiResult};

/// So many buckets at most; what a bucket more would take is an attacker's doing.
const MOST: usize = 50_000;

/// What is limited.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LimitedAction {
    /// Failed sign-ins from one address.
    SignInAddress,
    /// Failed sign-ins to one name.
    SignInName,
    /// New accounts.
    SignUp,
    /// Bots handed in.
    Upload,
    /// Everything else that changes something.
    Change,
}

/// Who is limited.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LimitKey {
    /// An account.
    Account(i64),
    /// An address; of IPv6 the first half, which is what one household has.
    Address(IpAddr),
    /// A name, hashed.
    Name(u64),
}

impl LimitKey {
    /// An address.
    pub fn address(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(whole) => {
                let half = u128::from(whole) & !u128::from(u64::MAX);
                IpAddr::V6(half.into())
            }
            v4 @ IpAddr::V4(_) => v4,
        })
    }
}

#[derive(Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    fn filled(self, rate: Rate, now: Instant) -> f64 {
        let come = now.saturating_duration_since(self.at).as_secs_f64() / rate.every.as_secs_f64().max(1e-9);
        (self.tokens + come).min(f64::from(rate.burst))
    }
}

/// All buckets.
pub struct Limiter {
    limits: Limits,
    names: RandomState,
    buckets: Mutex<HashMap<(LimitedAction, LimitKey), Bucket>>,
}

impl Limiter {
    /// None taken yet.
    pub fn new(limits: Limits) -> Self {
        Self { limits, names: RandomState::new(), buckets: Mutex::default() }
    }

    /// A name, whatever its case.
    pub fn name(&self, name: &str) -> LimitKey {
        LimitKey::Name(self.names.hash_one(name.trim().to_lowercase()))
    }

    /// Takes one, or refuses with when to come back.
    pub fn take(&self, kind: LimitedAction, who: LimitKey) -> ApiResult<()> {
        self.take_at(kind, who, Instant::now()).map_err(|wait| {
            let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
            ApiError::too_often(format!("{}: try again in {seconds} s", kind.words()), seconds)
        })
    }

    /// It was none of what is limited: a sign-in that succeeded.
    pub fn give_back(&self, kind: LimitedAction, who: LimitKey) {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = buckets.get_mut(&(kind, who)) {
            bucket.tokens = (bucket.tokens + 1.0).min(f64::from(self.rate(kind).burst));
        }
    }

    fn take_at(&self, kind: LimitedAction, who: LimitKey, now: Instant) -> Result<(), Duration> {
        let rate = self.rate(kind);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST && !buckets.contains_key(&(kind, who)) {
            self.make_room(&mut buckets, now);
        }
        let bucket = buckets.entry((kind, who)).or_insert(Bucket { tokens: f64::from(rate.burst), at: now });
        let tokens = bucket.filled(rate, now);
        *bucket = Bucket { tokens, at: now };
        if tokens < 1.0 {
            return Err(rate.every.mul_f64(1.0 - tokens));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }

    /// Full buckets say nothing. If there is none, half of the others go: forgetting lets somebody try a little more often, while
    /// refusing whoever is new would shut everybody out.
    fn make_room(&self, buckets: &mut HashMap<(LimitedAction, LimitKey), Bucket>, now: Instant) {
        buckets.retain(|(kind, _), bucket| {
            let rate = self.rate(*kind);
            bucket.filled(rate, now) < f64::from(rate.burst)
        });
        if buckets.len() > MOST / 2 {
            let mut left = MOST / 2;
            buckets.retain(|_, _| {
                left = left.saturating_sub(1);
                left > 0
            });
        }
    }

    const fn rate(&self, kind: LimitedAction) -> Rate {
        match kind {
            LimitedAction::SignInAddress => self.limits.sign_in_address,
            LimitedAction::SignInName => self.limits.sign_in_name,
            LimitedAction::SignUp => self.limits.sign_up,
            LimitedAction::Upload => self.limits.uploads,
            LimitedAction::Change => self.limits.changes,
        }
    }
}

impl LimitedAction {
    const fn words(self) -> &'static str {
        match self {
            Self::SignInAddress | Self::SignInName => "too many attempts to sign in",
            Self::SignUp => "too many new accounts from this address",
            Self::Upload => "too many uploads",
            Self::Change => "too many requests",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter() -> Limiter {
        Limiter::new(Limits::default())
    }

    #[test]
    fn a_burst_then_one_every_so_often_and_each_for_itself() {
        let (limiter, start) = (limiter(), Instant::now());
        let (one, other) = (limiter.name("One"), limiter.name("other"));
        for _ in 0..5 {
            assert!(limiter.take_at(LimitedAction::SignInName, one, start).is_ok());
        }
        let wait = limiter.take_at(LimitedAction::SignInName, one, start).unwrap_err();
        assert_eq!(wait, Duration::from_mins(1));
        assert!(limiter.take_at(LimitedAction::SignInName, other, start).is_ok());
        assert!(limiter.take_at(LimitedAction::SignInAddress, one, start).is_ok());
        assert!(limiter.take_at(LimitedAction::SignInName, one, start + Duration::from_secs(59)).is_err());
        assert!(
            limiter.take_at(LimitedAction::SignInName, limiter.name(" oNE"), start + Duration::from_secs(61)).is_ok()
        );
        assert!(limiter.take_at(LimitedAction::SignInName, one, start + Duration::from_secs(62)).is_err());
        limiter.give_back(LimitedAction::SignInName, one);
        assert!(limiter.take_at(LimitedAction::SignInName, one, start + Duration::from_secs(62)).is_ok());
    }

    #[test]
    fn addresses_count_by_household() {
        let who = |text: &str| LimitKey::address(text.parse().unwrap());
        assert_eq!(who("2001:db8:1:2::1"), who("2001:db8:1:2:ffff::9"));
        assert_ne!(who("2001:db8:1:2::1"), who("2001:db8:1:3::1"));
        assert_eq!(who("::ffff:192.0.2.1"), who("192.0.2.1"));
        assert_ne!(who("192.0.2.1"), who("192.0.2.2"));
    }

    #[test]
    fn memory_is_bounded_however_many_come() {
        let (limiter, start) = (limiter(), Instant::now());
        for number in 0..(3 * MOST as i64) {
            assert!(limiter.take_at(LimitedAction::Upload, LimitKey::Account(number), start).is_ok());
        }
        assert!(limiter.buckets.lock().unwrap().len() <= MOST);
    }
}
