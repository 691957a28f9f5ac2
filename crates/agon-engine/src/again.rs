//! One seat of a recorded game, asked again: the same bot's seed, the same observations, and whether the answers are the
//! same.

use std::ops::{ControlFlow, Range};
use std::time::Duration;

use agon_core::game::View;
use agon_core::random::bot_seeds;
use agon_core::record::{Record, SITS_OUT};
use agon_core::{Clock, Fault, FaultReport, Game, Lifetime, Player, Response, Seat, Settings, Times};
use agon_games::Hosted;

use crate::film::FilmOf;
use crate::referee::{illegal, token};

/// Nobody is stopped by the clock while an author looks for a mistake.
const NO_HURRY: Duration = Duration::from_hours(1);

/// One request to a seat, as it stands in the record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Turns count from 1.
    pub turn: u32,
    /// What was asked for, in one word.
    pub name: &'static str,
    /// How long the answer might take.
    pub limit: Duration,
    /// The answer as it stands in the record, or why there is none.
    pub recorded: Result<String, FaultReport>,
    /// What it took.
    pub times: Times,
}

/// What a seat saw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    /// As the JSON-lines protocol has it.
    pub json: String,
    /// By the game's own lines of text, where it has some.
    pub lines: Option<String>,
}

/// A request of the record, and what the bot made of it now.
#[derive(Clone, Debug)]
pub struct Retold<'r> {
    /// Which of the records that were given.
    pub game: usize,
    /// As it stands in the record.
    pub request: &'r Request,
    /// The answer now, or why there is none.
    pub now: Result<String, FaultReport>,
    /// What it took now.
    pub times: Times,
    /// What the bot printed, safe to show.
    pub printed: String,
}

impl Retold<'_> {
    /// Whether the answer is the recorded one. Of faults only the kind counts: an object's address is other words
    /// each time.
    pub fn same(&self) -> bool {
        match (&self.request.recorded, &self.now) {
            (Ok(then), Ok(now)) => then == now,
            (Err(then), Err(now)) => then.fault == now.fault,
            _ => false,
        }
    }
}

/// A bot's own seed in a recorded game.
pub fn bot_seed(record: &Record, seat: Seat) -> u64 {
    bot_seeds(record.header.seed).nth(seat.index()).unwrap_or_default()
}

/// The games of a file that one has to play again so that a bot is as it was in game `index`: the game itself, and where
/// bots live for a match all games of the match before it.
pub(crate) fn games_before<G: Game>(records: &[Record], index: usize) -> Range<usize> {
    let alone = index..index + 1;
    let Some(wanted) = records.get(index).filter(|_| G::info().lifetime == Lifetime::Match) else {
        return alone;
    };
    let settings = |record: &Record| Settings::from_json(G::info().settings, &record.header.settings).ok();
    let leads_here = |first: usize| {
        let header = &records[first].header;
        if header.game != wanted.header.game || header.seats != wanted.header.seats {
            return false;
        }
        let then = settings(&records[first]).map(|s| G::in_series(&s, header.seed, (index - first) as u32));
        then.is_some_and(|(then, seed)| seed == wanted.header.seed && Some(then) == settings(wanted))
    };
    (0..index).find(|&first| leads_here(first)).map_or(alone, |first| first..index + 1)
}

pub(crate) fn requests<G: View>(film: &FilmOf<G>, wanted: Seat) -> Vec<Request> {
    let record = &film.record;
    let mut clock =
        Clock::new(film.game.clock().scaled(record.clock_scale.unwrap_or(1.0)), record.header.seats.len());
    let mut times: Vec<_> = record.times.iter().map(|times| times.iter().copied()).collect();
    let mut requests = Vec::new();
    for (turn, tokens) in (1u32..).zip(&record.turns) {
        // As the referee has it: all seats are asked before any is charged.
        let limit = clock.limit(wanted);
        film.look(turn as usize - 1, |game, state| {
            for (seat, answer) in game.to_move(state).zip(tokens.split(' ')) {
                if answer == SITS_OUT {
                    continue;
                }
                let times = times.get_mut(seat.index()).and_then(Iterator::next).unwrap_or_default();
                if seat == wanted {
                    let name = G::info().requests.get(game.request(state, seat)).map_or("move", |r| r.name);
                    let recorded = recorded(record, turn, seat, answer);
                    requests.push(Request { turn, name, limit, recorded, times });
                }
                clock.charge(seat, times.charged());
            }
        });
    }
    requests
}

fn recorded(record: &Record, turn: u32, seat: Seat, token: &str) -> Result<String, FaultReport> {
    let Some(name) = token.strip_prefix('!') else { return Ok(token.to_owned()) };
    let told = record.faults.iter().find(|fault| fault.turn == turn && fault.seat == seat);
    let fault = Fault::ALL.into_iter().find(|fault| fault.name() == name).unwrap_or(Fault::Crash);
    Err(told.map_or_else(|| FaultReport::new(fault, ""), |told| told.report.clone()))
}

pub(crate) fn seen<G: View>(film: &FilmOf<G>, turn: u32, seat: Seat) -> Seen {
    film.look((turn as usize).saturating_sub(1), |game, state| {
        let seen = game.observe(state, seat);
        let lines = G::own_lines().map(|write| {
            let mut lines = Vec::new();
            write(&seen, &mut lines);
            String::from_utf8_lossy(&lines).into_owned()
        });
        Seen { json: serde_json::to_string(&seen).unwrap_or_default(), lines }
    })
}

pub(crate) fn judge<G: View>(
    film: &FilmOf<G>,
    turn: u32,
    seat: Seat,
    text: &str,
) -> Result<String, FaultReport> {
    let answer = G::read_answer(text).map_err(|what| FaultReport::new(Fault::Garbled, what))?;
    film.look((turn as usize).saturating_sub(1), |game, state| legal(game, state, seat, answer))
}

fn legal<G: Game>(game: &G, state: &G::State, seat: Seat, answer: G::Answer) -> Result<String, FaultReport> {
    game.check(state, seat, answer).map_err(|refusal| illegal::<G>(answer, &refusal))?;
    Ok(token::<G>(answer))
}

/// Asks a player all that the seat was asked in these games, in order, until told to stop.
pub(crate) fn ask<G: Hosted>(
    films: &[FilmOf<G>],
    seat: Seat,
    player: &mut dyn Player<G>,
    each: &mut dyn FnMut(&Retold<'_>) -> ControlFlow<()>,
) {
    for (number, film) in films.iter().enumerate() {
        player.begin(bot_seed(&film.record, seat));
        for request in &requests(film, seat) {
            let (now, times) = film.look(request.turn as usize - 1, |game, state| {
                player.ask(&game.observe(state, seat), NO_HURRY);
                let Response { reply, times } = player.answer();
                (reply.map_err(|report| *report).and_then(|answer| legal(game, state, seat, answer)), times)
            });
            let printed = player.printed();
            let retold = Retold { game: number, request, now, times, printed };
            if each(&retold).is_break() {
                return;
            }
        }
        player.game_over();
    }
}
