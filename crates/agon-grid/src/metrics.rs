//! Metrics in the Prometheus text format, for `agon serve` and `agon run`.

use std::fmt::{Display, Write as _};

use crate::connectivity::ConnectivityStats;
use crate::messages::Heartbeat;
use crate::worker_directory::{WorkerInfo, WorkerStatus};
use crate::{GridRunStats, subjects};

/// Writes the description of a metric.
pub fn write_header(text: &mut String, name: &str, kind: &str, about: &str) {
    let _ = writeln!(text, "# HELP {name} {about}\n# TYPE {name} {kind}");
}

/// Writes a metric with one value.
pub fn write_metric(text: &mut String, name: &str, kind: &str, about: &str, value: impl Display) {
    write_header(text, name, kind, about);
    let _ = writeln!(text, "{name} {value}");
}

/// Writes whether the NATS server answers, and for how long it did not.
pub fn write_connectivity(text: &mut String, stats: ConnectivityStats) {
    let ConnectivityStats { is_connected, outages, away } = stats;
    write_metric(text, "agon_nats_up", "gauge", "Whether the NATS server answers.", u8::from(is_connected));
    write_metric(text, "agon_nats_outages_total", "counter", "Lost connections to the NATS server.", outages);
    let about = "Time without a connection to the NATS server.";
    write_metric(text, "agon_nats_away_seconds_total", "counter", about, away.as_secs_f64());
}

/// Writes the failed jobs of each worker.
pub fn write_failed_jobs(text: &mut String, workers: &[WorkerInfo]) {
    let name = "agon_worker_failed_jobs_total";
    write_header(text, name, "counter", "Failed jobs by worker, since the worker started.");
    // Names come from other machines.
    for beat in workers.iter().map(|one| &one.heartbeat).filter(|beat| subjects::is_valid_name(&beat.worker))
    {
        let _ = writeln!(text, "{name}{{worker=\"{}\"}} {}", beat.worker, beat.failed_jobs);
    }
}

/// Writes the number of workers by state, their cores and their speed.
pub fn write_workers(text: &mut String, workers: &[WorkerInfo]) {
    write_header(text, "agon_workers", "gauge", "Workers by state.");
    for state in WorkerStatus::ALL {
        let count = workers.iter().filter(|one| one.status == state).count();
        let _ = writeln!(text, "agon_workers{{state=\"{state}\"}} {count}");
    }
    let online = || workers.iter().filter(|one| one.status != WorkerStatus::Lost).map(|one| &one.heartbeat);
    let sum = |count: fn(&Heartbeat) -> u32| online().map(|beat| u64::from(count(beat))).sum::<u64>();
    let about = "Maximum number of parallel games of all workers.";
    write_metric(text, "agon_worker_cores", "gauge", about, sum(|beat| beat.cores));
    write_metric(text, "agon_worker_games", "gauge", "Games being played by workers.", sum(|beat| beat.busy));
    let rates = online().map(|beat| beat.games_per_second).filter(|rate| rate.is_finite());
    let about = "Games per second of all workers, over the last ten seconds.";
    write_metric(
        text,
        "agon_worker_games_per_second",
        "gauge",
        about,
        rates.fold(0.0, |sum, rate| sum + rate),
    );
}

/// Writes the jobs and cross-checks of a run.
pub fn write_run(text: &mut String, stats: &GridRunStats) {
    write_metric(text, "agon_jobs_waiting", "gauge", "Jobs in the queue.", stats.waiting_jobs);
    write_metric(text, "agon_jobs_out", "gauge", "Jobs being played by workers.", stats.taken_jobs);
    write_header(text, "agon_matches_checked", "gauge", "Cross-checked matches by outcome.");
    for (outcome, count) in [
        ("agreed", stats.checked),
        ("unchecked", stats.unchecked),
        ("disagreed", stats.disagreed),
        ("disputed", stats.disputed),
    ] {
        let _ = writeln!(text, "agon_matches_checked{{outcome=\"{outcome}\"}} {count}");
    }
    write_metric(text, "agon_matches_set_aside", "gauge", "Unplayable matches.", stats.unplayable);
    write_metric(text, "agon_workers_barred", "gauge", "Banned workers.", stats.banned);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn metrics_name_workers_and_outages() {
        let worker = |name: &str, status| {
            let heartbeat = Heartbeat { cores: 2, busy: 1, failed_jobs: 3, ..Heartbeat::new(name, "1") };
            WorkerInfo { heartbeat, age: Duration::ZERO, status }
        };
        let workers = [
            worker("w1", WorkerStatus::Playing),
            worker("w2", WorkerStatus::Lost),
            worker("x\"} 1\n", WorkerStatus::Idle),
        ];
        let mut text = String::new();
        write_connectivity(
            &mut text,
            ConnectivityStats { is_connected: false, outages: 2, away: Duration::from_millis(1500) },
        );
        write_failed_jobs(&mut text, &workers);
        write_workers(&mut text, &workers);
        write_run(&mut text, &GridRunStats { checked: 7, ..GridRunStats::default() });
        for line in [
            "agon_nats_up 0",
            "agon_nats_outages_total 2",
            "agon_nats_away_seconds_total 1.5",
            "agon_worker_failed_jobs_total{worker=\"w1\"} 3",
            "agon_worker_failed_jobs_total{worker=\"w2\"} 3",
            "agon_workers{state=\"lost\"} 1",
            "agon_worker_cores 4",
            "agon_matches_checked{outcome=\"agreed\"} 7",
        ] {
            assert!(text.lines().any(|one| one == line), "{line} is missing in:\n{text}");
        }
        assert!(!text.contains("worker=\"x"), "{text}");
    }
}
