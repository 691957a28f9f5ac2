//! A finished game, to be looked at turn by turn: a record played through the rules again.

use agon_core::game::View;
use agon_core::record::{Expiry, FaultRecord, Header, Record, Recorder, SITS_OUT};
use agon_core::settings::{Settings, SettingsError};
use agon_core::{Assets, Eye, Fault, FaultReport, Game, Picture, Reply, Seat, SeatSet, Times, frame};
use agon_host::Introduction;
use serde_json::Value as Json;

use crate::again::{self, Request, Seen};

pub mod json;
pub mod live;

/// Why a record cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// Rules change; a result under other rules proves nothing.
    #[error(
        "the record was played by version {found} of the rules of {game}; this program has version {known}"
    )]
    OtherRules {
        /// The game's id.
        game: String,
        /// The record's.
        found: u32,
        /// This program's.
        known: u32,
    },
    /// The settings in the header make no game.
    #[error("the record's settings do not make a game: {0}")]
    Settings(#[from] SettingsError),
    /// The rules say something else than the record.
    #[error("turn {turn}: {what}")]
    Differs {
        /// Counted from 1.
        turn: usize,
        /// What.
        what: String,
    },
}

/// A finished game, to be looked at turn by turn.
pub trait Film {
    /// The record it was made from.
    fn record(&self) -> &Record;

    /// The number of pictures: the start, and one after each turn.
    fn len(&self) -> usize;

    /// Never: there is always a start.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The game after so many turns, as a terminal shows it.
    fn picture(&self, turn: usize, eye: Eye) -> Picture;

    /// The game after so many turns, as a viewer draws it.
    fn frame(&self, turn: usize) -> Json;

    /// The first frame and the deltas that follow it.
    fn frames(&self) -> (Json, Vec<Json>) {
        let first = self.frame(0);
        let mut last = first.clone();
        let mut deltas = Vec::new();
        for turn in 1..self.len() {
            let next = self.frame(turn);
            deltas.push(frame::diff(&last, &next));
            last = next;
        }
        (first, deltas)
    }

    /// What [`Film::standing`] measures.
    fn standing_of(&self) -> &'static str;

    /// How it stood after so many turns: a figure for each seat, or one for the game.
    fn standing(&self, turn: usize) -> Vec<f64>;

    /// Who was asked in this turn (turns count from 1).
    fn movers(&self, turn: usize) -> SeatSet;

    /// Everything this seat was asked, in order.
    fn requests(&self, seat: Seat) -> Vec<Request>;

    /// What this seat saw when it was asked in this turn.
    fn seen(&self, turn: u32, seat: Seat) -> Seen;

    /// Judges an answer to what was asked in this turn: as it stands in a record, or what is wrong with it.
    fn judge(&self, turn: u32, seat: Seat, text: &str) -> Result<String, FaultReport>;

    /// The first line a program at this seat was told by the JSON-lines protocol.
    fn hello(&self, seat: Seat) -> String;

    /// What went wrong in this turn.
    fn faults(&self, turn: usize) -> Vec<&FaultRecord> {
        self.record().faults.iter().filter(|fault| fault.turn as usize == turn).collect()
    }
}

/// States are kept for every so many turns, so that a film of a long game stays small; those between are
/// played again when they are looked at.
const KEYFRAMES: usize = 512;

/// A film of a game whose type is known.
pub struct FilmOf<G: View> {
    pub(crate) game: G,
    pub(crate) record: Record,
    pub(crate) settings: Settings,
    pub(crate) names: Vec<String>,
    replies: Vec<Vec<Reply<G::Answer>>>,
    stride: usize,
    keys: Vec<G::State>,
    last: std::cell::RefCell<(usize, G::State)>,
}

impl<G: View> FilmOf<G> {
    /// Plays the record through the rules and checks every turn and the result.
    pub fn new(record: Record, assets: &Assets) -> Result<Self, ReplayError> {
        let header = &record.header;
        let (game, settings) = set_up::<G>(header, assets)?;
        let names = header.seats.iter().map(|seat| seat.name.clone()).collect();
        let mut state = game.start(header.seed);
        let stride = record.turns.len() / KEYFRAMES + 1;
        let (mut keys, mut replies) = (vec![state.clone()], Vec::with_capacity(record.turns.len()));
        for (i, answers) in record.turns.iter().enumerate() {
            let turn = i + 1;
            let answers =
                read_turn(&game, &state, answers).map_err(|what| ReplayError::Differs { turn, what })?;
            advance(&game, &mut state, turn, &answers, record.expired);
            if turn.is_multiple_of(stride) {
                keys.push(state.clone());
            }
            replies.push(answers);
        }
        check_end(&game, &state, &record)?;
        let last = (0, keys[0].clone()).into();
        let film = Self { game, record, settings, names, replies, stride, keys, last };
        film.check_digest()?;
        Ok(film)
    }

    /// Records the replayed game again: the same digest, or something in the record is not what was played.
    fn check_digest(&self) -> Result<(), ReplayError> {
        let mut recorder = Recorder::new();
        recorder.begin(&self.record.header);
        for (turn, replies) in self.replies.iter().enumerate() {
            recorder.turn();
            let sits_out = self.record.turns[turn].split(' ').map(|token| token == SITS_OUT);
            for (reply, sits_out) in replies.iter().zip(sits_out) {
                match reply {
                    _ if sits_out => recorder.sits_out(),
                    Reply::Answer(answer) => recorder.answer::<G>(Seat(0), *answer, Times::default()),
                    Reply::Fault(fault) => recorder.fault(Seat(0), *fault, Times::default()),
                }
            }
        }
        let outcome = self.game.outcome(&self.at(self.replies.len()));
        let again = outcome.and_then(|o| recorder.end(&self.record.faults, self.record.expired, &o).ok());
        if again.is_some_and(|(_, digest)| digest == self.record.digest) {
            return Ok(());
        }
        let what = "the replayed game has another digest than the record".to_owned();
        Err(ReplayError::Differs { turn: self.replies.len(), what })
    }

    /// The state after so many turns; the last turn when there are fewer.
    fn at(&self, turn: usize) -> G::State {
        let turn = turn.min(self.replies.len());
        let (last_turn, last) = &*self.last.borrow();
        let key = turn / self.stride;
        let from_last = *last_turn <= turn && *last_turn >= key * self.stride;
        let (mut at, mut state) =
            if from_last { (*last_turn, last.clone()) } else { (key * self.stride, self.keys[key].clone()) };
        while at < turn {
            advance(&self.game, &mut state, at + 1, &self.replies[at], self.record.expired);
            at += 1;
        }
        state
    }

    pub(crate) fn look<T>(&self, turn: usize, eye: impl FnOnce(&G, &G::State) -> T) -> T {
        let state = self.at(turn);
        let seen = eye(&self.game, &state);
        self.last.replace((turn.min(self.replies.len()), state));
        seen
    }
}

impl<G: View> Film for FilmOf<G> {
    fn record(&self) -> &Record {
        &self.record
    }

    fn len(&self) -> usize {
        self.replies.len() + 1
    }

    fn picture(&self, turn: usize, eye: Eye) -> Picture {
        self.look(turn, |game, state| game.picture(state, eye, &self.names))
    }

    fn frame(&self, turn: usize) -> Json {
        self.look(turn, G::frame)
    }

    fn standing_of(&self) -> &'static str {
        G::STANDING
    }

    fn standing(&self, turn: usize) -> Vec<f64> {
        self.look(turn, G::standing)
    }

    fn movers(&self, turn: usize) -> SeatSet {
        self.look(turn.saturating_sub(1), G::to_move)
    }

    fn requests(&self, seat: Seat) -> Vec<Request> {
        again::requests(self, seat)
    }

    fn seen(&self, turn: u32, seat: Seat) -> Seen {
        again::seen(self, turn, seat)
    }

    fn judge(&self, turn: u32, seat: Seat, text: &str) -> Result<String, FaultReport> {
        again::judge(self, turn, seat, text)
    }

    fn hello(&self, seat: Seat) -> String {
        let told = Introduction::new(&self.game, &self.settings, seat, &self.names);
        agon_host::dialogue::hello::<G>(&told, again::bot_seed(&self.record, seat))
    }
}

/// The game a header describes, if its rules are those of this program.
fn set_up<G: Game>(header: &Header, assets: &Assets) -> Result<(G, Settings), ReplayError> {
    let info = G::info();
    if header.rules != info.rules_version {
        let (found, known) = (header.rules, info.rules_version);
        return Err(ReplayError::OtherRules { game: header.game.clone(), found, known });
    }
    let settings = Settings::from_json(info.settings, &header.settings)?;
    if !info.seats.allows(header.seats.len()) {
        let what = format!("{} seats, {} takes {}", header.seats.len(), info.id, info.seats.words());
        return Err(ReplayError::Differs { turn: 0, what });
    }
    let game = G::new(&settings, header.seats.len(), assets)?;
    Ok((game, settings))
}

/// Plays a turn as the referee did: the replies, then the end of the shared clock if it came with them.
fn advance<G: Game>(
    game: &G,
    state: &mut G::State,
    turn: usize,
    replies: &[Reply<G::Answer>],
    expired: Option<Expiry>,
) {
    game.apply(state, replies);
    if let Some(expiry) = expired.filter(|expiry| expiry.turn as usize == turn) {
        game.expire(state, expiry.least);
    }
}

fn read_turn<G: Game>(game: &G, state: &G::State, answers: &str) -> Result<Vec<Reply<G::Answer>>, String> {
    let to_move = game.to_move(state);
    let tokens: Vec<&str> = answers.split(' ').collect();
    if to_move.is_empty() {
        return Err("the game was already over".to_owned());
    }
    if tokens.len() != to_move.len() {
        return Err(format!("{} answers, {} seats to move", tokens.len(), to_move.len()));
    }
    to_move.zip(tokens).map(|(seat, token)| read_reply(game, state, seat, token)).collect()
}

fn read_reply<G: Game>(
    game: &G,
    state: &G::State,
    seat: Seat,
    token: &str,
) -> Result<Reply<G::Answer>, String> {
    if token == SITS_OUT {
        return Ok(Reply::Fault(Fault::Timeout));
    }
    if let Some(name) = token.strip_prefix('!') {
        let fault = Fault::ALL.into_iter().find(|fault| fault.name() == name);
        return fault.map(Reply::Fault).ok_or_else(|| format!("seat {seat}: unknown fault `{name}`"));
    }
    let answer = G::read_answer(token).map_err(|reason| format!("seat {seat}: `{token}`: {reason}"))?;
    game.check(state, seat, answer)
        .map_err(|refusal| format!("seat {seat}: `{token}` is not legal: {refusal}"))?;
    Ok(Reply::Answer(answer))
}

fn check_end<G: Game>(game: &G, state: &G::State, record: &Record) -> Result<(), ReplayError> {
    let turn = record.turns.len();
    match game.outcome(state) {
        None => Err(ReplayError::Differs { turn, what: "the record ends before the game does".to_owned() }),
        Some(outcome) if outcome != record.outcome => {
            let what = format!(
                "the rules give `{}` with scores {:?}, the record says `{}` with {:?}",
                outcome.ended,
                outcome.seats.iter().map(|s| s.score).collect::<Vec<_>>(),
                record.outcome.ended,
                record.outcome.seats.iter().map(|s| s.score).collect::<Vec<_>>(),
            );
            Err(ReplayError::Differs { turn, what })
        }
        Some(_) => Ok(()),
    }
}

/// The header of a game about to be played.
pub fn header<G: Game>(settings: &Settings, seed: u64, seats: Vec<agon_core::record::SeatRecord>) -> Header {
    Header {
        agon: "record".to_owned(),
        version: agon_core::record::VERSION,
        game: G::info().id.to_owned(),
        rules: G::info().rules_version,
        seed,
        settings: settings_json(settings),
        seats,
    }
}

/// Settings as they stand in a header.
pub fn settings_json(settings: &Settings) -> serde_json::Map<String, Json> {
    settings.iter().map(|(name, value)| (name.to_owned(), serde_json::json!(value))).collect()
}
