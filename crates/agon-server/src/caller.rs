//! The caller of a request: anonymous, or a user with a role.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::{ApiError, ApiResult};

/// Role of an account: what it may do. Ordered from fewest to most permissions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Reads.
    Spectator,
    /// Reads and submits bots.
    Author,
    /// Reads, submits bots and runs competitions.
    Organiser,
}

/// The signed-in account, as sent to its own client.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct CurrentUser {
    /// The account's id.
    pub id: i64,
    /// The account's name.
    pub name: String,
    /// The account's role.
    pub role: Role,
}

impl CurrentUser {
    /// Converts an account of the site database.
    pub fn of(account: &agon_site_db::Account) -> Self {
        Self { id: account.id.0, name: account.name.clone(), role: account.role.into() }
    }

    /// The account's id, typed as in the site database.
    pub const fn account(&self) -> agon_site_db::AccountId {
        agon_site_db::AccountId(self.id)
    }
}

impl From<agon_site_db::Role> for Role {
    fn from(role: agon_site_db::Role) -> Self {
        match role {
            agon_site_db::Role::Spectator => Self::Spectator,
            agon_site_db::Role::Author => Self::Author,
            agon_site_db::Role::Organiser => Self::Organiser,
        }
    }
}

impl From<Role> for agon_site_db::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::Spectator => Self::Spectator,
            Role::Author => Self::Author,
            Role::Organiser => Self::Organiser,
        }
    }
}

/// How a caller proved who it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AuthMethod {
    /// A session cookie. Requests that change something must also send the session's CSRF token.
    Session {
        /// Expected value of `X-CSRF-Token`.
        csrf: String,
    },
    /// An API token. Browsers never send it on their own, so it needs no CSRF token.
    Token {
        /// The token's id.
        id: i64,
    },
}

/// The caller of a request. Handlers get it from the extractor in `middleware/mod.rs`.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    authenticated: Option<(CurrentUser, AuthMethod)>,
}

impl Caller {
    /// A caller who is not signed in.
    pub const fn anonymous() -> Self {
        Self { authenticated: None }
    }

    /// A caller who is signed in.
    pub const fn authenticated(me: CurrentUser, auth_method: AuthMethod) -> Self {
        Self { authenticated: Some((me, auth_method)) }
    }

    /// The signed-in user, if any.
    pub fn user(&self) -> Option<&CurrentUser> {
        self.authenticated.as_ref().map(|(me, _)| me)
    }

    /// How the user signed in, if at all.
    pub fn auth_method(&self) -> Option<&AuthMethod> {
        self.authenticated.as_ref().map(|(_, auth_method)| auth_method)
    }

    /// The signed-in user, or 401.
    pub fn signed_in(&self) -> ApiResult<&CurrentUser> {
        self.user().ok_or_else(ApiError::sign_in_required)
    }

    /// The user of a browser session, or 401 or 403. API tokens are rejected, so that a stolen token cannot create further tokens.
    pub fn with_session(&self) -> ApiResult<&CurrentUser> {
        let me = self.signed_in()?;
        if matches!(self.auth_method(), Some(AuthMethod::Token { .. })) {
            return Err(ApiError::forbidden("API tokens cannot do this").hint("sign in with your password"));
        }
        Ok(me)
    }

    /// The user if it may submit bots, or 401 or 403.
    pub fn author(&self) -> ApiResult<&CurrentUser> {
        let me = self.signed_in()?;
        if me.role < Role::Author {
            return Err(ApiError::forbidden("spectators cannot submit bots")
                .hint("ask an organiser to make you an author"));
        }
        Ok(me)
    }

    /// The user if it may run competitions, or 401 or 403.
    pub fn organiser(&self) -> ApiResult<&CurrentUser> {
        let me = self.signed_in()?;
        if me.role < Role::Organiser {
            return Err(ApiError::forbidden("only organisers can do this"));
        }
        Ok(me)
    }

    /// Whether the caller is signed in to this account.
    pub fn is_account(&self, account: Option<i64>) -> bool {
        account.is_some() && self.user().map(|me| me.id) == account
    }

    /// Whether the caller may run competitions.
    pub fn is_organiser(&self) -> bool {
        self.user().is_some_and(|me| me.role == Role::Organiser)
    }
}
