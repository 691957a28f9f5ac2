//! Is a NATS server fit for a league? Everything that coordinator and workers need is tried, under names of its own, and cleared away again.

use std::time::{Duration, Instant};

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::response::Response;
use async_nats::jetstream::{consumer, stream};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::Deserialize;

use crate::permissions::{Role, check, round_trip};
use crate::messages::{self, Announcement, PIECE};
use crate::{GridError, NatsConnection, NatsOptions, nats, nats_errors, worker_directory, subjects};

/// How a check went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Health {
    /// As it should be.
    Good,
    /// It works, something is less than it could be.
    Note,
    /// Something is missing.
    Bad,
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProbeResult {
    /// What was looked at.
    pub check: &'static str,
    /// How it went.
    pub health: Health,
    /// What was seen.
    pub found: String,
    /// What to do about it.
    pub hint: String,
}

impl ProbeResult {
    fn good(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, health: Health::Good, found: found.into(), hint: String::new() }
    }

    fn note(check: &'static str, found: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { check, health: Health::Note, found: found.into(), hint: hint.into() }
    }

    /// An error, cut into what and what to do.
    pub fn bad(check: &'static str, error: &GridError) -> Self {
        let text = error.to_string();
        let (found, hint) = text.split_once("\nhint: ").unwrap_or((&text, ""));
        Self { check, health: Health::Bad, found: found.to_owned(), hint: hint.to_owned() }
    }
}

/// Looks at a server, as the user that the options name. Takes some three seconds where all is well; no single check waits longer than
/// [`link::CONNECT_TIMEOUT`].
pub async fn nats(options: &NatsOptions) -> Vec<ProbeResult> {
    let link = match NatsConnection::connect(options).await {
        Ok(link) => link,
        Err(error) => return vec![ProbeResult::bad("nats", &error)],
    };
    let mut findings = Vec::new();
    match best_round_trip(&link).await {
        Ok(took) => {
            let version = link.client().server_info().version;
            let found = format!("nats-server {version} at {}, {} a round trip", link.url(), millis(took));
            findings.push(ProbeResult::good("nats", found));
        }
        Err(error) => return vec![ProbeResult::bad("nats", &error)],
    }
    findings.extend([privacy(options, &link), user(options, &link), payload(&link)]);
    let coordinates = check(&link, Role::Coordinator).await;
    let works = check(&link, Role::Worker(&options.name)).await.is_ok();
    let watches = check(&link, Role::Spectator).await.is_ok();
    let roles = [
        (coordinates.is_ok(), Role::Coordinator),
        (works, Role::Worker(&options.name)),
        (watches, Role::Spectator),
    ];
    let able: Vec<String> = roles.into_iter().filter(|one| one.0).map(|one| one.1.words()).collect();
    findings.push(match &coordinates {
        Err(error) if able.is_empty() => ProbeResult::bad("nats rights", error),
        _ => ProbeResult::good("nats rights", format!("this user may {}", able.join(", "))),
    });
    if coordinates.is_ok() {
        findings.extend(streams(&link).await);
    } else if works {
        findings.push(files_of_worker(&link).await);
    }
    if watches {
        findings.extend(company(&link).await);
    }
    findings
}

/// The best of some.
async fn best_round_trip(link: &NatsConnection) -> Result<Duration, GridError> {
    let mut best = round_trip(link).await?;
    for _ in 0..4 {
        best = best.min(round_trip(link).await?);
    }
    Ok(best)
}

fn privacy(options: &NatsOptions, link: &NatsConnection) -> ProbeResult {
    let asked = options.ca.is_some() || options.certificate.is_some() || options.url.contains("tls://");
    if asked || link.client().server_info().tls_required {
        return ProbeResult::good("nats tls", "the connection is encrypted");
    }
    if near(link) {
        return ProbeResult::good("nats tls", "not encrypted, and never leaves this machine");
    }
    let hint =
        "others on the network can read and change what is said: docs/deploying.md has TLS in three commands";
    ProbeResult::note("nats tls", "not encrypted", hint)
}

/// Whether the server is on this machine.
fn near(link: &NatsConnection) -> bool {
    let host = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = rest.rsplit_once(':').map_or(rest, |(host, _)| host);
        host == "localhost" || host.starts_with("127.") || host == "[::1]"
    };
    link.url().split(',').all(host)
}

fn user(options: &NatsOptions, link: &NatsConnection) -> ProbeResult {
    let info = link.client().server_info();
    match (info.auth_required, nats::user_of(&options.url)) {
        (true, Some(user)) => ProbeResult::good("nats user", format!("let in as {user}")),
        (true, None) => ProbeResult::good("nats user", "let in by its credentials"),
        (false, _) => {
            let hint = "anybody who reaches this server may do anything: docs/deploying.md has users for it";
            ProbeResult::note("nats user", "the server asks nobody who they are", hint)
        }
    }
}

fn payload(link: &NatsConnection) -> ProbeResult {
    let (most, needed) = (link.client().server_info().max_payload, PIECE + (64 << 10));
    if most >= needed {
        return ProbeResult::good("nats payload", format!("messages of {} KiB and less", most >> 10));
    }
    let hint = "max_payload: 1MB in the server's configuration".to_owned();
    let found = format!("messages of {} KiB at most; {} KiB are needed", most >> 10, needed >> 10);
    ProbeResult { check: "nats payload", health: Health::Bad, found, hint }
}

/// JetStream, a queue and a stream of files, as a coordinator uses them.
async fn streams(link: &NatsConnection) -> Vec<ProbeResult> {
    let mut findings = Vec::new();
    match link.jetstream().request("INFO", &()).await {
        Ok(Response::Ok(account)) => findings.push(room(&account)),
        Ok(Response::Err { error }) => {
            return vec![ProbeResult::bad("jetstream", &link.refused("say how JetStream is", &error))];
        }
        Err(error) => return vec![ProbeResult::bad("jetstream", &link.refused("say how JetStream is", &error))],
    }
    let id = format!("{:x}{:x}", std::process::id(), nanos());
    for (check, tried) in
        [("jetstream queue", queue(link, &id).await), ("jetstream files", files(link, &id).await)]
    {
        findings.push(match tried {
            Ok(found) => ProbeResult::good(check, found),
            Err(error) => ProbeResult::bad(check, &error),
        });
    }
    findings
}

fn nanos() -> u32 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos())
}

/// What is known of an account. The client's own type wants more than nats-server 2.9 says.
#[derive(Deserialize)]
struct Account {
    storage: u64,
    streams: u64,
    limits: Limits,
}

/// Negative is without a limit.
#[derive(Deserialize)]
struct Limits {
    max_storage: i64,
    max_streams: i64,
}

fn room(account: &Account) -> ProbeResult {
    /// Bots of a large league and some minutes of work.
    const ENOUGH: i64 = 256 << 20;
    let (limits, used) = (&account.limits, account.storage >> 20);
    let found = if limits.max_storage < 0 {
        format!("on, {used} MiB used, {} streams", account.streams)
    } else {
        format!("on, {used} of {} MiB used, {} streams", limits.max_storage >> 20, account.streams)
    };
    let left = limits.max_storage.saturating_sub_unsigned(account.storage);
    if limits.max_storage >= 0 && left < ENOUGH {
        ProbeResult::note("jetstream", found, "little room is left: max_file_store in the server's configuration")
    } else if (0..2).contains(&limits.max_streams) {
        ProbeResult::note("jetstream", found, "two streams are needed: max_streams of the account")
    } else {
        ProbeResult::good("jetstream", found)
    }
}

/// A work queue: the same thing twice is there once, is handed out, acked, and gone.
async fn queue(link: &NatsConnection, id: &str) -> Result<String, GridError> {
    let (name, subject) = (format!("AGON_DOCTOR_{id}_Q"), format!("agon.doctor.{id}.work"));
    let config = stream::Config {
        name: name.clone(),
        subjects: vec![subject.clone()],
        retention: stream::RetentionPolicy::WorkQueue,
        storage: stream::StorageType::File,
        max_bytes: 1 << 20,
        ..stream::Config::default()
    };
    let begun = Instant::now();
    let made = link.jetstream().create_stream(config).await;
    let stream = made.map_err(|error| link.refused("make a stream", &error))?;
    let used = use_queue(link, &stream, subject).await;
    let cleared = link.jetstream().delete_stream(&name).await;
    used?;
    cleared.map_err(|error| link.refused("remove a stream", &error))?;
    Ok(format!("made, used and removed in {}", millis(begun.elapsed())))
}

async fn use_queue(link: &NatsConnection, stream: &stream::Stream, subject: String) -> Result<(), GridError> {
    let config = consumer::pull::Config {
        durable_name: Some("doctor".to_owned()),
        ..consumer::pull::Config::default()
    };
    let consumer =
        stream.create_consumer(config).await.map_err(|error| link.refused("make a consumer", &error))?;
    let mut twice = false;
    for _ in 0..2 {
        let message = PublishMessage::build().payload("a job".into()).message_id("one");
        let sent = link.jetstream().send_publish(subject.clone(), message).await;
        let sent = sent.map_err(|error| link.refused("take a job", &error))?;
        twice = sent.await.map_err(|error| link.refused("take a job", &error))?.duplicate;
    }
    if !twice {
        return Err(strange(link, "tell the same job twice from two", "it took both"));
    }
    let handed = consumer.fetch().max_messages(2).expires(Duration::from_secs(1)).messages().await;
    let mut handed = handed.map_err(|error| link.refused("hand a job out", &error))?;
    let Some(Ok(job)) = handed.next().await else {
        return Err(strange(link, "hand a job out", "it did not come"));
    };
    job.double_ack().await.map_err(|error| link.refused("take an ack", &*error))?;
    Ok(())
}

/// A file of the largest piece, there and back.
async fn files(link: &NatsConnection, id: &str) -> Result<String, GridError> {
    let (name, subject) = (format!("AGON_DOCTOR_{id}_F"), format!("agon.doctor.{id}.file"));
    let config = stream::Config {
        name: name.clone(),
        subjects: vec![subject.clone()],
        max_messages_per_subject: 1,
        storage: stream::StorageType::File,
        allow_direct: true,
        max_bytes: 4 << 20,
        ..stream::Config::default()
    };
    let made = link.jetstream().create_stream(config).await;
    let stream = made.map_err(|error| link.refused("make a stream", &error))?;
    let (bytes, begun) = (Bytes::from(vec![7; PIECE]), Instant::now());
    let used = there_and_back(link, &stream, subject, bytes).await;
    let took = begun.elapsed();
    let cleared = link.jetstream().delete_stream(&name).await;
    used?;
    cleared.map_err(|error| link.refused("remove a stream", &error))?;
    Ok(format!("{} KiB there and back in {}", PIECE >> 10, millis(took)))
}

async fn there_and_back(
    link: &NatsConnection,
    stream: &stream::Stream,
    subject: String,
    bytes: Bytes,
) -> Result<(), GridError> {
    let sent = link.jetstream().publish(subject.clone(), bytes.clone()).await;
    let sent = sent.map_err(|error| link.refused("take a file", &error))?;
    sent.await.map_err(|error| link.refused("take a file", &error))?;
    let back = stream.direct_get_last_for_subject(subject).await;
    let back = back.map_err(|error| link.refused("give a file", &error))?;
    if back.payload == bytes { Ok(()) } else { Err(strange(link, "keep a file", "it gave back another one")) }
}

fn strange(link: &NatsConnection, doing: &str, what: &str) -> GridError {
    nats_errors::jetstream_error(link.url(), doing, &std::io::Error::other(what), None)
}

/// A worker fetches files; before the first coordinator there is nowhere to fetch them from.
async fn files_of_worker(link: &NatsConnection) -> ProbeResult {
    use async_nats::jetstream::stream::DirectGetErrorKind as Kind;
    let Ok(stream) = link.jetstream().get_stream_no_info(subjects::BLOB_STREAM).await else {
        return ProbeResult::note("jetstream files", "cannot be asked for", "");
    };
    match stream.direct_get_last_for_subject(subjects::blob("doctor", 0)).await {
        Ok(_) => ProbeResult::good("jetstream files", "can be fetched"),
        Err(error) if error.kind() == Kind::NotFound => ProbeResult::good("jetstream files", "can be fetched"),
        Err(error) => match link.refused("give a file", &error) {
            GridError::JetStream { what, .. } if !what.to_lowercase().contains("permissions") => {
                let hint = "the first `agon run --nats` makes it; if there was one: is JetStream on?";
                ProbeResult::note("jetstream files", "there is no stream of files yet", hint)
            }
            denied => ProbeResult::bad("jetstream files", &denied),
        },
    }
}

/// Who else is there: a little longer than one beat is listened for.
async fn company(link: &NatsConnection) -> Vec<ProbeResult> {
    let (Ok(heard), Ok(mut calls)) =
        (worker_directory::WorkerDirectory::listen(link).await, link.client().subscribe(subjects::CALL).await)
    else {
        return Vec::new();
    };
    let mut cups = std::collections::BTreeSet::new();
    let until = tokio::time::Instant::now() + worker_directory::HEARTBEAT_INTERVAL + Duration::from_millis(500);
    while let Ok(Some(message)) = tokio::time::timeout_at(until, calls.next()).await {
        if let Ok(call) = messages::decode::<Announcement>(&message.payload) {
            cups.insert(call.name);
        }
    }
    let workers = heard.workers();
    let cores: u32 = workers.iter().map(|one| one.beat.cores).sum();
    let names: Vec<&str> = workers.iter().map(|one| one.beat.worker.as_str()).take(8).collect();
    let more = if workers.len() > 8 { format!(" and {} more", workers.len() - 8) } else { String::new() };
    let there = match workers.len() {
        0 => ProbeResult::note("workers", "nobody is there", "start some: agon worker --nats URL"),
        1 => ProbeResult::good("workers", format!("1, with {cores} cores: {}", names.join(", "))),
        many => ProbeResult::good("workers", format!("{many}, with {cores} cores: {}{more}", names.join(", "))),
    };
    let called = if cups.is_empty() {
        ProbeResult::good("competitions", "none is being played just now")
    } else {
        ProbeResult::good("competitions", cups.into_iter().collect::<Vec<_>>().join(", "))
    };
    vec![there, called]
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
