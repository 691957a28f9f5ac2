//! A bot that is a fork of a zygote and speaks packets.
//!
//! - [`sending`]: what it is told
//! - [`receiving`]: what it answers
//! - [`measuring`]: what an answer has cost
//! - [`playing_on`]: a loaded bot that plays another game or match
//! - [`connection`]: the same as the engine asks it

mod connection;
mod measuring;
mod playing_on;
mod receiving;
mod sending;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, json};

use self::receiving::FIRST_WAIT_TIMEOUT;
use super::log_poller::SharedLog;
use super::server::ZygoteServer;
use super::socket::{self, Packet};
use crate::program::{Program, ZygoteOptions, policy};
use crate::sandbox::{self, SandboxedProcess};
use crate::test_switches::{self, is_off};
use crate::timing::{CpuMeter, StealTime, TaskFlags, Usage, UsageSample, has_threads};

/// Time that a bot has to end after it closed its socket, so that its exit status is known.
const EXIT_TIMEOUT: Duration = Duration::from_millis(200);

/// A running bot that is a fork of a zygote.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts about a running bot")]
pub struct ForkedBot {
    process: SandboxedProcess,
    asking: OwnedFd,
    /// A separate pipe for turns, which costs a third as much, if it has one.
    turns: Option<OwnedFd>,
    /// The last message was a turn, so it waits for the next one on the pipe.
    expects_turns: bool,
    /// Where it answers. If each call has its own process, only their supervisor has the other end.
    answers: Arc<OwnedFd>,
    /// Where the process of the current call answers. Each call has a new socket: nothing that an earlier call did to its own
    /// matters.
    call: Option<Arc<OwnedFd>>,
    /// The one of them that is in [`receiving::AWAITED`].
    awaited_socket: Option<Arc<OwnedFd>>,
    log: SharedLog,
    /// It has written to stderr before.
    prints: bool,
    /// Number of waits since its stderr was last polled.
    waits_without_stderr: u32,
    /// The process that answers: the bot itself, or its fork for a game.
    meter: CpuMeter,
    metered: u32,
    /// Its usage at its last answer.
    used: Usage,
    /// Whether a new fork gives each answer.
    forks_calls: bool,
    /// Whether a new fork plays each game.
    forks_games: bool,
    /// The fork that gave the last answer has not ended yet. No new request is sent before it has.
    ending: bool,
    /// A new fork, which plays the game, gives the next answer.
    starts_game: bool,
    /// When it is stopped between requests.
    hold: PausePolicy,
    /// It has worked between an answer and the next request, so it is stopped after each answer from now on.
    works_off_turn: bool,
    stopped: bool,
    asked: UsageSample,
    /// The earliest time at which the request may have been sent.
    asked_first: Instant,
    /// The same by the system clock, which timestamps packets.
    asked_system_time: Duration,
    /// The received packet was sent before the request.
    unsolicited: bool,
    /// What a call sent after its answer.
    excess: Option<String>,
    /// Why the engine killed it.
    killed_for: Option<&'static str>,
    /// Steal time of the machine at the request.
    stolen: StealTime,
    limit: Duration,
    wanted: usize,
    inbox: VecDeque<Packet>,
    gone: bool,
    _zygote: Arc<ZygoteServer>,
}

/// When a bot is stopped between requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PausePolicy {
    /// Never: it can have neither threads nor children.
    Never,
    /// Whenever it has threads or children.
    IfBusy,
}

impl ForkedBot {
    /// Forks a bot.
    pub fn start(
        program: &Program,
        zygote: &ZygoteOptions,
        environment: &[(&str, String)],
    ) -> io::Result<Self> {
        let interpreter = program.words.first().map_or("python3", String::as_str);
        let zygote_server = ZygoteServer::of(interpreter, zygote)?;
        let (asking, bot_asked) = socket::pair()?;
        let (answers, bot_answers) = socket::pair()?;
        let (turns, bot_turns) = zygote.plays_on().then(socket::pipe).transpose()?.unzip();
        socket::enable_timestamps(answers.as_fd())?;
        socket::set_read_timeout(answers.as_fd(), FIRST_WAIT_TIMEOUT)?;
        let (log, bot_log) = io::pipe()?;
        let mut request = Map::new();
        request.insert("game".to_owned(), json!(zygote.game));
        request.insert("target".to_owned(), json!(zygote.target));
        request.insert("core".to_owned(), json!(crate::pinning::core()));
        request.insert("together".to_owned(), json!(zygote.asked_together));
        request.insert("turns".to_owned(), json!(bot_turns.is_some()));
        let policy = policy(program, environment)?;
        if !test_switches::all().is_empty() {
            request.insert("without".to_owned(), json!(test_switches::all()));
        }
        let fds = [bot_log.into(), bot_asked, bot_answers].into_iter().chain(bot_turns).collect();
        let process =
            sandbox::fork(&policy, fds, zygote_server.control_socket(), request).map_err(io::Error::other)?;
        let metered = process.pid().as_raw_nonzero().get().unsigned_abs();
        Ok(Self {
            meter: CpuMeter::of_bot(
                metered,
                process.group().cloned(),
                None,
                zygote.hold == PausePolicy::Never,
            ),
            metered,
            process,
            asking,
            turns,
            expects_turns: false,
            answers: Arc::new(answers),
            call: None,
            awaited_socket: None,
            log: SharedLog::new(log.into())?,
            prints: false,
            waits_without_stderr: 0,
            used: Usage::default(),
            forks_calls: zygote.forks_calls,
            forks_games: zygote.forks_games,
            ending: false,
            starts_game: false,
            hold: zygote.hold,
            works_off_turn: false,
            stopped: false,
            asked: UsageSample { at: Instant::now(), usage: Usage::default() },
            asked_first: Instant::now(),
            asked_system_time: Duration::ZERO,
            unsolicited: false,
            excess: None,
            killed_for: None,
            stolen: StealTime::default(),
            limit: Duration::MAX,
            wanted: 0,
            inbox: VecDeque::new(),
            gone: false,
            _zygote: zygote_server,
        })
    }

    /// The id of the process that has loaded the bot.
    fn loader(&self) -> u32 {
        self.process.pid().as_raw_nonzero().get().unsigned_abs()
    }

    /// A process or thread that the bot has started while it was loaded.
    fn helper(&self) -> Option<&'static str> {
        if !self.forks_games || is_off("meter") {
            return None;
        }
        let known = [self.loader(), self.metered];
        if self.process.group().is_some_and(|group| group.has_others(&known)) {
            return Some("process");
        }
        has_threads(self.loader()).then_some("thread")
    }

    /// Stops the bot if it has threads or children that could continue, or works between requests.
    fn pause_if_busy(&mut self, flags: TaskFlags) {
        if !self.gone && !self.forks_calls && (flags.any() || self.works_off_turn) {
            let _ = self.process.pause();
            self.stopped = true;
        }
    }

    /// Whether it can be asked.
    pub fn is_alive(&mut self) -> bool {
        !self.gone && self.process.try_wait().is_none()
    }

    /// Describes how it ended.
    fn how_it_ended(&mut self) -> String {
        let ended = self.process.wait_for(Some(EXIT_TIMEOUT));
        self.kill();
        if let Some(reason) = self.killed_for {
            return format!("was stopped: {reason}");
        }
        ended.map_or_else(|| "closed its channel".to_owned(), |ended| ended.to_string())
    }

    fn kill(&mut self) {
        self.forget();
        self.process.kill_all();
    }
}

impl Drop for ForkedBot {
    fn drop(&mut self) {
        self.kill();
    }
}
