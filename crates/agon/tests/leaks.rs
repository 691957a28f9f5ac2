//! No process, shared memory, cgroup, mount or temporary folder is left after games of every kind, even if the engine was killed
//! during a game, and after random pairs of hostile bots. Descriptors and memory do not grow while many games are played.
//!
//! `scripts/leftovers.sh` lists what is left. The tests play 1,200 games of ordinary bots and 8 random pairs of hostile bots; `make soak`
//! (`AGON_SOAK=1`) plays 12,000 games, and hostile bots for two hours.
#![allow(missing_docs, clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tempfile::{NamedTempFile, TempDir, tempdir_in};

/// Runs these tests one at a time, because each looks at everything that Agon has on the machine.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Everything that Agon had on the machine before the test.
struct Before(NamedTempFile);

impl Before {
    fn note() -> Self {
        let file = NamedTempFile::new().unwrap();
        let list = script().arg("list").output().unwrap();
        assert!(list.status.success(), "{}", String::from_utf8_lossy(&list.stderr));
        fs::write(file.path(), list.stdout).unwrap();
        Self(file)
    }

    /// Checks that nothing was added. Waits some seconds for what is about to go.
    fn is_all(&self, when: &str) {
        let since = script().arg("since").arg(self.0.path()).output().unwrap();
        assert!(since.status.success(), "{when}: {}", String::from_utf8_lossy(&since.stderr));
    }
}

fn script() -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/leftovers.sh"))
}

/// Folders and Python for `agon play`.
struct Place {
    folder: TempDir,
    python: Option<PathBuf>,
}

impl Place {
    fn new(bots: &str) -> Self {
        Self { folder: common::copy_of(bots), python: common::python() }
    }

    /// Whether a game can be played on this machine.
    fn can_play(&self, game: &str) -> bool {
        self.python.is_some() || !matches!(game, "colour-battle" | "hide-and-seek")
    }

    /// Starts `agon play`.
    fn play(&self, words: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
        command.arg("play").args(words).current_dir(self.folder.path());
        command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
        if let Some(python) = &self.python {
            command.env("AGON_PYTHON", python);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }
}

/// Bots that never answer and ignore signals, with the Python APIs and as commands. Only a kill stops them.
const STUBBORN: [&[&str]; 6] = [
    &["solitude-scramble", "stubborn.py", "python3 stubborn.py", "stubborn.py", "house:left"],
    &["colour-battle", "stubborn.py:Painter", "python3 stubborn.py", "stubborn.py:Painter"],
    &["connect-five", "stubborn.py:Dropper", "stubborn.py:Dropper"],
    &["connect-five", "python3 stubborn.py", "house:random"],
    &["hide-and-seek", "stubborn.py", "python3 stubborn.py"],
    &["word-racer", "python3 stubborn.py lines", "json:python3 stubborn.py"],
];

/// Clock setting: unlimited thinking time, or so little that the bots are killed.
fn clock(game: &str, short: bool) -> &'static str {
    match (game, short) {
        ("colour-battle", false) => "move_ms=60000",
        ("colour-battle", true) => "rounds=3",
        (_, false) => "seconds=100",
        ("hide-and-seek", true) => "seconds=1",
        (_, true) => "seconds=0.3",
    }
}

/// The first `make test` on a machine creates the folder in which workers lock cores. It stays.
#[test]
fn lock_folder_of_cores_is_not_a_leftover_and_other_folders_are() {
    let folder = tempfile::tempdir().unwrap();
    let user = rustix::process::geteuid().as_raw();
    for name in [format!("agon-cores-{user}"), "agon-cores-of-a-bot".to_owned(), "agon-bot-7".to_owned()] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    let list = script().arg("list").env("TMPDIR", folder.path()).output().unwrap();
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let place = folder.path().to_string_lossy().into_owned();
    let mut found: Vec<&str> = list.lines().filter(|line| line.contains(&place)).collect();
    found.sort_unstable();
    assert_eq!(
        found,
        [format!("temporary {place}/agon-bot-7"), format!("temporary {place}/agon-cores-of-a-bot")]
    );
}

#[test]
fn stubborn_bots_leave_nothing_after_their_games() {
    let _alone = alone();
    let before = Before::note();
    let place = Place::new("leaks");
    for table in STUBBORN.into_iter().filter(|table| place.can_play(table[0])) {
        let mut words = table.to_vec();
        words.extend(["--seed", "1", "--games", "2", "--set", clock(table[0], true)]);
        if table[0] == "solitude-scramble" {
            words.extend(["--set", "turns=2"]);
        }
        assert!(place.play(&words).wait().unwrap().success(), "{table:?}");
    }
    drop(place);
    before.is_all("after the games");
}

#[test]
fn killed_engine_leaves_nothing() {
    let _alone = alone();
    let before = Before::note();
    // Milliseconds after the start of the engine, or after it has bots (`true`).
    let moments = [(false, 5), (false, 40), (true, 0), (true, 100), (true, 400)];
    let place = Place::new("leaks");
    let files = |folder: &Path| {
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name()).collect::<Vec<_>>()
    };
    for table in STUBBORN.into_iter().filter(|table| place.can_play(table[0])) {
        for (has_bots, moment) in moments {
            let records = tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
            let record = records.path().join("a.agon");
            let mut words = table.to_vec();
            words.extend([
                "--games",
                "100",
                "--set",
                clock(table[0], false),
                "--record",
                record.to_str().unwrap(),
            ]);
            let mut engine = place.play(&words);
            if has_bots {
                agon_test_servers::wait_until("the engine has a bot", || !children(engine.id()).is_empty());
            }
            std::thread::sleep(Duration::from_millis(moment));
            engine.kill().unwrap();
            engine.wait().unwrap();
            assert_eq!(
                files(records.path()),
                [""; 0],
                "{table:?} after {moment} ms (with bots: {has_bots}): a record or a temporary file is left"
            );
        }
    }
    drop(place);
    before.is_all("after the engine was killed");
}

/// A trusted program runs without the sandbox, but must end too.
#[test]
#[ignore = "a trusted program ends with its engine, but processes that it has started do not: nothing monitors them"]
fn killed_engine_leaves_nothing_of_trusted_programs() {
    let _alone = alone();
    let before = Before::note();
    let place = Place::new("leaks");
    let mut engine = place.play(&[
        "connect-five",
        "python3 stubborn.py",
        "house:random",
        "--set",
        "seconds=100",
        "--sandbox",
        "off",
    ]);
    std::thread::sleep(Duration::from_millis(700));
    engine.kill().unwrap();
    engine.wait().unwrap();
    drop(place);
    before.is_all("after the engine was killed");
}

/// Ordinary bots of every kind, and their share of the 10,000 games: most where one bot plays several games.
const ORDINARY: [(usize, &[&str]); 5] = [
    (
        3000,
        &["solitude-scramble", "second_best.py", "wary.py", "house:left", "house:right", "--set", "turns=2"],
    ),
    (1000, &["colour-battle", "colour.py:Sweeper", "python3 json_lines.py taker", "--set", "rounds=4"]),
    (5000, &["connect-five", "connect.py:Stacker", "python3 json_lines.py stacker", "--match-games", "10"]),
    (1000, &["hide-and-seek", "hide.py", "python3 json_lines.py hide", "--set", "steps=6"]),
    (2000, &["word-racer", "python3 chance_word_racer.py", "python3 chance_word_racer.py"]),
];

#[test]
fn memory_and_descriptors_do_not_grow_over_many_games() {
    let _alone = alone();
    let before = Before::note();
    let place = Place::new("twins");
    let soak = std::env::var_os("AGON_SOAK").is_some();
    for (games, table) in ORDINARY.into_iter().filter(|(_, table)| place.can_play(table[0])) {
        let games = (if soak { games } else { games / 10 }).to_string();
        let mut words = table.to_vec();
        words.extend(["--seed", "1", "--games", &games]);
        let begin = Instant::now();
        let mut engine = place.play(&words);
        let mut samples = Vec::new();
        let done = loop {
            if let Some(done) = engine.try_wait().unwrap() {
                break done;
            }
            samples.extend(Sample::of(engine.id()));
            std::thread::sleep(Duration::from_millis(5));
        };
        assert!(done.success(), "{table:?}");
        let took = begin.elapsed();
        // The first quarter contains one-time allocations: threads, buffers, the word list.
        let quarter = samples.len() / 4;
        assert!(quarter > 0, "{table:?}: only {} samples", samples.len());
        let early = Sample::of_all(&samples[quarter..2 * quarter]);
        let late = Sample::of_all(&samples[3 * quarter..]);
        eprintln!(
            "{}: {games} games in {took:.1?}; in the second quarter {early:?}, in the last {late:?}",
            table[0]
        );
        assert!(late.memory_kib <= early.memory_kib + 1024, "{table:?}: {early:?}, then {late:?}");
        // The number of bots varies. A descriptor lost with each game would add dozens.
        assert!(late.descriptors <= early.descriptors + 8, "{table:?}: {early:?}, then {late:?}");
        assert!(late.children <= early.children + 4, "{table:?}: {early:?}, then {late:?}");
    }
    drop(place);
    before.is_all("after many games");
}

/// Duration of random hostile play in `make soak`.
const HOSTILE_SOAK_TIME: Duration = Duration::from_hours(2);
/// Number of pairs of hostile bots in `make test`.
const HOSTILE_PAIRS: u64 = 8;
/// Maximum memory of an engine with hostile bots. They may send much, and the engine keeps the end of it.
const MAX_HOSTILE_ENGINE_KIB: u64 = 200 << 10;

/// The hostile bots of a game, by the function that it calls.
fn hostile_bots(folder: &Path, functions: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "py") && !path.ends_with("attack.py"))
        .filter(|path| {
            let text = fs::read_to_string(path).unwrap();
            functions.iter().any(|function| text.contains(function))
        })
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// A number that depends on these two only (`SplitMix64`).
fn mix(seed: u64, number: u64) -> usize {
    let mut bits = seed.wrapping_add(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((bits ^ (bits >> 31)) >> 33) as usize
}

/// Two hostile bots play each other, so both attack at the same time. Which ones depends on a seed, which is printed. The soak uses
/// another seed each time.
#[test]
fn random_hostile_bots_leave_nothing_and_the_engine_stays_small() {
    let _alone = alone();
    let before = Before::note();
    let soak = std::env::var_os("AGON_SOAK").is_some();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let seed = if soak { now } else { 14 };
    eprintln!("seed {seed}");
    let begin = Instant::now();
    let place = Place::new("hostile");
    let connect = hostile_bots(place.folder.path(), &["get_move", "(Attacker)", "(Thief)"]);
    let solitude = hostile_bots(place.folder.path(), &["def get_action"]);
    assert!(connect.len() > 80 && solitude.len() > 20, "{} and {}", connect.len(), solitude.len());
    let mut largest = 0;
    for number in 0.. {
        if if soak { begin.elapsed() >= HOSTILE_SOAK_TIME } else { number >= HOSTILE_PAIRS } {
            break;
        }
        let pick = |bots: &[String], which| bots[mix(seed, 4 * number + which) % bots.len()].clone();
        let is_solitude = number % 4 == 3;
        let bots = if is_solitude { &solitude } else { &connect };
        let (one, other, games) = (pick(bots, 0), pick(bots, 1), mix(seed, 4 * number + 2).to_string());
        let words: &[&str] = if is_solitude {
            &["solitude-scramble", &one, &other, "house:greedy", "house:left", "--set", "turns=3"]
        } else {
            &["connect-five", &one, &other, "--match-games", "1"]
        };
        let more = ["--set", "seconds=0.3", "--games", "2", "--seed", &games];
        let mut engine = place.play(&[words, &more].concat());
        let code = loop {
            if let Some(done) = engine.try_wait().unwrap() {
                break done.code();
            }
            largest = largest.max(Sample::of(engine.id()).map_or(0, |sample| sample.memory_kib));
            std::thread::sleep(Duration::from_millis(2));
        };
        // 2: a bot is rejected because it does not load.
        assert!(matches!(code, Some(0 | 2)), "{one} and {other}, games of seed {games}: exit code {code:?}");
        assert!(largest <= MAX_HOSTILE_ENGINE_KIB, "{one} and {other}: {largest} KiB");
    }
    eprintln!("the engine had at most {largest} KiB");
    drop(place);
    before.is_all("after hostile bots");
}

/// Resources of an engine.
#[derive(Clone, Copy, Default, Debug)]
struct Sample {
    memory_kib: u64,
    descriptors: usize,
    children: usize,
}

impl Sample {
    /// `None` if the process is just ending.
    fn of(pid: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(Self {
            memory_kib: memory.split_whitespace().next()?.parse().ok()?,
            descriptors: fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count(),
            children: children(pid).len(),
        })
    }

    /// The usual amount of memory, and the largest numbers of the rest. A leak raises the usual amount; the table that is
    /// printed at the end raises only the last samples.
    fn of_all(samples: &[Self]) -> Self {
        let mut memory: Vec<u64> = samples.iter().map(|sample| sample.memory_kib).collect();
        memory.sort_unstable();
        Self {
            memory_kib: memory[memory.len() / 2],
            descriptors: samples.iter().map(|sample| sample.descriptors).max().unwrap_or_default(),
            children: samples.iter().map(|sample| sample.children).max().unwrap_or_default(),
        }
    }
}

/// The children of all threads of a process.
fn children(pid: u32) -> Vec<String> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect()
}
