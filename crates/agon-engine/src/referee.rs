//! Plays one game to its end, under any mix of answers and faults.

use std::io;
use std::time::{Duration, Instant};

use agon_core::game::View;
use agon_core::random::bot_seeds;
use agon_core::record::{Digest, Expiry, FaultRecord, Header, Recorder};
use agon_core::{
    Clock, Eye, Fault, FaultReport, Game, Outcome, Picture, Player, Refusal, Reply, RequestInfo, Response,
    Seat, SeatSet, Times, Verdict,
};

use crate::event::{Deeds, Event, Reporter, SceneOf};
use crate::log::{Entry, GameLog};

/// A place to sit.
pub enum Chair<G: Game> {
    /// For a program.
    Bot(Box<dyn Player<G>>),
    /// For somebody at the terminal.
    Person,
}

/// The terminal of a person who plays.
pub trait Console {
    /// Shows what the person may see and asks. `trouble` says what was wrong with the last try. `None` when the
    /// person has left.
    fn ask(
        &mut self,
        seat: Seat,
        picture: &Picture,
        request: &RequestInfo,
        trouble: Option<&str>,
    ) -> io::Result<Option<String>>;
}

/// What one seat did in one game.
#[derive(Clone, Copy, Debug, Default)]
pub struct SeatTally {
    /// How often it was asked.
    pub answers: u32,
    /// Sum over its answers.
    pub time: Times,
    /// The longest answer, as charged.
    pub longest: Duration,
    /// In the order of [`Fault::ALL`].
    pub faults: [u32; 4],
}

/// A finished game.
#[derive(Clone, Debug)]
pub struct Played {
    /// Its number in the series.
    pub index: u32,
    /// Its seed.
    pub seed: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// How many turns it had.
    pub turns: u32,
    /// In the order they happened.
    pub faults: Vec<FaultRecord>,
    /// In seat order.
    pub seats: Vec<SeatTally>,
    /// The packed record and its digest, if one was asked for.
    pub record: Option<(Vec<u8>, Digest)>,
}

/// Who may look on, and who sits at the terminal.
pub struct Room<'r> {
    /// Reads what happens.
    pub reporter: Option<&'r mut dyn Reporter>,
    /// Where persons play.
    pub console: Option<&'r mut dyn Console>,
    /// Writes records.
    pub recorder: Option<&'r mut Recorder>,
    /// Takes down what each bot was asked, answered and printed. Nothing is asked of a bot for it when it is not there.
    pub log: Option<&'r mut dyn GameLog>,
}

impl Room<'_> {
    /// The same room, for a while.
    pub fn lend(&mut self) -> Room<'_> {
        // Not `as_deref_mut`: what is lent may live shorter than what is behind it.
        Room {
            reporter: match &mut self.reporter {
                Some(reporter) => Some(&mut **reporter),
                None => None,
            },
            console: match &mut self.console {
                Some(console) => Some(&mut **console),
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

/// Plays a game. `header` describes it for the record.
pub fn play<G: View>(
    game: &G,
    index: u32,
    header: &Header,
    names: &[String],
    chairs: &mut [Chair<G>],
    room: &mut Room<'_>,
) -> io::Result<Played> {
    let seed = header.seed;
    for (chair, seed) in chairs.iter_mut().zip(bot_seeds(seed)) {
        if let Chair::Bot(player) = chair {
            player.begin(seed);
        }
    }
    let scale = room.recorder.as_deref().and_then(Recorder::clock_scale);
    let rule = scale.map_or_else(|| game.clock(), |scale| game.clock().scaled(scale));
    let mut referee = Referee {
        game,
        state: game.start(seed),
        clock: Clock::new(rule, chairs.len()),
        names,
        index,
        turn: 0,
        replies: Vec::with_capacity(chairs.len()),
        faults: Vec::new(),
        tallies: vec![SeatTally::default(); chairs.len()],
        expired: None,
    };
    if let Some(recorder) = &mut room.recorder {
        recorder.begin(header);
    }
    referee.report(room, |referee, scene| Event::Started { game: referee.index, header, scene });
    if let Some(log) = &mut room.log {
        log.begins(index, header)?;
        for chair in chairs.iter_mut() {
            if let Chair::Bot(player) = chair {
                player.ready();
            }
        }
        printed_aside(chairs, *log)?;
    }
    while referee.expired.is_none() && referee.turn(chairs, room)? {}
    let outcome = referee.outcome();
    referee.report(room, |referee, scene| Event::Over { game: referee.index, outcome: &outcome, scene });
    for chair in chairs.iter_mut() {
        if let Chair::Bot(player) = chair {
            player.game_over();
        }
    }
    if let Some(log) = &mut room.log {
        printed_aside(chairs, *log)?;
        log.over(&outcome)?;
    }
    let record = match &mut room.recorder {
        Some(recorder) => Some(recorder.end(&referee.faults, referee.expired, &outcome)?),
        None => None,
    };
    let Referee { turn, faults, tallies, .. } = referee;
    Ok(Played { index, seed, outcome, turns: turn, faults, seats: tallies, record })
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
    tallies: Vec<SeatTally>,
    expired: Option<Expiry>,
}

impl<G: View> Referee<'_, G> {
    /// Plays one turn; false when nobody is to move.
    fn turn(&mut self, chairs: &mut [Chair<G>], room: &mut Room<'_>) -> io::Result<bool> {
        let to_move = self.game.to_move(&self.state);
        if to_move.is_empty() {
            return Ok(false);
        }
        self.turn += 1;
        // Ask everybody first: bots in processes of their own think at the same time. Every second turn the other way
        // round: who was the last to think finds more of what it needs still at hand, and nobody is always the first.
        let mut to_ask = to_move;
        let forth = self.turn % 2 == 1;
        while let Some(seat) = if forth { to_ask.next() } else { to_ask.next_back() } {
            if let Some(Chair::Bot(player)) = chairs.get_mut(seat.index())
                && !self.clock.sits_out(seat)
            {
                player.ask(&self.game.observe(&self.state, seat), self.clock.limit(seat));
            }
        }
        if let Some(recorder) = &mut room.recorder {
            recorder.turn();
        }
        self.replies.clear();
        let faults_before = self.faults.len();
        for seat in to_move {
            let reply = match chairs.get_mut(seat.index()) {
                Some(Chair::Bot(_)) if self.clock.sits_out(seat) => sit_out(room),
                Some(Chair::Bot(player)) => {
                    let response = player.answer();
                    let times = response.times;
                    let verdict = self.clock.charge(seat, times.charged());
                    let reply = self.judge(seat, response, verdict, room);
                    if let Some(log) = &mut room.log {
                        self.log(seat, reply, times, &player.printed(), *log)?;
                    }
                    reply
                }
                Some(Chair::Person) => {
                    let response = self.ask_person(seat, room)?;
                    self.judge(seat, response, Verdict::InTime, room)
                }
                None => Reply::Fault(Fault::Crash),
            };
            self.replies.push(reply);
        }
        self.game.apply(&mut self.state, &self.replies);
        if let Some(Expiry { least, .. }) = self.expired {
            self.game.expire(&mut self.state, least);
        }
        self.report_turn(room, to_move, faults_before);
        Ok(true)
    }

    /// Turns what came back into a reply: the clock first, then the rules.
    #[inline]
    fn judge(
        &mut self,
        seat: Seat,
        response: Response<G::Answer>,
        verdict: Verdict,
        room: &mut Room<'_>,
    ) -> Reply<G::Answer> {
        let Response { reply, times } = response;
        if let Some(tally) = self.tallies.get_mut(seat.index()) {
            tally.answers += 1;
            tally.time.wall += times.wall;
            tally.time.cpu += times.cpu;
            tally.time.wait += times.wait;
            tally.longest = tally.longest.max(times.charged());
        }
        if let Verdict::Expired { least } = verdict {
            self.expired = Some(Expiry { turn: self.turn, least });
        }
        let report = match reply {
            Ok(_) if verdict == Verdict::Late => Box::new(self.late(seat)),
            Ok(answer) => match self.game.check(&self.state, seat, answer) {
                Ok(()) => {
                    if let Some(recorder) = &mut room.recorder {
                        recorder.answer::<G>(seat, answer, times);
                    }
                    return Reply::Answer(answer);
                }
                Err(refusal) => Box::new(illegal::<G>(answer, &refusal)),
            },
            Err(report) => report,
        };
        self.fault(seat, *report, times, room)
    }

    /// The words hold no measured time: the record's digest covers them.
    fn late(&self, seat: Seat) -> FaultReport {
        let rest = if self.clock.sits_out(seat) { ", not asked again in this game" } else { "" };
        let limit = match self.game.clock() {
            agon_core::ClockRule::PerAnswer { limit } => format!("over the limit of {limit:?} for an answer"),
            agon_core::ClockRule::Bank { limit, .. } => format!("the game's {limit:?} are spent"),
            agon_core::ClockRule::Shared { limit, .. } => format!("over the game's {limit:?}"),
        };
        FaultReport::new(Fault::Timeout, format!("{limit}{rest}"))
    }

    fn fault(
        &mut self,
        seat: Seat,
        report: FaultReport,
        times: Times,
        room: &mut Room<'_>,
    ) -> Reply<G::Answer> {
        let fault = report.fault;
        if let Some(tally) = self.tallies.get_mut(seat.index()) {
            tally.faults[fault.index()] += 1;
        }
        if let Some(recorder) = &mut room.recorder {
            recorder.fault(seat, fault, times);
        }
        self.faults.push(FaultRecord { turn: self.turn, seat, report });
        Reply::Fault(fault)
    }

    /// Hands an answer, or the fault that was just noted in its place, to the log.
    fn log(
        &self,
        seat: Seat,
        reply: Reply<G::Answer>,
        times: Times,
        printed: &str,
        log: &mut dyn GameLog,
    ) -> io::Result<()> {
        let request = G::info().requests.get(self.game.request(&self.state, seat));
        let fault = self.faults.last().filter(|fault| fault.turn == self.turn && fault.seat == seat);
        log.answered(&Entry {
            turn: self.turn,
            seat,
            request: request.map_or("move", |request| request.name),
            answer: reply.answer().map(token::<G>),
            fault: fault.map(|fault| &fault.report),
            times,
            printed,
        })
    }

    /// Asks until the answer is a legal one. A person may think as long as they like.
    fn ask_person(&self, seat: Seat, room: &mut Room<'_>) -> io::Result<Response<G::Answer>> {
        let before = Instant::now();
        let requests = G::info().requests;
        let request = requests.get(self.game.request(&self.state, seat)).or(requests.first());
        let picture = self.game.picture(&self.state, Eye::Seat(seat), self.names);
        let mut trouble: Option<String> = None;
        let reply = loop {
            let (Some(console), Some(request)) = (&mut room.console, request) else {
                break Err(Box::new(FaultReport::new(Fault::Crash, "there is no terminal to play at")));
            };
            let Some(line) = console.ask(seat, &picture, request, trouble.as_deref())? else {
                break Err(Box::new(FaultReport::new(Fault::Crash, "left the table")));
            };
            trouble = match G::read_answer(line.trim()) {
                Err(reason) => Some(reason),
                Ok(answer) => match self.game.check(&self.state, seat, answer) {
                    Ok(()) => break Ok(answer),
                    Err(refusal) => Some(refusal.to_string()),
                },
            };
        };
        let wall = before.elapsed();
        Ok(Response { reply, times: Times { wall, cpu: Duration::ZERO, wait: Duration::ZERO } })
    }

    #[inline]
    fn report_turn(&self, room: &mut Room<'_>, movers: SeatSet, faults_before: usize) {
        if let Some(reporter) = &mut room.reporter {
            for fault in &self.faults[faults_before..] {
                reporter.event(&Event::Fault { game: self.index, fault });
            }
            let scene = SceneOf { game: self.game, state: &self.state, names: self.names };
            let deeds = |recorder| Deeds { recorder, movers, expired: self.expired };
            let deeds = room.recorder.as_deref().map(deeds);
            reporter.event(&Event::Turn { game: self.index, turn: self.turn, scene: &scene, deeds });
        }
    }

    fn report<'e>(
        &'e self,
        room: &mut Room<'_>,
        event: impl for<'s> FnOnce(&Self, &'s SceneOf<'e, G>) -> Event<'s>,
    ) {
        if let Some(reporter) = &mut room.reporter {
            let scene = SceneOf { game: self.game, state: &self.state, names: self.names };
            reporter.event(&event(self, &scene));
        }
    }

    /// A game that ends without a result would be a broken contract; it is shown as one, not hidden.
    fn outcome(&self) -> Outcome {
        self.game
            .outcome(&self.state)
            .unwrap_or_else(|| Outcome::ranked(&vec![0.0; self.tallies.len()], "ended without a result"))
    }
}

/// What bots have printed while they were not asked: before the first turn, after the last.
fn printed_aside<G: Game>(chairs: &mut [Chair<G>], log: &mut dyn GameLog) -> io::Result<()> {
    for (seat, chair) in Seat::all(chairs.len()).zip(chairs) {
        if let Chair::Bot(player) = chair {
            log.printed(seat, &player.printed())?;
        }
    }
    Ok(())
}

/// An answer as it stands in the record.
pub(crate) fn token<G: Game>(answer: G::Answer) -> String {
    let mut token = Vec::new();
    G::write_answer(answer, &mut token);
    String::from_utf8_lossy(&token).into_owned()
}

/// An answer that the rules refuse, as a fault.
pub(crate) fn illegal<G: Game>(answer: G::Answer, refusal: &Refusal) -> FaultReport {
    FaultReport::new(Fault::Illegal, format!("answered `{}`: {refusal}", token::<G>(answer)))
}

fn sit_out<A>(room: &mut Room<'_>) -> Reply<A> {
    if let Some(recorder) = &mut room.recorder {
        recorder.sits_out();
    }
    Reply::Fault(Fault::Timeout)
}
