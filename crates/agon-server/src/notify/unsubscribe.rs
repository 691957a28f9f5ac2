//! Links that end all notification mails to an address. They need no sign-in and never expire: a code proves itself with the site's secret.

use agon_site_db::AccountId;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::error::{ApiError, ApiResult};
use crate::middleware::cookie;
use crate::state::AppState;

/// Setting of the site database with the secret.
const SECRET_SETTING: &str = "mail.unsubscribe-secret";

/// The code for an account and its address.
pub async fn code(app: &AppState, account: AccountId, address: &str) -> ApiResult<String> {
    let secret = match app.site_db.setting(SECRET_SETTING).await? {
        Some(secret) => secret,
        None => {
            let secret = cookie::random_secret()?;
            app.site_db.set_setting(SECRET_SETTING, Some(&secret)).await?;
            secret
        }
    };
    Ok(format!("{}-{}", account.0, hex(&mac(&secret, account, address)?.finalize().into_bytes())))
}

/// The account of a code; 404 if the code is not valid for the account's current address.
pub async fn account_of(app: &AppState, code: &str) -> ApiResult<AccountId> {
    let unknown = || ApiError::not_found("link").hint("use the link of the latest mail");
    let (account, sent) = code.split_once('-').ok_or_else(unknown)?;
    let account = AccountId(account.parse().map_err(|_| unknown())?);
    let address = app.site_db.mail_address(account).await?.ok_or_else(unknown)?;
    let secret = app.site_db.setting(SECRET_SETTING).await?.ok_or_else(unknown)?;
    let sent = bytes_of_hex(sent).ok_or_else(unknown)?;
    mac(&secret, account, &address.address)?.verify_slice(&sent).map_err(|_| unknown())?;
    Ok(account)
}

fn mac(secret: &str, account: AccountId, address: &str) -> ApiResult<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).map_err(ApiError::internal)?;
    mac.update(format!("{} {address}", account.0).as_bytes());
    Ok(mac)
}

/// Bytes as lowercase hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}
