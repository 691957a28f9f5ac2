//! Events of the organiser dashboard: machine, workers, competitions and uploads, sent when they change.

use std::collections::VecDeque;
use std::time::Duration;

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use serde::Serialize;
use tokio::time::{Interval, MissedTickBehavior};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::live::{EventSource, sse_response};
use super::{system, workers};
use crate::caller::Caller;
use crate::error::{ApiResult, ErrorBody};
use crate::middleware::ClientIp;
use crate::read_model::sse;
use crate::state::AppState;
use crate::stream_limits::StreamPermit;

/// Interval at which the server looks for changes. Nothing is sent without one.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// The machine is measured at every so many looks: its load changes all the time.
const LOOKS_PER_MEASUREMENT: u32 = 3;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(dashboard_events))
}

/// A competition in a `competitions` event. If anything changes, the page fetches the competition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct CompetitionChange {
    /// Id of the competition.
    pub id: String,
    /// Increases with every change of its pages.
    pub revision: u64,
    /// Number of its submissions that wait or are being checked.
    pub pending: u64,
}

/// Events of the dashboard: `machine` (as GET /machine), `workers` (as GET /workers), `competitions` (a list of `{id, revision, pending}`),
/// `ping`. Each is sent at the start and when it changes. For organisers.
#[utoipa::path(
    get, path = "/dashboard/events", tag = "desk", operation_id = "dashboard_events",
    responses(
        (status = 200, description = "Server-sent events.", body = String, content_type = "text/event-stream"),
        (status = 403, description = "Only for organisers.", body = ErrorBody),
        (status = 429, description = "Too many open streams of this address or account.", body = ErrorBody),
    ),
)]
async fn dashboard_events(
    State(app): State<AppState>,
    caller: Caller,
    ClientIp(address): ClientIp,
) -> ApiResult<Response> {
    caller.organiser()?;
    let permit = StreamPermit::acquire(&app, &caller, address)?;
    let mut looks = tokio::time::interval(LOOK_INTERVAL);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let feed =
        DashboardFeed { app: app.clone(), looks, count: 0, sent: [Vec::new(), Vec::new(), Vec::new()] };
    Ok(sse_response(&app, permit, feed, Vec::new()))
}

/// Looks for changes, for one subscriber.
struct DashboardFeed {
    app: AppState,
    looks: Interval,
    count: u32,
    /// What was sent last: machine, workers, competitions.
    sent: [Vec<u8>; 3],
}

impl DashboardFeed {
    /// Adds an event if its data differ from what was sent last.
    fn push(&mut self, kind: usize, name: &str, data: &impl Serialize, pending: &mut VecDeque<Bytes>) {
        let Ok(bytes) = serde_json::to_vec(data) else { return };
        if let Some(sent) = self.sent.get_mut(kind).filter(|sent| **sent != bytes) {
            pending.push_back(sse::event(name, None, &bytes));
            *sent = bytes;
        }
    }

    async fn look(&mut self, pending: &mut VecDeque<Bytes>) -> ApiResult<()> {
        if self.count.is_multiple_of(LOOKS_PER_MEASUREMENT) {
            let machine = system::measure(&self.app).await?;
            self.push(0, "machine", &machine, pending);
        }
        self.count = self.count.wrapping_add(1);
        let workers = workers::list(&self.app).await?;
        self.push(1, "workers", &workers, pending);
        let mut competitions = Vec::new();
        for handle in self.app.competitions.all() {
            competitions.push(CompetitionChange {
                id: handle.id.clone(),
                revision: handle.revision(),
                pending: self.app.site_db.count_pending(&handle.id).await?,
            });
        }
        self.push(2, "competitions", &competitions, pending);
        Ok(())
    }
}

impl EventSource for DashboardFeed {
    async fn next(&mut self, pending: &mut VecDeque<Bytes>) -> bool {
        loop {
            self.looks.tick().await;
            // Errors are in the log. The next look may succeed.
            let _ = self.look(pending).await;
            if !pending.is_empty() {
                return true;
            }
        }
    }
}
