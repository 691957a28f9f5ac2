//! Invitations: sign-up links.

use agon_site_db::{InvitationId, NewInvitation, token_hash};
use agon_store::Timestamp;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::audit;
use crate::caller::{Caller, Role};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path, Query};
use crate::middleware::cookie;
use crate::paging::{PageBody, PageQuery};
use crate::state::AppState;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;
const MAX_DAYS: u32 = 365;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(invitations, make_invitation))
        .routes(routes!(invitation, revoke_invitation))
}

/// An invitation.
#[derive(Debug, Serialize, ToSchema)]
pub struct Invitation {
    /// The invitation's id.
    pub id: i64,
    /// Role of the accounts created with it.
    pub role: Role,
    /// Note of the organiser: who it is for.
    pub note: String,
    /// When it was created.
    pub created: i64,
    /// When it expires.
    pub expires: i64,
    /// Number of accounts it is for.
    pub uses: u32,
    /// Number of accounts that can still be created with it.
    pub left: u32,
    /// Whether it was revoked.
    pub revoked: bool,
    /// The code, shown only once. The link is `/signup?invite=CODE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// An invitation to be created.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationBody {
    /// Role of the accounts created with it.
    role: Role,
    /// Who it is for: at most 200 characters.
    #[serde(default)]
    #[schema(max_length = 200)]
    note: String,
    /// Number of accounts it is for: 1 (default) to 10,000.
    #[schema(minimum = 1, maximum = 10_000)]
    uses: Option<u32>,
    /// Days until it expires. Default: 7.
    #[schema(minimum = 1, maximum = 365)]
    days: Option<u32>,
}

impl Invitation {
    fn from_site(invitation: agon_site_db::Invitation, code: Option<String>) -> Self {
        Self {
            id: invitation.id.0,
            role: invitation.role.into(),
            note: invitation.note,
            created: invitation.created.0,
            expires: invitation.expires.0,
            uses: invitation.uses,
            left: invitation.uses_left,
            revoked: invitation.revoked.is_some(),
            code,
        }
    }
}

/// All invitations, newest first. For organisers.
#[utoipa::path(
    get, path = "/invitations", tag = "accounts", operation_id = "invitations", params(PageQuery),
    responses(
        (status = 200, description = "A page of invitations.", body = PageBody<Invitation>),
        (status = 403, description = "Only for organisers.", body = ErrorBody),
    ),
)]
async fn invitations(
    State(app): State<AppState>,
    caller: Caller,
    Query(paging): Query<PageQuery>,
) -> ApiResult<Json<PageBody<Invitation>>> {
    caller.organiser()?;
    let listed = app.site_db.invitations(paging.site_page()?).await?;
    let items = listed.items.into_iter().map(|one| Invitation::from_site(one, None)).collect();
    Ok(Json(PageBody::from_site_page(items, listed.next)))
}

/// Creates an invitation. Its code is shown only in this response. For organisers.
#[utoipa::path(
    post, path = "/invitations", tag = "accounts", operation_id = "make_invitation", request_body = InvitationBody,
    responses((status = 201, description = "Created.", body = Invitation)),
)]
async fn make_invitation(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<InvitationBody>,
) -> ApiResult<(StatusCode, Json<Invitation>)> {
    let me = caller.organiser()?;
    let days = body.days.unwrap_or(7);
    if !(1..=MAX_DAYS).contains(&days) {
        return Err(ApiError::invalid("days", format!("an invitation is valid for 1 to {MAX_DAYS} days")));
    }
    let (code, at) = (cookie::random_secret()?, Timestamp::now());
    let new = NewInvitation {
        code: token_hash(&code),
        role: body.role.into(),
        note: body.note,
        by: Some(me.account()),
        expires: Timestamp(at.0 + i64::from(days) * DAY_MS),
        uses: body.uses.unwrap_or(1),
        at,
    };
    let created = app.site_db.create_invitation(&new).await?;
    let detail = serde_json::json!({"role": created.role.name(), "uses": created.uses, "days": days});
    audit::append_audit(&app, me, "invitation.make", &format!("invitation {}", created.id), &detail).await?;
    Ok((StatusCode::CREATED, Json(Invitation::from_site(created, Some(code)))))
}

/// An invitation, for anyone who has its code.
#[utoipa::path(
    get, path = "/invitations/{code}", tag = "accounts", operation_id = "invitation",
    params(("code" = String, Path, description = "The invitation's code.")),
    responses(
        (status = 200, description = "The invitation, valid or not.", body = Invitation),
        (status = 404, description = "There is no such invitation.", body = ErrorBody),
    ),
)]
async fn invitation(State(app): State<AppState>, Path(code): Path<String>) -> ApiResult<Json<Invitation>> {
    let found = app.site_db.find_invitation(token_hash(&code)).await?;
    let mut body = Invitation::from_site(found.ok_or_else(|| ApiError::not_found("invitation"))?, None);
    // The note is for organisers only.
    body.note = String::new();
    Ok(Json(body))
}

/// Revokes an invitation. For organisers.
#[utoipa::path(
    delete, path = "/invitations/{code}", tag = "accounts", operation_id = "revoke_invitation",
    params(("code" = String, Path, description = "The invitation's id.")),
    responses(
        (status = 204, description = "Revoked."),
        (status = 404, description = "There is no such invitation.", body = ErrorBody),
    ),
)]
async fn revoke_invitation(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    let me = caller.organiser()?;
    let id = id.parse().map_err(|_| ApiError::not_found("invitation"))?;
    let revoked = app.site_db.revoke_invitation(InvitationId(id), Timestamp::now()).await?;
    audit::append_audit(
        &app,
        me,
        "invitation.revoke",
        &format!("invitation {}", revoked.id),
        &serde_json::json!({}),
    )
    .await?;
    Ok(StatusCode::NO_CONTENT)
}
