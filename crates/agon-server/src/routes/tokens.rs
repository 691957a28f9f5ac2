//! API tokens: for programs that act for somebody.

use agon_store::Timestamp;
use agon_store::site_db::{self, NewToken, TokenId, token_hash};
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

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(tokens, make_token)).routes(routes!(revoke_token))
}

/// An API token.
#[derive(Debug, Serialize, ToSchema)]
pub struct Token {
    /// Its number.
    pub id: i64,
    /// What it is for, in its owner's words.
    pub label: String,
    /// When it was made.
    pub created: i64,
    /// When it was used last, to the minute.
    pub used: Option<i64>,
    /// The token itself, this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// A token that is to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenBody {
    /// What it is for: 1 to 60 characters.
    #[schema(min_length = 1, max_length = 60)]
    label: String,
}

impl Token {
    fn shown(token: site_db::Token, text: Option<String>) -> Self {
        Self {
            id: token.id.0,
            label: token.label,
            created: token.created.0,
            used: token.used.map(|used| used.0),
            token: text,
        }
    }
}

/// One's own tokens that are good.
#[utoipa::path(
    get, path = "/me/tokens", tag = "accounts", operation_id = "tokens",
    responses((status = 200, description = "All of them, newest first.", body = PageBody<Token>)),
)]
async fn tokens(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<PageBody<Token>>> {
    let me = caller.signed_in()?;
    let now = Timestamp::now();
    let good = |token: &site_db::Token| token.revoked.is_none() && token.expires.is_none_or(|end| end > now);
    let tokens = app.office.tokens_of(me.account()).await?;
    let items = tokens.into_iter().filter(good).map(|token| Token::shown(token, None)).collect();
    Ok(Json(PageBody { items, next: None }))
}

/// Makes a token. It is shown this once: only its hash is kept.
#[utoipa::path(
    post, path = "/me/tokens", tag = "accounts", operation_id = "make_token", request_body = TokenBody,
    responses(
        (status = 201, description = "Made.", body = Token),
        (status = 409, description = "There are too many (code `too_many`).", body = ErrorBody),
    ),
)]
async fn make_token(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<TokenBody>,
) -> ApiResult<(StatusCode, Json<Token>)> {
    let me = caller.with_session()?;
    // What it is can be told from its first letters, by people and by programs that look for secrets that got lost.
    let text = format!("agon_{}", cookie::secret()?);
    let new = NewToken {
        account: me.account(),
        label: body.label,
        token: token_hash(&text),
        expires: None,
        at: Timestamp::now(),
    };
    let token = app.office.create_token(&new).await?;
    Ok((StatusCode::CREATED, Json(Token::shown(token, Some(text)))))
}

/// Revokes a token of one's own.
#[utoipa::path(
    delete, path = "/me/tokens/{id}", tag = "accounts", operation_id = "revoke_token",
    params(("id" = i64, Path, description = "The token.")),
    responses(
        (status = 204, description = "It is no good any more."),
        (status = 404, description = "There is no such token of one's own.", body = ErrorBody),
    ),
)]
async fn revoke_token(State(app): State<AppState>, caller: Caller, Path(id): Path<i64>) -> ApiResult<StatusCode> {
    let me = caller.signed_in()?;
    app.office.revoke_token(me.account(), TokenId(id), Timestamp::now()).await?;
    Ok(StatusCode::NO_CONTENT)
}
