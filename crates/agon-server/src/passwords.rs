//! Passwords: which are allowed, and how they are hashed (Argon2id, 19 MiB, two passes). Hashing is slow on purpose, so the number of
//! parallel hashes is limited. It runs on threads that answer no requests.

use std::sync::Arc;
use std::time::Duration;

use agon_site_db::SecretString;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::error::{ApiError, ApiResult};

const MAX_PARALLEL_HASHES: usize = 2;
/// Maximum number of them for clients that the server does not know, so that a flood of guesses does not delay others.
const MAX_PARALLEL_HASHES_OF_STRANGERS: usize = 1;
/// Time that a request waits for a hashing slot before it gets a 503.
const HASH_QUEUE_TIMEOUT: Duration = Duration::from_secs(10);
const MIN_PASSWORD_CHARS: usize = 10;
const MAX_PASSWORD_CHARS: usize = 200;

/// Common passwords that are long enough to be allowed otherwise.
const COMMON_PASSWORDS: &[&str] = &[
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

/// Hash of no password. Sign-ins with an unknown name are checked against it, so that they take as long as those with a wrong password.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// For which client a password is hashed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HashFor {
    /// A client that has signed in to the account before.
    KnownClient,
    /// Any other client.
    Stranger,
}

/// Hashes and verifies passwords, at most [`MAX_PARALLEL_HASHES`] at a time.
pub struct Passwords {
    permits: Arc<Semaphore>,
    stranger_permits: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self::new()
    }
}

impl Passwords {
    /// With all slots free.
    pub fn new() -> Self {
        Self {
            permits: Arc::new(Semaphore::new(MAX_PARALLEL_HASHES)),
            stranger_permits: Arc::new(Semaphore::new(MAX_PARALLEL_HASHES_OF_STRANGERS)),
        }
    }

    /// Hashes a password for storage.
    pub async fn hash(&self, client: HashFor, password: String) -> ApiResult<SecretString> {
        self.run_hashing(client, move || {
            let mut salt = [0_u8; 16];
            getrandom::fill(&mut salt).map_err(|error| error.to_string())?;
            let hash = argon2()?.hash_password_with_salt(password.as_bytes(), &salt);
            hash.map(|hash| SecretString::new(hash.to_string())).map_err(|error| error.to_string())
        })
        .await
    }

    /// Whether the password is right. With `None` (no such account) the answer is no, after the same time.
    pub async fn verify(
        &self,
        client: HashFor,
        password: String,
        stored_hash: Option<SecretString>,
    ) -> ApiResult<bool> {
        self.run_hashing(client, move || {
            let text = stored_hash.as_ref().map_or(DUMMY_HASH, SecretString::expose);
            let hash = PasswordHash::new(text).map_err(|error| error.to_string())?;
            // Longer passwords are not allowed, so they are wrong. Hashing megabytes would be slow.
            let fits = password.chars().nth(MAX_PASSWORD_CHARS).is_none();
            let same = argon2()?.verify_password(if fits { password.as_bytes() } else { b"" }, &hash).is_ok();
            Ok(same && fits && stored_hash.is_some())
        })
        .await
    }

    async fn run_hashing<T: Send + 'static>(
        &self,
        client: HashFor,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> ApiResult<T> {
        let permit = tokio::time::timeout(HASH_QUEUE_TIMEOUT, self.wait_for_permit(client))
            .await
            .map_err(|_| ApiError::busy("too many sign-ins at the moment", 10))?
            .map_err(ApiError::internal)?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        done.await.map_err(ApiError::internal)?.map_err(ApiError::internal)
    }
}

impl Passwords {
    /// Waits for a slot. A stranger waits for the slot of strangers first, so that at most one of them waits among the known clients.
    async fn wait_for_permit(
        &self,
        client: HashFor,
    ) -> Result<(OwnedSemaphorePermit, Option<OwnedSemaphorePermit>), AcquireError> {
        let stranger = match client {
            HashFor::KnownClient => None,
            HashFor::Stranger => Some(Arc::clone(&self.stranger_permits).acquire_owned().await?),
        };
        Ok((Arc::clone(&self.permits).acquire_owned().await?, stranger))
    }
}

fn argon2() -> Result<Argon2<'static>, String> {
    let params = Params::new(19 * 1024, 2, 1, None).map_err(|error| error.to_string())?;
    Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
}

/// Rejects a password that is easy to guess. `field` is its name in the request.
pub fn check(field: &str, name: &str, password: &str) -> ApiResult<()> {
    let length = password.chars().count();
    if !(MIN_PASSWORD_CHARS..=MAX_PASSWORD_CHARS).contains(&length) {
        return Err(ApiError::invalid(
            field,
            format!("the password must have {MIN_PASSWORD_CHARS} to {MAX_PASSWORD_CHARS} characters; this one has {length}"),
        )
        .hint("use a few words in a row, which are easy to remember"));
    }
    let lower = password.to_lowercase();
    if lower.trim() == name.trim().to_lowercase() {
        return Err(ApiError::invalid(field, "the password must not be the name").hint("choose another"));
    }
    let mut characters = lower.chars();
    let first = characters.next();
    if COMMON_PASSWORDS.contains(&lower.as_str()) || characters.all(|next| Some(next) == first) {
        return Err(ApiError::invalid(field, "this password is too common").hint("choose another"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_rejects_passwords_that_are_short_long_common_or_the_name() {
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
    async fn verify_accepts_only_the_right_password() {
        let passwords = Passwords::new();
        let hash = passwords.hash(HashFor::Stranger, "a long password".to_owned()).await.unwrap();
        assert!(hash.expose().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert_ne!(
            hash,
            passwords.hash(HashFor::Stranger, "a long password".to_owned()).await.unwrap(),
            "each hash has a different salt"
        );
        assert!(
            passwords
                .verify(HashFor::Stranger, "a long password".to_owned(), Some(hash.clone()))
                .await
                .unwrap()
        );
        assert!(
            !passwords.verify(HashFor::Stranger, "a long passwore".to_owned(), Some(hash)).await.unwrap()
        );
        assert!(
            !passwords.verify(HashFor::Stranger, "a long password".to_owned(), None).await.unwrap(),
            "an unknown account is not an error"
        );
    }

    #[tokio::test]
    async fn known_client_does_not_wait_for_the_queue_of_strangers() {
        let passwords = Passwords::new();
        let _strangers = passwords.wait_for_permit(HashFor::Stranger).await.unwrap();
        let next =
            tokio::time::timeout(Duration::from_millis(20), passwords.wait_for_permit(HashFor::Stranger));
        assert!(next.await.is_err(), "two strangers at a time");
        let known =
            tokio::time::timeout(Duration::from_secs(5), passwords.wait_for_permit(HashFor::KnownClient));
        assert!(known.await.is_ok());
    }
}
