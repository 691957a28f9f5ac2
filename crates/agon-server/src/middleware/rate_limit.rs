//! Rate limiting with a token bucket per account, address or name. Memory is bounded.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;

use crate::config::{Rate, RateLimits};
use crate::error::{ApiError, ApiResult};

/// Maximum number of buckets. Only an attack needs more.
const MAX_BUCKETS: usize = 50_000;

/// Kinds of actions that are limited.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LimitedAction {
    /// Failed sign-ins from one address.
    SignInAddress,
    /// Failed sign-ins to one name.
    SignInName,
    /// Sign-ups from one address.
    SignUp,
    /// Uploads of bots.
    Upload,
    /// All other changes.
    Change,
}

/// Who is counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LimitKey {
    /// An account.
    Account(i64),
    /// An IP address. IPv6 is counted by its /64 prefix, which is what one household has.
    Address(IpAddr),
    /// A hashed account name.
    Name(u64),
}

impl LimitKey {
    /// Key of an address.
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
    updated: Instant,
}

impl Bucket {
    fn tokens_at(self, rate: Rate, now: Instant) -> f64 {
        let refilled =
            now.saturating_duration_since(self.updated).as_secs_f64() / rate.every.as_secs_f64().max(1e-9);
        (self.tokens + refilled).min(f64::from(rate.burst))
    }
}

/// All token buckets.
pub struct RateLimiter {
    limits: RateLimits,
    name_hasher: RandomState,
    buckets: Mutex<HashMap<(LimitedAction, LimitKey), Bucket>>,
}

impl RateLimiter {
    /// With all buckets full.
    pub fn new(limits: RateLimits) -> Self {
        Self { limits, name_hasher: RandomState::new(), buckets: Mutex::default() }
    }

    /// Key of a name, ignoring case.
    pub fn name_key(&self, name: &str) -> LimitKey {
        LimitKey::Name(self.name_hasher.hash_one(name.trim().to_lowercase()))
    }

    /// Takes a token, or fails with the time after which the client may retry.
    pub fn take(&self, action: LimitedAction, key: LimitKey) -> ApiResult<()> {
        self.take_at(action, key, Instant::now()).map_err(|wait| {
            let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
            ApiError::too_many_requests(format!("{}: try again in {seconds} s", action.describe()), seconds)
        })
    }

    /// Returns a token: a successful sign-in does not count.
    pub fn refund(&self, action: LimitedAction, key: LimitKey) {
        let mut buckets = self.buckets.lock_ignoring_poison();
        if let Some(bucket) = buckets.get_mut(&(action, key)) {
            bucket.tokens = (bucket.tokens + 1.0).min(f64::from(self.rate(action).burst));
        }
    }

    fn take_at(&self, action: LimitedAction, key: LimitKey, now: Instant) -> Result<(), Duration> {
        let rate = self.rate(action);
        let mut buckets = self.buckets.lock_ignoring_poison();
        if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(&(action, key)) {
            self.evict(&mut buckets, now);
        }
        let bucket =
            buckets.entry((action, key)).or_insert(Bucket { tokens: f64::from(rate.burst), updated: now });
        let tokens = bucket.tokens_at(rate, now);
        *bucket = Bucket { tokens, updated: now };
        if tokens < 1.0 {
            return Err(rate.every.mul_f64(1.0 - tokens));
        }
        bucket.tokens -= 1.0;
        Ok(())
    }

    /// Removes full buckets, which hold no information. If too many remain, removes half of them. Their owners may then try a little more
    /// often, but rejecting new clients instead would lock out everyone.
    fn evict(&self, buckets: &mut HashMap<(LimitedAction, LimitKey), Bucket>, now: Instant) {
        buckets.retain(|(action, _), bucket| {
            let rate = self.rate(*action);
            bucket.tokens_at(rate, now) < f64::from(rate.burst)
        });
        if buckets.len() > MAX_BUCKETS / 2 {
            let mut left = MAX_BUCKETS / 2;
            buckets.retain(|_, _| {
                left = left.saturating_sub(1);
                left > 0
            });
        }
    }

    const fn rate(&self, action: LimitedAction) -> Rate {
        match action {
            LimitedAction::SignInAddress => self.limits.sign_in_address,
            LimitedAction::SignInName => self.limits.sign_in_name,
            LimitedAction::SignUp => self.limits.sign_up,
            LimitedAction::Upload => self.limits.uploads,
            LimitedAction::Change => self.limits.changes,
        }
    }
}

impl LimitedAction {
    const fn describe(self) -> &'static str {
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

    fn limiter() -> RateLimiter {
        RateLimiter::new(RateLimits::default())
    }

    #[test]
    fn take_allows_a_burst_then_one_per_interval_for_each_key() {
        let (limiter, start) = (limiter(), Instant::now());
        let (one, other) = (limiter.name_key("One"), limiter.name_key("other"));
        for _ in 0..5 {
            assert!(limiter.take_at(LimitedAction::SignInName, one, start).is_ok());
        }
        let wait = limiter.take_at(LimitedAction::SignInName, one, start).unwrap_err();
        assert_eq!(wait, Duration::from_mins(1));
        assert!(limiter.take_at(LimitedAction::SignInName, other, start).is_ok());
        assert!(limiter.take_at(LimitedAction::SignInAddress, one, start).is_ok());
        assert!(limiter.take_at(LimitedAction::SignInName, one, start + Duration::from_secs(59)).is_err());
        assert!(
            limiter
                .take_at(LimitedAction::SignInName, limiter.name_key(" oNE"), start + Duration::from_secs(61))
                .is_ok()
        );
        assert!(limiter.take_at(LimitedAction::SignInName, one, start + Duration::from_secs(62)).is_err());
        limiter.refund(LimitedAction::SignInName, one);
        assert!(limiter.take_at(LimitedAction::SignInName, one, start + Duration::from_secs(62)).is_ok());
    }

    #[test]
    fn ipv6_addresses_share_a_key_per_64_bit_prefix() {
        let key = |text: &str| LimitKey::address(text.parse().unwrap());
        assert_eq!(key("2001:db8:1:2::1"), key("2001:db8:1:2:ffff::9"));
        assert_ne!(key("2001:db8:1:2::1"), key("2001:db8:1:3::1"));
        assert_eq!(key("::ffff:192.0.2.1"), key("192.0.2.1"));
        assert_ne!(key("192.0.2.1"), key("192.0.2.2"));
    }

    #[test]
    fn bucket_count_stays_bounded_with_many_keys() {
        let (limiter, start) = (limiter(), Instant::now());
        for number in 0..(3 * MAX_BUCKETS as i64) {
            assert!(limiter.take_at(LimitedAction::Upload, LimitKey::Account(number), start).is_ok());
        }
        assert!(limiter.buckets.lock().unwrap().len() <= MAX_BUCKETS);
    }
}
