//! What a worker hears and says besides its work: coordinators' calls, orders, its own beats.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use futures_util::StreamExt as _;

use super::state::{WorkerState, JoinStatus, JobSource};
use super::live;
use crate::GridError;
use crate::worker_directory::HEARTBEAT_INTERVAL;
use crate::subjects::{self, WORK_STREAM};
use crate::messages::{self, Heartbeat, Announcement, CommandReply, JoinRequest, WorkerCommand, PROTOCOL, JoinResponse};

/// A competition nobody has heard of for so long is over. Reports that it still owes a receipt for are given up then.
pub const OVER: Duration = Duration::from_mins(15);

/// Listens to coordinators, until the connection is closed.
pub async fn listen_announcements(house: Arc<WorkerState>) -> Result<(), GridError> {
    let listening = house.link.client().subscribe(subjects::CALL).await;
    let mut calls = listening.map_err(|error| house.link.refused("let us listen", &error))?;
    while let Some(message) = calls.next().await {
        let Ok(call) = messages::decode::<Announcement>(&message.payload) else { continue };
        // A new session of a newer version may be understood again.
        if call.protocol == PROTOCOL
            && subjects::is_name(&call.competition_id)
            && house.note_announcement(&call.competition_id, &call.name, &call.session)
        {
            let house = Arc::clone(&house);
            tokio::spawn(async move { ask(&house, &call.competition_id, &call.name).await });
        }
    }
    Ok(())
}

/// Asks to take part.
pub async fn ask(house: &WorkerState, cup: &str, name: &str) {
    match welcome(house, cup).await {
        Ok(standing) => {
            let says = match &standing {
                JoinStatus::Refused(why) => format!("{name}: refused: {why}"),
                _ => format!("{name}: taking part"),
            };
            if house.set_join_status(cup, standing) {
                house.log(says);
            }
        }
        Err(_) => house.ask_again(cup),
    }
}

async fn welcome(house: &WorkerState, cup: &str) -> Result<JoinStatus, GridError> {
    let options = &house.options;
    let hello = JoinRequest {
        protocol: PROTOCOL,
        worker: options.name.clone(),
        session: house.session.clone(),
        engine: options.identity.engine.clone(),
        rules: options.identity.rules.clone(),
        layers: options.identity.layers.clone(),
        cores: options.cores,
        speed: house.speed,
    };
    let subject = subjects::hello(&options.name, cup);
    let answer = house.link.client().request(subject, messages::encode(&hello)?.into()).await;
    let answer = answer.map_err(|error| house.link.refused("carry a question", &error))?;
    match messages::decode(&answer.payload)? {
        JoinResponse::Refused { why } => Ok(JoinStatus::Refused(why)),
        JoinResponse::Accepted { consumer, lease_ms, scale } => {
            let found = house.link.jetstream().get_consumer_from_stream(consumer, WORK_STREAM).await;
            let consumer: PullConsumer = found.map_err(|error| house.link.refused("give us work", &error))?;
            let lease = Duration::from_millis(lease_ms.max(300));
            Ok(JoinStatus::Welcome(Arc::new(JobSource { consumer, lease, scale })))
        }
    }
}

/// Listens to orders, until the connection is closed.
pub async fn listen_commands(house: Arc<WorkerState>) -> Result<(), GridError> {
    let listening = house.link.client().subscribe(subjects::order(&house.options.name)).await;
    let mut orders = listening.map_err(|error| house.link.refused("let us listen", &error))?;
    while let Some(message) = orders.next().await {
        let order = messages::decode(&message.payload);
        let leaves = matches!(order, Ok(WorkerCommand::Drain));
        let done = match order {
            Ok(order) => execute(&house, order),
            Err(error) => CommandReply::No(error.to_string()),
        };
        if let (Some(reply), Ok(done)) = (message.reply, messages::encode(&done)) {
            // Who asked may be gone.
            let _ = house.link.client().publish(reply, done.into()).await;
        }
        // Only now: a worker with nothing to finish is gone at once, and its answer would be lost with it.
        if leaves {
            house.drain();
        }
    }
    Ok(())
}

fn execute(house: &WorkerState, order: WorkerCommand) -> CommandReply {
    match order {
        WorkerCommand::Drain => {
            house.log("told to finish and leave");
            CommandReply::Yes
        }
        WorkerCommand::Leave { competition_id: cup, why } => {
            house.leave(&cup, &why);
            CommandReply::Yes
        }
        WorkerCommand::Show { competition_id: cup, board, for_ms, whole } => {
            house.shows.show(house.gallery(&cup).as_ref(), &cup, board, for_ms, whole)
        }
    }
}

/// Says how this worker is, every two seconds.
pub async fn heartbeat_loop(house: Arc<WorkerState>) {
    let mut clock = tokio::time::interval(HEARTBEAT_INTERVAL);
    clock.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        clock.tick().await;
        beat(&house, false).await;
        house.forget(OVER);
        let house = Arc::clone(&house);
        // Ending bots may take a moment.
        let _ = tokio::task::spawn_blocking(move || house.troupes.tidy()).await;
    }
}

/// Says how this worker is.
pub async fn beat(house: &WorkerState, gone: bool) {
    let (options, meters) = (&house.options, &house.meters);
    let reading = meters.read();
    let boards = house.galleries().iter().flat_map(|(cup, gallery)| live::boards(cup, gallery)).collect();
    let beat = Heartbeat {
        protocol: PROTOCOL,
        worker: options.name.clone(),
        session: house.session.clone(),
        engine: options.identity.engine.clone(),
        layers: options.identity.layers.clone(),
        cores: options.cores,
        busy: reading.busy,
        games: meters.games.load(Relaxed),
        rate: reading.rate,
        used: reading.used,
        speed: house.speed,
        faults: meters.faults.load(Relaxed),
        failed: meters.failed.load(Relaxed),
        since_ms: meters.since_ms(),
        draining: house.draining(),
        gone,
        refused: house.refused(),
        boards,
    };
    if let Ok(bytes) = messages::encode(&beat) {
        // The next one comes in two seconds.
        let _ = house.link.client().publish(subjects::beat(&options.name), bytes.into()).await;
    }
}
