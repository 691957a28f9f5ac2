//! Where it all happens: real servers, real processes of the real program, and a network between all of them that can be spoilt.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agon_test_servers::{Database, Nats, Postgres, Program, ProgramConfig, Proxy, ProxyDirection};
use tempfile::TempDir;

use crate::cups::{self, Cup};
use crate::liar::Liar;
use crate::proof::{self, Came};
use crate::{Kind, common};

/// Honest ones.
pub const WORKERS: usize = 3;
/// Room on a worker's disk for what it fetches.
const DISK: u64 = 8 << 20;

/// What came of it all.
#[derive(Default)]
pub struct Recovered {
    pub rounds: u32,
    pub matches: u64,
    pub liars_barred: u32,
    /// Matches that were taken back because a liar had played them.
    pub withdrawn: u64,
    /// Runs that went on where another one had ended.
    pub resumed: u32,
    /// Times that a coordinator, or a worker, ended by itself and was started again, as a service manager does.
    pub revived: (u32, u32),
}

pub struct Theatre {
    folder: TempDir,
    nats: Nats,
    postgres: Postgres,
    /// Coordinator to nats-server, coordinator to PostgreSQL, then each worker to nats-server.
    pub wires: Vec<Proxy>,
    shim: Option<PathBuf>,
    cup: Cup,
    /// The competition's files: each round has its own, as bots' folders change.
    home: PathBuf,
    pub(crate) database: Option<Database>,
    coordinator: Option<Program>,
    ended_well: bool,
    workers: Vec<Option<Program>>,
    /// Seconds by which each worker's clock is wrong.
    clocks: Vec<i64>,
    fillers: Vec<Option<PathBuf>>,
    liar: Option<Liar>,
    /// What local runs came to.
    pub expected: Vec<(Cup, Came)>,
    pub recovered: Recovered,
}

impl Theatre {
    /// `None` where there is no Python to play with, or no servers.
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
        let mut theatre = Self {
            folder,
            nats,
            postgres,
            wires,
            shim,
            cup: Cup::House,
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
        // They are there when the first competition begins.
        (0..WORKERS).for_each(|worker| theatre.employ(worker));
        theatre.expected = proof::alone(theatre.folder.path());
        Some(theatre)
    }

    /// A competition begins, in a folder and a database of its own.
    pub fn raise_the_curtain(&mut self, cup: Cup) {
        self.cup = cup;
        self.recovered.rounds += 1;
        self.home = self.folder.path().join(format!("round-{}", self.recovered.rounds));
        cups::write(&self.home);
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

    /// Where the competition's file is, and which it is.
    pub fn stage(&self) -> (&Path, Cup) {
        (&self.home, self.cup)
    }

    fn script(&self, log: &str, words: &[&str]) -> ProgramConfig {
        script(&self.home, &self.folder.path().join(log), words)
    }

    fn coordinate(&mut self) {
        let (file, nats, database) =
            (format!("{}.toml", self.cup.name()), self.nats_by(0), self.database_by());
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
            Some(self.script(&format!("coordinator-{}.log", self.recovered.rounds), &words).start());
    }

    fn employ(&mut self, worker: usize) {
        let (name, nats) = (format!("w{worker}"), self.nats_by(2 + worker));
        let cache = self.cache(worker);
        let words =
            ["worker", "--nats", &nats, "--name", &name, "--jobs", "1", "--cache", cache.to_str().unwrap()];
        let folder = self.folder.path();
        let mut script = script(folder, &folder.join(format!("{name}.log")), &words);
        if agon_test_servers::can_have_small_disks() {
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

    /// Whether something can happen on this machine at all.
    pub fn is_possible(&self, kind: Kind) -> bool {
        match kind {
            Kind::ClockWrong => self.shim.is_some(),
            Kind::DiskFull => agon_test_servers::can_have_small_disks(),
            _ => true,
        }
    }

    /// Whether something can happen now.
    pub fn can(&self, kind: Kind, whom: usize) -> bool {
        match kind {
            Kind::WorkerKilled | Kind::ClockWrong | Kind::DiskFull => self.workers[whom].is_some(),
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
        let way = if chance.is_multiple_of(2) { ProxyDirection::Up } else { ProxyDirection::Down };
        match kind {
            Kind::NetworkCut => one.cut(),
            Kind::NetworkSevered => one.reset_connections(),
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
        let (seen, begun) = (program.path_inside(&cache), Instant::now());
        // The disk is there when the program is.
        let comm = || fs::read_to_string(format!("/proc/{}/comm", program.pid())).unwrap_or_default();
        while comm().trim() != "agon" && begun.elapsed() < agon_test_servers::WAIT_TIMEOUT {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.fillers[worker] = Some(agon_test_servers::fill(&seen));
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
            Kind::PostgresKilled => self.postgres.restart(),
            Kind::NetworkCut | Kind::NetworkSevered | Kind::NetworkSlow | Kind::NetworkDeadOneWay => {
                self.wires[whom].restore();
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
                self.recovered.revived.1 += 1;
                self.employ(worker);
            }
        }
        let Some(status) = self.coordinator.as_mut().and_then(Program::ended) else { return };
        if status.success() {
            self.ended_well = true;
            return;
        }
        assert_ne!(status.code(), Some(2), "{}", self.words());
        self.recovered.revived.0 += 1;
        self.coordinate();
    }

    /// Whether somebody lies whom everybody still believes.
    pub const fn has_liar(&self) -> bool {
        self.liar.is_some()
    }

    /// Nobody leads any more.
    pub fn leave_the_desk(&mut self) {
        self.coordinator = None;
    }

    /// A liar that nobody believes any more has done its part.
    pub fn dismiss_the_liar(&mut self) {
        self.liar = None;
    }

    /// What this round's coordinators have told, run after run.
    pub fn told(&self) -> Vec<serde_json::Value> {
        let log = self.folder.path().join(format!("coordinator-{}.log", self.recovered.rounds));
        let said = fs::read(log).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Whether the competition was played to its end.
    pub const fn is_over(&self) -> bool {
        self.ended_well
    }

    /// What everybody said last.
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

/// The program, with a log of its own.
pub fn script(folder: &Path, log: &Path, words: &[&str]) -> ProgramConfig {
    let script = ProgramConfig::new(env!("CARGO_BIN_EXE_agon"), words, folder, log);
    let script = script.with("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    match common::python() {
        Some(python) => script.with("AGON_PYTHON", python),
        None => script,
    }
}
