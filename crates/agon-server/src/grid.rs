//! Other machines, where games are played on some: the connection to NATS, who is there, what waits to be played.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agon_grid::permissions::{self, Role};
use agon_grid::{NatsConnection, NatsOptions, WorkerDirectory, subjects};
use agon_league::MatchKey;
use futures_util::StreamExt as _;

use crate::error::StartError;

/// Whoever looks at the figures does not wait longer for NATS.
const NATS_QUERY_TIMEOUT: Duration = Duration::from_secs(2);

/// Other machines.
pub struct GridClient {
    /// The connection.
    pub link: NatsConnection,
    /// Who is there.
    pub roster: WorkerDirectory,
    runs: Mutex<BTreeMap<String, WorkerStats>>,
}

/// What was seen of a competition's workers since the server started.
#[derive(Clone, Debug, Default)]
pub struct WorkerStats {
    /// Its id on the grid.
    pub cup: String,
    /// Matches that nobody could play, and what each who tried said.
    pub aside: Vec<(MatchKey, Vec<String>)>,
    /// Matches that were played twice and came to the same.
    pub checked: u64,
    /// Matches that should have been, when nobody was there for it.
    pub unchecked: u64,
    /// Comparisons that differed.
    pub disagreed: u64,
    /// Workers that are not believed any more.
    pub barred: u64,
}

/// Jobs that were handed out and are not done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, serde::Serialize, utoipa::ToSchema)]
pub struct JobCounts {
    /// In the queue.
    pub waiting: u64,
    /// With workers.
    pub out: u64,
}

impl GridClient {
    /// Connects, and begins to listen.
    pub async fn open(options: &NatsOptions) -> Result<Self, StartError> {
        let link = NatsConnection::connect(options).await?;
        permissions::check(&link, Role::Coordinator).await?;
        let roster = WorkerDirectory::listen(&link).await?;
        Ok(Self { link, roster, runs: Mutex::default() })
    }

    fn runs(&self) -> MutexGuard<'_, BTreeMap<String, WorkerStats>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was seen of a competition.
    pub fn seen(&self, competition: &str) -> WorkerStats {
        self.runs().get(competition).cloned().unwrap_or_default()
    }

    /// All of them, by competition.
    pub fn all(&self) -> BTreeMap<String, WorkerStats> {
        self.runs().clone()
    }

    /// There is something new.
    pub fn saw(&self, competition: &str, seen: WorkerStats) {
        self.runs().insert(competition.to_owned(), seen);
    }

    /// Jobs of all competitions, as NATS counts them; nothing if it does not say.
    pub async fn jobs(&self) -> Option<JobCounts> {
        let count = async {
            let stream = match self.link.jetstream().get_stream(subjects::WORK_STREAM).await {
                Ok(stream) => stream,
                // The first competition that is started makes it.
                Err(error) if error.to_string().contains("stream not found") => return Some(JobCounts::default()),
                Err(_) => return None,
            };
            let (mut jobs, mut consumers) = (JobCounts::default(), stream.consumers());
            while let Some(one) = consumers.next().await {
                let one = one.ok()?;
                jobs.waiting += one.num_pending;
                jobs.out += one.num_ack_pending as u64;
            }
            Some(jobs)
        };
        tokio::time::timeout(NATS_QUERY_TIMEOUT, count).await.ok()?
    }
}
