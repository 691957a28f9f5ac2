//! Rate limiting with a token bucket per account, address or name. Memory is bounded.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use agon_core::LockIgnoringPoison as _;

use super::address::NetworkWidth;
use crate::config::{Rate, RateLimits};
use crate::error::{ApiError, ApiResult};

/// Maximum number of buckets. Only an attack needs more.
const MAX_BUCKETS: usize = 50_000;

/// Kinds of actions that are limited.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LimitedAction {
    /// Failed sign-ins from a network to any account.
    SignInAddress(NetworkWidth),
    /// Failed sign-ins from a network to one account.
    SignInPair(NetworkWidth),
    /// Failed sign-ins to one account from all clients that have never signed in to it.
    SignInAccount,
    /// Sign-ins to one account beyond [`LimitedAction::SignInAccount`], for each network.
    SignInFirst(NetworkWidth),
    /// Failed sign-ins from an address that has signed in to the account before.
    SignInKnownAddress,
    /// Failed sign-ins from a browser that has signed in to the account before.
    SignInKnownBrowser,
    /// Failed changes of the password in one session.
    PasswordChange,
    /// Sign-ups from one address.
    SignUp,
    /// Uploads of bots.
    Upload,
    /// Answers of persons who play in the browser.
    Answer,
    /// Requests for links to a new password or a verified address.
    MailLink,
    /// Comments and reports.
    Comment,
    /// Searches.
    Search,
    /// Pictures and GIFs that have to be made.
    Picture,
    /// All other changes.
    Change,
}

/// Who is counted together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LimitKey {
    /// An account.
    Account(i64),
    /// An IPv4 address or an IPv6 /64.
    Address(IpAddr),
    /// Hash of anything else, such as an account name together with an address.
    Hashed(u64),
}

impl LimitKey {
    /// Key of an address.
    pub fn address(address: IpAddr) -> Self {
        Self::Address(NetworkWidth::Host.network(address))
    }
}

/// A token of a bucket: what was taken, and can be refunded.
pub type Token = (LimitedAction, LimitKey);

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
    hasher: RandomState,
    buckets: Mutex<Buckets>,
}

type Buckets = HashMap<Token, Bucket>;

impl RateLimiter {
    /// With all buckets full.
    pub fn new(limits: RateLimits) -> Self {
        Self { limits, hasher: RandomState::new(), buckets: Mutex::default() }
    }

    /// Key of anything that can be hashed. The hash is different in every process, so that collisions cannot be prepared.
    pub fn hashed(&self, value: impl std::hash::Hash) -> LimitKey {
        LimitKey::Hashed(self.hasher.hash_one(value))
    }

    fn lock(&self) -> MutexGuard<'_, Buckets> {
        self.buckets.lock_ignoring_poison()
    }

    /// Takes a token, or fails with the time after which the client may retry.
    pub fn take(&self, action: LimitedAction, key: LimitKey) -> ApiResult<()> {
        self.take_all(&[(action, key)]).map_err(|wait| action.error(wait))
    }

    /// Takes all of these tokens, or none and fails with the time after which all are available.
    pub fn take_all(&self, tokens: &[Token]) -> Result<(), Duration> {
        self.take_all_at(tokens, Instant::now())
    }

    /// Returns tokens: a successful sign-in does not count.
    pub fn refund(&self, tokens: &[Token]) {
        let mut buckets = self.lock();
        for token in tokens {
            if let Some(bucket) = buckets.get_mut(token) {
                bucket.tokens = (bucket.tokens + 1.0).min(f64::from(self.rate(token.0).burst));
            }
        }
    }

    /// Takes a token that may not be there yet. Returns the time until it is; `None` if that is longer than `max_delay`.
    pub fn reserve(&self, token: Token, max_delay: Duration) -> Option<Duration> {
        self.reserve_at(token, max_delay, Instant::now())
    }

    fn take_all_at(&self, tokens: &[Token], now: Instant) -> Result<(), Duration> {
        let mut buckets = self.lock();
        let missing = tokens.iter().filter_map(|&token| {
            let there = self.tokens(&buckets, token, now);
            (there < 1.0).then(|| self.rate(token.0).every.mul_f64(1.0 - there))
        });
        if let Some(wait) = missing.max() {
            return Err(wait);
        }
        for &token in tokens {
            self.take_one(&mut buckets, token, now);
        }
        Ok(())
    }

    fn reserve_at(&self, token: Token, max_delay: Duration, now: Instant) -> Option<Duration> {
        let mut buckets = self.lock();
        let there = self.tokens(&buckets, token, now);
        let delay = self.rate(token.0).every.mul_f64((1.0 - there).max(0.0));
        if delay > max_delay {
            return None;
        }
        self.take_one(&mut buckets, token, now);
        Some(delay)
    }

    /// Number of tokens in a bucket. A bucket that does not exist is full: rejected clients create none.
    fn tokens(&self, buckets: &Buckets, token: Token, now: Instant) -> f64 {
        let rate = self.rate(token.0);
        buckets.get(&token).map_or(f64::from(rate.burst), |bucket| bucket.tokens_at(rate, now))
    }

    fn take_one(&self, buckets: &mut Buckets, token: Token, now: Instant) {
        let tokens = self.tokens(buckets, token, now) - 1.0;
        if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(&token) {
            self.evict(buckets, now);
        }
        buckets.insert(token, Bucket { tokens, updated: now });
    }

    /// Removes full buckets, which hold no information. If too many remain, removes half of them. Their owners may then try a little more
    /// often, but rejecting new clients instead would lock out everyone.
    fn evict(&self, buckets: &mut Buckets, now: Instant) {
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

    fn rate(&self, action: LimitedAction) -> Rate {
        match action {
            LimitedAction::SignInAddress(width) => self.limits.sign_in_address.times(width.factor()),
            LimitedAction::SignInPair(width) => self.limits.sign_in_pair.times(width.factor()),
            LimitedAction::SignInAccount => self.limits.sign_in_account,
            LimitedAction::SignInFirst(width) => self.limits.sign_in_first.times(width.factor()),
            LimitedAction::SignInKnownAddress => self.limits.sign_in_known_address,
            LimitedAction::SignInKnownBrowser => self.limits.sign_in_known_browser,
            LimitedAction::PasswordChange => self.limits.password_change,
            LimitedAction::SignUp => self.limits.sign_up,
            LimitedAction::Upload => self.limits.uploads,
            LimitedAction::Answer => self.limits.answers,
            LimitedAction::MailLink => self.limits.mail_links,
            LimitedAction::Comment => self.limits.comments,
            LimitedAction::Search => self.limits.searches,
            LimitedAction::Picture => self.limits.pictures,
            LimitedAction::Change => self.limits.changes,
        }
    }
}

impl LimitedAction {
    /// The error of a client that must wait.
    pub fn error(self, wait: Duration) -> ApiError {
        let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
        ApiError::too_many_requests(format!("{}: try again in {seconds} s", self.describe()), seconds)
    }

    const fn describe(self) -> &'static str {
        match self {
            Self::SignUp => "too many new accounts from this address",
            Self::Upload => "too many uploads",
            Self::Answer => "too many answers",
            Self::MailLink => "too many requests for links",
            Self::Comment => "too many comments",
            Self::Search => "too many searches",
            Self::Picture => "too many pictures",
            Self::Change => "too many requests",
            Self::PasswordChange => "too many wrong passwords",
            _ => "too many attempts to sign in",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter() -> RateLimiter {
        RateLimiter::new(RateLimits::default())
    }

    const PAIR: LimitedAction = LimitedAction::SignInPair(NetworkWidth::Host);

    #[test]
    fn take_allows_a_burst_then_one_per_interval_for_each_key() {
        let (limiter, start) = (limiter(), Instant::now());
        let (one, other) = (limiter.hashed("one"), limiter.hashed("other"));
        let take =
            |action, key, after| limiter.take_all_at(&[(action, key)], start + Duration::from_secs(after));
        for _ in 0..5 {
            assert!(take(PAIR, one, 0).is_ok());
        }
        assert_eq!(take(PAIR, one, 0), Err(Duration::from_mins(1)));
        assert!(take(PAIR, other, 0).is_ok());
        assert!(take(LimitedAction::SignInPair(NetworkWidth::Site), one, 0).is_ok());
        assert!(take(PAIR, one, 59).is_err());
        assert!(take(PAIR, one, 61).is_ok());
        assert!(take(PAIR, one, 62).is_err());
        limiter.refund(&[(PAIR, one)]);
        assert!(take(PAIR, one, 62).is_ok());
    }

    #[test]
    fn take_all_takes_nothing_if_one_token_is_missing() {
        let (limiter, now) = (limiter(), Instant::now());
        let (one, other) = (limiter.hashed("one"), limiter.hashed("other"));
        for _ in 0..4 {
            limiter.take_all_at(&[(PAIR, one)], now).unwrap();
        }
        limiter.take_all_at(&[(PAIR, one), (PAIR, other)], now).unwrap();
        for _ in 0..10 {
            limiter.take_all_at(&[(PAIR, other), (PAIR, one)], now).unwrap_err();
        }
        for _ in 0..4 {
            limiter.take_all_at(&[(PAIR, other)], now).unwrap();
        }
        limiter.take_all_at(&[(PAIR, other)], now).unwrap_err();
    }

    #[test]
    fn reserve_delays_up_to_a_maximum() {
        let (limiter, now) = (limiter(), Instant::now());
        let token = (LimitedAction::SignInKnownAddress, limiter.hashed("one"));
        let mut delays = Vec::new();
        while let Some(delay) = limiter.reserve_at(token, Duration::from_secs(10), now) {
            delays.push(delay.as_secs_f64().round() as u64);
        }
        assert_eq!(delays, [0, 0, 0, 0, 0, 3, 6, 9]);
        limiter.refund(&[token]);
        assert!(limiter.reserve_at(token, Duration::from_secs(10), now).is_some());
        let later = now + Duration::from_secs(12);
        assert!(limiter.reserve_at(token, Duration::ZERO, later).is_some(), "the tokens come back");
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
            let token = (LimitedAction::Upload, LimitKey::Account(number));
            assert!(limiter.take_all_at(&[token], start).is_ok());
        }
        assert!(limiter.lock().len() <= MAX_BUCKETS);
    }
}
