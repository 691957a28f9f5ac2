//! The queue that jobs wait in: a subject of the work stream, and the consumer that workers pull from.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::{self, AckPolicy, pull};
use async_nats::jetstream::stream::{self, RawMessageErrorKind};
use bytes::Bytes;

use crate::subjects::{self, WORK_STREAM};
use crate::{GridError, NatsConnection};

/// So many requests for work may wait: free cores of all workers of a competition.
const WAITING: i64 = 65_536;
/// The same job published again within this time is one.
const SAME: Duration = Duration::from_mins(2);

/// A competition's queue.
#[derive(Clone, Debug)]
pub struct JobQueue {
    link: NatsConnection,
    cup: String,
    lease: Duration,
}

/// What a queue holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueCounts {
    /// Jobs that wait.
    pub waiting: u64,
    /// Jobs in somebody's hands.
    pub taken: u64,
}

impl JobQueue {
    /// The queue of this competition.
    pub fn new(link: NatsConnection, cup: String, lease: Duration) -> Self {
        Self { link, cup, lease }
    }

    /// Makes the stream and the consumer, if they are not there.
    pub async fn make(&self) -> Result<(), GridError> {
        let config = stream::Config {
            name: WORK_STREAM.to_owned(),
            subjects: vec![subjects::ALL_WORK.to_owned()],
            retention: stream::RetentionPolicy::WorkQueue,
            storage: stream::StorageType::File,
            duplicate_window: SAME,
            ..stream::Config::default()
        };
        let stream = self.link.jetstream().get_or_create_stream(config).await;
        let stream = stream.map_err(|error| self.link.refused("make the stream of work", &error))?;
        let consumer = pull::Config {
            durable_name: Some(self.cup.clone()),
            filter_subject: subjects::work(&self.cup),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.lease,
            max_deliver: -1,
            max_ack_pending: -1,
            // Every free core of every worker has a request waiting; unless it is told, the server takes 512.
            max_waiting: WAITING,
            ..pull::Config::default()
        };
        let refused = |error: &dyn std::error::Error| {
            self.link.refused("make the consumer that workers pull from", error)
        };
        let made = stream.create_consumer(consumer.clone()).await.map_err(|error| refused(&error))?;
        if self.is_ahead(made.cached_info()).await? {
            stream.delete_consumer(&self.cup).await.map_err(|error| refused(&error))?;
            stream.create_consumer(consumer).await.map_err(|error| refused(&error))?;
        }
        Ok(())
    }

    /// Whether the consumer is further than the stream. A server that was killed may know how far the consumer was and not how far the stream
    /// was, when nothing was left in it: then it counts from 1 again, and what is published would never be given to anybody.
    async fn is_ahead(&self, consumer: &consumer::Info) -> Result<bool, GridError> {
        let stream = self.link.jetstream().get_stream(WORK_STREAM).await;
        let stream = stream.map_err(|error| self.link.refused("open the stream of work", &error))?;
        Ok(consumer.delivered.stream_sequence > stream.cached_info().state.last_sequence)
    }

    /// Publishes a job; gives its place in the stream. The same id again is the same job.
    pub async fn publish(&self, id: &str, job: Vec<u8>) -> Result<u64, GridError> {
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", id);
        let refused = |error: &dyn std::error::Error| self.link.refused("take a job", error);
        let subject = subjects::work(&self.cup);
        let sent = self.link.jetstream().publish_with_headers(subject, headers, Bytes::from(job)).await;
        let sent = sent.map_err(|error| refused(&error))?.await;
        sent.map(|ack| ack.sequence).map_err(|error| refused(&error))
    }

    async fn stream(&self) -> Result<stream::Stream<()>, GridError> {
        let stream = self.link.jetstream().get_stream_no_info(WORK_STREAM).await;
        stream.map_err(|error| self.link.refused("open the stream of work", &error))
    }

    /// Empties the queue: jobs that are being played too.
    pub async fn purge(&self) -> Result<(), GridError> {
        let purged = self.stream().await?.purge().filter(subjects::work(&self.cup)).await;
        purged.map(drop).map_err(|error| self.link.refused("empty the queue", &error))
    }

    /// What the queue holds. An error if it is not there.
    pub async fn held(&self) -> Result<QueueCounts, GridError> {
        let info = self.stream().await?.consumer_info(&self.cup).await;
        let info = info.map_err(|error| self.link.refused("say what the queue holds", &error))?;
        if self.is_ahead(&info).await? {
            let error = std::io::Error::other("the consumer is ahead of its stream");
            return Err(self.link.refused("say what the queue holds", &error));
        }
        Ok(QueueCounts { waiting: info.num_pending, taken: info.num_ack_pending as u64 })
    }

    /// Which of these jobs, by their places in the stream, are not there any more.
    pub async fn missing(&self, jobs: Vec<(String, u64)>) -> Result<Vec<String>, GridError> {
        let stream = self.stream().await?;
        let mut missing = Vec::new();
        for (id, place) in jobs {
            match stream.get_raw_message(place).await {
                Ok(found) if found.headers.get("Nats-Msg-Id").is_some_and(|known| known.as_str() == id) => {}
                Ok(_) => missing.push(id),
                Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => missing.push(id),
                Err(error) => return Err(self.link.refused("say what the queue holds", &error)),
            }
        }
        Ok(missing)
    }

    /// Takes a job out, by its place in the stream.
    pub async fn remove(&self, place: u64) -> Result<(), GridError> {
        let gone = self.stream().await?.delete_message(place).await;
        gone.map(drop).map_err(|error| self.link.refused("take a job out of the queue", &error))
    }

    /// Takes the queue down: nobody pulls from it any more.
    pub async fn close(&self) -> Result<(), GridError> {
        self.purge().await?;
        let gone = self.stream().await?.delete_consumer(&self.cup).await;
        gone.map(drop).map_err(|error| self.link.refused("take the queue down", &error))
    }
}
