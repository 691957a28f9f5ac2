//! What every bot that runs as a process is limited to, as a list for people: `agon games GAME` and `docs/limits.md` show it.

use std::time::Duration;

use agon_core::{BotLifetime, GameInfo};
use serde::Serialize;

use crate::json_lines_player::{PlayerOptions, START_TIMEOUT};
use crate::pipes::MAX_LINE_BYTES;
use crate::sandbox::Limits;
use crate::sandbox::{MAX_LOCKED_BYTES, MAX_PENDING_SIGNALS, STACK_BYTES};
use crate::stderr_pipe::MAX_STDERR_TAIL_BYTES;

/// The limits of every bot. Java and Node reserve far more address space than they use, and start a dozen threads before the bot's first line.
pub(crate) const LIMITS: Limits = Limits {
    memory: 512 << 20,
    address_space: None,
    processes: 64,
    open_files: 256,
    file_size: 64 << 20,
    cpu_seconds: 3600,
};

/// A limit of a bot.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct BotLimit {
    /// What is limited.
    pub name: &'static str,
    /// The limit, with its unit.
    pub limit: String,
    /// What happens at the limit.
    pub then: &'static str,
}

/// All limits of bots of a game, apart from its clock.
pub fn bot_limits(game: &GameInfo) -> Vec<BotLimit> {
    let [end, bye] = PlayerOptions::after_game(game.lifetime);
    let row = |name, limit: String, then| BotLimit { name, limit, then };
    let single = game.lifetime == BotLifetime::Call || game.bots.asked_together;
    let mut rows = vec![
        row(
            "memory of all its processes",
            bytes(LIMITS.memory),
            "MemoryError in a single process; above it the bot is killed: a crash",
        ),
        row(
            "processes and threads",
            LIMITS.processes.to_string(),
            "no more can be started; without a cgroup, no further process at all",
        ),
        row("processor cores", "1".to_owned(), "all processes and threads of a game share its core"),
        row("open files in each process", LIMITS.open_files.to_string(), "no more can be opened"),
        row("one file", bytes(LIMITS.file_size), "a write above it fails"),
        row("core dump", "none".to_owned(), "not written"),
        row("stack of a thread", bytes(STACK_BYTES), "the process ends: a crash"),
        row("locked memory", bytes(MAX_LOCKED_BYTES), "refused"),
        row("signals that wait", MAX_PENDING_SIGNALS.to_string(), "refused"),
        row(
            "CPU time of a process",
            seconds(Duration::from_secs(LIMITS.cpu_seconds)),
            "the process ends: a crash",
        ),
        row("time to load", seconds(START_TIMEOUT), "rejected before the first game; later a fault"),
        row("time after a game", seconds(end), "the call is ended; nothing is lost"),
        row("time after the last game", seconds(bye), "the call is ended; nothing is lost"),
        row("one line of an answer", bytes(MAX_LINE_BYTES as u64), "garbled, and the bot is killed"),
        row("output that is kept for a fault", bytes(MAX_STDERR_TAIL_BYTES as u64), "the last part is kept"),
        row("network, other bots' files, the machine's files", "none".to_owned(), "refused"),
    ];
    if single {
        rows[1].limit = format!("{}; 1 for Python bots", LIMITS.processes);
    }
    if !game.bots.may_start_processes {
        rows[1].limit = format!("{}; threads only, no other processes", LIMITS.processes);
        rows[1].then = "no more can be started; another process is refused";
    }
    rows
}

/// `64 KiB`, `512 MiB`.
fn bytes(count: u64) -> String {
    match count {
        count if count.is_multiple_of(1 << 20) => format!("{} MiB", count >> 20),
        count => format!("{} KiB", count >> 10),
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::{Program, policy};

    #[test]
    fn list_has_the_limits_that_a_bot_is_started_with() {
        let folder = tempfile::tempdir().unwrap();
        let policy = policy(&Program::new(["sh"], folder.path()).sandboxed(), &[]).unwrap();
        assert_eq!(policy.limits, LIMITS);
        let game = agon_games::infos().into_iter().find(|game| game.lifetime == BotLifetime::Match).unwrap();
        let limits = bot_limits(game);
        let of = |name: &str| limits.iter().find(|row| row.name == name).unwrap().limit.as_str();
        assert_eq!((of("memory of all its processes"), of("open files in each process")), ("512 MiB", "256"));
        assert_eq!((of("time after a game"), of("time after the last game")), ("10 s", "60 s"));
        let kernel = crate::sandbox::kernel_limits(&policy);
        let of = |name: &str| kernel.iter().find(|(own, _)| *own == name).map(|(_, limit)| *limit);
        assert_eq!(
            (of("CORE"), of("MEMLOCK"), of("STACK")),
            (Some(0), Some(MAX_LOCKED_BYTES), Some(STACK_BYTES))
        );
        assert_eq!((of("NPROC"), of("SIGPENDING")), (Some(64), Some(MAX_PENDING_SIGNALS)));
    }

    #[test]
    fn list_of_a_game_whose_bots_are_one_process_says_so() {
        for game in agon_games::infos() {
            let limits = bot_limits(game);
            let row = limits.iter().find(|row| row.name == "processes and threads").unwrap();
            let says = row.limit.contains("threads only, no other processes");
            assert_eq!(says, !game.bots.may_start_processes, "{}: {row:?}", game.id);
        }
    }
}
