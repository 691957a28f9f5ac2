//! Capabilities of a worker: version, rules, sandbox layers, speed. And the backend that plays matches.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::Duration;

use agon_core::record::Recorder;
use agon_engine::Reporter;
use agon_engine::any_game::PlayError;
use agon_league::{Entrant, MatchKey};
use agon_runner::{LoadedEntrant, MatchRunner};
use agon_store::FinishedMatch;

/// Capabilities that a worker reports when it joins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkerCapabilities {
    /// Agon version.
    pub engine: String,
    /// Rules version of each game.
    pub rules: BTreeMap<String, u32>,
    /// Active sandbox layers.
    pub layers: Vec<String>,
}

impl WorkerCapabilities {
    /// Capabilities of this program on this machine. No layers if there is no sandbox.
    pub fn detect() -> Self {
        let layers = agon_host::sandbox::probe().unwrap_or_default();
        let rules = agon_games::infos().into_iter().map(|info| (info.id.to_owned(), info.rules_version));
        Self {
            engine: env!("CARGO_PKG_VERSION").to_owned(),
            rules: rules.collect(),
            layers: layers.iter().filter(|one| one.active).map(|one| one.kind.to_string()).collect(),
        }
    }
}

/// Plays matches. Tests replace it to fake results.
pub trait MatchBackend: Send + Sync {
    /// Plays a whole match.
    fn play<'p>(
        &self,
        runner: &MatchRunner<'_>,
        key: MatchKey,
        entrants: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError>;
}

/// Plays matches by the rules.
#[derive(Clone, Copy, Debug)]
pub struct RealBackend;

impl MatchBackend for RealBackend {
    fn play<'p>(
        &self,
        runner: &MatchRunner<'_>,
        key: MatchKey,
        entrants: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        runner.play(key, entrants, seed, recorder, reporter)
    }
}

/// CPU time of the compiled calibration loop on the reference machine.
const REFERENCE_COMPILED_TIME: Duration = Duration::from_millis(33);
/// CPU time of the Python calibration loop on the reference machine.
const REFERENCE_PYTHON_TIME: Duration = Duration::from_millis(36);
/// Number of calibration runs. The best one counts, because other programs may disturb some.
const CALIBRATION_RUNS: usize = 4;

/// Speed of this machine relative to the reference machine; 2 is twice as fast. Runs a fixed amount of arithmetic and memory access, and a
/// Python loop if Python is installed. Takes about half a second.
pub fn calibrate() -> f64 {
    let compiled = best_of_runs(|| Some(compiled_work()))
        .map(|duration| REFERENCE_COMPILED_TIME.as_secs_f64() / duration.as_secs_f64());
    let python = best_of_runs(python_work)
        .map(|duration| REFERENCE_PYTHON_TIME.as_secs_f64() / duration.as_secs_f64());
    let speeds: Vec<f64> = [compiled, python].into_iter().flatten().collect();
    let mean = speeds.iter().map(|speed| speed.ln()).sum::<f64>() / speeds.len().max(1) as f64;
    // Two digits: the measurement is not more precise.
    (mean.exp() * 100.0).round() / 100.0
}

fn best_of_runs(work: impl Fn() -> Option<Duration>) -> Option<Duration> {
    (0..CALIBRATION_RUNS).filter_map(|_| work()).min().filter(|duration| !duration.is_zero())
}

fn compiled_work() -> Duration {
    let started = thread_cpu_time();
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
    thread_cpu_time().saturating_sub(started)
}

/// CPU time of this thread, independent of other load.
fn thread_cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.max(0) as u64, time.tv_nsec as u32)
}

/// The loop measures itself, so the start of Python does not count.
fn python_work() -> Option<Duration> {
    const WORK: &str = "import time\nt = time.process_time_ns()\nd, s = {}, 1\nfor i in range(200000):\n    s = (s * 1103515245 + 12345) & 0x7fffffff\n    d[s & 4095] = s\nprint(time.process_time_ns() - t)";
    let python = agon_host::python::interpreter().ok()?;
    let output = Command::new(python).args(["-S", "-c", WORK]).stdin(Stdio::null()).output().ok()?;
    let duration: u64 = String::from_utf8_lossy(&output.stdout).trim().parse().ok()?;
    Some(Duration::from_nanos(duration))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::print_stdout, reason = "tests")]

    use super::*;

    #[test]
    fn calibrate_gives_a_plausible_speed() {
        let speed = calibrate();
        println!(
            "{speed}: compiled {:?}, Python {:?}",
            best_of_runs(|| Some(compiled_work())),
            best_of_runs(python_work)
        );
        assert!((0.01..100.0).contains(&speed), "{speed}");
    }
}
