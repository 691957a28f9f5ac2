//! Connection to the workers through NATS: which workers there are, and how many jobs wait.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use agon_core::LockIgnoringPoison as _;
use agon_grid::permissions::{self, Role};
use agon_grid::{NatsConnection, NatsOptions, WorkerDirectory, subjects};
use agon_league::MatchKey;
use futures_util::StreamExt as _;

use crate::error::StartError;

/// Timeout for queries to NATS that the dashboard and `/metrics` make.
const NATS_QUERY_TIMEOUT: Duration = Duration::from_secs(2);

/// An outage of the NATS server is logged after this time.
const OUTAGE_NOTICE_AFTER: Duration = Duration::from_secs(2);

/// Connection to the workers, and statistics per competition.
pub struct GridClient {
    /// Connection to NATS.
    pub link: NatsConnection,
    /// Directory of all workers, built from their heartbeats.
    pub directory: WorkerDirectory,
    stats: Mutex<BTreeMap<String, WorkerStats>>,
}

/// What the workers of a competition did since the server started.
#[derive(Clone, Debug, Default)]
pub struct WorkerStats {
    /// The competition's id on the grid.
    pub competition_id: String,
    /// Unplayable matches, each with the errors of all workers that tried it.
    pub unplayable: Vec<(MatchKey, Vec<String>)>,
    /// Cross-checked matches with equal results.
    pub checked: u64,
    /// Matches that should have been cross-checked, but no second worker was available.
    pub unchecked: u64,
    /// Comparisons that found different results.
    pub disagreed: u64,
    /// Number of banned workers.
    pub banned: u64,
}

/// Published jobs that are not finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, utoipa::ToSchema)]
pub struct JobCounts {
    /// Jobs in the queue.
    pub waiting: u64,
    /// Jobs that workers are playing.
    #[serde(rename = "out")]
    pub leased: u64,
}

/// Logs outages of the NATS server.
async fn report_outages(link: NatsConnection) {
    let meanwhile = "workers finish their jobs and keep the results until it is back; reconnecting";
    let tell = |words: &str| tracing::warn!("{words}");
    link.connectivity().report_outages(link.url(), OUTAGE_NOTICE_AFTER, meanwhile, tell).await;
}

impl GridClient {
    /// Connects to NATS, checks the permissions and subscribes to heartbeats.
    pub async fn open(options: &NatsOptions) -> Result<Self, StartError> {
        let link = NatsConnection::connect(options).await?;
        permissions::check(&link, Role::Coordinator).await?;
        let directory = WorkerDirectory::listen(&link).await?;
        directory.answer_queries().await?;
        // Ends with the runtime.
        tokio::spawn(report_outages(link.clone()));
        Ok(Self { link, directory, stats: Mutex::default() })
    }

    fn lock_stats(&self) -> MutexGuard<'_, BTreeMap<String, WorkerStats>> {
        self.stats.lock_ignoring_poison()
    }

    /// Statistics of one competition.
    pub fn stats(&self, competition: &str) -> WorkerStats {
        self.lock_stats().get(competition).cloned().unwrap_or_default()
    }

    /// Statistics of all competitions, by id.
    pub fn all_stats(&self) -> BTreeMap<String, WorkerStats> {
        self.lock_stats().clone()
    }

    /// Stores the statistics of a competition.
    pub fn saw(&self, competition: &str, stats: WorkerStats) {
        self.lock_stats().insert(competition.to_owned(), stats);
    }

    /// Counts the jobs of all competitions. `None` if NATS does not answer.
    pub async fn job_counts(&self) -> Option<JobCounts> {
        let count = async {
            // The first competition that starts creates the stream.
            let Some(stream) = self.link.find_stream(subjects::WORK_STREAM).await.ok()? else {
                return Some(JobCounts::default());
            };
            let (mut jobs, mut consumers) = (JobCounts::default(), stream.consumers());
            while let Some(one) = consumers.next().await {
                let one = one.ok()?;
                jobs.waiting += one.num_pending;
                jobs.leased += one.num_ack_pending as u64;
            }
            Some(jobs)
        };
        tokio::time::timeout(NATS_QUERY_TIMEOUT, count).await.ok()?
    }
}
