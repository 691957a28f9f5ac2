//! Where it all happens: real servers, real processes of the real program, and a network between all of them that can be spoilt.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use agon_rig::{Database, Nats, Postgres, Program, Proxy, Script, Way};
use agon_store::{Ledger, MatchFilter};
use agon_venue::Sitting;
use agon_venue::competing::Where;
use futures_util::StreamExt as _;
use tempfile::TempDir;

use crate::cups::{self, CUPS};
use crate::liar::Liar;
use crate::{Kind, common};

/// Honest ones.
pub const WORKERS: usize = 3;
/// Room on a worker's disk for what it fetches.
const DISK: u64 = 8 << 20;

pub struct Theatre {
    folder: TempDir,
    nats: Nats,
    postgres: Postgres,
    /// Coordinator to nats-server, coordinator to PostgreSQL, then each worker to nats-server.
    pub wires: Vec<Proxy>,
    shim: Option<PathBuf>,
    cup: usize,
    database: Option<Database>,
    coordinator: Option<Program>,
    ended_well: bool,
    workers: Vec<Option<Program>>,
    /// Seconds by which each worker's clock is wrong.
    clocks: Vec<i64>,
    fillers: Vec<Option<PathBuf>>,
    liar: Option<Liar>,
    /// What local runs came to.
    expected: Vec<String>,
    pub liars_barred: u32,
    rounds: u32,
    matches: u64,
    /// Matches that were taken back because a liar had played them, in all competitions.
    withdrawn: u64,
    /// Times that a process ended by itself and was started again, as a service manager does.
    revived: (u32, u32),
}

impl Theatre {
    /// `None` where there is no Python to play with.
    pub fn build() -> Option<Self> {
        common::python()?;
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        cups::write(folder.path());
        let expected = CUPS.iter().map(|cup| local(folder.path(), cup)).collect();
        let (nats, postgres) = (Nats::start(), Postgres::start());
        let mut wires = vec![Proxy::to(nats.port()), Proxy::to(postgres.port())];
        wires.extend((0..WORKERS).map(|_| Proxy::to(nats.port())));
        let shim = agon_rig::wrong_clock(folder.path());
        Some(Self {
            folder,
            nats,
            postgres,
            wires,
            shim,
            cup: CUPS.len() - 1,
            database: None,
            coordinator: None,
            ended_well: false,
            workers: (0..WORKERS).map(|_| None).collect(),
            clocks: vec![0; WORKERS],
            fillers: vec![None; WORKERS],
            liar: None,
            expected,
            liars_barred: 0,
            rounds: 0,
            matches: 0,
            withdrawn: 0,
            revived: (0, 0),
        })
    }

    fn cup(&self) -> &'static str {
        CUPS[self.cup]
    }

    /// The next competition begins, in a database of its own.
    pub fn raise_the_curtain(&mut self) {
        self.cup = (self.cup + 1) % CUPS.len();
        self.rounds += 1;
        self.database = Some(self.postgres.database());
        self.ended_well = false;
        self.coordinate();
        for worker in 0..WORKERS {
            if self.workers[worker].is_none() {
                self.employ(worker);
            }
        }
    }

    /// The address of a server through one of the networks.
    fn nats_by(&self, wire: usize) -> String {
        format!("nats://127.0.0.1:{}", self.wires[wire].port())
    }

    fn database_by(&self) -> String {
        let name = &self.database.as_ref().unwrap().name;
        format!("postgres://agon@127.0.0.1:{}/{name}", self.wires[1].port())
    }

    fn script(&self, log: &str, words: &[&str]) -> Script {
        let folder = self.folder.path();
        script(folder, &folder.join(log), words)
    }

    fn coordinate(&mut self) {
        let (file, nats, database) = (format!("{}.toml", self.cup()), self.nats_by(0), self.database_by());
        let words = [
            "run",
            &file,
            "--nats",
            &nats,
            "--database",
            &database,
            "--checked",
            "100",
            "--lease",
            "4",
            "--json",
        ];
        self.coordinator = Some(self.script("coordinator.log", &words).start());
    }

    fn employ(&mut self, worker: usize) {
        let (name, nats) = (format!("w{worker}"), self.nats_by(2 + worker));
        let cache = self.cache(worker);
        let words =
            ["worker", "--nats", &nats, "--name", &name, "--jobs", "1", "--cache", cache.to_str().unwrap()];
        let mut script = self.script(&format!("{name}.log"), &words);
        if agon_rig::can_have_small_disks() {
            script = script.with_small_disk(&cache, DISK);
        }
        if let (Some(shim), true) = (&self.shim, self.clocks[worker] != 0) {
            script = script.with_clock(shim, self.clocks[worker]);
        }
        self.workers[worker] = Some(script.start());
    }

    fn cache(&self, worker: usize) -> PathBuf {
        self.folder.path().join(format!("cache-{worker}"))
    }

    /// Whether something can happen now.
    pub fn can(&self, kind: Kind, whom: usize) -> bool {
        match kind {
            Kind::WorkerKilled => self.workers[whom].is_some(),
            Kind::ClockWrong => self.workers[whom].is_some() && self.shim.is_some(),
            Kind::DiskFull => self.workers[whom].is_some() && agon_rig::can_have_small_disks(),
            Kind::CoordinatorKilled => self.coordinator.is_some(),
            Kind::Liar => self.liar.is_none(),
            _ => true,
        }
    }

    /// Lets it happen; says to whom.
    pub fn break_it(&mut self, kind: Kind, whom: usize, chance: u64) -> String {
        match kind {
            Kind::WorkerKilled => {
                self.workers[whom] = None;
                format!("w{whom}")
            }
            Kind::CoordinatorKilled => {
                self.coordinator = None;
                "it is started again".to_owned()
            }
            Kind::NatsKilled => {
                self.nats.kill();
                "it is started again".to_owned()
            }
            Kind::PostgresKilled => {
                self.postgres.kill();
                "it is started again".to_owned()
            }
            Kind::NetworkCut | Kind::NetworkSevered | Kind::NetworkSlow | Kind::NetworkDeadOneWay => {
                self.spoil(kind, whom, chance)
            }
            Kind::DiskFull => {
                // Begun anew, so that it must fetch everything.
                self.workers[whom] = None;
                self.employ(whom);
                self.fill(whom);
                format!("w{whom}, begun with nothing")
            }
            Kind::ClockWrong => {
                self.clocks[whom] = [-86_400 * 400, -3_600, 90, 86_400 * 4_000][(chance % 4) as usize];
                self.workers[whom] = None;
                self.employ(whom);
                format!("w{whom}, by {} s from now on", self.clocks[whom])
            }
            Kind::Liar => {
                let liar = Liar::enter(&self.nats.url(), self.folder.path(), chance);
                let name = liar.name.clone();
                self.liar = Some(liar);
                name
            }
        }
    }

    fn spoil(&self, kind: Kind, wire: usize, chance: u64) -> String {
        let one = &self.wires[wire];
        let way = if chance.is_multiple_of(2) { Way::Up } else { Way::Down };
        match kind {
            Kind::NetworkCut => one.cut(),
            Kind::NetworkSevered => one.sever(),
            Kind::NetworkSlow => {
                one.slow(Duration::from_millis(20 + chance % 200), 20_000 + chance % 200_000);
            }
            _ => one.dead(way),
        }
        let name = match wire {
            0 => "coordinator and nats-server".to_owned(),
            1 => "coordinator and PostgreSQL".to_owned(),
            worker => format!("w{} and nats-server", worker - 2),
        };
        if kind == Kind::NetworkDeadOneWay { format!("{name}, {way:?}") } else { name }
    }

    fn fill(&mut self, worker: usize) {
        let cache = self.cache(worker);
        let Some(program) = &self.workers[worker] else { return };
        let (seen, begun) = (program.sees(&cache), Instant::now());
        // The disk is there when the program is.
        let comm = || fs::read_to_string(format!("/proc/{}/comm", program.pid())).unwrap_or_default();
        while comm().trim() != "agon" && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.fillers[worker] = Some(agon_rig::fill(&seen));
    }

    /// Puts it right again.
    pub fn mend(&mut self, kind: Kind, whom: usize) {
        match kind {
            Kind::WorkerKilled => {
                if self.workers[whom].is_none() {
                    self.employ(whom);
                }
            }
            Kind::CoordinatorKilled => {
                if self.coordinator.is_none() && !self.ended_well {
                    self.coordinate();
                }
            }
            Kind::NatsKilled => self.nats.again(),
            Kind::PostgresKilled => self.postgres.again(),
            Kind::NetworkCut | Kind::NetworkSevered | Kind::NetworkSlow | Kind::NetworkDeadOneWay => {
                self.wires[whom].heal();
            }
            Kind::DiskFull => {
                if let Some(filler) = self.fillers[whom].take() {
                    let _ = fs::remove_file(filler);
                }
            }
            Kind::ClockWrong | Kind::Liar => {}
        }
    }

    /// What a service manager does: who ended by itself is started again.
    pub fn look_after(&mut self) {
        for worker in 0..WORKERS {
            if self.workers[worker].as_mut().is_some_and(|one| one.ended().is_some()) {
                self.revived.1 += 1;
                self.employ(worker);
            }
        }
        let Some(status) = self.coordinator.as_mut().and_then(Program::ended) else { return };
        if status.success() {
            self.ended_well = true;
            return;
        }
        assert_ne!(status.code(), Some(2), "{}", self.words());
        self.revived.0 += 1;
        self.coordinate();
    }

    /// Whether somebody lies whom everybody still believes.
    pub const fn has_liar(&self) -> bool {
        self.liar.is_some()
    }

    /// Whether the competition was played to its end.
    pub const fn is_over(&self) -> bool {
        self.ended_well
    }

    /// What everybody said last.
    pub fn words(&self) -> String {
        let mut text = String::new();
        for name in ["coordinator", "w0", "w1", "w2"] {
            let all = fs::read(self.folder.path().join(format!("{name}.log"))).unwrap_or_default();
            let all = String::from_utf8_lossy(&all);
            let lines: Vec<&str> = all.lines().collect();
            let last = lines[lines.len().saturating_sub(25)..].join("\n");
            let _ = writeln!(text, "--- {name}\n{last}");
        }
        text
    }

    /// Everything that must hold now that the competition is over.
    pub fn verify(&mut self) -> String {
        self.coordinator = None;
        let database = self.database.take().unwrap();
        let folder = self.folder.path();
        let table = tables(folder, self.cup(), &["--database", &database.url]);
        assert_eq!(table, self.expected[self.cup], "{}: the table is not that of the local run", self.cup());
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let sitting = Sitting::read(&folder.join(format!("{}.toml", self.cup()))).unwrap();
        let (matches, barred) = runtime.block_on(async {
            let ledger = sitting.ledger_to_read_at(&Where::Database(database.url.clone())).await.unwrap();
            assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
            let local = sitting.ledger_to_read_at(&Where::File).await.unwrap();
            let phases = sitting.competition.phases.len() as u32;
            let mut all = 0;
            for phase in 0..phases {
                let (here, there) = (keys(ledger.as_ref(), phase).await, keys(local.as_ref(), phase).await);
                let once: BTreeSet<_> = here.iter().map(|(key, _)| *key).collect();
                assert_eq!(once.len(), here.len(), "a match is there twice");
                assert_eq!(here, there, "not the matches of the local run");
                all += here.len() as u64;
            }
            (all, ledger.barred().await.unwrap())
        });
        self.matches += matches;
        let said = fs::read_to_string(folder.join("coordinator.log")).unwrap_or_default();
        let events = said.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let barrings = events.filter(|event| event["event"] == "barred");
        self.withdrawn = barrings.filter_map(|event| event["again"].as_u64()).sum();
        let honest = barred.iter().all(|one| one.worker.starts_with("liar"));
        assert!(honest, "an honest worker was barred: {barred:?}");
        self.liars_barred += barred.len() as u32;
        // A liar that nobody believes any more has done its part.
        if !barred.is_empty() {
            self.liar = None;
        }
        format!(
            "{} is over: {matches} matches, each once, the table of the local run; barred: {}",
            self.cup(),
            barred.len()
        )
    }

    /// What was recovered.
    pub fn summary(&self) -> String {
        format!(
            "{} competitions, {} matches, each in its ledger exactly once; tables as played on one machine\nliars barred: {}; matches taken back and played again: {}\nended by themselves and were started again: coordinator {}, workers {}",
            self.rounds, self.matches, self.liars_barred, self.withdrawn, self.revived.0, self.revived.1
        )
    }
}

async fn keys(
    ledger: &dyn Ledger,
    phase: u32,
) -> Vec<(agon_league::MatchKey, Vec<agon_core::record::Digest>)> {
    let mut all = Vec::new();
    let mut rows = ledger.matches(phase, MatchFilter::default());
    while let Some(one) = rows.next().await {
        let one = one.unwrap();
        all.push((one.result.key, one.games));
    }
    all
}

fn script(folder: &Path, log: &Path, words: &[&str]) -> Script {
    let script = Script::new(env!("CARGO_BIN_EXE_agon"), words, folder, log);
    let script = script.with("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    match common::python() {
        Some(python) => script.with("AGON_PYTHON", python),
        None => script,
    }
}

/// Plays a competition on this machine alone; gives its tables.
fn local(folder: &Path, cup: &str) -> String {
    let (file, log) = (format!("{cup}.toml"), folder.join("local.log"));
    let mut run = script(folder, &log, &["run", &file, "--jobs", "4", "--json"]).start();
    let status = run.wait(Duration::from_mins(10)).unwrap();
    assert!(status.success(), "{}", run.said());
    tables(folder, cup, &[])
}

/// All tables, without times.
fn tables(folder: &Path, cup: &str, more: &[&str]) -> String {
    let file = format!("{cup}.toml");
    let phases = fs::read_to_string(folder.join(&file)).unwrap().matches("[[phase]]").count();
    let table = |phase: usize| {
        let phase = phase.to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command.args(["table", &file, "--format", "json", "--no-times", "--phase", &phase]).args(more);
        common::good(&command.current_dir(folder).output().unwrap())
    };
    (1..=phases).map(table).collect()
}
