//! Session cookie, bearer tokens and other random secrets.

use agon_core::record::Digest;
use agon_site_db::token_hash;
use axum::http::{HeaderMap, HeaderValue, header};

use crate::config::Config;
use crate::error::{ApiError, ApiResult};

/// `Max-Age` of the cookie in seconds: the longest life of a session. The server may end the session earlier.
const MAX_AGE_SECONDS: i64 = agon_site_db::SESSION_TOTAL_TIMEOUT_MS / 1000;

/// `Max-Age` of the browser cookie in seconds: as long as a client is remembered.
const BROWSER_MAX_AGE_SECONDS: i64 = agon_site_db::KNOWN_CLIENT_TIMEOUT_MS / 1000;

/// 256 random bits as text that fits in a header and a URL.
pub fn random_secret() -> ApiResult<String> {
    let (mut one, mut other) = ([0; 16], [0; 16]);
    getrandom::fill(&mut one).map_err(ApiError::internal)?;
    getrandom::fill(&mut other).map_err(ApiError::internal)?;
    Ok(format!("{:032x}{:032x}", u128::from_be_bytes(one), u128::from_be_bytes(other)))
}

/// 128 random bits as 32 hexadecimal digits, for what is secret for hours only.
pub fn random_key() -> ApiResult<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(ApiError::internal)?;
    Ok(format!("{:032x}", u128::from_be_bytes(bytes)))
}

/// Name of the cookie. With the prefix `__Host-`, browsers accept it only from this host and over TLS.
pub fn cookie_name(config: &Config) -> &'static str {
    if config.uses_https() { "__Host-agon_session" } else { "agon_session" }
}

/// Name of the cookie that marks a browser which has signed in before. It proves nothing but that: it opens no account.
fn browser_cookie_name(config: &Config) -> &'static str {
    if config.uses_https() { "__Host-agon_browser" } else { "agon_browser" }
}

/// Value of a cookie of the request.
fn cookie_value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|part| part.trim().split_once('='))
        .find(|(key, value)| *key == name && !value.is_empty())
        .map(|(_, value)| value)
}

/// Hash of the request's session cookie, as stored in the site database.
pub fn session_hash(config: &Config, headers: &HeaderMap) -> Option<Digest> {
    cookie_value(headers, cookie_name(config)).map(token_hash)
}

/// The request's browser cookie. One that this server cannot have set is ignored.
pub fn browser_token(config: &Config, headers: &HeaderMap) -> Option<String> {
    let value = cookie_value(headers, browser_cookie_name(config))?;
    (value.len() == 64 && value.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| value.to_owned())
}

/// The `Set-Cookie` value that marks a browser as one that has signed in.
pub fn set_browser_cookie(config: &Config, token: &str) -> ApiResult<HeaderValue> {
    set_cookie_header(config, browser_cookie_name(config), token, BROWSER_MAX_AGE_SECONDS)
}

/// Hash of the token in `Authorization: Bearer TOKEN`, as stored in the site database.
pub fn bearer_hash(headers: &HeaderMap) -> Option<Digest> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token_hash(token.trim()))
}

/// The `Set-Cookie` value that sets the session, or deletes it.
pub fn set_cookie(config: &Config, token: Option<&str>) -> ApiResult<HeaderValue> {
    let (value, age) = token.map_or(("", 0), |token| (token, MAX_AGE_SECONDS));
    set_cookie_header(config, cookie_name(config), value, age)
}

fn set_cookie_header(config: &Config, name: &str, value: &str, age: i64) -> ApiResult<HeaderValue> {
    let secure = if config.uses_https() { "; Secure" } else { "" };
    let text = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}");
    let mut header = HeaderValue::try_from(text).map_err(ApiError::internal)?;
    header.set_sensitive(true);
    Ok(header)
}
