//! Plays one game, with any mix of answers and faults.

mod persons;

use std::io;
use std::time::{Duration, Instant};

use agon_core::game::View;
use agon_core::random::bot_seeds;
use agon_core::record::{ClockExpiry, Digest, FaultRecord, RecordHeader, Recorder};
use agon_core::{
    AnswerTimes, Clock, ClockVerdict, Fault, FaultReport, Game, IllegalAnswer, MeterKind, Outcome, Picture,
    Player, Reply, RequestInfo, Response, Seat, SeatSet, Viewpoint,
};

use crate::empty_answers::EmptyAnswers;
use crate::event::{GameEvent, Reporter, TurnAnswers, TypedPositionView};
use crate::fault_text_budget::FaultTextBudget;
use crate::turn_log::{TurnLog, TurnLogEntry};
pub use persons::{PersonAction, PersonClock, PersonRequest, Persons};

/// Player at a seat.
pub enum SeatedPlayer<G: Game> {
    /// A bot.
    Bot(Box<dyn Player<G>>),
    /// A person: at the terminal ([`GameHooks::console`]), or elsewhere ([`GameHooks::persons`]).
    Person,
}

/// Terminal of a person who plays.
pub trait HumanConsole {
    /// Shows the position and asks for an answer. `last_error` is the error of the previous answer. Returns `None` when the person
    /// has left.
    fn ask(
        &mut self,
        seat: Seat,
        picture: &Picture,
        request: &RequestInfo,
        last_error: Option<&str>,
    ) -> io::Result<Option<String>>;
}

/// Statistics of one seat in one game.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeatStats {
    /// Number of requests.
    pub answers: u32,
    /// Sum of the times of all answers.
    pub time: AnswerTimes,
    /// Longest charged time of an answer.
    pub longest: Duration,
    /// Number of faults, in the order of [`Fault::ALL`].
    pub faults: [u32; 4],
    /// How its CPU time was measured. `None` for a player that is not a process.
    pub meter: Option<MeterKind>,
    /// What an empty answer cost in this game, if it was measured. It is part of `time`.
    pub empty_answer: Option<Duration>,
}

impl SeatStats {
    /// The part of the charged time that is the host's: what as many empty answers cost.
    pub fn empty_total(&self) -> Duration {
        let cost = self.empty_answer.unwrap_or_default();
        cost.saturating_mul(self.answers).min(self.time.charged())
    }
}

/// A finished game.
#[derive(Clone, Debug)]
pub struct PlayedGame {
    /// Number of the game in the series.
    pub index: u32,
    /// Seed of the game.
    pub seed: u64,
    /// Result of the game.
    pub outcome: Outcome,
    /// Number of turns.
    pub turns: u32,
    /// Faults in the order of occurrence.
    pub faults: Vec<FaultRecord>,
    /// Statistics in seat order.
    pub seats: Vec<SeatStats>,
    /// Compressed record and its digest, if requested.
    pub record: Option<(Vec<u8>, Digest)>,
}

impl PlayedGame {
    /// Whether a seat has lost the whole match by a fault. After a game, several bots can.
    pub fn loses_match(&self, seat: Seat) -> bool {
        let fails_after_game =
            || self.faults.iter().any(|fault| fault.seat == seat && fault.is_after_game(self.turns));
        self.outcome.match_lost_by.is_some_and(|loser| loser == seat || fails_after_game())
    }
}

/// Reporter, terminal, recorder and log of a game.
pub struct GameHooks<'r> {
    /// Receives events.
    pub reporter: Option<&'r mut dyn Reporter>,
    /// Terminal for persons.
    pub console: Option<&'r mut dyn HumanConsole>,
    /// Persons who play elsewhere, such as in a browser. With them, no one is asked at the terminal.
    pub persons: Option<&'r mut dyn Persons>,
    /// Writes the record.
    pub recorder: Option<&'r mut Recorder>,
    /// Writes requests, answers and bot output. Without it, bot output is not collected.
    pub log: Option<&'r mut dyn TurnLog>,
}

impl GameHooks<'_> {
    /// The same hooks with a shorter lifetime.
    pub fn reborrow(&mut self) -> GameHooks<'_> {
        // Not `as_deref_mut`: the borrow may be shorter than the lifetime of the trait object.
        GameHooks {
            reporter: match &mut self.reporter {
                Some(reporter) => Some(&mut **reporter),
                None => None,
            },
            console: match &mut self.console {
                Some(console) => Some(&mut **console),
                None => None,
            },
            persons: match &mut self.persons {
                Some(persons) => Some(&mut **persons),
                None => None,
            },
            recorder: self.recorder.as_deref_mut(),
            log: match &mut self.log {
                Some(log) => Some(&mut **log),
                None => None,
            },
        }
    }
}

/// The players of a game.
pub(crate) struct Players<'p, G: Game> {
    /// Players in seat order.
    pub players: &'p mut [SeatedPlayer<G>],
    /// Programs that give empty answers.
    pub empty_answers: Option<&'p mut EmptyAnswers<G>>,
}

/// Plays a game. `header` describes it for the record.
pub fn play<G: View>(
    game: &G,
    index: u32,
    header: &RecordHeader,
    names: &[String],
    players: &mut [SeatedPlayer<G>],
    hooks: &mut GameHooks<'_>,
) -> io::Result<PlayedGame> {
    play_measured(game, index, header, names, Players { players, empty_answers: None }, hooks)
}

/// The same, with programs that give empty answers.
pub(crate) fn play_measured<G: View>(
    game: &G,
    index: u32,
    header: &RecordHeader,
    names: &[String],
    seated: Players<'_, G>,
    hooks: &mut GameHooks<'_>,
) -> io::Result<PlayedGame> {
    tracing::debug!(game = index + 1, "game started");
    let Players { players, mut empty_answers } = seated;
    let seed = header.seed;
    for (seated, seed) in players.iter_mut().zip(bot_seeds(seed)) {
        if let SeatedPlayer::Bot(player) = seated {
            player.begin(seed);
        }
    }
    if let Some(empty_answers) = &mut empty_answers {
        empty_answers.begin();
    }
    let scale = hooks.recorder.as_deref().and_then(Recorder::clock_scale);
    let rule = scale.map_or_else(|| game.clock(), |scale| game.clock().scaled(scale));
    let mut referee = Referee {
        game,
        state: game.start(seed),
        clock: Clock::new(rule, players.len()),
        names,
        index,
        turn: 0,
        replies: Vec::with_capacity(players.len()),
        faults: Vec::new(),
        fault_texts: vec![FaultTextBudget::default(); players.len()],
        seat_stats: vec![SeatStats::default(); players.len()],
        expired: None,
        left: SeatSet::EMPTY,
    };
    if let Some(recorder) = &mut hooks.recorder {
        recorder.begin(header);
    }
    referee.report(hooks, |referee, view| GameEvent::Started { game: referee.index, header, view });
    if let Some(log) = &mut hooks.log {
        log.begin_game(index, header)?;
        for seated in players.iter_mut() {
            if let SeatedPlayer::Bot(player) = seated {
                player.wait_until_ready();
            }
        }
        log_output_between_turns(players, *log)?;
    }
    while referee.expired.is_none() && referee.play_turn(players, empty_answers.as_deref_mut(), hooks)? {}
    let outcome = referee.outcome();
    referee.report(hooks, |referee, view| GameEvent::Over { game: referee.index, outcome: &outcome, view });
    for (seat, seated) in Seat::all(players.len()).zip(players.iter_mut()) {
        if let SeatedPlayer::Bot(player) = seated {
            let meter = player.meter();
            let empty_answer = empty_answers.as_ref().and_then(|empty_answers| empty_answers.cost(seat));
            let stats = &mut referee.seat_stats[seat.index()];
            (stats.meter, stats.empty_answer) = (meter, empty_answer);
            if let Some(recorder) = &mut hooks.recorder {
                recorder.set_meter(seat, meter);
                recorder.set_empty_answer(seat, empty_answer);
            }
            if let Some(report) = player.game_over() {
                referee.record_fault_after_game(seat, *report, hooks);
            }
        }
    }
    if let Some(empty_answers) = empty_answers {
        empty_answers.game_over();
    }
    let outcome = outcome.with_faults_after(G::info(), referee.turn, &referee.faults);
    if let Some(log) = &mut hooks.log {
        log_output_between_turns(players, *log)?;
        log.end_game(&outcome)?;
    }
    let record = match &mut hooks.recorder {
        Some(recorder) => Some(recorder.end(&referee.faults, referee.expired, &outcome)?),
        None => None,
    };
    let Referee { turn, faults, seat_stats, .. } = referee;
    tracing::debug!(
        game = index + 1,
        turns = turn,
        faults = faults.len(),
        ended = %outcome.ended,
        "game finished"
    );
    Ok(PlayedGame { index, seed, outcome, turns: turn, faults, seats: seat_stats, record })
}

struct Referee<'g, G: View> {
    game: &'g G,
    state: G::State,
    clock: Clock,
    names: &'g [String],
    index: u32,
    turn: u32,
    replies: Vec<Reply<G::Answer>>,
    faults: Vec<FaultRecord>,
    fault_texts: Vec<FaultTextBudget>,
    seat_stats: Vec<SeatStats>,
    expired: Option<ClockExpiry>,
    /// Persons who have left.
    left: SeatSet,
}

impl<G: View> Referee<'_, G> {
    /// Plays one turn. Returns false when the game is over.
    fn play_turn(
        &mut self,
        players: &mut [SeatedPlayer<G>],
        mut empty_answers: Option<&mut EmptyAnswers<G>>,
        hooks: &mut GameHooks<'_>,
    ) -> io::Result<bool> {
        let to_move = self.game.to_move(&self.state);
        if to_move.is_empty() {
            return Ok(false);
        }
        self.turn += 1;
        let faults_before = self.faults.len();
        self.replies.clear();
        if hooks.persons.is_some() {
            self.collect_with_persons(players, empty_answers, hooks, to_move)?;
        } else {
            self.ask_bots(players, empty_answers.as_deref_mut(), to_move);
            self.collect_replies(players, empty_answers, hooks, to_move)?;
        }
        self.game.apply(&mut self.state, &self.replies);
        if let Some(ClockExpiry { fastest, .. }) = self.expired {
            self.game.expire(&mut self.state, fastest);
        }
        self.report_turn(hooks, to_move, faults_before);
        Ok(true)
    }

    /// Asks the bots of a turn.
    #[inline]
    fn ask_bots(
        &self,
        players: &mut [SeatedPlayer<G>],
        mut empty_answers: Option<&mut EmptyAnswers<G>>,
        to_move: SeatSet,
    ) {
        // All bots are asked before any answer is read, so that bots in separate processes think at the same time. The order
        // alternates: the bot that ran last finds warmer caches, and no bot should always be first.
        let mut to_ask = to_move;
        let mut position = 0;
        let forth = self.turn % 2 == 1;
        while let Some(seat) = if forth { to_ask.next() } else { to_ask.next_back() } {
            if let Some(empty_answers) = &mut empty_answers
                && empty_answers.is_due(self.turn, position, to_move.len())
            {
                empty_answers.ask(&self.game.observe(&self.state, seat));
            }
            position += 1;
            if let Some(SeatedPlayer::Bot(player)) = players.get_mut(seat.index())
                && !self.clock.sits_out(seat)
            {
                player.ask(&self.game.observe(&self.state, seat), self.clock.limit(seat));
            }
        }
    }

    /// Collects the replies of a turn in seat order. A person at the terminal is asked when it is their turn in this order.
    #[inline]
    fn collect_replies(
        &mut self,
        players: &mut [SeatedPlayer<G>],
        empty_answers: Option<&mut EmptyAnswers<G>>,
        hooks: &mut GameHooks<'_>,
        to_move: SeatSet,
    ) -> io::Result<()> {
        if let Some(recorder) = &mut hooks.recorder {
            recorder.begin_turn();
        }
        for seat in to_move {
            let reply = match players.get_mut(seat.index()) {
                Some(SeatedPlayer::Bot(_)) if self.clock.sits_out(seat) => sit_out(hooks),
                Some(SeatedPlayer::Bot(player)) => {
                    let response = player.answer();
                    let times = response.times;
                    let verdict = self.clock.charge(seat, times.charged());
                    let reply = self.judge(seat, response, verdict, hooks);
                    if let Some(log) = &mut hooks.log {
                        self.log_answer(seat, reply, times, &player.take_output(), *log)?;
                    }
                    reply
                }
                Some(SeatedPlayer::Person) => {
                    let response = self.ask_person(seat, hooks)?;
                    self.judge(seat, response, ClockVerdict::InTime, hooks)
                }
                None => Reply::Fault(Fault::Crash),
            };
            self.replies.push(reply);
        }
        if let Some(empty_answers) = empty_answers {
            empty_answers.collect();
        }
        Ok(())
    }

    /// Turns a response into a reply: checks the clock first, then the rules.
    #[inline]
    fn judge(
        &mut self,
        seat: Seat,
        response: Response<G::Answer>,
        verdict: ClockVerdict,
        hooks: &mut GameHooks<'_>,
    ) -> Reply<G::Answer> {
        let Response { reply, times } = response;
        if let Some(stats) = self.seat_stats.get_mut(seat.index()) {
            stats.answers += 1;
            stats.time.wall += times.wall;
            stats.time.cpu += times.cpu;
            stats.time.wait += times.wait;
            stats.longest = stats.longest.max(times.charged());
        }
        if let ClockVerdict::Expired { fastest } = verdict {
            self.expired = Some(ClockExpiry { turn: self.turn, fastest });
        }
        let report = match reply {
            Ok(_) if verdict == ClockVerdict::Late => Box::new(self.late_fault(seat)),
            Ok(answer) => match self.game.check(&self.state, seat, answer) {
                Ok(()) => {
                    if let Some(recorder) = &mut hooks.recorder {
                        recorder.answer::<G>(seat, answer, times);
                    }
                    return Reply::Answer(answer);
                }
                Err(refusal) => Box::new(illegal::<G>(answer, &refusal)),
            },
            Err(report) => report,
        };
        self.record_fault(seat, *report, times, hooks)
    }

    /// Fault for a late answer. The message contains no measured time, because the record's digest covers it.
    fn late_fault(&self, seat: Seat) -> FaultReport {
        let rest = if self.clock.sits_out(seat) { "; not asked again in this game" } else { "" };
        let limit = match self.game.clock() {
            agon_core::ClockRule::PerAnswer { limit } => {
                format!("exceeded the limit of {limit:?} for an answer")
            }
            agon_core::ClockRule::Bank { limit, .. } => {
                format!("used up the limit of {limit:?} for the game")
            }
            agon_core::ClockRule::Shared { limit, .. } => {
                format!("exceeded the shared limit of {limit:?} for the game")
            }
        };
        FaultReport::new(Fault::Timeout, format!("{limit}{rest}"))
    }

    fn record_fault(
        &mut self,
        seat: Seat,
        report: FaultReport,
        times: AnswerTimes,
        hooks: &mut GameHooks<'_>,
    ) -> Reply<G::Answer> {
        let fault = report.fault;
        self.add_fault(self.turn, seat, report);
        if let Some(recorder) = &mut hooks.recorder {
            recorder.fault(seat, fault, times);
        }
        Reply::Fault(fault)
    }

    /// Records the fault of a bot that fails in what it does after the game.
    fn record_fault_after_game(&mut self, seat: Seat, report: FaultReport, hooks: &mut GameHooks<'_>) {
        self.add_fault(self.turn + 1, seat, report);
        if let (Some(reporter), Some(fault)) = (&mut hooks.reporter, self.faults.last()) {
            reporter.event(&GameEvent::Fault { game: self.index, fault });
        }
    }

    fn add_fault(&mut self, turn: u32, seat: Seat, mut report: FaultReport) {
        let fault = report.fault;
        if let Some(budget) = self.fault_texts.get_mut(seat.index()) {
            budget.shorten(&mut report);
        }
        tracing::debug!(
            game = self.index + 1,
            turn,
            seat = seat.0,
            %fault,
            message = report.message.lines().next().unwrap_or_default(),
        );
        if let Some(stats) = self.seat_stats.get_mut(seat.index()) {
            stats.faults[fault.index()] += 1;
        }
        self.faults.push(FaultRecord { turn, seat, report });
    }

    /// Writes an answer, or the fault recorded instead, to the log.
    fn log_answer(
        &self,
        seat: Seat,
        reply: Reply<G::Answer>,
        times: AnswerTimes,
        printed: &str,
        log: &mut dyn TurnLog,
    ) -> io::Result<()> {
        let request = G::info().requests.get(self.game.request(&self.state, seat));
        let fault = self.faults.last().filter(|fault| fault.turn == self.turn && fault.seat == seat);
        log.answer(&TurnLogEntry {
            turn: self.turn,
            seat,
            request: request.map_or("move", |request| request.name),
            answer: reply.answer().map(token::<G>),
            fault: fault.map(|fault| &fault.report),
            times,
            output: printed,
        })
    }

    /// Asks a person until the answer is legal. There is no time limit.
    fn ask_person(&self, seat: Seat, hooks: &mut GameHooks<'_>) -> io::Result<Response<G::Answer>> {
        let before = Instant::now();
        let requests = G::info().requests;
        let request = requests.get(self.game.request(&self.state, seat)).or(requests.first());
        let picture = self.game.picture(&self.state, Viewpoint::Seat(seat), self.names);
        let mut last_error: Option<String> = None;
        let reply = loop {
            let (Some(console), Some(request)) = (&mut hooks.console, request) else {
                break Err(Box::new(FaultReport::new(Fault::Crash, "no terminal for a human player")));
            };
            let Some(line) = console.ask(seat, &picture, request, last_error.as_deref())? else {
                break Err(Box::new(FaultReport::new(Fault::Crash, "the player left")));
            };
            last_error = match G::read_answer(line.trim()) {
                Err(reason) => Some(reason),
                Ok(answer) => match self.game.check(&self.state, seat, answer) {
                    Ok(()) => break Ok(answer),
                    Err(refusal) => Some(refusal.to_string()),
                },
            };
        };
        let wall = before.elapsed();
        Ok(Response { reply, times: AnswerTimes { wall, cpu: Duration::ZERO, wait: Duration::ZERO } })
    }

    #[inline]
    fn report_turn(&self, hooks: &mut GameHooks<'_>, movers: SeatSet, faults_before: usize) {
        if let Some(reporter) = &mut hooks.reporter {
            for fault in &self.faults[faults_before..] {
                reporter.event(&GameEvent::Fault { game: self.index, fault });
            }
            let view = TypedPositionView { game: self.game, state: &self.state, names: self.names };
            let answers = |recorder| TurnAnswers { recorder, movers, expired: self.expired };
            let answers = hooks.recorder.as_deref().map(answers);
            reporter.event(&GameEvent::Turn { game: self.index, turn: self.turn, view: &view, answers });
        }
    }

    fn report<'e>(
        &'e self,
        hooks: &mut GameHooks<'_>,
        event: impl for<'s> FnOnce(&Self, &'s TypedPositionView<'e, G>) -> GameEvent<'s>,
    ) {
        if let Some(reporter) = &mut hooks.reporter {
            let view = TypedPositionView { game: self.game, state: &self.state, names: self.names };
            reporter.event(&event(self, &view));
        }
    }

    /// Result of the game. A game that ends without a result violates its contract; the outcome says so.
    fn outcome(&self) -> Outcome {
        self.game
            .outcome(&self.state)
            .unwrap_or_else(|| Outcome::ranked(&vec![0.0; self.seat_stats.len()], "ended without a result"))
    }
}

/// Logs bot output from outside turns: before the first and after the last.
fn log_output_between_turns<G: Game>(
    players: &mut [SeatedPlayer<G>],
    log: &mut dyn TurnLog,
) -> io::Result<()> {
    for (seat, seated) in Seat::all(players.len()).zip(players) {
        if let SeatedPlayer::Bot(player) = seated {
            log.output(seat, &player.take_output())?;
        }
    }
    Ok(())
}

/// An answer in its record form.
pub(crate) fn token<G: Game>(answer: G::Answer) -> String {
    let mut token = Vec::new();
    G::write_answer(answer, &mut token);
    String::from_utf8_lossy(&token).into_owned()
}

/// Fault for an answer that the rules reject.
pub(crate) fn illegal<G: Game>(answer: G::Answer, refusal: &IllegalAnswer) -> FaultReport {
    FaultReport::new(Fault::Illegal, format!("answered `{}`: {refusal}", token::<G>(answer)))
}

fn sit_out<A>(hooks: &mut GameHooks<'_>) -> Reply<A> {
    if let Some(recorder) = &mut hooks.recorder {
        recorder.sits_out();
    }
    Reply::Fault(Fault::Timeout)
}
