//! Job queue of a competition: a subject of the job stream, and the consumer that workers pull from.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::{self, AckPolicy, pull};
use async_nats::jetstream::stream::{self, RawMessageErrorKind};
use bytes::Bytes;

use crate::subjects::{self, WORK_STREAM};
use crate::{GridError, NatsConnection};

/// Maximum number of waiting pull requests: one for each free core of all workers.
const MAX_WAITING_PULLS: i64 = 65_536;
/// JetStream drops a job with the same id within this time.
const DUPLICATE_WINDOW: Duration = Duration::from_mins(2);

/// Job queue of a competition.
#[derive(Clone, Debug)]
pub struct JobQueue {
    link: NatsConnection,
    competition_id: String,
    lease: Duration,
}

/// Number of jobs in a queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueCounts {
    /// Jobs that no worker has taken.
    pub waiting: u64,
    /// Jobs that a worker has taken and not acked.
    pub taken: u64,
}

impl JobQueue {
    /// Queue of this competition. Sends no request yet.
    pub fn new(link: NatsConnection, competition_id: String, lease: Duration) -> Self {
        Self { link, competition_id, lease }
    }

    /// Creates the stream and the consumer if they do not exist.
    pub async fn create(&self) -> Result<(), GridError> {
        let config = stream::Config {
            name: WORK_STREAM.to_owned(),
            subjects: vec![subjects::ALL_WORK.to_owned()],
            retention: stream::RetentionPolicy::WorkQueue,
            storage: stream::StorageType::File,
            duplicate_window: DUPLICATE_WINDOW,
            ..stream::Config::default()
        };
        let stream = self.link.jetstream().get_or_create_stream(config).await;
        let stream = stream.map_err(|error| self.link.jetstream_error("create the job stream", &error))?;
        let consumer = pull::Config {
            durable_name: Some(self.competition_id.clone()),
            filter_subject: subjects::work(&self.competition_id),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.lease,
            max_deliver: -1,
            max_ack_pending: -1,
            // Every free core of every worker has a pull request waiting; the server's default is 512.
            max_waiting: MAX_WAITING_PULLS,
            ..pull::Config::default()
        };
        let failed =
            |error: &dyn std::error::Error| self.link.jetstream_error("create the job consumer", error);
        let made = stream.create_consumer(consumer.clone()).await.map_err(|error| failed(&error))?;
        if self.is_consumer_ahead(made.cached_info()).await? {
            stream.delete_consumer(&self.competition_id).await.map_err(|error| failed(&error))?;
            stream.create_consumer(consumer).await.map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    /// Whether the consumer is ahead of the stream. A server that was killed may remember the position of the consumer but not that of an
    /// empty stream. The stream then counts from 1 again, and the consumer would never deliver new jobs.
    async fn is_consumer_ahead(&self, consumer: &consumer::Info) -> Result<bool, GridError> {
        let stream = self.link.jetstream().get_stream(WORK_STREAM).await;
        let stream = stream.map_err(|error| self.link.jetstream_error("open the job stream", &error))?;
        Ok(consumer.delivered.stream_sequence > stream.cached_info().state.last_sequence)
    }

    /// Publishes a job and returns its stream sequence. A job with the same id is published once.
    pub async fn publish(&self, id: &str, job: Vec<u8>) -> Result<u64, GridError> {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", id);
        let failed = |error: &dyn std::error::Error| self.link.jetstream_error("publish a job", error);
        let subject = subjects::work(&self.competition_id);
        let sent = self.link.jetstream().publish_with_headers(subject, headers, Bytes::from(job)).await;
        let sent = sent.map_err(|error| failed(&error))?.await;
        sent.map(|ack| ack.sequence).map_err(|error| failed(&error))
    }

    async fn stream(&self) -> Result<stream::Stream<()>, GridError> {
        let stream = self.link.jetstream().get_stream_no_info(WORK_STREAM).await;
        stream.map_err(|error| self.link.jetstream_error("open the job stream", &error))
    }

    /// Deletes all jobs, including those being played.
    pub async fn purge(&self) -> Result<(), GridError> {
        let purged = self.stream().await?.purge().filter(subjects::work(&self.competition_id)).await;
        purged.map(drop).map_err(|error| self.link.jetstream_error("purge the job queue", &error))
    }

    /// Number of jobs in the queue. An error if the queue does not exist.
    pub async fn counts(&self) -> Result<QueueCounts, GridError> {
        let info = self.stream().await?.consumer_info(&self.competition_id).await;
        let info =
            info.map_err(|error| self.link.jetstream_error("read the state of the job queue", &error))?;
        if self.is_consumer_ahead(&info).await? {
            let error = std::io::Error::other("the consumer is ahead of its stream");
            return Err(self.link.jetstream_error("read the state of the job queue", &error));
        }
        Ok(QueueCounts { waiting: info.num_pending, taken: info.num_ack_pending as u64 })
    }

    /// Ids of those jobs that are no longer in the stream. Jobs are given by id and stream sequence.
    pub async fn missing(&self, jobs: Vec<(String, u64)>) -> Result<Vec<String>, GridError> {
        let stream = self.stream().await?;
        let mut missing = Vec::new();
        for (id, sequence) in jobs {
            match stream.get_raw_message(sequence).await {
                Ok(found) if found.headers.get("Nats-Msg-Id").is_some_and(|known| known.as_str() == id) => {}
                Ok(_) => missing.push(id),
                Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => missing.push(id),
                Err(error) => {
                    return Err(self.link.jetstream_error("read the state of the job queue", &error));
                }
            }
        }
        Ok(missing)
    }

    /// Deletes a job by its stream sequence.
    pub async fn remove(&self, sequence: u64) -> Result<(), GridError> {
        let gone = self.stream().await?.delete_message(sequence).await;
        gone.map(drop).map_err(|error| self.link.jetstream_error("delete a job", &error))
    }

    /// Deletes the jobs and the consumer.
    pub async fn close(&self) -> Result<(), GridError> {
        self.purge().await?;
        let gone = self.stream().await?.delete_consumer(&self.competition_id).await;
        gone.map(drop).map_err(|error| self.link.jetstream_error("delete the job consumer", &error))
    }
}
