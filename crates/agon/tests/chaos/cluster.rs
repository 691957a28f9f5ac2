//! Test cluster: real servers, real processes of the program, and a network proxy between all of them.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_test_servers::{Database, Nats, Postgres, Program, ProgramConfig, Proxy, ProxyDirection};
use tempfile::TempDir;

use crate::competitions::{self, TestCompetition};
use crate::liar::Liar;
use crate::proof::{self, CompetitionResult};
use crate::{EventKind, common};

/// Number of honest workers.
pub const WORKERS: usize = 3;
/// Disk space of a worker's cache in bytes.
const DISK: u64 = 8 << 20;

/// Statistics of the whole test.
#[derive(Default)]
pub struct Recovered {
    pub rounds: u32,
    pub matches: u64,
    pub liars_banned: u32,
    /// Matches that were revoked because the lying worker had played them.
    pub revoked: u64,
    /// Runs that resumed an earlier one.
    pub resumed: u32,
    /// How often a coordinator and a worker exited and were restarted, as a service manager does.
    pub restarted: (u32, u32),
}

pub struct Cluster {
    folder: TempDir,
    nats: Nats,
    postgres: Postgres,
    /// Proxies: coordinator to nats-server, coordinator to PostgreSQL, then each worker to nats-server.
    pub wires: Vec<Proxy>,
    shim: Option<PathBuf>,
    competition: TestCompetition,
    /// Folder of the competition's files. Each round has a separate one, because bots' folders change.
    home: PathBuf,
    pub(crate) database: Option<Database>,
    coordinator: Option<Program>,
    ended_well: bool,
    workers: Vec<Option<Program>>,
    /// Clock error of each worker in seconds.
    clocks: Vec<i64>,
    fillers: Vec<Option<PathBuf>>,
    liar: Option<Liar>,
    /// Results of the local runs.
    pub expected: Vec<(TestCompetition, CompetitionResult)>,
    pub recovered: Recovered,
}

impl Cluster {
    /// `None` without Python or without servers.
    pub fn build() -> Option<Self> {
        if agon_test_servers::skip_without_servers() {
            return None;
        }
        common::python()?;
        let mut folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        folder.disable_cleanup(std::env::var_os("AGON_CHAOS_KEEP").is_some());
        let (nats, postgres) = (Nats::start(), Postgres::start());
        let mut wires = vec![Proxy::to(nats.port()), Proxy::to(postgres.port())];
        wires.extend((0..WORKERS).map(|_| Proxy::to(nats.port())));
        let shim = agon_test_servers::wrong_clock(folder.path());
        let mut cluster = Self {
            folder,
            nats,
            postgres,
            wires,
            shim,
            competition: TestCompetition::House,
            home: PathBuf::new(),
            database: None,
            coordinator: None,
            ended_well: false,
            workers: (0..WORKERS).map(|_| None).collect(),
            clocks: vec![0; WORKERS],
            fillers: vec![None; WORKERS],
            liar: None,
            expected: Vec::new(),
            recovered: Recovered::default(),
        };
        // The workers are running when the first competition starts.
        (0..WORKERS).for_each(|worker| cluster.start_worker(worker));
        cluster.expected = proof::alone(cluster.folder.path());
        Some(cluster)
    }

    /// Starts a competition in a new folder and a new database.
    pub fn start_competition(&mut self, competition: TestCompetition) {
        self.competition = competition;
        self.recovered.rounds += 1;
        self.home = self.folder.path().join(format!("round-{}", self.recovered.rounds));
        competitions::write(&self.home);
        self.database = Some(self.postgres.database());
        self.ended_well = false;
        self.coordinate();
        for worker in 0..WORKERS {
            if self.workers[worker].is_none() {
                self.start_worker(worker);
            }
        }
    }

    /// Address of nats-server through one of the proxies.
    fn nats_url_through(&self, wire: usize) -> String {
        format!("nats://127.0.0.1:{}", self.wires[wire].port())
    }

    fn database_by(&self) -> String {
        let name = &self.database.as_ref().unwrap().name;
        format!("postgres://agon@127.0.0.1:{}/{name}", self.wires[1].port())
    }

    /// Folder and name of the current competition.
    pub fn competition(&self) -> (&Path, TestCompetition) {
        (&self.home, self.competition)
    }

    fn program(&self, log: &str, words: &[&str]) -> ProgramConfig {
        program(&self.home, &self.folder.path().join(log), words)
    }

    fn coordinate(&mut self) {
        let (file, nats, database) =
            (format!("{}.toml", self.competition.name()), self.nats_url_through(0), self.database_by());
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
        self.coordinator =
            Some(self.program(&format!("coordinator-{}.log", self.recovered.rounds), &words).start());
    }

    fn start_worker(&mut self, worker: usize) {
        let (name, nats) = (format!("w{worker}"), self.nats_url_through(2 + worker));
        let cache = self.cache(worker);
        let words =
            ["worker", "--nats", &nats, "--name", &name, "--jobs", "1", "--cache", cache.to_str().unwrap()];
        let folder = self.folder.path();
        let mut config = program(folder, &folder.join(format!("{name}.log")), &words);
        if agon_test_servers::can_have_small_disks() {
            config = config.with_small_disk(&cache, DISK);
        }
        if let (Some(shim), true) = (&self.shim, self.clocks[worker] != 0) {
            config = config.with_clock(shim, self.clocks[worker]);
        }
        self.workers[worker] = Some(config.start());
    }

    fn cache(&self, worker: usize) -> PathBuf {
        self.folder.path().join(format!("cache-{worker}"))
    }

    /// Whether an event is possible on this machine.
    pub fn is_possible(&self, kind: EventKind) -> bool {
        match kind {
            EventKind::ClockWrong => self.shim.is_some(),
            EventKind::DiskFull => agon_test_servers::can_have_small_disks(),
            _ => true,
        }
    }

    /// Whether an event is possible now.
    pub fn can(&self, kind: EventKind, target: usize) -> bool {
        match kind {
            EventKind::WorkerKilled | EventKind::ClockWrong | EventKind::DiskFull => {
                self.workers[target].is_some()
            }
            EventKind::CoordinatorKilled => self.coordinator.is_some(),
            EventKind::Liar => self.liar.is_none(),
            _ => true,
        }
    }

    /// Triggers the event. Returns a description of the target.
    pub fn trigger(&mut self, kind: EventKind, target: usize, chance: u64) -> String {
        match kind {
            EventKind::WorkerKilled => {
                self.workers[target] = None;
                format!("w{target}")
            }
            EventKind::CoordinatorKilled => {
                self.coordinator = None;
                "it is restarted".to_owned()
            }
            EventKind::NatsKilled => {
                self.nats.kill();
                "it is restarted".to_owned()
            }
            EventKind::PostgresKilled => {
                self.postgres.kill();
                "it is restarted".to_owned()
            }
            EventKind::NetworkCut
            | EventKind::NetworkSevered
            | EventKind::NetworkSlow
            | EventKind::NetworkDeadOneWay => self.spoil(kind, target, chance),
            EventKind::DiskFull => {
                // Restarted with an empty cache, so that it must fetch everything.
                self.workers[target] = None;
                self.start_worker(target);
                self.fill(target);
                format!("w{target}, restarted with an empty cache")
            }
            EventKind::ClockWrong => {
                self.clocks[target] = [-86_400 * 400, -3_600, 90, 86_400 * 4_000][(chance % 4) as usize];
                self.workers[target] = None;
                self.start_worker(target);
                format!("w{target}, by {} s from now on", self.clocks[target])
            }
            EventKind::Liar => {
                let liar = Liar::enter(&self.nats.url(), self.folder.path(), chance);
                let name = liar.name.clone();
                self.liar = Some(liar);
                name
            }
        }
    }

    fn spoil(&self, kind: EventKind, wire: usize, chance: u64) -> String {
        let one = &self.wires[wire];
        let way = if chance.is_multiple_of(2) { ProxyDirection::Up } else { ProxyDirection::Down };
        match kind {
            EventKind::NetworkCut => one.cut(),
            EventKind::NetworkSevered => one.reset_connections(),
            EventKind::NetworkSlow => {
                one.slow(Duration::from_millis(20 + chance % 200), 20_000 + chance % 200_000);
            }
            _ => one.dead(way),
        }
        let name = match wire {
            0 => "coordinator and nats-server".to_owned(),
            1 => "coordinator and PostgreSQL".to_owned(),
            worker => format!("w{} and nats-server", worker - 2),
        };
        if kind == EventKind::NetworkDeadOneWay { format!("{name}, {way:?}") } else { name }
    }

    fn fill(&mut self, worker: usize) {
        let cache = self.cache(worker);
        let Some(program) = &self.workers[worker] else { return };
        let (seen, begun) = (program.path_inside(&cache), Instant::now());
        // The disk exists when the program is running.
        let comm = || fs::read_to_string(format!("/proc/{}/comm", program.pid())).unwrap_or_default();
        while comm().trim() != "agon" && begun.elapsed() < agon_test_servers::WAIT_TIMEOUT {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.fillers[worker] = Some(agon_test_servers::fill(&seen));
    }

    /// Ends the failure.
    pub fn repair(&mut self, kind: EventKind, target: usize) {
        match kind {
            EventKind::WorkerKilled => {
                if self.workers[target].is_none() {
                    self.start_worker(target);
                }
            }
            EventKind::CoordinatorKilled => {
                if self.coordinator.is_none() && !self.ended_well {
                    self.coordinate();
                }
            }
            EventKind::NatsKilled => self.nats.restart(),
            EventKind::PostgresKilled => self.postgres.restart(),
            EventKind::NetworkCut
            | EventKind::NetworkSevered
            | EventKind::NetworkSlow
            | EventKind::NetworkDeadOneWay => {
                self.wires[target].restore();
            }
            EventKind::DiskFull => {
                if let Some(filler) = self.fillers[target].take() {
                    let _ = fs::remove_file(filler);
                }
            }
            EventKind::ClockWrong | EventKind::Liar => {}
        }
    }

    /// Restarts processes that exited, as a service manager does.
    pub fn restart_exited(&mut self) {
        for worker in 0..WORKERS {
            if self.workers[worker].as_mut().is_some_and(|one| one.ended().is_some()) {
                self.recovered.restarted.1 += 1;
                self.start_worker(worker);
            }
        }
        let Some(status) = self.coordinator.as_mut().and_then(Program::ended) else { return };
        if status.success() {
            self.ended_well = true;
            return;
        }
        assert_ne!(status.code(), Some(2), "{}", self.words());
        self.recovered.restarted.0 += 1;
        self.coordinate();
    }

    /// Whether there is a lying worker that is not banned yet.
    pub const fn has_liar(&self) -> bool {
        self.liar.is_some()
    }

    /// Stops the coordinator.
    pub fn stop_coordinator(&mut self) {
        self.coordinator = None;
    }

    /// Stops a lying worker that is banned.
    pub fn stop_banned_liar(&mut self) {
        self.liar = None;
    }

    /// Events of all runs of this round's coordinators.
    pub fn told(&self) -> Vec<serde_json::Value> {
        let log = self.folder.path().join(format!("coordinator-{}.log", self.recovered.rounds));
        let said = fs::read(log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Whether the competition is finished.
    pub const fn is_finished(&self) -> bool {
        self.ended_well
    }

    /// Last output of all processes.
    pub fn words(&self) -> String {
        let mut text = String::new();
        for name in [&format!("coordinator-{}", self.recovered.rounds), "w0", "w1", "w2"] {
            let all = fs::read(self.folder.path().join(format!("{name}.log"))).unwrap_or_default();
            let all = String::from_utf8_lossy(&all);
            let lines: Vec<&str> = all.lines().collect();
            let last = lines[lines.len().saturating_sub(25)..].join("\n");
            let _ = writeln!(text, "--- {name}\n{last}");
        }
        text
    }
}

/// The program with a separate log file.
pub fn program(folder: &Path, log: &Path, words: &[&str]) -> ProgramConfig {
    let config = ProgramConfig::new(env!("CARGO_BIN_EXE_agon"), words, folder, log);
    let config = config.with("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    match common::python() {
        Some(python) => config.with("AGON_PYTHON", python),
        None => config,
    }
}
