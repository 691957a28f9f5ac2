//! Simulates a thousand workers: `cargo run --release -p agon-grid --example simulate [-- --quick] [-- --out FOLDER]`.
//!
//! nats-server, PostgreSQL and coordinator are real. The workers are tasks in a separate process that send what workers send, and sleep
//! instead of playing (`simulated_workers.rs`). It measures single costs at low load, predicts the throughput with a model (`model.rs`),
//! then measures it. Prints the tables of docs/scaling.md; with `--out` it also writes `scaling.svg`.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a command line program"
)]

mod costs;
mod league;
mod model;
mod plot;
mod simulated_workers;
mod usage;

use std::time::Duration;

use agon_test_servers::Postgres;
use league::{Durations, Measurement};
use model::{Prediction, Station};

/// Number of workers, and mean game length in milliseconds.
const SCENARIOS: [(usize, u64); 9] = [
    (10, 100),
    (30, 100),
    (100, 100),
    (300, 300),
    (1000, 3000),
    (1000, 1000),
    (1000, 300),
    (1000, 100),
    (1000, 50),
];
const QUICK_SCENARIOS: [(usize, u64); 2] = [(100, 300), (1000, 1000)];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.first().is_some_and(|arg| arg == "workers") {
        return league::run_worker_process(&args[1..]);
    }
    let quick = args.iter().any(|arg| arg == "--quick");
    let out = args.iter().position(|arg| arg == "--out").and_then(|at| args.get(at + 1));
    if let Some(folder) = out {
        // Fail before the measurements, not after them.
        std::fs::create_dir_all(folder).unwrap();
    }
    let durations = if quick {
        Durations { warmup: Duration::from_secs(6), measured: Duration::from_secs(6) }
    } else {
        Durations { warmup: Duration::from_secs(10), measured: Duration::from_secs(20) }
    };
    let postgres = Postgres::start();
    let costs = costs::measure(&postgres, durations);
    costs.print();
    let scenarios: &[(usize, u64)] = if quick { &QUICK_SCENARIOS } else { &SCENARIOS };
    println!(
        "\n| workers | game length | offered games/s | predicted games/s | measured games/s | predicted bottleneck | predicted overhead per job | wait for a job, median (95 %) | wait for the ack | coordinator | its run thread | PostgreSQL | nats-server | simulation |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut measured = Vec::new();
    for &(workers, mean_game) in scenarios {
        let prediction =
            model::predict(&costs.on_one_machine(), workers, mean_game as f64 / 1e3, costs.base_delay);
        let measurement = league::run_league(&postgres, workers, Duration::from_millis(mean_game), durations);
        print_row(&measurement, &prediction);
        measured.push((measurement.offered(), measurement.games));
    }
    if let Some(folder) = out {
        let curve = |stations: &[Station]| {
            let point = |step: usize| {
                // A thousand workers with ever shorter games.
                let mean_game = 10_f64.powf(1.5 - step as f64 / 10.0);
                (
                    1000.0 / mean_game,
                    model::predict(stations, 1000, mean_game, costs.base_delay).games_per_second,
                )
            };
            (0..=35).map(point).collect::<Vec<plot::Point>>()
        };
        let ideal = vec![(30.0, 30.0), (100_000.0, 100_000.0)];
        let curves = [
            ("no overhead", ideal),
            ("model, all on one machine", curve(&costs.on_one_machine())),
            ("model, one machine per part", curve(&costs.on_separate_machines())),
        ];
        let path = std::path::Path::new(folder).join("scaling.svg");
        std::fs::write(&path, plot::svg(&measured, &curves)).unwrap();
        eprintln!("written: {}", path.display());
    }
}

fn print_row(measurement: &Measurement, prediction: &Prediction) {
    let share = |seconds: f64| format!("{:.0} %", 100.0 * seconds / measurement.seconds);
    let times = |(median, late): (f64, f64)| format!("{:.0} ms ({:.0})", 1e3 * median, 1e3 * late);
    println!(
        "| {} | {} ms | {:.0} | {:.0} | {:.0} | {} {:.0} % | {:.0} ms | {} | {} | {} | {} | {} | {} | {} |",
        measurement.workers,
        measurement.mean_game.as_millis(),
        measurement.offered(),
        prediction.games_per_second,
        measurement.games,
        prediction.bottleneck,
        100.0 * prediction.utilization,
        1e3 * prediction.overhead,
        times(measurement.waits),
        times(measurement.acks),
        share(measurement.cpu.coordinator),
        share(measurement.cpu.run),
        share(measurement.cpu.postgres),
        share(measurement.cpu.nats),
        share(measurement.cpu.workers),
    );
}
