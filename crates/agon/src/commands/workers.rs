//! `agon workers`: lists workers, or drains one.

use std::time::{Duration, Instant};

use agon_bots::error::Diagnostic;
use agon_grid::WorkerDirectory;
use agon_grid::messages::{CommandReply, WorkerCommand};
use agon_grid::permissions::Role;
use agon_grid::worker_directory::{HEARTBEAT_INTERVAL, WorkerInfo};
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

use crate::output;
use crate::{args, grid};

/// Default listening time. Every worker sends a heartbeat within it.
const LISTEN_TIMEOUT: Duration = Duration::from_millis(2500);

/// Lists the workers, or drains one.
pub fn run(args: &args::Workers) -> Result<(), Diagnostic> {
    let wait = args.wait.map(|given| args::grid::seconds("--wait", given, 0.0, 86_400.0)).transpose()?;
    let nats = args.nats.required("spectator")?;
    grid::with_runtime(|runtime| {
        let link = grid::connect(runtime, &nats, Role::Spectator)?;
        let roster = runtime.block_on(WorkerDirectory::listen(&link))?;
        runtime.block_on(roster.query_lost())?;
        if let Some(name) = &args.drain {
            return drain(runtime, &roster, name, wait, args.json);
        }
        std::thread::sleep(wait.unwrap_or(LISTEN_TIMEOUT));
        list(&roster.workers(), args.json)
    })
}

fn list(workers: &[WorkerInfo], json: bool) -> Result<(), Diagnostic> {
    if json {
        return output::print_json(
            "workers",
            json!({"workers": workers.iter().map(worker_json).collect::<Vec<_>>()}),
        );
    }
    if workers.is_empty() {
        output::note("no workers connected; start one with `agon worker --nats URL`");
        return Ok(());
    }
    output::print(&table(workers))?;
    for one in workers {
        for (competition, why) in &one.heartbeat.refused {
            output::note(&format!("{} is rejected by {competition}: {why}", one.heartbeat.worker));
        }
        if let Some(failing) = &one.heartbeat.failing {
            let (worker, failures, seconds) =
                (&one.heartbeat.worker, failing.failures, failing.retry_ms.div_ceil(1000));
            let why = &failing.why;
            output::note(&format!(
                "{worker} failed at its last {failures} jobs and takes the next one in {seconds} s: {why}"
            ));
        }
    }
    Ok(())
}

fn table(workers: &[WorkerInfo]) -> String {
    let titles = [
        "Name",
        "State",
        ">Cores",
        ">Busy",
        ">Games/s",
        ">Used",
        ">Speed",
        "Version",
        ">Last seen",
        ">Faults",
        ">Failed",
    ];
    let row = |one: &WorkerInfo| {
        let beat = &one.heartbeat;
        vec![
            beat.worker.clone(),
            one.status.to_string(),
            beat.cores.to_string(),
            beat.busy.to_string(),
            format!("{:.1}", beat.games_per_second),
            format!("{:.0} %", 100.0 * beat.utilization),
            format!("{:.2}", beat.speed),
            beat.engine.clone(),
            format!("{:.0} s ago", one.age.as_secs_f64()),
            beat.faults.to_string(),
            beat.failed_jobs.to_string(),
        ]
    };
    output::table(&titles, workers.iter().map(row).collect())
}

fn worker_json(one: &WorkerInfo) -> Json {
    let beat = &one.heartbeat;
    json!({
        "name": beat.worker, "session": beat.session, "state": one.status.as_str(), "cores": beat.cores, "busy": beat.busy,
        "games": beat.games, "games_per_second": beat.games_per_second, "used": beat.utilization, "speed": beat.speed,
        "engine": beat.engine, "layers": beat.layers, "last_seen_ms": one.age.as_millis() as u64, "since_ms": beat.started_ms,
        "faults": beat.faults, "failed": beat.failed_jobs,
        "failing": beat.failing.as_ref().map(|one| json!({"failures": one.failures, "why": one.why, "retry_ms": one.retry_ms})),
        "refused": beat.refused.iter().map(|(competition, why)| json!({"competition": competition, "why": why})).collect::<Vec<_>>(),
        "boards": beat.live_games.iter().map(|board| json!({
            "competition": board.competition_id, "board": board.slot, "phase": board.key.0 + 1, "stage": board.key.1 + 1,
            "match": board.key.2 + 1, "game": board.game + 1, "turn": board.turn, "for_ms": board.elapsed_ms,
        })).collect::<Vec<_>>(),
    })
}

/// Drains one worker. With `wait`, waits until it has stopped.
fn drain(
    runtime: &Runtime,
    roster: &WorkerDirectory,
    name: &str,
    wait: Option<Duration>,
    json: bool,
) -> Result<(), Diagnostic> {
    match runtime.block_on(roster.send_command(name, &WorkerCommand::Drain))? {
        CommandReply::Yes => {}
        CommandReply::No(why) => {
            return Err(Diagnostic::internal(format!("worker {name} does not stop: {why}"))
                .hint("see its status with `agon workers`"));
        }
    }
    let (begun, mut left) = (Instant::now(), false);
    if let Some(wait) = wait {
        if !json {
            output::note(&format!("{name} finishes its current games and stops; waiting for it"));
        }
        // No heartbeat was received yet, so the worker counts as present for at least one heartbeat interval.
        left = wait_until_gone(roster, name, begun, wait);
    }
    if json {
        output::print_json("drained", json!({"worker": name, "left": left}))?;
    } else if wait.is_none() {
        output::note(&format!("{name} finishes its current games and stops"));
    } else if left {
        output::note(&format!("{name} has stopped"));
    }
    match wait {
        Some(wait) if !left => {
            let what = format!("worker {name} has not stopped within {:.0} s", wait.as_secs_f64());
            Err(Diagnostic::rejected(what)
                .hint("long games may still run; wait and try again, or stop the worker on its machine"))
        }
        _ => Ok(()),
    }
}

/// Whether the worker is gone before `wait` has passed: it said so, or two heartbeats are missing.
fn wait_until_gone(roster: &WorkerDirectory, name: &str, begun: Instant, wait: Duration) -> bool {
    let mut seen = begun;
    loop {
        let there =
            roster.workers().into_iter().filter(|one| one.heartbeat.worker == name).map(|one| one.age).min();
        match there {
            Some(ago) => seen = Instant::now().checked_sub(ago).unwrap_or(seen).max(seen),
            None if seen > begun => return true,
            None => {}
        }
        if seen.elapsed() > 2 * HEARTBEAT_INTERVAL + Duration::from_millis(500) {
            return true;
        }
        if begun.elapsed() > wait {
            return false;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
