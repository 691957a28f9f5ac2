//! What single things cost, measured at little load: what the model reckons with.

use std::time::{Duration, Instant};

use agon_grid::messages::{self, PROTOCOL};
use agon_rig::Postgres;
use agon_store::{FinishedMatch, Ledger as _, Timestamp};

use crate::field;
use crate::league::{self, Row, Span, Spent};
use crate::model::Station;

/// At most so many matches in one transaction of a run.
const GATHERED: f64 = 1024.0;
/// Processors of this machine.
const PROCESSORS: f64 = 2.0;

/// Everything in seconds.
pub struct Costs {
    /// A transaction of PostgreSQL as the run waits for it, and each match in it.
    commit: f64,
    matched: f64,
    /// Processor time of each part for a game, and for a job beside its games.
    game: Spent,
    job: Spent,
    /// What a job takes at least beside being played: from hand to hand, and a transaction.
    pub hop: f64,
}

/// Measures them: some minutes.
pub fn measure(postgres: &Postgres, span: Span) -> Costs {
    let (small, large) = (append(postgres, 8), append(postgres, 1024));
    let matched = (large - small) / (1024.0 - 8.0);
    let commit = small - 8.0 * matched;
    // Many games in few jobs, and few games in many.
    let thick = league::play(postgres, 10, Duration::from_millis(20), span);
    let thin = league::play(postgres, 100, Duration::from_secs(1), span);
    let solve = |part: fn(&Spent) -> f64| {
        let a = |row: &Row| part(&row.spent) / row.seconds;
        let jobs = |row: &Row| row.jobs;
        let all = thick.games * jobs(&thin) - thin.games * jobs(&thick);
        let game = (a(&thick) * jobs(&thin) - a(&thin) * jobs(&thick)) / all;
        let game = game.max(0.0);
        (game, ((a(&thin) - game * thin.games) / jobs(&thin)).max(0.0))
    };
    let parts = [
        solve(|s| s.coordinator),
        solve(|s| s.run),
        solve(|s| s.postgres),
        solve(|s| s.nats),
        solve(|s| s.workers),
    ];
    let spent = |of: fn(&(f64, f64)) -> f64| Spent {
        coordinator: of(&parts[0]),
        run: of(&parts[1]),
        postgres: of(&parts[2]),
        nats: of(&parts[3]),
        workers: of(&parts[4]),
    };
    let hop = thin.waits.0 + thin.receipts.0;
    Costs { commit, matched, game: spent(|it| it.0), job: spent(|it| it.1), hop }
}

impl Costs {
    /// The thread that keeps results: its own work, and waiting for PostgreSQL.
    fn run(&self) -> Station {
        let a_game = self.game.run + self.matched + self.commit / GATHERED;
        Station { name: "the run's thread", a_game, a_job: self.job.run, servers: 1.0 }
    }

    /// Everything on this machine: its processors are a station too.
    pub fn here(&self) -> Vec<Station> {
        let sum = |one: &Spent| one.coordinator + one.postgres + one.nats + one.workers;
        let (a_game, a_job) = (sum(&self.game), sum(&self.job));
        vec![self.run(), Station { name: "processors", a_game, a_job, servers: PROCESSORS }]
    }

    /// Each part on a machine of its own, as quick as this one.
    pub fn apart(&self) -> Vec<Station> {
        let one = |name, part: fn(&Spent) -> f64, servers| Station {
            name,
            a_game: part(&self.game),
            a_job: part(&self.job),
            servers,
        };
        vec![
            self.run(),
            one("the coordinator", |it| it.coordinator, PROCESSORS),
            one("nats-server", |it| it.nats, PROCESSORS),
        ]
    }

    pub fn print(&self) {
        let us = |seconds: f64| format!("{:.0} us", 1e6 * seconds);
        println!("| what | a game | a job beside its games |\n|---|---|---|");
        println!(
            "| a transaction, as the run waits for it | {} | {} a transaction |",
            us(self.matched),
            us(self.commit)
        );
        let (game, job) = (&self.game, &self.job);
        for (name, game, job) in [
            ("processor time of the coordinator", game.coordinator, job.coordinator),
            ("of these, the thread that keeps results", game.run, job.run),
            ("processor time of PostgreSQL", game.postgres, job.postgres),
            ("processor time of nats-server", game.nats, job.nats),
            ("processor time of the simulation itself", game.workers, job.workers),
        ] {
            println!("| {name} | {} | {} |", us(game), us(job));
        }
        println!("| from hand to hand, with nobody else there | | {} |", us(self.hop));
    }
}

/// How long a transaction of so many matches takes: the median of some.
fn append(postgres: &Postgres, size: u64) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let (sitting, runtime) = (league::sitting(folder.path()), league::runtime());
    let url = postgres.database().url;
    let ledger = runtime.block_on(league::ledger(&sitting, &url));
    runtime.block_on(ledger.start(0, Timestamp::now())).unwrap();
    let room = field::house(500);
    let mut times: Vec<f64> = (0..24)
        .map(|round| {
            let job = job(round * size, size);
            let played = field::play(&room, &job).unwrap();
            let batch: Vec<FinishedMatch> = played.into_iter().map(|one| one.finished("w")).collect();
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
        luggage: Vec::new(),
    };
    messages::Job {
        protocol: PROTOCOL,
        competition_id: String::new(),
        brief: String::new(),
        id: String::new(),
        tries: 1,
        excluded_workers: Vec::new(),
        matches: (first..first + size).map(one).collect(),
    }
}
