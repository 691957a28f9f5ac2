//! A program as a player, through the JSON-lines protocol of `docs/protocol.md`.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::time::Duration;

use agon_core::random::series_seed;
use agon_core::{
    AnswerTimes, BotLifetime, ClockRule, Fault, FaultReport, Game, MeterKind, Player, Response, Seat,
    SettingDefault as Preset, Settings,
};
use serde_json::{Map, Value as Json};

use crate::connection::{AnswerError, LastWords};
use crate::message::{self, BotMessage, Hello, Limits, Message, PROTOCOL, SimpleMessage};
use crate::process::{quote_line, sanitize_text};
use crate::program::Program;
use crate::running_bot::RunningBot;
use crate::stderr_pipe::MAX_NEW_STDERR_BYTES;

/// Facts about the game that a bot receives in `hello`.
#[derive(Clone, PartialEq, Debug)]
pub struct HelloInfo {
    /// The bot's seat.
    pub seat: Seat,
    /// The number of seats.
    pub seats: usize,
    /// The names of all entrants in seat order, in games that show names.
    pub names: Option<Vec<String>>,
    /// The settings that are not secret.
    pub settings: Map<String, Json>,
    /// The clock of the game.
    pub clock: ClockRule,
}

impl HelloInfo {
    /// The facts for the bot at this seat. Settings that are drawn at random by default are always left out: the bot has to
    /// find them out.
    pub fn new<G: Game>(game: &G, settings: &Settings, seat: Seat, names: &[String]) -> Self {
        let info = G::info();
        let drawn = |name: &str| {
            info.settings.iter().any(|spec| spec.name == name && matches!(spec.default, Preset::Drawn(_)))
        };
        let settings = settings
            .iter()
            .filter(|(name, _)| !drawn(name))
            .map(|(name, value)| (name.to_owned(), serde_json::json!(value)))
            .collect();
        let names = info.names_shown.then(|| names.to_vec());
        Self { seat, seats: game.seats(), names, settings, clock: game.clock() }
    }
}

/// Time limits and modes of a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent options, each with its own name")]
pub struct PlayerOptions {
    /// Maximum time from the start of the process until it has answered `hello` and the first `start`.
    pub start: Duration,
    /// Maximum time to answer `end` and each further `start`. A bot that does not answer `end` in time is stopped.
    pub end: Duration,
    /// Maximum time the process may live after `bye`.
    pub bye: Duration,
    /// Whether the start of the process is charged to its first answer.
    pub start_is_charged: bool,
    /// Whether the process is stopped (SIGSTOP) between requests.
    pub hold: bool,
    /// Whether a new process gives each answer, so that nothing is kept between calls.
    pub stateless: bool,
    /// Whether a bot that was killed is started again for the next request. A stateless bot has lost nothing.
    pub restarts: bool,
}

/// Maximum time to load a bot.
pub(crate) const START_TIMEOUT: Duration = Duration::from_secs(10);

impl PlayerOptions {
    /// Maximum time after a game, and after the last one. Only a bot that plays several games with one process can learn after a game.
    pub(crate) const fn after_game(lifetime: BotLifetime) -> [Duration; 2] {
        match lifetime {
            BotLifetime::Match => [Duration::from_secs(10), Duration::from_mins(1)],
            BotLifetime::Game | BotLifetime::Call => [Duration::from_secs(1), Duration::from_secs(1)],
        }
    }

    /// The default options for a game.
    pub fn of<G: Game>() -> Self {
        let lifetime = G::info().lifetime;
        let [end, bye] = Self::after_game(lifetime);
        Self {
            start: START_TIMEOUT,
            end,
            bye,
            start_is_charged: G::start_counts(),
            hold: true,
            stateless: lifetime == BotLifetime::Call,
            restarts: lifetime == BotLifetime::Call,
        }
    }
}

/// A program at a seat.
pub struct JsonLinesPlayer<G: Game> {
    program: Program,
    hello_info: HelloInfo,
    options: PlayerOptions,
    state: ProcessState,
    /// How the CPU time of the last process was measured.
    meter: Option<MeterKind>,
    seed: u64,
    games: u32,
    /// Whether the bot was told that this game starts.
    announced: bool,
    calls: u32,
    last_id: u64,
    /// Ids of `hello`, `start` and `end` that the bot must answer before its turn.
    owed: VecDeque<u64>,
    /// The bot was not ready in time and catches up on the clock of its turn.
    behind: bool,
    asked: PendingRequest,
    /// The fault that its host reported in its reply to the end of a game.
    fault_after_game: Option<Box<FaultReport>>,
    /// Output of processes that have ended.
    printed: String,
    text: Vec<u8>,
    game: std::marker::PhantomData<fn(G)>,
}

enum ProcessState {
    NotStarted,
    Running(RunningBot),
    /// Not running any more. `for_good`: the bot never became ready and is not started again.
    Gone {
        why: Fault,
        for_good: bool,
    },
}

enum PendingRequest {
    Nothing,
    Turn(u64),
    /// A fault that happened before the request was sent.
    Fault(Box<FaultReport>),
}

impl<G: Game> JsonLinesPlayer<G> {
    /// A player that starts this program when its first game starts.
    pub fn new(program: Program, hello_info: HelloInfo, options: PlayerOptions) -> Self {
        Self {
            program,
            hello_info,
            options,
            state: ProcessState::NotStarted,
            meter: None,
            seed: 0,
            games: 0,
            announced: false,
            calls: 0,
            last_id: 0,
            owed: VecDeque::new(),
            behind: false,
            asked: PendingRequest::Nothing,
            fault_after_game: None,
            printed: String::new(),
            text: Vec::new(),
            game: std::marker::PhantomData,
        }
    }

    /// The process id, while a process runs.
    pub fn process_id(&self) -> Option<u32> {
        match &self.state {
            ProcessState::Running(process) => Some(process.id()),
            _ => None,
        }
    }

    fn id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Starts the program if it is not running, and announces the game. Does not wait.
    fn start(&mut self) -> Result<(), Box<FaultReport>> {
        let seed = series_seed(self.seed, self.calls);
        self.announced = true;
        self.text.clear();
        let mut limit = self.options.end;
        if !matches!(self.state, ProcessState::Running(_)) {
            let environment = [("AGON_SEED", seed.to_string()), ("AGON_GAME", G::info().id.to_owned())];
            let role = G::info().role(self.hello_info.seat).name;
            match RunningBot::start(&self.program, &environment, self.options.hold, role) {
                Ok(running) => {
                    self.meter = Some(running.meter());
                    self.state = ProcessState::Running(running);
                }
                Err(error) => {
                    self.state = ProcessState::Gone { why: Fault::Crash, for_good: true };
                    return Err(crash(format!("could not be started: {error}")).into());
                }
            }
            self.owed.clear();
            self.behind = false;
            self.last_id = 0;
            limit = self.options.start;
            self.write_hello(seed);
        }
        let id = self.id();
        self.owed.push_back(id);
        let start = SimpleMessage::Start { id, number: self.games, seed: seed.to_string() };
        start.write(&mut self.text);
        if let ProcessState::Running(process) = &mut self.state {
            // A fork plays each game, or each match.
            let forks = match G::info().lifetime {
                BotLifetime::Game => true,
                BotLifetime::Match => self.owed.front() == Some(&1),
                BotLifetime::Call => false,
            };
            if forks {
                process.mark_game_start();
            }
            process.ask(&self.text, self.owed.len(), limit);
        }
        Ok(())
    }

    /// Like [`Self::start`]; an error becomes the reply to the next request.
    fn start_or_record_fault(&mut self) {
        if let Err(report) = self.start() {
            self.asked = PendingRequest::Fault(report);
        }
    }

    fn write_hello(&mut self, seed: u64) {
        let id = self.id();
        self.owed.push_back(id);
        let info = G::info();
        let (clock, clock_ms) = message::clock(&self.hello_info.clock);
        let ms = |time: Duration| time.as_millis() as u64;
        let limits = Limits {
            clock,
            clock_ms,
            start_ms: ms(self.options.start),
            end_ms: ms(self.options.end),
            bye_ms: ms(self.options.bye),
        };
        let hello = Hello {
            id,
            protocol: PROTOCOL,
            game: info.id,
            rules: info.rules_version,
            seat: self.hello_info.seat.0,
            seats: self.hello_info.seats,
            role: info.role(self.hello_info.seat).name,
            names: self.hello_info.names.as_deref(),
            settings: &self.hello_info.settings,
            seed: seed.to_string(),
            limits,
        };
        SimpleMessage::Hello(hello).write(&mut self.text);
    }

    /// Waits until the bot has answered everything except turns. The error is the fault to report.
    fn wait_until_ready(&mut self) -> Result<(), Box<FaultReport>> {
        let ProcessState::Running(process) = &mut self.state else { return Ok(()) };
        if self.owed.is_empty() || self.behind {
            return Ok(());
        }
        let starting = self.owed.front() == Some(&1);
        match process.wait().1 {
            Ok(()) => self.read_owed(starting),
            Err(AnswerError::Late) if starting => {
                let says = format!("not ready within {:?} of its start", self.options.start);
                Err(self.stop(Fault::Timeout, says, true).into())
            }
            Err(AnswerError::Late) => {
                self.behind = true;
                Ok(())
            }
            Err(problem) => Err(self.stop_for(problem, starting).into()),
        }
    }

    /// Reads the answers to all messages except turns.
    fn read_owed(&mut self, starting: bool) -> Result<(), Box<FaultReport>> {
        while let Some(wanted) = self.owed.pop_front() {
            let ProcessState::Running(process) = &mut self.state else { return Ok(()) };
            let line = match process.line() {
                Ok(line) => line,
                Err(problem) => return Err(self.stop_for(problem, starting).into()),
            };
            let problem = match message::read(&line) {
                Ok(BotMessage { ended: Some(how), .. }) => {
                    return Err(self.stop(Fault::Crash, ended_text(&how), starting).into());
                }
                Ok(BotMessage { id, error: Some(error), .. }) if id == wanted => {
                    return Err(self.stop(Fault::Crash, sanitize_text(&error.to_string()), true).into());
                }
                Ok(answered) if answered.id == wanted => {
                    self.fault_after_game = answered.fault.map(|fault| {
                        process.report(fault, &sanitize_text(&answered.says.unwrap_or_default())).into()
                    });
                    continue;
                }
                Ok(answered) => {
                    format!("answered {} when {wanted} was asked: {}", answered.id, quote_line(&line))
                }
                Err(what) => format!("{what}: {}", quote_line(&line)),
            };
            return Err(self.stop(Fault::Garbled, problem, starting).into());
        }
        self.behind = false;
        Ok(())
    }

    fn stop_for(&mut self, problem: AnswerError, for_good: bool) -> FaultReport {
        match problem {
            AnswerError::Late => self.stop(Fault::Timeout, "no answer within the limit", for_good),
            AnswerError::Ended(how) => self.stop(Fault::Crash, how, for_good),
            AnswerError::TooLong(line) => {
                self.stop(Fault::Garbled, format!("a line longer than 64 KiB: {line}"), for_good)
            }
            AnswerError::Unsolicited(line) => {
                self.stop(Fault::Garbled, format!("wrote without being asked: {line}"), for_good)
            }
        }
    }

    /// Kills the process and returns the fault report.
    fn stop(&mut self, why: Fault, says: impl Into<String>, for_good: bool) -> FaultReport {
        let says = says.into();
        match std::mem::replace(&mut self.state, ProcessState::Gone { why, for_good }) {
            ProcessState::Running(mut process) => process.report(why, &says),
            _ => FaultReport::new(why, says),
        }
    }

    /// Ends a bot that is not done in time with what it does after a game. No game is lost: the next one starts with a new process.
    fn stop_after_game(&mut self) {
        if let ProcessState::Running(process) = &mut self.state
            && self.printed.len() < MAX_NEW_STDERR_BYTES
        {
            self.printed += &process.printed();
            let limit = self.options.end;
            let _ = writeln!(
                self.printed,
                "agon: not done {limit:?} after the game, so it was stopped; no game is lost, the next one starts with a new process"
            );
        }
        self.state = ProcessState::NotStarted;
        self.owed.clear();
        self.behind = false;
    }

    /// Makes sure that a process runs and has answered all earlier messages.
    fn get_ready(&mut self) -> Result<(), Box<FaultReport>> {
        if self.options.restarts
            && let ProcessState::Gone { for_good: false, .. } = self.state
        {
            self.state = ProcessState::NotStarted;
            self.announced = false;
        }
        if let ProcessState::Gone { why, .. } = self.state {
            return Err(crash(format!("not running any more after a {why} earlier in the game")).into());
        }
        if !self.announced {
            self.start()?;
        }
        if !self.options.start_is_charged {
            self.wait_until_ready()?;
        }
        let ProcessState::Running(process) = &mut self.state else { return Ok(()) };
        if self.owed.is_empty()
            && !process.wait_reports_unsolicited()
            && let Some(line) = process.unsolicited_output()
        {
            return Err(self.stop_for(AnswerError::Unsolicited(line), false).into());
        }
        Ok(())
    }

    /// Reads the answer to a turn.
    fn fetch(&mut self, id: u64) -> Response<G::Answer> {
        let ProcessState::Running(process) = &mut self.state else {
            return fault(crash("not running").into());
        };
        let (times, came) = process.wait();
        let reply = match came {
            Err(problem) => Err(self.stop_for(problem, false).into()),
            Ok(()) => self.read_owed(false).and_then(|()| self.read_answer(id)),
        };
        Response { reply, times }
    }

    fn read_answer(&mut self, id: u64) -> Result<G::Answer, Box<FaultReport>> {
        let ProcessState::Running(process) = &mut self.state else {
            return Err(crash("not running").into());
        };
        let line = match process.line() {
            Ok(line) => line,
            Err(problem) => return Err(self.stop_for(problem, false).into()),
        };
        // An unreadable line counts as the expected answer, because the bot is still in step. A line with another id means that it
        // is not.
        let answered = match message::read(&line) {
            Ok(BotMessage { ended: Some(how), .. }) => {
                return Err(self.stop(Fault::Crash, ended_text(&how), false).into());
            }
            Ok(answered) if answered.id == id => answered,
            Ok(answered) => {
                let says = format!("answered {} when {id} was asked: {}", answered.id, quote_line(&line));
                return Err(self.stop(Fault::Garbled, says, false).into());
            }
            Err(what) => {
                return Err(process.report(Fault::Garbled, &format!("{what}: {}", quote_line(&line))).into());
            }
        };
        if let Some(fault) = answered.fault {
            return Err(process.report(fault, &sanitize_text(&answered.says.unwrap_or_default())).into());
        }
        message::text_of(answered.answer)
            .and_then(|text| G::read_answer(&text))
            .map_err(|what| process.report(Fault::Garbled, &format!("{what}: {}", quote_line(&line))).into())
    }
}

impl<G: Game> Player<G> for JsonLinesPlayer<G> {
    fn begin(&mut self, seed: u64) {
        self.seed = seed;
        self.calls = 0;
        self.games += 1;
        self.announced = false;
        if let ProcessState::Gone { for_good: false, .. } = self.state {
            self.state = ProcessState::NotStarted;
        }
        self.asked = PendingRequest::Nothing;
        // If the start is charged, the process starts with the first request.
        if !self.options.start_is_charged && !matches!(self.state, ProcessState::Gone { .. }) {
            self.start_or_record_fault();
        }
    }

    fn meter(&self) -> Option<MeterKind> {
        self.meter
    }

    fn ask(&mut self, seen: &G::Observation<'_>, limit: Duration) {
        // A fault at the start of the game is the reply to the first request.
        if matches!(self.asked, PendingRequest::Fault(_)) {
            return;
        }
        if let Err(report) = self.get_ready() {
            self.asked = PendingRequest::Fault(report);
            return;
        }
        let id = self.id();
        let request = G::info().requests.get(G::request_of(seen)).map_or("move", |request| request.name);
        let limit_ms = limit.as_millis() as u64;
        self.text.clear();
        if let ProcessState::Running(process) = &mut self.state {
            let first = self.calls == 0;
            let packed =
                process.reads_packed() && message::pack_turn::<G>(id, limit_ms, seen, first, &mut self.text);
            if !packed {
                self.text.clear();
                Message::Turn { id, request, limit_ms, observation: seen }.write(&mut self.text);
            }
            process.ask(&self.text, self.owed.len() + 1, limit);
        }
        self.asked = PendingRequest::Turn(id);
    }

    fn answer(&mut self) -> Response<G::Answer> {
        let response = match std::mem::replace(&mut self.asked, PendingRequest::Nothing) {
            PendingRequest::Turn(id) => self.fetch(id),
            PendingRequest::Fault(report) => fault(report),
            PendingRequest::Nothing => fault(crash("was not asked").into()),
        };
        self.calls += 1;
        if self.options.stateless && !matches!(self.state, ProcessState::Gone { for_good: true, .. }) {
            if let ProcessState::Running(process) = &mut self.state {
                // Where no log takes the output, it must not grow with every call.
                if self.printed.len() < MAX_NEW_STDERR_BYTES {
                    self.printed += &process.printed();
                }
            }
            // Dropping the old process kills it; a new one starts for the next call.
            self.state = ProcessState::NotStarted;
            self.start_or_record_fault();
        }
        response
    }

    fn wait_until_ready(&mut self) {
        if matches!(self.asked, PendingRequest::Nothing)
            && !self.options.start_is_charged
            && let Err(report) = self.get_ready()
        {
            self.asked = PendingRequest::Fault(report);
        }
    }

    fn take_output(&mut self) -> String {
        let mut printed = std::mem::take(&mut self.printed);
        if let ProcessState::Running(process) = &mut self.state {
            printed += &process.printed();
        }
        printed
    }

    fn game_over(&mut self) -> Option<Box<FaultReport>> {
        if self.options.stateless {
            self.state = ProcessState::NotStarted;
            return None;
        }
        let id = self.id();
        let ProcessState::Running(process) = &mut self.state else { return None };
        if process.unsolicited_output().is_some() || !self.owed.is_empty() {
            // Out of step at the end of the game: no game is lost, and the next one starts with a new process.
            self.state = ProcessState::NotStarted;
            return None;
        }
        self.owed.push_back(id);
        self.text.clear();
        SimpleMessage::End { id }.write(&mut self.text);
        process.ask(&self.text, 1, self.options.end);
        self.fault_after_game = None;
        let ended = self.wait_until_ready().err();
        if ended.is_some() {
            self.state = ProcessState::NotStarted;
        } else if self.behind {
            self.stop_after_game();
        }
        // Only a bot that lives for a match does something after a game. A bot that ends then has crashed.
        let lives_on = G::info().lifetime == BotLifetime::Match;
        let ended = ended.filter(|report| report.fault == Fault::Crash);
        self.fault_after_game.take().or(ended).filter(|_| lives_on)
    }

    fn match_over(&mut self) -> Option<Box<FaultReport>> {
        let ProcessState::Running(process) = std::mem::replace(&mut self.state, ProcessState::NotStarted)
        else {
            return None;
        };
        self.text.clear();
        SimpleMessage::Bye.write(&mut self.text);
        if G::info().lifetime != BotLifetime::Match && self.owed.is_empty() && !self.behind {
            process.release(Some((&self.text, self.options.bye)));
            return None;
        }
        let LastWords { line, printed } = process.say_bye(&self.text, self.options.bye);
        let message = line.and_then(|line| message::read(&line).ok());
        let report = message.and_then(|message| {
            let report = FaultReport::new(message.fault?, sanitize_text(&message.says.unwrap_or_default()));
            Some(FaultReport { stderr: printed.clone(), ..report }.into())
        });
        self.printed += &printed;
        report
    }
}

impl<G: Game> Drop for JsonLinesPlayer<G> {
    /// A bot that can play another game goes back to the pool instead of being ended.
    fn drop(&mut self) {
        let in_step = self.owed.is_empty() && !self.behind && matches!(self.asked, PendingRequest::Nothing);
        if in_step
            && G::info().lifetime != BotLifetime::Match
            && let ProcessState::Running(running) =
                std::mem::replace(&mut self.state, ProcessState::NotStarted)
        {
            running.release(None);
        }
    }
}

fn fault<A>(report: Box<FaultReport>) -> Response<A> {
    Response { reply: Err(report), times: AnswerTimes::default() }
}

/// The report of the process that has loaded a bot about the one that played.
fn ended_text(how: &str) -> String {
    format!("its process ended: {}", sanitize_text(how))
}

fn crash(says: impl Into<String>) -> FaultReport {
    FaultReport::new(Fault::Crash, says)
}
