//! The session's cookie and the other secrets that people carry.

use agon_core::record::Digest;
use agon_store::site_db::token_hash;
use axum::http::{HeaderMap, HeaderValue, header};

use crate::config::Config;
use crate::error::{ApiError, ApiResult};

/// As long as a session can last at most: seconds. When it really ends the server says.
const AGE: i64 = agon_store::site_db::SESSION_ABSOLUTE / 1000;

/// 256 bits by chance, as text that fits a header and an address.
pub fn secret() -> ApiResult<String> {
    let (mut one, mut other) = ([0; 16], [0; 16]);
    getrandom::fill(&mut one).map_err(ApiError::broke)?;
    getrandom::fill(&mut other).map_err(ApiError::broke)?;
    Ok(format!("{:032x}{:032x}", u128::from_be_bytes(one), u128::from_be_bytes(other)))
}

/// The cookie's name. With `__Host-` browsers take it only from this very host and by TLS.
pub fn name(config: &Config) -> &'static str {
    if config.secure() { "__Host-agon_session" } else { "agon_session" }
}

/// What the request's cookie says the session is, as it is kept.
pub fn session(config: &Config, headers: &HeaderMap) -> Option<Digest> {
    let name = name(config);
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|part| part.trim().split_once('='))
        .find(|(key, value)| *key == name && !value.is_empty())
        .map(|(_, value)| token_hash(value))
}

/// The token of `Authorization: Bearer TOKEN`, as it is kept.
pub fn bearer(headers: &HeaderMap) -> Option<Digest> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token_hash(token.trim()))
}

/// The header that gives a browser its session, or takes it away.
pub fn set(config: &Config, token: Option<&str>) -> ApiResult<HeaderValue> {
    let (value, age) = token.map_or(("", 0), |token| (token, AGE));
    let secure = if config.secure() { "; Secure" } else { "" };
    let text = format!("{}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={age}{secure}", name(config));
    let mut header = HeaderValue::try_from(text).map_err(ApiError::broke)?;
    header.set_sensitive(true);
    Ok(header)
}

/// Whether two texts are the same, in a time that does not tell where they differ.
pub fn same(one: &str, other: &str) -> bool {
    one.len() == other.len()
        && std::hint::black_box(one.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b))) == 0
}
