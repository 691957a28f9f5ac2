//! What the office keeps, as plain data: who there is, and how they come in.

use std::fmt;

use agon_core::record::Digest;
use sha2::{Digest as _, Sha256};

use crate::Timestamp;

/// A number that stands for one row, and only for one of its kind.
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
    /// An account.
    AccountId,
    /// An API token.
    TokenId,
    /// An invitation.
    InvitationId,
    /// An entrant, of whatever competition. Not its number in the competition file.
    EntrantId,
    /// An entry of the audit log.
    AuditId
}

/// Words that are kept and shown, one for each variant.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name { $($(#[$of])* $variant),+ }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// As it is kept and shown.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            /// The one of this name.
            pub fn by_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
pub(super) use words;

/// Text that does not show itself by accident: a password's hash, a session's CSRF secret.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretString(String);

impl SecretString {
    /// Hides it.
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
        f.write_str("Hidden(..)")
    }
}

/// What is kept of a session's or an API token, and of an invitation's code: its SHA-256. Tokens are long and drawn by chance, so a
/// quick hash is enough; passwords are not, and the server hashes them slowly.
pub fn token_hash(token: &str) -> Digest {
    Digest(Sha256::digest(token.as_bytes()).into())
}

words! {
    /// What somebody may do.
    Role {
        /// Everything.
        Organiser = "organiser",
        /// Enter bots.
        Author = "author",
        /// Look.
        Spectator = "spectator",
    }
}

/// Which part of a list: newest first, at most `limit` (1 to 200), after where the last part ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageRequest {
    /// [`MatchRow::next`] of the part before; `None` for the first.
    pub after: Option<i64>,
    /// How many at most.
    pub limit: u32,
}

impl Default for PageRequest {
    fn default() -> Self {
        Self { after: None, limit: 50 }
    }
}

/// A part of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ResultPage<T> {
    /// Newest first.
    pub items: Vec<T>,
    /// Where the next part begins, if there is one.
    pub next: Option<i64>,
}

/// Somebody. The hash of the password is not in it: [`super::Office::credentials`] gives it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Account {
    /// Its number.
    pub id: AccountId,
    /// As it was given, letters written in one way (NFC).
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// The invitation it came by.
    pub invitation: Option<InvitationId>,
    /// Since when.
    pub created: Timestamp,
    /// Since when it may not sign in.
    pub disabled: Option<Timestamp>,
}

/// An account, and what its password is held against.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Credentials {
    /// Whose.
    pub account: Account,
    /// As the server wrote it.
    pub password_hash: SecretString,
}

/// Somebody who comes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewAccount {
    /// 1 to 40 printable characters; nobody else's, whatever the case.
    pub name: String,
    /// The server's hash of the password, never the password.
    pub password_hash: SecretString,
    /// By what right.
    pub by: SignUpGrant,
    /// When.
    pub at: Timestamp,
}

/// By what right somebody comes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SignUpGrant {
    /// The caller says so: open sign-up, or an organiser by hand.
    Open(Role),
    /// By the invitation whose code has this hash; it also says the role. Used up in the same transaction, or not at all.
    Invited(Digest),
}

/// Somebody's browser.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Session {
    /// Whose.
    pub account: AccountId,
    /// What forms must bring.
    pub csrf: SecretString,
    /// When it began.
    pub created: Timestamp,
    /// When it was used last, to the minute.
    pub seen: Timestamp,
    /// When it ends if it is not used.
    pub expires: Timestamp,
    /// What the browser calls itself, cut.
    pub agent: String,
}

/// A session that begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewSession {
    /// [`token_hash`] of its token.
    pub token: Digest,
    /// Whose.
    pub account: AccountId,
    /// What forms must bring.
    pub csrf: SecretString,
    /// What the browser calls itself; it is cut.
    pub agent: String,
    /// When.
    pub at: Timestamp,
}

/// An API token, without what it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Token {
    /// Its number.
    pub id: TokenId,
    /// Whose.
    pub account: AccountId,
    /// What it is for, in its owner's words.
    pub label: String,
    /// When it was made.
    pub created: Timestamp,
    /// When it was used last, to the minute.
    pub used: Option<Timestamp>,
    /// Until when it is good.
    pub expires: Option<Timestamp>,
    /// Since when it is not.
    pub revoked: Option<Timestamp>,
}

/// An API token that is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewToken {
    /// Whose.
    pub account: AccountId,
    /// 1 to 60 characters.
    pub label: String,
    /// [`token_hash`] of it.
    pub token: Digest,
    /// Until when it is good.
    pub expires: Option<Timestamp>,
    /// When.
    pub at: Timestamp,
}

/// An invitation, without its code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invitation {
    /// Its number.
    pub id: InvitationId,
    /// What whoever comes by it may do.
    pub role: Role,
    /// For whom it is, in the organiser's words.
    pub note: String,
    /// Who invites; `None`: the system.
    pub by: Option<AccountId>,
    /// When it was made.
    pub created: Timestamp,
    /// Until when it is good.
    pub expires: Timestamp,
    /// For how many.
    pub uses: u32,
    /// For how many more.
    pub uses_left: u32,
    /// Since when it is not.
    pub revoked: Option<Timestamp>,
}

impl Invitation {
    /// Why nobody can come by it now, if so.
    pub fn refusal(&self, now: Timestamp) -> Option<&'static str> {
        if self.revoked.is_some() {
            Some("the invitation was taken back")
        } else if self.expires <= now {
            Some("the invitation has expired")
        } else if self.uses_left == 0 {
            Some("the invitation was used already")
        } else {
            None
        }
    }
}

/// An invitation that is made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewInvitation {
    /// [`token_hash`] of its code.
    pub code: Digest,
    /// What whoever comes by it may do.
    pub role: Role,
    /// For whom it is; at most 200 characters.
    pub note: String,
    /// Who invites; `None`: the system.
    pub by: Option<AccountId>,
    /// Until when it is good.
    pub expires: Timestamp,
    /// For how many: 1 to 10,000.
    pub uses: u32,
    /// When.
    pub at: Timestamp,
}

/// Something that was done, for the audit log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewAuditEntry {
    /// When.
    pub at: Timestamp,
    /// Who; `None`: the system.
    pub account: Option<AccountId>,
    /// What, one word: 1 to 40 of `a-z`, `0-9`, `-`, `_` and `.`.
    pub action: String,
    /// In which competition.
    pub competition: Option<String>,
    /// To what or whom.
    pub subject: String,
    /// Why, in the words of whoever did it.
    pub reason: String,
    /// All else: JSON.
    pub detail: String,
}

/// An entry of the audit log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AuditEntry {
    /// Its number.
    pub id: AuditId,
    /// What was done.
    pub what: NewAuditEntry,
}

/// Which entries of the audit log.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AuditFilter {
    /// Done by this one.
    pub account: Option<AccountId>,
    /// Of this word.
    pub action: Option<String>,
    /// In this competition.
    pub competition: Option<String>,
}
