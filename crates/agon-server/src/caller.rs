//! Who asks.

use agon_store::site_db;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult};

/// What somebody may do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Looks on.
    Spectator,
    /// Hands bots in.
    Author,
    /// Runs competitions.
    Organiser,
}

/// An account, as it sees itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct CurrentUser {
    /// The account's number.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// What it may do.
    pub role: Role,
}

impl CurrentUser {
    /// An account, as it sees itself.
    pub fn of(account: &site_db::Account) -> Self {
        Self { id: account.id.0, name: account.name.clone(), role: account.role.into() }
    }

    /// Its number, as the office has it.
    pub const fn account(&self) -> site_db::AccountId {
        site_db::AccountId(self.id)
    }
}

impl From<site_db::Role> for Role {
    fn from(role: site_db::Role) -> Self {
        match role {
            site_db::Role::Spectator => Self::Spectator,
            site_db::Role::Author => Self::Author,
            site_db::Role::Organiser => Self::Organiser,
        }
    }
}

impl From<Role> for site_db::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::Spectator => Self::Spectator,
            Role::Author => Self::Author,
            Role::Organiser => Self::Organiser,
        }
    }
}

/// By what somebody is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AuthMethod {
    /// A session's cookie: what changes something must bring the session's CSRF token too.
    Session {
        /// What must come back in `X-CSRF-Token`.
        csrf: String,
    },
    /// An API token: no browser sends it by itself.
    Token {
        /// Which.
        id: i64,
    },
}

/// Who asks: taken from a request by the extractor in `gate.rs`.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    known: Option<(CurrentUser, AuthMethod)>,
}

impl Caller {
    /// Nobody in particular.
    pub const fn nobody() -> Self {
        Self { known: None }
    }

    /// Somebody.
    pub const fn known(me: CurrentUser, proof: AuthMethod) -> Self {
        Self { known: Some((me, proof)) }
    }

    /// Who it is, if it is anybody.
    pub fn me(&self) -> Option<&CurrentUser> {
        self.known.as_ref().map(|(me, _)| me)
    }

    /// By what it is known.
    pub fn proof(&self) -> Option<&AuthMethod> {
        self.known.as_ref().map(|(_, proof)| proof)
    }

    /// Somebody with an account, or 401.
    pub fn signed_in(&self) -> ApiResult<&CurrentUser> {
        self.me().ok_or_else(ApiError::sign_in)
    }

    /// Somebody who is signed in with a password, or 401 or 403: a token that was stolen must not make more of itself.
    pub fn with_session(&self) -> ApiResult<&CurrentUser> {
        let me = self.signed_in()?;
        if matches!(self.proof(), Some(AuthMethod::Token { .. })) {
            return Err(ApiError::forbidden("a token cannot do this").hint("sign in on the page"));
        }
        Ok(me)
    }

    /// Somebody who may hand bots in, or 401 or 403.
    pub fn author(&self) -> ApiResult<&CurrentUser> {
        let me = self.signed_in()?;
        if me.role < Role::Author {
            return Err(ApiError::forbidden("spectators cannot hand bots in")
                .hint("ask an organiser to make you an author"));
        }
        Ok(me)
    }

    /// Somebody who may run competitions, or 401 or 403.
    pub fn organiser(&self) -> ApiResult<&CurrentUser> {
        let me = self.signed_in()?;
        if me.role < Role::Organiser {
            return Err(ApiError::forbidden("this is for organisers"));
        }
        Ok(me)
    }

    /// Whether this is that account.
    pub fn is(&self, account: Option<i64>) -> bool {
        account.is_some() && self.me().map(|me| me.id) == account
    }

    /// Whether it may run competitions.
    pub fn is_organiser(&self) -> bool {
        self.me().is_some_and(|me| me.role == Role::Organiser)
    }
}
