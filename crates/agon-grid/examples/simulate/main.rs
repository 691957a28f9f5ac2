//! A thousand workers that are none: `cargo run --release -p agon-grid --example simulate [-- --quick] [-- --out FOLDER]`.
//!
//! A real nats-server, a real PostgreSQL, the real coordinator; the workers are tasks in a process of their own that say what workers say and
//! sleep in place of playing (`field.rs`). First single costs are measured at little load, then the model (`model.rs`) foretells what many workers come
//! to, then they come. Prints the tables of docs/scaling.md; with `--out` writes `scaling.svg` there.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a program whose output is its purpose"
)]

mod costs;
mod field;
mod league;
mod model;
mod plot;
mod usage;

use std::time::Duration;

use agon_rig::Postgres;
use league::{Row, Span};
use model::{Foretold, Station};

/// Workers, and how long their games take on average, in milliseconds.
const ROWS: [(usize, u64); 9] = [
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
const QUICK: [(usize, u64); 2] = [(100, 300), (1000, 1000)];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "workers") {
        return league::workers(&words[1..]);
    }
    let quick = words.iter().any(|word| word == "--quick");
    let out = words.iter().position(|word| word == "--out").and_then(|at| words.get(at + 1));
    if let Some(folder) = out {
        // Before the minutes of measuring, not after them.
        std::fs::create_dir_all(folder).unwrap();
    }
    let span = if quick {
        Span { warm: Duration::from_secs(6), long: Duration::from_secs(6) }
    } else {
        Span { warm: Duration::from_secs(10), long: Duration::from_secs(20) }
    };
    let postgres = Postgres::start();
    let costs = costs::measure(&postgres, span);
    costs.print();
    let rows: &[(usize, u64)] = if quick { &QUICK } else { &ROWS };
    println!(
        "\n| workers | a game | offered | foretold | sustained | bottleneck, foretold | on its way, foretold | job waited for, median (95 %) | receipt | coordinator | its run | PostgreSQL | nats-server | the simulation |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let mut measured = Vec::new();
    for &(workers, mean) in rows {
        let foretold = model::foretell(&costs.here(), workers, mean as f64 / 1e3, costs.hop);
        let row = league::play(&postgres, workers, Duration::from_millis(mean), span);
        print(&row, &foretold);
        measured.push((row.offered(), row.games));
    }
    if let Some(folder) = out {
        let curve = |stations: &[Station]| {
            let point = |step: usize| {
                // A thousand workers whose games get shorter.
                let mean = 10_f64.powf(1.5 - step as f64 / 10.0);
                (1000.0 / mean, model::foretell(stations, 1000, mean, costs.hop).games)
            };
            (0..=35).map(point).collect::<Vec<plot::Point>>()
        };
        let ideal = vec![(30.0, 30.0), (100_000.0, 100_000.0)];
        let curves = [
            ("no cost at all", ideal),
            ("model, all on this machine", curve(&costs.here())),
            ("model, each part on a machine of its own", curve(&costs.apart())),
        ];
        let path = std::path::Path::new(folder).join("scaling.svg");
        std::fs::write(&path, plot::svg(&measured, &curves)).unwrap();
        eprintln!("written: {}", path.display());
    }
}

fn print(row: &Row, foretold: &Foretold) {
    let share = |seconds: f64| format!("{:.0} %", 100.0 * seconds / row.seconds);
    let times = |(median, late): (f64, f64)| format!("{:.0} ms ({:.0})", 1e3 * median, 1e3 * late);
    println!(
        "| {} | {} ms | {:.0} | {:.0} | {:.0} | {} {:.0} % | {:.0} ms | {} | {} | {} | {} | {} | {} | {} |",
        row.workers,
        row.mean.as_millis(),
        row.offered(),
        foretold.games,
        row.games,
        foretold.bottleneck,
        100.0 * foretold.busy,
        1e3 * foretold.waits,
        times(row.waits),
        times(row.receipts),
        share(row.spent.coordinator),
        share(row.spent.run),
        share(row.spent.postgres),
        share(row.spent.nats),
        share(row.spent.workers),
    );
}
