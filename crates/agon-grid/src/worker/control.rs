//! Control messages of a worker: announcements, commands and heartbeats.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use futures_util::StreamExt as _;
use tracing::{Instrument as _, Level};

use super::live;
use super::state::{JobSource, JoinStatus, WorkerState};
use crate::messages::{
    self, Announcement, CommandReply, Heartbeat, JoinRequest, JoinResponse, PROTOCOL, WorkerCommand,
};
use crate::subjects::{self, WORK_STREAM};
use crate::worker_directory::HEARTBEAT_INTERVAL;
use crate::{GridError, needs};

/// A competition is forgotten after this time without an announcement. Its unacknowledged reports are then given up.
pub const COMPETITION_FORGOTTEN_AFTER: Duration = Duration::from_mins(15);

/// An outage of the server is logged after this time.
const OUTAGE_NOTICE_AFTER: Duration = Duration::from_secs(2);
/// Number of heartbeats between two searches for folders that killed processes left behind: about a minute.
const HEARTBEATS_PER_CLEANUP: u32 = 30;

/// Listens to announcements until the connection is closed.
pub async fn listen_announcements(worker: Arc<WorkerState>) -> Result<(), GridError> {
    let subscription = worker.link.client().subscribe(subjects::ANNOUNCEMENTS).await;
    let mut announcements = subscription.map_err(|error| worker.link.jetstream_error("subscribe", &error))?;
    while let Some(message) = announcements.next().await {
        let Ok(announcement) = messages::decode::<Announcement>(&message.payload) else { continue };
        // A coordinator that is updated announces a new session, which may use our protocol version.
        if announcement.protocol == PROTOCOL
            && subjects::is_valid_name(&announcement.competition_id)
            && worker.note_announcement(
                &announcement.competition_id,
                &announcement.name,
                &announcement.session,
                announcement.needs,
            )
        {
            let worker = Arc::clone(&worker);
            let joining =
                async move { join(&worker, &announcement.competition_id, &announcement.name).await };
            tokio::spawn(joining.in_current_span());
        }
    }
    Ok(())
}

/// Sends a join request and processes the response.
pub async fn join(worker: &WorkerState, competition_id: &str, name: &str) {
    match request_join(worker, competition_id).await {
        Ok(status) => {
            let (level, message) = match &status {
                JoinStatus::Refused(why) => (Level::WARN, format!("{name}: refused: {why}")),
                _ => (Level::INFO, format!("{name}: joined")),
            };
            if worker.set_join_status(competition_id, status) {
                worker.log(level, message);
            }
        }
        Err(error) => {
            tracing::debug!(competition = competition_id, %error, "no response to the join request; retrying");
            worker.retry_join(competition_id);
        }
    }
}

async fn request_join(worker: &WorkerState, competition_id: &str) -> Result<JoinStatus, GridError> {
    let options = &worker.options;
    let needs = worker.needs(competition_id);
    // Blocking, because a program may be started.
    let missing = tokio::task::spawn_blocking(move || needs::missing(&needs)).await;
    let request = JoinRequest {
        missing: missing.unwrap_or_default(),
        protocol: PROTOCOL,
        worker: options.name.clone(),
        session: worker.session.clone(),
        engine: options.capabilities.engine.clone(),
        rules: options.capabilities.rules.clone(),
        layers: options.capabilities.layers.clone(),
        cores: options.cores,
        speed: worker.speed,
    };
    let subject = subjects::join(&options.name, competition_id);
    let reply = worker.link.client().request(subject, messages::encode(&request)?.into()).await;
    let reply = reply.map_err(|error| worker.link.jetstream_error("send a join request", &error))?;
    match messages::decode(&reply.payload)? {
        JoinResponse::Refused { why } => Ok(JoinStatus::Refused(why)),
        JoinResponse::Accepted { consumer, lease_ms, clock_scale } => {
            let consumer = worker.link.jetstream().get_consumer_from_stream(consumer, WORK_STREAM).await;
            let consumer: PullConsumer =
                consumer.map_err(|error| worker.link.jetstream_error("open the job consumer", &error))?;
            let lease = Duration::from_millis(lease_ms.max(300));
            Ok(JoinStatus::Accepted(Arc::new(JobSource { consumer, lease, clock_scale })))
        }
    }
}

/// Listens to commands until the connection is closed.
pub async fn listen_commands(worker: Arc<WorkerState>) -> Result<(), GridError> {
    let subscription = worker.link.client().subscribe(subjects::command(&worker.options.name)).await;
    let mut commands = subscription.map_err(|error| worker.link.jetstream_error("subscribe", &error))?;
    while let Some(message) = commands.next().await {
        let command = messages::decode(&message.payload);
        let drains = matches!(command, Ok(WorkerCommand::Drain));
        let outcome = match command {
            Ok(command) => execute(&worker, command),
            Err(error) => CommandReply::No(error.to_string()),
        };
        if let (Some(reply), Ok(outcome)) = (message.reply, messages::encode(&outcome)) {
            // The requester may be gone.
            let _ = worker.link.client().publish(reply, outcome.into()).await;
        }
        // After the reply: an idle worker ends at once, and its reply would be lost.
        if drains {
            worker.drain();
        }
    }
    Ok(())
}

fn execute(worker: &WorkerState, command: WorkerCommand) -> CommandReply {
    match command {
        WorkerCommand::Drain => {
            worker.log(Level::INFO, "drain requested; finishing current games");
            CommandReply::Yes
        }
        WorkerCommand::Leave { competition_id, why } => {
            worker.leave(&competition_id, &why);
            CommandReply::Yes
        }
        WorkerCommand::Show { competition_id, slot, duration_ms, full_film } => worker.live_streams.show(
            worker.live_games(&competition_id).as_ref(),
            &competition_id,
            slot,
            duration_ms,
            full_film,
        ),
    }
}

/// Logs outages of the server.
pub async fn report_outages(worker: Arc<WorkerState>) {
    let meanwhile = "games go on, and results are kept until it is back; reconnecting";
    let tell = |words: &str| worker.log(Level::WARN, words);
    let link = &worker.link;
    link.connectivity().report_outages(link.url(), OUTAGE_NOTICE_AFTER, meanwhile, tell).await;
}

/// Publishes heartbeats and tidies up.
pub async fn heartbeat_loop(worker: Arc<WorkerState>) {
    let mut interval = tokio::time::interval(HEARTBEAT_INTERVAL);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    for beats in 1u32.. {
        interval.tick().await;
        send_heartbeat(&worker, false).await;
        worker.forget_silent(COMPETITION_FORGOTTEN_AFTER);
        let worker = Arc::clone(&worker);
        // Blocking, because ending bots takes time.
        let tidying = move || {
            worker.phases.evict_idle();
            if beats.is_multiple_of(HEARTBEATS_PER_CLEANUP) {
                agon_host::scratch_dir::remove_leftovers();
            }
        };
        let _ = tokio::task::spawn_blocking(tidying).await;
    }
}

/// Publishes a heartbeat.
pub async fn send_heartbeat(worker: &WorkerState, gone: bool) {
    let (options, metrics) = (&worker.options, &worker.metrics);
    let sample = metrics.sample();
    let live_games = worker
        .all_live_games()
        .iter()
        .flat_map(|(competition_id, live_games)| live::live_game_infos(competition_id, live_games))
        .collect();
    let heartbeat = Heartbeat {
        protocol: PROTOCOL,
        worker: options.name.clone(),
        session: worker.session.clone(),
        engine: options.capabilities.engine.clone(),
        layers: options.capabilities.layers.clone(),
        cores: options.cores,
        busy: sample.busy_threads,
        games: metrics.games.load(Relaxed),
        games_per_second: sample.games_per_second,
        utilization: sample.utilization,
        speed: worker.speed,
        faults: metrics.faults.load(Relaxed),
        failed_jobs: metrics.failed.load(Relaxed),
        started_ms: metrics.started_ms(),
        draining: worker.is_draining(),
        gone,
        refused: worker.refused(),
        live_games,
        failing: worker.failing(),
    };
    if let Ok(bytes) = messages::encode(&heartbeat) {
        // A lost heartbeat does not matter; the next one follows.
        let _ = worker.link.client().publish(subjects::heartbeat(&options.name), bytes.into()).await;
    }
}
