//! The audit log: actions of organisers and authors, with reasons.

use std::collections::{BTreeMap, BTreeSet};

use agon_site_db::{AccountId, AuditFilter, NewAuditEntry};
use agon_store::Timestamp;
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

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(audit))
}

/// An entry of the audit log.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditItem {
    /// The entry's id.
    pub id: i64,
    /// When it happened.
    pub at: i64,
    /// Name of the account; null for the server itself.
    pub by: Option<String>,
    /// The action, such as `competition.start`.
    pub action: String,
    /// The competition, if the action is about one.
    pub competition: Option<String>,
    /// Name or id that the action applies to.
    pub subject: String,
    /// Reason given by the user.
    pub reason: String,
}

/// Query parameters that select entries.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Only entries of this competition.
    competition: Option<String>,
    /// `next` of the previous page.
    after: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200)]
    limit: Option<u32>,
}

/// The audit log, newest first. For organisers.
#[utoipa::path(
    get, path = "/audit", tag = "audit", operation_id = "audit", params(AuditQuery),
    responses(
        (status = 200, description = "A page of the log.", body = PageBody<AuditItem>),
        (status = 403, description = "Only for organisers.", body = ErrorBody),
    ),
)]
async fn audit(
    State(app): State<AppState>,
    caller: Caller,
    Query(query): Query<AuditQuery>,
) -> ApiResult<Json<PageBody<AuditItem>>> {
    caller.organiser()?;
    let page = PageQuery { after: query.after, limit: query.limit }.site_page()?;
    let filter = AuditFilter { competition: query.competition, ..AuditFilter::default() };
    let listed = app.site_db.audit(&filter, page).await?;
    let who: BTreeSet<AccountId> = listed.items.iter().filter_map(|entry| entry.entry.account).collect();
    let mut names: BTreeMap<AccountId, String> = BTreeMap::new();
    for account in who {
        names.insert(account, app.site_db.account(account).await?.name);
    }
    let items = listed.items.into_iter().map(|entry| AuditItem {
        id: entry.id.0,
        at: entry.entry.at.0,
        by: entry.entry.account.and_then(|account| names.get(&account).cloned()),
        action: entry.entry.action,
        competition: entry.entry.competition,
        subject: entry.entry.subject,
        reason: entry.entry.reason,
    });
    Ok(Json(PageBody::from_site_page(items.collect(), listed.next)))
}

/// Adds an entry that is not about a competition.
pub async fn append_audit(
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
    app.site_db.append_audit(&entry).await?;
    Ok(())
}
