//! The audit log: what organisers did, to whom, and why.

use std::collections::{BTreeMap, BTreeSet};

use agon_store::Timestamp;
use agon_store::site_db::{AccountId, AuditFilter, NewAuditEntry};
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::{Caller, CurrentUser};
use crate::error::{ApiResult, ErrorBody};
use crate::extract::{Json, Query};
use crate::paging::{PageBody, PageQuery};
use crate::state::AppState;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(audit))
}

/// Something that was done.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditItem {
    /// Its number.
    pub id: i64,
    /// When.
    pub at: i64,
    /// Who; null: the server itself.
    pub by: Option<String>,
    /// What: a word of ours.
    pub action: String,
    /// In which competition.
    pub competition: Option<String>,
    /// To what or whom.
    pub subject: String,
    /// Why, in the words of whoever did it.
    pub reason: String,
}

/// Which part of the log.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Only of this competition.
    competition: Option<String>,
    /// `next` of the page before.
    after: Option<String>,
    /// At most so many.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// What was done, newest first. For organisers.
#[utoipa::path(
    get, path = "/audit", tag = "audit", operation_id = "audit", params(AuditQuery),
    responses(
        (status = 200, description = "A page of the log.", body = PageBody<AuditItem>),
        (status = 403, description = "It is for organisers.", body = ErrorBody),
    ),
)]
async fn audit(
    State(app): State<AppState>,
    caller: Caller,
    Query(query): Query<AuditQuery>,
) -> ApiResult<Json<PageBody<AuditItem>>> {
    caller.organiser()?;
    let page = PageQuery { after: query.after, limit: query.limit }.of_office()?;
    let filter = AuditFilter { competition: query.competition, ..AuditFilter::default() };
    let listed = app.office.audit(&filter, page).await?;
    let who: BTreeSet<AccountId> = listed.items.iter().filter_map(|entry| entry.what.account).collect();
    let mut names: BTreeMap<AccountId, String> = BTreeMap::new();
    for account in who {
        names.insert(account, app.office.account(account).await?.name);
    }
    let items = listed.items.into_iter().map(|entry| AuditItem {
        id: entry.id.0,
        at: entry.what.at.0,
        by: entry.what.account.and_then(|account| names.get(&account).cloned()),
        action: entry.what.action,
        competition: entry.what.competition,
        subject: entry.what.subject,
        reason: entry.what.reason,
    });
    Ok(Json(PageBody::listed(items.collect(), listed.next)))
}

/// Writes down what somebody did that is of no competition.
pub async fn note(
    app: &AppState,
    me: &CurrentUser,
    action: &str,
    subject: &str,
    detail: &serde_json::Value,
) -> ApiResult<()> {
    let entry = NewAuditEntry {
        at: Timestamp::now(),
        account: Some(me.account()),
        action: action.to_owned(),
        competition: None,
        subject: subject.to_owned(),
        reason: String::new(),
        detail: detail.to_string(),
    };
    app.office.append_audit(&entry).await?;
    Ok(())
}
