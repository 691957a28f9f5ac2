//! Invitations: links that let people in.

use agon_store::Timestamp;
use agon_store::site_db::{self, InvitationId, NewInvitation, token_hash};
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

const DAY: i64 = 24 * 60 * 60 * 1000;
const DAYS: u32 = 365;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(invitations, make_invitation))
        .routes(routes!(invitation, revoke_invitation))
}

/// An invitation.
#[derive(Debug, Serialize, ToSchema)]
pub struct Invitation {
    /// Its number.
    pub id: i64,
    /// What whoever comes by it may do.
    pub role: Role,
    /// For whom it is, in the organiser's words.
    pub note: String,
    /// When it was made.
    pub created: i64,
    /// Until when it is good.
    pub expires: i64,
    /// For how many.
    pub uses: u32,
    /// For how many more.
    pub left: u32,
    /// Whether it was taken back.
    pub revoked: bool,
    /// Its code, this once: `/signup?invite=CODE` is the link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// An invitation that is to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationBody {
    /// What whoever comes by it may do.
    role: Role,
    /// For whom it is: at most 200 characters.
    #[serde(default)]
    #[schema(max_length = 200)]
    note: String,
    /// For how many: 1 (if nothing is said) to 10,000.
    #[schema(minimum = 1, maximum = 10_000)]
    uses: Option<u32>,
    /// For how many days: 7 if nothing is said.
    #[schema(minimum = 1, maximum = 365)]
    days: Option<u32>,
}

impl Invitation {
    fn shown(invitation: site_db::Invitation, code: Option<String>) -> Self {
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
        (status = 403, description = "It is for organisers.", body = ErrorBody),
    ),
)]
async fn invitations(
    State(app): State<AppState>,
    caller: Caller,
    Query(paging): Query<PageQuery>,
) -> ApiResult<Json<PageBody<Invitation>>> {
    caller.organiser()?;
    let listed = app.office.invitations(paging.of_office()?).await?;
    let items = listed.items.into_iter().map(|one| Invitation::shown(one, None)).collect();
    Ok(Json(PageBody::listed(items, listed.next)))
}

/// Makes an invitation. Its code is shown this once. For organisers.
#[utoipa::path(
    post, path = "/invitations", tag = "accounts", operation_id = "make_invitation", request_body = InvitationBody,
    responses((status = 201, description = "Made.", body = Invitation)),
)]
async fn make_invitation(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<InvitationBody>,
) -> ApiResult<(StatusCode, Json<Invitation>)> {
    let me = caller.organiser()?;
    let days = body.days.unwrap_or(7);
    if !(1..=DAYS).contains(&days) {
        return Err(ApiError::invalid("days", format!("an invitation is good for 1 to {DAYS} days")));
    }
    let (code, at) = (cookie::secret()?, Timestamp::now());
    let new = NewInvitation {
        code: token_hash(&code),
        role: body.role.into(),
        note: body.note,
        by: Some(me.account()),
        expires: Timestamp(at.0 + i64::from(days) * DAY),
        uses: body.uses.unwrap_or(1),
        at,
    };
    let made = app.office.create_invitation(&new).await?;
    let detail = serde_json::json!({"role": made.role.name(), "uses": made.uses, "days": days});
    audit::note(&app, me, "invitation.make", &format!("invitation {}", made.id), &detail).await?;
    Ok((StatusCode::CREATED, Json(Invitation::shown(made, Some(code)))))
}

/// An invitation, for anybody who has its code.
#[utoipa::path(
    get, path = "/invitations/{code}", tag = "accounts", operation_id = "invitation",
    params(("code" = String, Path, description = "Its code.")),
    responses(
        (status = 200, description = "The invitation, good or not.", body = Invitation),
        (status = 404, description = "There is no such invitation.", body = ErrorBody),
    ),
)]
async fn invitation(State(app): State<AppState>, Path(code): Path<String>) -> ApiResult<Json<Invitation>> {
    let found = app.office.find_invitation(token_hash(&code)).await?;
    let mut shown = Invitation::shown(found.ok_or_else(|| ApiError::not_found("invitation"))?, None);
    // The note is the organiser's own.
    shown.note = String::new();
    Ok(Json(shown))
}

/// Takes an invitation back. For organisers.
#[utoipa::path(
    delete, path = "/invitations/{code}", tag = "accounts", operation_id = "revoke_invitation",
    params(("code" = String, Path, description = "The invitation's number.")),
    responses(
        (status = 204, description = "It is no good any more."),
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
    let gone = app.office.revoke_invitation(InvitationId(id), Timestamp::now()).await?;
    audit::note(&app, me, "invitation.revoke", &format!("invitation {}", gone.id), &serde_json::json!({}))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
