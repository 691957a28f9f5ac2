//! Passwords: which are taken, and how they are hashed (Argon2id, 19 MiB, two passes). Hashing is slow on purpose, so only few are
//! hashed at once, beside the threads that answer.

use std::sync::Arc;
use std::time::Duration;

use agon_store::site_db::SecretString;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use crate::error::{ApiError, ApiResult};

const AT_ONCE: usize = 2;
/// Whoever waits longer for a turn is told to come back.
const HASH_QUEUE_TIMEOUT: Duration = Duration::from_secs(10);
const LEAST: usize = 10;
const MOST: usize = 200;

/// What everybody tries first, among those that are long enough.
const COMMONEST: &[&str] = &[
    "0123456789",
    "0987654321",
    "1234567890",
    "12345678910",
    "123456789a",
    "1q2w3e4r5t",
    "1q2w3e4r5t6y",
    "1qaz2wsx3edc",
    "abcdefghij",
    "administrator",
    "asdfghjkl;",
    "asdfghjkl1",
    "changeme123",
    "changemenow",
    "football123",
    "iloveyou123",
    "letmein123",
    "letmeinnow",
    "mypassword",
    "password00",
    "password01",
    "password10",
    "password11",
    "password12",
    "password123",
    "password1234",
    "password12345",
    "passwordpassword",
    "princess123",
    "q1w2e3r4t5",
    "qazwsxedcrfv",
    "qwerty1234",
    "qwerty12345",
    "qwerty123456",
    "qwertyuiop",
    "qwertyuiop123",
    "sunshine123",
    "trustno1trustno1",
    "welcome123",
    "welcome1234",
    "zaq12wsxcde3",
    "p@ssw0rd123",
    "passw0rd123",
    "administrator1",
    "correcthorsebatterystaple",
];

/// Of no password: what an unknown name's is held against, so that it costs as much as a wrong one.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Hashes passwords, few at once.
pub struct Passwords {
    turns: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self::new()
    }
}

impl Passwords {
    /// With nobody waiting.
    pub fn new() -> Self {
        Self { turns: Arc::new(Semaphore::new(AT_ONCE)) }
    }

    /// What is kept of a password.
    pub async fn hash(&self, password: String) -> ApiResult<SecretString> {
        self.slowly(move || {
            let mut salt = [0_u8; 16];
            getrandom::fill(&mut salt).map_err(|error| error.to_string())?;
            let hash = argon2()?.hash_password_with_salt(password.as_bytes(), &salt);
            hash.map(|hash| SecretString::new(hash.to_string())).map_err(|error| error.to_string())
        })
        .await
    }

    /// Whether it is the password. `None`: there is no such account, which takes as long to say.
    pub async fn verify(&self, password: String, kept: Option<SecretString>) -> ApiResult<bool> {
        self.slowly(move || {
            let text = kept.as_ref().map_or(NOBODY, SecretString::expose);
            let hash = PasswordHash::new(text).map_err(|error| error.to_string())?;
            // Nobody has a password as long as no rule allows it; and hashing megabytes is not for free.
            let fits = password.chars().nth(MOST).is_none();
            let same = argon2()?.verify_password(if fits { password.as_bytes() } else { b"" }, &hash).is_ok();
            Ok(same && fits && kept.is_some())
        })
        .await
    }

    async fn slowly<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> ApiResult<T> {
        let turn = tokio::time::timeout(HASH_QUEUE_TIMEOUT, Arc::clone(&self.turns).acquire_owned())
            .await
            .map_err(|_| ApiError::busy("too many people sign in just now", 10))?
            .map_err(ApiError::broke)?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(turn);
            done
        });
        done.await.map_err(ApiError::broke)?.map_err(ApiError::broke)
    }
}

fn argon2() -> Result<Argon2<'static>, String> {
    let params = Params::new(19 * 1024, 2, 1, None).map_err(|error| error.to_string())?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// Refuses a password that is easily guessed. `field` is what the request calls it.
pub fn check(field: &str, name: &str, password: &str) -> ApiResult<()> {
    let length = password.chars().count();
    if !(LEAST..=MOST).contains(&length) {
        return Err(ApiError::invalid(
            field,
            format!("a password has {LEAST} to {MOST} characters, this one has {length}"),
        )
        .hint("a few words in a row are easy to remember"));
    }
    let lower = password.to_lowercase();
    if lower.trim() == name.trim().to_lowercase() {
        return Err(ApiError::invalid(field, "the password is the name").hint("choose another"));
    }
    let mut characters = lower.chars();
    let first = characters.next();
    if COMMONEST.contains(&lower.as_str()) || characters.all(|next| Some(next) == first) {
        return Err(ApiError::invalid(field, "everybody tries this password first").hint("choose another"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_passwords_are_refused() {
        for (name, password) in [
            ("Ada", "short"),
            ("Ada", "ninechars"),
            ("Ada", &"long ".repeat(41)),
            ("Ada Lovelace", "ada LOVELACE"),
            ("Ada", "PassWord123"),
            ("Ada", "aaaaaaaaaaaa"),
        ] {
            assert_eq!(check("password", name, password).unwrap_err().code(), "invalid", "{password}");
        }
        for password in ["ten chars!", "ünïcödé wörds", &"x y".repeat(66)] {
            assert!(check("password", "Ada", password).is_ok(), "{password}");
        }
    }

    #[tokio::test]
    async fn the_right_password_and_no_other() {
        let passwords = Passwords::new();
        let hash = passwords.hash("a long password".to_owned()).await.unwrap();
        assert!(hash.expose().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert_ne!(
            hash,
            passwords.hash("a long password".to_owned()).await.unwrap(),
            "each with its own salt"
        );
        assert!(passwords.verify("a long password".to_owned(), Some(hash.clone())).await.unwrap());
        assert!(!passwords.verify("a long passwore".to_owned(), Some(hash)).await.unwrap());
        assert!(!passwords.verify("a long password".to_owned(), None).await.unwrap(), "and it is no error");
    }
}
