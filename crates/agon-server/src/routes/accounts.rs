//! Accounts: sign-up, and management by organisers.

use agon_site_db::{AccountId, NewAccount, SignUpGrant, token_hash};
use agon_store::Timestamp;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::audit;
use super::session::{self, WithCookie};
use super::site::Site;
use crate::caller::{Caller, Role};
use crate::config::SignUp;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path, Query};
use crate::middleware::ClientIp;
use crate::middleware::rate_limit::{LimitKey, LimitedAction};
use crate::paging::{PageBody, PageQuery};
use crate::passwords;
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(sign_up, accounts)).routes(routes!(change_account))
}

/// A sign-up.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SignUpBody {
    /// Account name: 1 to 40 characters, unique regardless of case.
    #[schema(min_length = 1, max_length = 40)]
    name: String,
    /// Password: 10 to 200 characters.
    #[schema(format = Password, min_length = 10, max_length = 200)]
    password: String,
    /// Code of an invitation, which also sets the role.
    invitation: Option<String>,
}

/// An account, as sent to organisers.
#[derive(Debug, Serialize, ToSchema)]
pub struct Account {
    /// The account's id.
    pub id: i64,
    /// The account's name.
    pub name: String,
    /// The account's role.
    pub role: Role,
    /// When it was created.
    pub created: i64,
    /// Whether it is disabled and cannot sign in.
    pub disabled: bool,
    /// Number of its bots in all competitions.
    pub bots: u64,
}

/// A change of an account.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AccountChange {
    /// The new role.
    role: Option<Role>,
    /// Whether it is disabled and cannot sign in. Disabling ends its sessions and tokens.
    disabled: Option<bool>,
}

/// Creates an account and signs in.
#[utoipa::path(
    post, path = "/accounts", tag = "accounts", operation_id = "sign_up", request_body = SignUpBody,
    responses(
        (status = 201, description = "Created and signed in.", body = Site, headers(("Set-Cookie" = String, description = "The session."))),
        (status = 403, description = "Sign-up is closed, or by invitation only (code `invitation`).", body = ErrorBody),
        (status = 404, description = "There is no such invitation.", body = ErrorBody),
        (status = 409, description = "The name is taken, or the invitation is used up, expired or revoked.", body = ErrorBody),
    ),
)]
async fn sign_up(
    State(app): State<AppState>,
    ClientIp(address): ClientIp,
    headers: HeaderMap,
    Json(body): Json<SignUpBody>,
) -> ApiResult<(StatusCode, WithCookie)> {
    let grant = sign_up_grant(&app, body.invitation.as_deref()).await?;
    passwords::check("password", &body.name, &body.password)?;
    app.limiter.take(LimitedAction::SignUp, LimitKey::address(address))?;
    // Checked early, to avoid the slow hash. Creating the account checks again.
    if app.site_db.account_by_name(&body.name).await?.is_some() {
        return Err(agon_site_db::SiteDbError::Taken { what: "name" }.into());
    }
    let password_hash = app.passwords.hash(passwords::HashFor::Stranger, body.password).await?;
    let new = NewAccount { name: body.name, password_hash, grant, at: Timestamp::now() };
    let account = app.site_db.create_account(&new).await?;
    Ok((StatusCode::CREATED, session::start_session(&app, &account, address, &headers).await?))
}

/// The right to sign up, or why not.
async fn sign_up_grant(app: &AppState, code: Option<&str>) -> ApiResult<SignUpGrant> {
    let closed = || ApiError::new(StatusCode::FORBIDDEN, "closed", "sign-up is closed");
    let Some(code) = code else {
        return match app.config.sign_up {
            SignUp::Open => Ok(SignUpGrant::Open(agon_site_db::Role::Author)),
            SignUp::Invite => {
                Err(ApiError::new(StatusCode::FORBIDDEN, "invitation", "sign-up requires an invitation")
                    .hint("ask an organiser for a link"))
            }
            SignUp::Closed => Err(closed()),
        };
    };
    // The first organiser must be able to sign up, even if sign-up is closed.
    if app.config.sign_up == SignUp::Closed && app.site_db.count_organisers().await? > 0 {
        return Err(closed());
    }
    let hash = token_hash(code);
    let found = app.site_db.find_invitation(hash).await?.ok_or_else(|| ApiError::not_found("invitation"))?;
    match found.unusable_reason(Timestamp::now()) {
        Some(why) => Err(ApiError::conflict("conflict", why).hint("ask for a new invitation")),
        None => Ok(SignUpGrant::Invited(hash)),
    }
}

/// All accounts, newest first. For organisers.
#[utoipa::path(
    get, path = "/accounts", tag = "accounts", operation_id = "accounts", params(PageQuery),
    responses(
        (status = 200, description = "A page of accounts.", body = PageBody<Account>),
        (status = 403, description = "Only for organisers.", body = ErrorBody),
    ),
)]
async fn accounts(
    State(app): State<AppState>,
    caller: Caller,
    Query(paging): Query<PageQuery>,
) -> ApiResult<Json<PageBody<Account>>> {
    caller.organiser()?;
    let listed = app.site_db.accounts(paging.site_page()?).await?;
    let mut items = Vec::with_capacity(listed.items.len());
    for account in &listed.items {
        items.push(account_body(&app, account).await?);
    }
    Ok(Json(PageBody::from_site_page(items, listed.next)))
}

/// Changes the role of an account, or disables it. For organisers. The last organiser cannot be changed.
#[utoipa::path(
    patch, path = "/accounts/{id}", tag = "accounts", operation_id = "change_account", request_body = AccountChange,
    params(("id" = i64, Path, description = "The account.")),
    responses(
        (status = 200, description = "The current state.", body = Account),
        (status = 404, description = "There is no such account.", body = ErrorBody),
        (status = 409, description = "The account is the last organiser.", body = ErrorBody),
    ),
)]
async fn change_account(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
    Json(body): Json<AccountChange>,
) -> ApiResult<Json<Account>> {
    let me = caller.organiser()?;
    let mut account = app.site_db.account(AccountId(id)).await?;
    if let Some(role) = body.role.filter(|role| Role::from(account.role) != *role) {
        let was = account.role;
        account = app.site_db.set_role(account.id, role.into()).await?;
        let change = serde_json::json!({"from": was.name(), "to": account.role.name()});
        audit::append_audit(&app, me, "account.role", &account.name, &change).await?;
    }
    if let Some(disabled) = body.disabled.filter(|disabled| account.disabled.is_some() != *disabled) {
        account = app.site_db.set_disabled(account.id, disabled, Timestamp::now()).await?;
        let action = if disabled { "account.disable" } else { "account.enable" };
        audit::append_audit(&app, me, action, &account.name, &serde_json::json!({})).await?;
    }
    Ok(Json(account_body(&app, &account).await?))
}

async fn account_body(app: &AppState, account: &agon_site_db::Account) -> ApiResult<Account> {
    Ok(Account {
        id: account.id.0,
        name: account.name.clone(),
        role: account.role.into(),
        created: account.created.0,
        disabled: account.disabled.is_some(),
        bots: app.site_db.count_entrants_of(account.id).await?,
    })
}
