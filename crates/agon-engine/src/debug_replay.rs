//! Sends the recorded requests of one seat to a bot again, with the same seed and observations, and compares the answers.

use std::ops::{ControlFlow, Range};
use std::time::Duration;

use agon_core::game::View;
use agon_core::random::bot_seeds;
use agon_core::record::{Record, SITS_OUT_TOKEN};
use agon_core::{
    AnswerTimes, BotLifetime, Clock, Fault, FaultReport, Game, Player, Response, Seat, Settings,
};
use agon_games::PlayableGame;

use crate::film::TypedFilm;
use crate::referee::{illegal, token};

/// Time limit while debugging: practically none.
const DEBUG_ANSWER_TIMEOUT: Duration = Duration::from_hours(1);
/// Name of the end of a game among the requests.
const END_OF_GAME: &str = "end";
/// What stands for the answer of a bot that does not fail after the game.
const NO_FAULT: &str = "no fault";

/// A request from the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RecordedRequest {
    /// Turn, counted from 1.
    pub turn: u32,
    /// Kind of request in one word.
    pub name: &'static str,
    /// Time limit of the answer.
    pub limit: Duration,
    /// Answer in its record form, or the fault.
    pub recorded: Result<String, FaultReport>,
    /// Recorded times.
    pub times: AnswerTimes,
}

/// An observation as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ObservationText {
    /// JSON of the JSON-lines protocol.
    pub json: String,
    /// Text of the game's own protocol, if it has one.
    pub text: Option<String>,
}

/// A recorded request with the bot's new answer.
#[derive(Clone, Debug)]
pub struct ReaskedRequest<'r> {
    /// Index into the given records.
    pub game: usize,
    /// The recorded request.
    pub request: &'r RecordedRequest,
    /// The new answer, or the fault.
    pub answer: Result<String, FaultReport>,
    /// Times of the new answer.
    pub times: AnswerTimes,
    /// Bot output, sanitised for display.
    pub output: String,
    /// Whether this is the end of the game. Its turn is one more than the last one.
    pub is_end: bool,
}

impl ReaskedRequest<'_> {
    /// Whether the answer equals the recorded one. For faults only the kind counts, because messages may contain object
    /// addresses.
    pub fn is_same(&self) -> bool {
        match (&self.request.recorded, &self.answer) {
            (Ok(then), Ok(now)) => then == now,
            (Err(then), Err(now)) => then.fault == now.fault,
            _ => false,
        }
    }
}

/// A bot's seed in a recorded game.
pub fn bot_seed(record: &Record, seat: Seat) -> u64 {
    bot_seeds(record.header.seed).nth(seat.index()).unwrap_or_default()
}

/// The recorded fault of a seat in what it did after the game.
pub fn fault_after_game(record: &Record, seat: Seat) -> Option<&FaultReport> {
    let turns = record.turns.len() as u32;
    let mut faults = record.faults.iter();
    faults.find(|fault| fault.seat == seat && fault.is_after_game(turns)).map(|fault| &fault.report)
}

/// Games of a file that must be replayed to bring a bot into its state of game `index`: the game itself, and if bots live
/// for a match, all earlier games of the match.
pub(crate) fn games_to_replay<G: Game>(records: &[Record], index: usize) -> Range<usize> {
    let alone = index..index + 1;
    let Some(wanted) = records.get(index).filter(|_| G::info().lifetime == BotLifetime::Match) else {
        return alone;
    };
    let settings = |record: &Record| Settings::from_json(G::info().settings, &record.header.settings).ok();
    let leads_here = |first: usize| {
        let header = &records[first].header;
        if header.game != wanted.header.game || header.seats != wanted.header.seats {
            return false;
        }
        let then = settings(&records[first]).map(|s| G::series_game(&s, header.seed, (index - first) as u32));
        then.is_some_and(|(then, seed)| seed == wanted.header.seed && Some(then) == settings(wanted))
    };
    (0..index).find(|&first| leads_here(first)).map_or(alone, |first| first..index + 1)
}

pub(crate) fn requests<G: View>(film: &TypedFilm<G>, wanted: Seat) -> Vec<RecordedRequest> {
    let record = &film.record;
    let mut clock =
        Clock::new(film.game.clock().scaled(record.clock_scale.unwrap_or(1.0)), record.header.seats.len());
    let mut times: Vec<_> = record.times.iter().map(|times| times.iter().copied()).collect();
    let mut requests = Vec::new();
    for (turn, tokens) in (1u32..).zip(&record.turns) {
        // As in the referee: all seats are asked before any is charged.
        let limit = clock.limit(wanted);
        film.with_state_at(turn as usize - 1, |game, state| {
            for (seat, answer) in game.to_move(state).zip(tokens.split(' ')) {
                if answer == SITS_OUT_TOKEN {
                    continue;
                }
                let times = times.get_mut(seat.index()).and_then(Iterator::next).unwrap_or_default();
                if seat == wanted {
                    let name = G::info().requests.get(game.request(state, seat)).map_or("move", |r| r.name);
                    let recorded = recorded_answer(record, turn, seat, answer);
                    requests.push(RecordedRequest { turn, name, limit, recorded, times });
                }
                clock.charge(seat, times.charged());
            }
        });
    }
    requests
}

fn recorded_answer(record: &Record, turn: u32, seat: Seat, token: &str) -> Result<String, FaultReport> {
    let Some(name) = token.strip_prefix('!') else { return Ok(token.to_owned()) };
    let fault_record = record.faults.iter().find(|fault| fault.turn == turn && fault.seat == seat);
    let fault = Fault::ALL.into_iter().find(|fault| fault.name() == name).unwrap_or(Fault::Crash);
    Err(fault_record.map_or_else(|| FaultReport::new(fault, ""), |fault_record| fault_record.report.clone()))
}

pub(crate) fn observation_text<G: View>(film: &TypedFilm<G>, turn: u32, seat: Seat) -> ObservationText {
    film.with_state_at((turn as usize).saturating_sub(1), |game, state| {
        let seen = game.observe(state, seat);
        let lines = G::text_protocol().map(|write| {
            let mut lines = Vec::new();
            write(&seen, &mut lines);
            String::from_utf8_lossy(&lines).into_owned()
        });
        ObservationText { json: serde_json::to_string(&seen).unwrap_or_default(), text: lines }
    })
}

pub(crate) fn judge_answer<G: View>(
    film: &TypedFilm<G>,
    turn: u32,
    seat: Seat,
    text: &str,
) -> Result<String, FaultReport> {
    let answer = G::read_answer(text).map_err(|what| FaultReport::new(Fault::Garbled, what))?;
    film.with_state_at((turn as usize).saturating_sub(1), |game, state| {
        check_legal(game, state, seat, answer)
    })
}

fn check_legal<G: Game>(
    game: &G,
    state: &G::State,
    seat: Seat,
    answer: G::Answer,
) -> Result<String, FaultReport> {
    game.check(state, seat, answer).map_err(|refusal| illegal::<G>(answer, &refusal))?;
    Ok(token::<G>(answer))
}

/// The end of the game as a request, with what the record says about it.
fn end_of_game(record: &Record, seat: Seat) -> RecordedRequest {
    let recorded = fault_after_game(record, seat).cloned().map_or_else(|| Ok(NO_FAULT.to_owned()), Err);
    RecordedRequest {
        turn: record.turns.len() as u32 + 1,
        name: END_OF_GAME,
        limit: Duration::ZERO,
        recorded,
        times: AnswerTimes::default(),
    }
}

/// Sends all requests of the seat in these games to a player, in order, until `each` stops it. `each` gets the end of a game only if the
/// bot fails there, now or in the record.
pub(crate) fn reask<G: PlayableGame>(
    films: &[TypedFilm<G>],
    seat: Seat,
    player: &mut dyn Player<G>,
    each: &mut dyn FnMut(&ReaskedRequest<'_>) -> ControlFlow<()>,
) {
    for (number, film) in films.iter().enumerate() {
        player.begin(bot_seed(&film.record, seat));
        for request in &requests(film, seat) {
            let (now, times) = film.with_state_at(request.turn as usize - 1, |game, state| {
                player.ask(&game.observe(state, seat), DEBUG_ANSWER_TIMEOUT);
                let Response { reply, times } = player.answer();
                (
                    reply.map_err(|report| *report).and_then(|answer| check_legal(game, state, seat, answer)),
                    times,
                )
            });
            let printed = player.take_output();
            let reasked =
                ReaskedRequest { game: number, request, answer: now, times, output: printed, is_end: false };
            if each(&reasked).is_break() {
                return;
            }
        }
        let (request, fault) = (end_of_game(&film.record, seat), player.game_over());
        if request.recorded.is_ok() && fault.is_none() {
            continue;
        }
        let answer = fault.map_or_else(|| Ok(NO_FAULT.to_owned()), |report| Err(*report));
        let (times, output) = (request.times, player.take_output());
        let end = ReaskedRequest { game: number, request: &request, answer, times, output, is_end: true };
        if each(&end).is_break() {
            return;
        }
    }
}
