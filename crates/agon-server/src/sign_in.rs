//! Limits of sign-ins. They slow down guessing without locking out a person who knows the password.
//!
//! An attempt is judged by what the client has proved before. A browser that has signed in to the account (it has a cookie) and an
//! address that has done so have attempts of their own, which guesses from elsewhere cannot use up. All other clients are strangers.
//! Strangers are limited by address, by address and account, and all together by account. Beyond that last limit an address that has
//! not guessed before still has one attempt a day. Tokens are taken before the password is hashed, and returned if it is right.
//! docs/decisions/073-sign-in-limits.md has the reasons and the figures.

use std::net::IpAddr;
use std::time::Duration;

use agon_core::record::Digest;
use agon_site_db::{Account, AccountId, SecretString, name_key, token_hash};
use agon_store::Timestamp;
use axum::http::HeaderMap;

use crate::error::ApiResult;
use crate::middleware::address::NetworkWidth;
use crate::middleware::cookie;
use crate::middleware::rate_limit::{LimitedAction, RateLimiter, Token};
use crate::passwords::HashFor;
use crate::state::AppState;

/// Maximum time that an attempt from a known address waits for its turn.
const MAX_SIGN_IN_DELAY: Duration = Duration::from_secs(15);

/// An attempt to sign in that may be checked.
pub struct SignInAttempt {
    account: Option<Account>,
    stored_hash: Option<SecretString>,
    /// The tokens that it took.
    taken: Vec<Token>,
    client: HashFor,
}

impl SignInAttempt {
    /// Waits until the attempt may be checked, or fails with a 429.
    pub async fn begin(app: &AppState, address: IpAddr, headers: &HeaderMap, name: &str) -> ApiResult<Self> {
        let found = app.site_db.credentials(name).await?;
        let (account, stored_hash) =
            found.map_or((None, None), |found| (Some(found.account), Some(found.password_hash)));
        let attempt =
            |taken: Vec<Token>, client| Self { account: account.clone(), stored_hash, taken, client };
        if let Some(account) = &account
            && let Some((token, delay)) = take_as_known(app, account.id, address, headers).await?
        {
            if !delay.is_zero() {
                app.meters.sign_in("delayed");
                tokio::time::sleep(delay).await;
            }
            return Ok(attempt(vec![token], HashFor::KnownClient));
        }
        match take_as_stranger(&app.limiter, address, &name_key(name)) {
            Ok(taken) => Ok(attempt(taken, HashFor::Stranger)),
            Err(wait) => {
                app.meters.sign_in("limited");
                Err(LimitedAction::SignInAccount.error(wait).hint(
                    "use a browser or an address from which you have signed in before, or an API token",
                ))
            }
        }
    }

    /// Checks the password. Returns the account if it is right.
    pub async fn check(self, app: &AppState, password: String) -> ApiResult<Option<Account>> {
        let correct = app.passwords.verify(self.client, password, self.stored_hash).await;
        if !matches!(correct, Ok(false)) {
            // A right password does not count, and neither does one that was not checked.
            app.limiter.refund(&self.taken);
        }
        let account = self.account.filter(|_| matches!(correct, Ok(true)));
        app.meters.sign_in(if account.is_some() { "right" } else { "wrong" });
        correct.map(|_| account)
    }
}

/// Takes a token of the browser or of the address, if it has signed in to the account before and has one left. Also returns the time to
/// wait. A client without a token left is treated as a stranger.
async fn take_as_known(
    app: &AppState,
    account: AccountId,
    address: IpAddr,
    headers: &HeaderMap,
) -> ApiResult<Option<(Token, Duration)>> {
    let now = Timestamp::now();
    if let Some(browser) = cookie::browser_token(&app.config, headers).map(|token| browser_hash(&token))
        && app.site_db.is_known_client(account, browser, now).await?
    {
        let token = (LimitedAction::SignInKnownBrowser, app.limiter.hashed((account.0, browser.0)));
        if app.limiter.take_all(&[token]).is_ok() {
            return Ok(Some((token, Duration::ZERO)));
        }
    }
    if app.site_db.is_known_client(account, address_mark(account, address), now).await? {
        let network = NetworkWidth::Host.network(address);
        let token = (LimitedAction::SignInKnownAddress, app.limiter.hashed((account.0, network)));
        let delay = app.limiter.reserve(token, MAX_SIGN_IN_DELAY);
        return Ok(delay.map(|delay| (token, delay)));
    }
    Ok(None)
}

/// Takes the tokens of a stranger, or fails with the time to wait.
fn take_as_stranger(limiter: &RateLimiter, address: IpAddr, name: &str) -> Result<Vec<Token>, Duration> {
    let pair = |width: NetworkWidth| limiter.hashed((width, width.network(address), name));
    let mut taken: Vec<Token> = NetworkWidth::ALL
        .into_iter()
        .flat_map(|width| {
            let network = limiter.hashed((width, width.network(address)));
            [(LimitedAction::SignInAddress(width), network), (LimitedAction::SignInPair(width), pair(width))]
        })
        .collect();
    limiter.take_all(&taken)?;
    let of_account = (LimitedAction::SignInAccount, limiter.hashed(name));
    let Err(wait) = limiter.take_all(&[of_account]) else {
        taken.push(of_account);
        return Ok(taken);
    };
    let first = NetworkWidth::ALL.map(|width| (LimitedAction::SignInFirst(width), pair(width)));
    if limiter.take_all(&first).is_err() {
        // Nothing was guessed.
        limiter.refund(&taken);
        return Err(wait);
    }
    taken.extend(first);
    Ok(taken)
}

/// Remembers the browser and the address of a successful sign-in. Returns the token for the browser's cookie.
pub async fn remember_client(
    app: &AppState,
    account: AccountId,
    address: IpAddr,
    headers: &HeaderMap,
) -> ApiResult<String> {
    let browser = match cookie::browser_token(&app.config, headers) {
        Some(token) => token,
        None => cookie::random_secret()?,
    };
    let clients = [browser_hash(&browser), address_mark(account, address)];
    app.site_db.remember_clients(account, &clients, Timestamp::now()).await?;
    Ok(browser)
}

fn browser_hash(token: &str) -> Digest {
    token_hash(&format!("browser {token}"))
}

/// The mark of an address: 20 bits of a hash. So the site database does not contain the address, because 4,096 IPv4 addresses have the
/// same mark, but another client has the mark by chance with a probability of only one in a million.
fn address_mark(account: AccountId, address: IpAddr) -> Digest {
    let whole = token_hash(&format!("address {} {}", account.0, NetworkWidth::Host.network(address)));
    let mut mark = [0; 32];
    mark[..3].copy_from_slice(&whole.0[..3]);
    mark[2] &= 0xf0;
    Digest(mark)
}
