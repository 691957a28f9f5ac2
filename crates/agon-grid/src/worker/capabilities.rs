//! What a worker is: its version, its rules, the layers of its sandbox, how fast it is, and who plays.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::Duration;

use agon_core::record::Recorder;
use agon_engine::Reporter;
use agon_engine::table::PlayError;
use agon_league::{Entrant, MatchKey};
use agon_runner::{MatchRunner, LoadedEntrant};
use agon_store::FinishedMatch;

/// What a worker says of itself before it gets work.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerCapabilities {
    /// Its version of Agon.
    pub engine: String,
    /// The version of the rules of each game it knows.
    pub rules: BTreeMap<String, u32>,
    /// The layers of the sandbox that are active there.
    pub layers: Vec<String>,
}

impl WorkerCapabilities {
    /// This program on this machine. Without a sandbox there are no layers.
    pub fn here() -> Self {
        let layers = agon_host::sandbox::probe().unwrap_or_default();
        let rules = agon_games::infos().into_iter().map(|info| (info.id.to_owned(), info.rules_version));
        Self {
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            rules: rules.collect(),
            layers: layers.iter().filter(|one| one.active).map(|one| one.kind.to_string()).collect(),
        }
    }
}

/// Whoever plays a match. Tests may pass one that lies.
pub trait MatchBackend: Send + Sync {
    /// Plays a match to its end.
    fn play<'p>(
        &self,
        bout: &MatchRunner<'_>,
        key: MatchKey,
        members: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError>;
}

/// By the rules.
#[derive(Clone, Copy, Debug)]
pub struct RealBackend;

impl MatchBackend for RealBackend {
    fn play<'p>(
        &self,
        bout: &MatchRunner<'_>,
        key: MatchKey,
        members: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        bout.play(key, members, seed, recorder, reporter)
    }
}

/// What the compiled part takes on the machine that is 1.
const COMPILED: Duration = Duration::from_millis(33);
/// What the part in Python takes there.
const PYTHON: Duration = Duration::from_millis(36);
/// A few times, and the best of them: something else may run beside it.
const TIMES: usize = 4;

/// How fast this machine is: a fixed amount of arithmetic and of walking through memory, and a loop in Python where there is one. 1 is about the machine that
/// the figures were made on, 2 is twice as fast. Takes about half a second.
pub fn calibrate() -> f64 {
    let compiled = best(|| Some(compiled_work())).map(|took| COMPILED.as_secs_f64() / took.as_secs_f64());
    let python = best(python_work).map(|took| PYTHON.as_secs_f64() / took.as_secs_f64());
    let speeds: Vec<f64> = [compiled, python].into_iter().flatten().collect();
    let mean = speeds.iter().map(|speed| speed.ln()).sum::<f64>() / speeds.len().max(1) as f64;
    // More digits would pretend that it is exact.
    (mean.exp() * 100.0).round() / 100.0
}

fn best(work: impl Fn() -> Option<Duration>) -> Option<Duration> {
    (0..TIMES).filter_map(|_| work()).min().filter(|took| !took.is_zero())
}

fn compiled_work() -> Duration {
    let begun = spent();
    let mut memory = vec![0u32; 1 << 20];
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..12_000_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let place = (state >> 44) as usize;
        memory[place] = memory[place].wrapping_add(state as u32);
    }
    black_box(memory);
    spent().saturating_sub(begun)
}

/// Processor time of this thread: what else the machine does is no matter.
fn spent() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec as u32)
}

/// The loop measures itself: starting Python is not what counts.
fn python_work() -> Option<Duration> {
    const WORK: &str = "import time\nt = time.process_time_ns()\nd, s = {}, 1\nfor i in range(200000):\n    s = (s * 1103515245 + 12345) & 0x7fffffff\n    d[s & 4095] = s\nprint(time.process_time_ns() - t)";
    let python = agon_host::python::interpreter().ok()?;
    let output = Command::new(python).args(["-S", "-c", WORK]).stdin(Stdio::null()).output().ok()?;
    let took: u64 = String::from_utf8_lossy(&output.stdout).trim().parse().ok()?;
    Some(Duration::from_nanos(took))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::print_stdout, reason = "tests")]

    use super::*;

    #[test]
    fn a_machine_has_a_speed() {
        let speed = calibrate();
        println!("{speed}: compiled {:?}, Python {:?}", best(|| Some(compiled_work())), best(python_work));
        assert!((0.01..100.0).contains(&speed), "{speed}");
    }
}
