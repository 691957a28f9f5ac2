//! Data types for accounts, sessions, tokens, invitations and the audit log.

use std::fmt;

use agon_core::record::Digest;
use agon_store::Timestamp;
use sha2::{Digest as _, Sha256};

/// Defines row ids as distinct types.
macro_rules! id {
    ($(#[$about:meta] $name:ident),+) => {$(
        #[$about]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

id! {
    /// Id of an account.
    AccountId,
    /// Id of an API token.
    TokenId,
    /// Id of an invitation.
    InvitationId,
    /// Id of an entrant, across all competitions. Not its number in the competition file.
    EntrantId,
    /// Id of a team.
    TeamId,
    /// Id of an entry of the audit log.
    AuditId
}

/// Defines an enum with a name for each variant, used in the database and in messages.
macro_rules! named_enum {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name { $($(#[$of])* $variant),+ }

        impl $name {
            /// All variants.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Name in the database and in messages.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The variant with this name.
            pub fn by_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(super) use named_enum;

/// Secret text, such as a password hash or the CSRF secret of a session. Its `Debug` output does not contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretString(String);

impl SecretString {
    /// Wraps the text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretString(..)")
    }
}

/// Stored form of session tokens, API tokens and invitation codes: SHA-256. They are long and random, so a fast hash is enough.
/// Passwords are not; the server hashes them with a slow function.
pub fn token_hash(token: &str) -> Digest {
    Digest(Sha256::digest(token.as_bytes()).into())
}

named_enum! {
    /// Permissions of an account.
    Role {
        /// May do everything.
        Organiser = "organiser",
        /// May enter bots.
        Author = "author",
        /// May only read.
        Spectator = "spectator",
    }
}

/// Request for a page of a list, newest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRequest {
    /// [`ResultPage::next`] of the previous page; `None` for the first page.
    pub after: Option<i64>,
    /// Maximum number of items, 1 to 200.
    pub limit: u32,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { after: None, limit: 50 }
    }
}

/// A page of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResultPage<T> {
    /// Items, newest first.
    pub items: Vec<T>,
    /// Start of the next page, if there is one.
    pub next: Option<i64>,
}

/// An account, without its password hash; see [`crate::SiteDb::credentials`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    /// Id.
    pub id: AccountId,
    /// Name as entered, in NFC.
    pub name: String,
    /// Role.
    pub role: Role,
    /// Invitation used for signing up.
    pub invitation: Option<InvitationId>,
    /// Time of creation.
    pub created: Timestamp,
    /// Time at which it was disabled.
    pub disabled: Option<Timestamp>,
}

/// An account with its password hash.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Credentials {
    /// The account.
    pub account: Account,
    /// Password hash as written by the server.
    pub password_hash: SecretString,
}

/// An account to create.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewAccount {
    /// Name, 1 to 40 printable characters, unique regardless of case.
    pub name: String,
    /// The server's hash of the password, never the password.
    pub password_hash: SecretString,
    /// Permission to sign up.
    pub grant: SignUpGrant,
    /// Time of creation.
    pub at: Timestamp,
}

/// Permission to sign up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignUpGrant {
    /// Granted by the caller: open sign-up, or an organiser creates the account.
    Open(Role),
    /// Granted by the invitation whose code has this hash. It determines the role. One use is consumed in the same transaction.
    Invited(Digest),
}

/// A signed-in browser.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    /// Account of the session.
    pub account: AccountId,
    /// Secret that forms must contain.
    pub csrf: SecretString,
    /// Time of sign-in.
    pub created: Timestamp,
    /// Time of last use, to the minute.
    pub seen: Timestamp,
    /// Time at which it ends if it is not used.
    pub expires: Timestamp,
    /// User agent of the browser, truncated.
    pub agent: String,
}

/// A session to create.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSession {
    /// [`token_hash`] of its token.
    pub token: Digest,
    /// Account of the session.
    pub account: AccountId,
    /// Secret that forms must contain.
    pub csrf: SecretString,
    /// User agent of the browser; truncated when stored.
    pub agent: String,
    /// Time of sign-in.
    pub at: Timestamp,
}

/// An API token, without the token itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// Id.
    pub id: TokenId,
    /// Owner.
    pub account: AccountId,
    /// Label chosen by the owner.
    pub label: String,
    /// Time of creation.
    pub created: Timestamp,
    /// Time of last use, to the minute.
    pub used: Option<Timestamp>,
    /// Time of expiry.
    pub expires: Option<Timestamp>,
    /// Time of revocation.
    pub revoked: Option<Timestamp>,
}

/// An API token to create.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewToken {
    /// Owner.
    pub account: AccountId,
    /// Label, 1 to 60 characters.
    pub label: String,
    /// [`token_hash`] of the token.
    pub token: Digest,
    /// Time of expiry.
    pub expires: Option<Timestamp>,
    /// Time of creation.
    pub at: Timestamp,
}

/// An invitation, without its code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invitation {
    /// Id.
    pub id: InvitationId,
    /// Role of accounts created with it.
    pub role: Role,
    /// Note of the organiser about the recipient.
    pub note: String,
    /// Account that created it; `None`: the system.
    pub by: Option<AccountId>,
    /// Time of creation.
    pub created: Timestamp,
    /// Time of expiry.
    pub expires: Timestamp,
    /// Total number of uses.
    pub uses: u32,
    /// Remaining number of uses.
    pub uses_left: u32,
    /// Time of revocation.
    pub revoked: Option<Timestamp>,
}

impl Invitation {
    /// Why the invitation cannot be used now; `None` if it can.
    pub fn unusable_reason(&self, now: Timestamp) -> Option<&'static str> {
        if self.revoked.is_some() {
            Some("the invitation was revoked")
        } else if self.expires <= now {
            Some("the invitation has expired")
        } else if self.uses_left == 0 {
            Some("the invitation is already used")
        } else {
            None
        }
    }
}

/// An invitation to create.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewInvitation {
    /// [`token_hash`] of its code.
    pub code: Digest,
    /// Role of accounts created with it.
    pub role: Role,
    /// Note about the recipient, at most 200 characters.
    pub note: String,
    /// Account that creates it; `None`: the system.
    pub by: Option<AccountId>,
    /// Time of expiry.
    pub expires: Timestamp,
    /// Number of uses, 1 to 10,000.
    pub uses: u32,
    /// Time of creation.
    pub at: Timestamp,
}

/// An entry to add to the audit log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewAuditEntry {
    /// Time of the action.
    pub at: Timestamp,
    /// Account that acted; `None`: the system.
    pub account: Option<AccountId>,
    /// Name of the action: 1 to 40 of `a-z`, `0-9`, `-`, `_` and `.`.
    pub action: String,
    /// Id of the competition.
    pub competition: Option<String>,
    /// Subject of the action.
    pub subject: String,
    /// Reason given by the account.
    pub reason: String,
    /// Details, as JSON.
    pub detail: String,
}

/// An entry of the audit log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditEntry {
    /// Id.
    pub id: AuditId,
    /// Content of the entry.
    pub entry: NewAuditEntry,
}

/// Selects entries of the audit log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditFilter {
    /// Only actions of this account.
    pub account: Option<AccountId>,
    /// Only actions with this name.
    pub action: Option<String>,
    /// Only actions in this competition.
    pub competition: Option<String>,
}
