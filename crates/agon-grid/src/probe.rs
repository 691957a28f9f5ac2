//! Tests whether a NATS server is suitable for a league. It tries everything that coordinator and workers need, under temporary names, and
//! removes it.

use std::time::{Duration, Instant};

use agon_store::{CheckHealth, DoctorCheck};
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::response::Response;
use async_nats::jetstream::{consumer, stream};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::Deserialize;

use crate::messages::{self, Announcement, MAX_CHUNK_BYTES};
use crate::permissions::{Role, check, round_trip};
use crate::{GridError, NatsConnection, NatsOptions, nats, nats_errors, subjects, worker_directory};

/// Check that failed.
fn failed(check: &'static str, error: &GridError) -> DoctorCheck {
    DoctorCheck::bad(check, &error.diagnostic())
}

/// Tests a server as the user in the options. Takes about three seconds on a good server; no check waits longer than
/// [`nats::CONNECT_TIMEOUT`].
pub async fn probe_server(options: &NatsOptions) -> Vec<DoctorCheck> {
    let link = match NatsConnection::connect(options).await {
        Ok(link) => link,
        Err(error) => return vec![failed("nats", &error)],
    };
    let mut results = Vec::new();
    match best_round_trip(&link).await {
        Ok(duration) => {
            let version = link.client().server_info().version;
            let found =
                format!("nats-server {version} at {}, round trip {}", link.url(), format_millis(duration));
            results.push(DoctorCheck::good("nats", found));
        }
        Err(error) => return vec![failed("nats", &error)],
    }
    results.extend([check_tls(options, &link), check_user(options, &link), check_max_payload(&link)]);
    let can_coordinate = check(&link, Role::Coordinator).await;
    let can_work = check(&link, Role::Worker(&options.name)).await.is_ok();
    let can_watch = check(&link, Role::Spectator).await.is_ok();
    let roles = [
        (can_coordinate.is_ok(), Role::Coordinator),
        (can_work, Role::Worker(&options.name)),
        (can_watch, Role::Spectator),
    ];
    let allowed: Vec<String> = roles.into_iter().filter(|one| one.0).map(|one| one.1.describe()).collect();
    results.push(match &can_coordinate {
        Err(error) if allowed.is_empty() => failed("nats rights", error),
        _ => DoctorCheck::good("nats rights", format!("this user may {}", allowed.join(", "))),
    });
    if can_coordinate.is_ok() {
        results.extend(check_jetstream(&link).await);
    } else if can_work {
        results.push(check_worker_file_access(&link).await);
    }
    if can_watch {
        results.extend(check_presence(&link).await);
    }
    results
}

/// Shortest of five round trips.
async fn best_round_trip(link: &NatsConnection) -> Result<Duration, GridError> {
    let mut best = round_trip(link).await?;
    for _ in 0..4 {
        best = best.min(round_trip(link).await?);
    }
    Ok(best)
}

fn check_tls(options: &NatsOptions, link: &NatsConnection) -> DoctorCheck {
    let is_requested =
        options.ca.is_some() || options.certificate.is_some() || options.url.contains("tls://");
    if is_requested || link.client().server_info().tls_required {
        return DoctorCheck::good("nats tls", "the connection is encrypted");
    }
    if is_local_server(link) {
        return DoctorCheck::good("nats tls", "not encrypted, but local");
    }
    let hint =
        "others on the network can read and change messages; docs/deploying.md shows how to set up TLS";
    DoctorCheck::note("nats tls", "not encrypted", hint)
}

/// Whether the server is on this machine.
fn is_local_server(link: &NatsConnection) -> bool {
    let host = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = rest.rsplit_once(':').map_or(rest, |(host, _)| host);
        host == "localhost" || host.starts_with("127.") || host == "[::1]"
    };
    link.url().split(',').all(host)
}

fn check_user(options: &NatsOptions, link: &NatsConnection) -> DoctorCheck {
    let info = link.client().server_info();
    match (info.auth_required, nats::user_in_url(&options.url)) {
        (true, Some(user)) => DoctorCheck::good("nats user", format!("logged in as {user}")),
        (true, None) => DoctorCheck::good("nats user", "logged in with credentials"),
        (false, _) => {
            let hint = "everyone who reaches this server has full access; docs/deploying.md shows how to set up users";
            DoctorCheck::note("nats user", "the server requires no login", hint)
        }
    }
}

fn check_max_payload(link: &NatsConnection) -> DoctorCheck {
    let (max_payload, needed) = (link.client().server_info().max_payload, MAX_CHUNK_BYTES + (64 << 10));
    if max_payload >= needed {
        return DoctorCheck::good("nats payload", format!("messages of up to {} KiB", max_payload >> 10));
    }
    let hint = "set max_payload: 1MB in the server's configuration".to_owned();
    let found = format!("messages of up to {} KiB; {} KiB are required", max_payload >> 10, needed >> 10);
    DoctorCheck { name: "nats payload".into(), health: CheckHealth::Bad, found, hint }
}

/// Checks JetStream, a work queue and a file stream, as a coordinator uses them.
async fn check_jetstream(link: &NatsConnection) -> Vec<DoctorCheck> {
    let mut results = Vec::new();
    match link.jetstream().request("INFO", &()).await {
        Ok(Response::Ok(account)) => results.push(check_storage(&account)),
        Ok(Response::Err { error }) => {
            return vec![failed("jetstream", &link.jetstream_error("read the JetStream account", &error))];
        }
        Err(error) => {
            return vec![failed("jetstream", &link.jetstream_error("read the JetStream account", &error))];
        }
    }
    let id = format!("{:x}{:x}", std::process::id(), nanos());
    for (check, outcome) in [
        ("jetstream queue", check_queue(link, &id).await),
        ("jetstream files", check_file_stream(link, &id).await),
    ] {
        results.push(match outcome {
            Ok(found) => DoctorCheck::good(check, found),
            Err(error) => failed(check, &error),
        });
    }
    results
}

fn nanos() -> u32 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |since| since.subsec_nanos())
}

/// JetStream account info. The type of the client library requires fields that nats-server 2.9 does not send.
#[derive(Deserialize)]
struct JetStreamAccount {
    storage: u64,
    streams: u64,
    limits: AccountLimits,
}

/// Account limits; negative means unlimited.
#[derive(Deserialize)]
struct AccountLimits {
    max_storage: i64,
    max_streams: i64,
}

fn check_storage(account: &JetStreamAccount) -> DoctorCheck {
    /// Space for the bots of a large league and some minutes of jobs.
    const MIN_FREE_BYTES: i64 = 256 << 20;
    let (limits, used) = (&account.limits, account.storage >> 20);
    let found = if limits.max_storage < 0 {
        format!("on, {used} MiB used, {} streams", account.streams)
    } else {
        format!("on, {used} of {} MiB used, {} streams", limits.max_storage >> 20, account.streams)
    };
    let free = limits.max_storage.saturating_sub_unsigned(account.storage);
    if limits.max_storage >= 0 && free < MIN_FREE_BYTES {
        DoctorCheck::note(
            "jetstream",
            found,
            "little space is left; raise max_file_store in the server's configuration",
        )
    } else if (0..2).contains(&limits.max_streams) {
        DoctorCheck::note("jetstream", found, "two streams are required; raise max_streams of the account")
    } else {
        DoctorCheck::good("jetstream", found)
    }
}

/// Checks a work queue: a duplicate is dropped, a job is delivered and acked.
async fn check_queue(link: &NatsConnection, id: &str) -> Result<String, GridError> {
    let (name, subject) = (format!("AGON_DOCTOR_{id}_Q"), format!("agon.doctor.{id}.work"));
    let config = stream::Config {
        name: name.clone(),
        subjects: vec![subject.clone()],
        retention: stream::RetentionPolicy::WorkQueue,
        storage: stream::StorageType::File,
        max_bytes: 1 << 20,
        ..stream::Config::default()
    };
    let started = Instant::now();
    let created = link.jetstream().create_stream(config).await;
    let stream = created.map_err(|error| link.jetstream_error("create a stream", &error))?;
    let outcome = exercise_queue(link, &stream, subject).await;
    let deleted = link.jetstream().delete_stream(&name).await;
    outcome?;
    deleted.map_err(|error| link.jetstream_error("delete a stream", &error))?;
    Ok(format!("created, used and deleted in {}", format_millis(started.elapsed())))
}

async fn exercise_queue(
    link: &NatsConnection,
    stream: &stream::Stream,
    subject: String,
) -> Result<(), GridError> {
    let config = consumer::pull::Config {
        durable_name: Some("doctor".to_owned()),
        ..consumer::pull::Config::default()
    };
    let consumer = stream
        .create_consumer(config)
        .await
        .map_err(|error| link.jetstream_error("create a consumer", &error))?;
    let mut is_duplicate = false;
    for _ in 0..2 {
        let message = PublishMessage::build().payload("a job".into()).message_id("one");
        let sent = link.jetstream().send_publish(subject.clone(), message).await;
        let sent = sent.map_err(|error| link.jetstream_error("publish a job", &error))?;
        is_duplicate = sent.await.map_err(|error| link.jetstream_error("publish a job", &error))?.duplicate;
    }
    if !is_duplicate {
        return Err(unexpected_behaviour(link, "de-duplicate jobs", "the server stored both copies"));
    }
    let jobs = consumer.fetch().max_messages(2).expires(Duration::from_secs(1)).messages().await;
    let mut jobs = jobs.map_err(|error| link.jetstream_error("pull a job", &error))?;
    let Some(Ok(job)) = jobs.next().await else {
        return Err(unexpected_behaviour(link, "pull a job", "no job was delivered"));
    };
    job.double_ack().await.map_err(|error| link.jetstream_error("ack a job", &*error))?;
    Ok(())
}

/// Stores a file of maximum chunk size and fetches it.
async fn check_file_stream(link: &NatsConnection, id: &str) -> Result<String, GridError> {
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
    let created = link.jetstream().create_stream(config).await;
    let stream = created.map_err(|error| link.jetstream_error("create a stream", &error))?;
    let (bytes, started) = (Bytes::from(vec![7; MAX_CHUNK_BYTES]), Instant::now());
    let outcome = store_and_fetch(link, &stream, subject, bytes).await;
    let duration = started.elapsed();
    let deleted = link.jetstream().delete_stream(&name).await;
    outcome?;
    deleted.map_err(|error| link.jetstream_error("delete a stream", &error))?;
    Ok(format!("{} KiB stored and fetched in {}", MAX_CHUNK_BYTES >> 10, format_millis(duration)))
}

async fn store_and_fetch(
    link: &NatsConnection,
    stream: &stream::Stream,
    subject: String,
    bytes: Bytes,
) -> Result<(), GridError> {
    let sent = link.jetstream().publish(subject.clone(), bytes.clone()).await;
    let sent = sent.map_err(|error| link.jetstream_error("store a file", &error))?;
    sent.await.map_err(|error| link.jetstream_error("store a file", &error))?;
    let back = stream.direct_get_last_for_subject(subject).await;
    let back = back.map_err(|error| link.jetstream_error("fetch a file", &error))?;
    if back.payload == bytes {
        Ok(())
    } else {
        Err(unexpected_behaviour(link, "store a file", "the server returned other content"))
    }
}

fn unexpected_behaviour(link: &NatsConnection, doing: &str, what: &str) -> GridError {
    nats_errors::jetstream_error(link.url(), doing, &std::io::Error::other(what), None)
}

/// Checks that a worker may fetch files. The first coordinator creates the file stream.
async fn check_worker_file_access(link: &NatsConnection) -> DoctorCheck {
    use async_nats::jetstream::stream::DirectGetErrorKind as Kind;
    let Ok(stream) = link.jetstream().get_stream_no_info(subjects::BLOB_STREAM).await else {
        return DoctorCheck::note("jetstream files", "cannot be opened", "");
    };
    match stream.direct_get_last_for_subject(subjects::blob("doctor", 0)).await {
        Ok(_) => DoctorCheck::good("jetstream files", "can be fetched"),
        Err(error) if error.kind() == Kind::NotFound => {
            DoctorCheck::good("jetstream files", "can be fetched")
        }
        Err(error) => match link.jetstream_error("fetch a file", &error) {
            GridError::JetStream { what, .. } if !what.to_lowercase().contains("permissions") => {
                let hint = "the first `agon run --nats` creates it; if there was one, check that JetStream is enabled";
                DoctorCheck::note("jetstream files", "the file stream does not exist yet", hint)
            }
            denied => failed("jetstream files", &denied),
        },
    }
}

/// Lists workers and competitions. Listens slightly longer than a heartbeat interval.
async fn check_presence(link: &NatsConnection) -> Vec<DoctorCheck> {
    let (Ok(directory), Ok(mut announcements)) = (
        worker_directory::WorkerDirectory::listen(link).await,
        link.client().subscribe(subjects::ANNOUNCEMENTS).await,
    ) else {
        return Vec::new();
    };
    let mut competitions = std::collections::BTreeSet::new();
    let until =
        tokio::time::Instant::now() + worker_directory::HEARTBEAT_INTERVAL + Duration::from_millis(500);
    while let Ok(Some(message)) = tokio::time::timeout_at(until, announcements.next()).await {
        if let Ok(announcement) = messages::decode::<Announcement>(&message.payload) {
            competitions.insert(announcement.name);
        }
    }
    let workers = directory.workers();
    let cores: u32 = workers.iter().map(|one| one.heartbeat.cores).sum();
    let names: Vec<&str> = workers.iter().map(|one| one.heartbeat.worker.as_str()).take(8).collect();
    let more = if workers.len() > 8 { format!(" and {} more", workers.len() - 8) } else { String::new() };
    let listed = match workers.len() {
        0 => DoctorCheck::note("workers", "no workers connected", "start one with: agon worker --nats URL"),
        1 => DoctorCheck::good("workers", format!("1, with {cores} cores: {}", names.join(", "))),
        many => {
            DoctorCheck::good("workers", format!("{many}, with {cores} cores: {}{more}", names.join(", ")))
        }
    };
    let running = if competitions.is_empty() {
        DoctorCheck::good("competitions", "none is running")
    } else {
        DoctorCheck::good("competitions", competitions.into_iter().collect::<Vec<_>>().join(", "))
    };
    vec![listed, running]
}

fn format_millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}
