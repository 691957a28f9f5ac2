//! Single costs, measured at low load. Input of the model.

use std::time::{Duration, Instant};

use agon_grid::messages::{self, PROTOCOL};
use agon_store::{FinishedMatch, Ledger as _, Timestamp};
use agon_test_servers::Postgres;

use crate::league::{self, CpuTime, Durations, Measurement};
use crate::model::Station;
use crate::simulated_workers;

/// Maximum number of matches in a transaction of a run.
const MAX_MATCHES_PER_COMMIT: f64 = 1024.0;
/// Cores of this machine.
const CORES: f64 = 2.0;

/// Costs in seconds.
pub struct Costs {
    /// A PostgreSQL transaction as the run waits for it, and each match in it.
    commit: f64,
    per_match: f64,
    /// CPU time of each part per game, and per job besides its games.
    game: CpuTime,
    job: CpuTime,
    /// Delay of a job without load, besides playing: transfer and a transaction.
    pub base_delay: f64,
}

/// Measures the costs. Takes some minutes.
pub fn measure(postgres: &Postgres, durations: Durations) -> Costs {
    let (small, large) = (commit_time(postgres, 8), commit_time(postgres, 1024));
    let per_match = (large - small) / (1024.0 - 8.0);
    let commit = small - 8.0 * per_match;
    // Many games in few jobs, and few games in many jobs.
    let few_jobs = league::run_league(postgres, 10, Duration::from_millis(20), durations);
    let many_jobs = league::run_league(postgres, 100, Duration::from_secs(1), durations);
    let solve = |part: fn(&CpuTime) -> f64| {
        let a = |measurement: &Measurement| part(&measurement.cpu) / measurement.seconds;
        let jobs = |measurement: &Measurement| measurement.jobs;
        let all = few_jobs.games * jobs(&many_jobs) - many_jobs.games * jobs(&few_jobs);
        let game = (a(&few_jobs) * jobs(&many_jobs) - a(&many_jobs) * jobs(&few_jobs)) / all;
        let game = game.max(0.0);
        (game, ((a(&many_jobs) - game * many_jobs.games) / jobs(&many_jobs)).max(0.0))
    };
    let parts = [
        solve(|s| s.coordinator),
        solve(|s| s.run),
        solve(|s| s.postgres),
        solve(|s| s.nats),
        solve(|s| s.workers),
    ];
    let cpu_time = |of: fn(&(f64, f64)) -> f64| CpuTime {
        coordinator: of(&parts[0]),
        run: of(&parts[1]),
        postgres: of(&parts[2]),
        nats: of(&parts[3]),
        workers: of(&parts[4]),
    };
    let base_delay = many_jobs.waits.0 + many_jobs.acks.0;
    Costs { commit, per_match, game: cpu_time(|it| it.0), job: cpu_time(|it| it.1), base_delay }
}

impl Costs {
    /// The thread that stores results: its own work, and waiting for PostgreSQL.
    fn run_station(&self) -> Station {
        let per_game = self.game.run + self.per_match + self.commit / MAX_MATCHES_PER_COMMIT;
        Station { name: "run thread", per_game, per_job: self.job.run, servers: 1.0 }
    }

    /// Stations if everything runs on this machine: its CPU is one of them.
    pub fn on_one_machine(&self) -> Vec<Station> {
        let sum = |one: &CpuTime| one.coordinator + one.postgres + one.nats + one.workers;
        let (per_game, per_job) = (sum(&self.game), sum(&self.job));
        vec![self.run_station(), Station { name: "CPU", per_game, per_job, servers: CORES }]
    }

    /// Stations if each part has its own machine, as fast as this one.
    pub fn on_separate_machines(&self) -> Vec<Station> {
        let one = |name, part: fn(&CpuTime) -> f64, servers| Station {
            name,
            per_game: part(&self.game),
            per_job: part(&self.job),
            servers,
        };
        vec![
            self.run_station(),
            one("coordinator", |it| it.coordinator, CORES),
            one("nats-server", |it| it.nats, CORES),
        ]
    }

    pub fn print(&self) {
        let us = |seconds: f64| format!("{:.0} us", 1e6 * seconds);
        println!("| cost | per game | per job, besides its games |\n|---|---|---|");
        println!(
            "| transaction, as the run waits for it | {} | {} per transaction |",
            us(self.per_match),
            us(self.commit)
        );
        let (game, job) = (&self.game, &self.job);
        for (name, game, job) in [
            ("CPU time of the coordinator", game.coordinator, job.coordinator),
            ("of this, the thread that stores results", game.run, job.run),
            ("CPU time of PostgreSQL", game.postgres, job.postgres),
            ("CPU time of nats-server", game.nats, job.nats),
            ("CPU time of the simulation itself", game.workers, job.workers),
        ] {
            println!("| {name} | {} | {} |", us(game), us(job));
        }
        println!("| delay of a job without load | | {} |", us(self.base_delay));
    }
}

/// Median time of a transaction of this size.
fn commit_time(postgres: &Postgres, size: u64) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let (competition, runtime) = (league::load_competition(folder.path()), league::runtime());
    let url = postgres.database().url;
    let ledger = runtime.block_on(league::create_ledger(&competition, &url));
    runtime.block_on(ledger.start_phase(0, Timestamp::now())).unwrap();
    let phase = simulated_workers::house_phase(500);
    let mut times: Vec<f64> = (0..24)
        .map(|round| {
            let job = job(round * size, size);
            let played = simulated_workers::play(&phase, &job).unwrap();
            let batch: Vec<FinishedMatch> =
                played.into_iter().map(|one| one.into_finished_match("w")).collect();
            let begun = Instant::now();
            runtime.block_on(ledger.append(&batch, None)).unwrap();
            begun.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn job(first: u64, size: u64) -> messages::Job {
    let one = |number: u64| messages::JobMatch {
        stage: 0,
        number,
        seats: (0..4).map(|seat| ((number * 4 + seat) % 500) as u32).collect(),
        variant: 0,
        seed: number,
        bot_data: Vec::new(),
    };
    messages::Job {
        protocol: PROTOCOL,
        competition_id: String::new(),
        phase_spec: String::new(),
        id: String::new(),
        max_deliveries: 1,
        excluded_workers: Vec::new(),
        matches: (first..first + size).map(one).collect(),
    }
}
