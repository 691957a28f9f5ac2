//! API tokens, for programs that act for a user.

use agon_site_db::{NewToken, TokenId, token_hash};
use agon_store::Timestamp;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::Caller;
use crate::error::{ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::middleware::cookie;
use crate::paging::PageBody;
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(tokens, make_token)).routes(routes!(revoke_token))
}

/// An API token.
#[derive(Debug, Serialize, ToSchema)]
pub struct Token {
    /// The token's id.
    pub id: i64,
    /// Label given by the owner.
    pub label: String,
    /// When it was created.
    pub created: i64,
    /// When it was last used, to the minute.
    pub used: Option<i64>,
    /// The token itself, shown only once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// A token to be created.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenBody {
    /// Label: 1 to 60 characters.
    #[schema(min_length = 1, max_length = 60)]
    label: String,
}

impl Token {
    fn from_site(token: agon_site_db::Token, text: Option<String>) -> Self {
        Self {
            id: token.id.0,
            label: token.label,
            created: token.created.0,
            used: token.used.map(|used| used.0),
            token: text,
        }
    }
}

/// The caller's valid tokens.
#[utoipa::path(
    get, path = "/me/tokens", tag = "accounts", operation_id = "tokens",
    responses((status = 200, description = "All tokens, newest first.", body = PageBody<Token>)),
)]
async fn tokens(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<PageBody<Token>>> {
    let me = caller.signed_in()?;
    let now = Timestamp::now();
    let good =
        |token: &agon_site_db::Token| token.revoked.is_none() && token.expires.is_none_or(|end| end > now);
    let tokens = app.site_db.tokens_of(me.account()).await?;
    let items = tokens.into_iter().filter(good).map(|token| Token::from_site(token, None)).collect();
    Ok(Json(PageBody { items, next: None }))
}

/// Creates a token. It is shown only in this response: the server keeps only its hash.
#[utoipa::path(
    post, path = "/me/tokens", tag = "accounts", operation_id = "make_token", request_body = TokenBody,
    responses(
        (status = 201, description = "Created.", body = Token),
        (status = 409, description = "The account has too many tokens (code `too_many`).", body = ErrorBody),
    ),
)]
async fn make_token(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<TokenBody>,
) -> ApiResult<(StatusCode, Json<Token>)> {
    let me = caller.with_session()?;
    // The prefix shows people and secret scanners what it is.
    let text = format!("agon_{}", cookie::random_secret()?);
    let new = NewToken {
        account: me.account(),
        label: body.label,
        token: token_hash(&text),
        expires: None,
        at: Timestamp::now(),
    };
    let token = app.site_db.create_token(&new).await?;
    Ok((StatusCode::CREATED, Json(Token::from_site(token, Some(text)))))
}

/// Revokes a token of the caller.
#[utoipa::path(
    delete, path = "/me/tokens/{id}", tag = "accounts", operation_id = "revoke_token",
    params(("id" = i64, Path, description = "The token.")),
    responses(
        (status = 204, description = "Revoked."),
        (status = 404, description = "The caller has no such token.", body = ErrorBody),
    ),
)]
async fn revoke_token(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
) -> ApiResult<StatusCode> {
    let me = caller.signed_in()?;
    app.site_db.revoke_token(me.account(), TokenId(id), Timestamp::now()).await?;
    Ok(StatusCode::NO_CONTENT)
}
