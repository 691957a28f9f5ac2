//! Films: records replayed through the rules, so that every turn can be viewed.

use agon_core::game::View;
use agon_core::record::{ClockExpiry, Digest, FaultRecord, Record, RecordHeader, Recorder, SITS_OUT_TOKEN};
use agon_core::settings::{Settings, SettingsError};
use agon_core::{
    AnswerTimes, Assets, Diagnostic, Drawing, Fault, FaultReport, Game, Picture, Reply, Seat, SeatSet, Viewpoint,
    frame,
};
use agon_host::HelloInfo;
use serde_json::Value as Json;

use crate::debug_replay::{self, ObservationText, RecordedRequest};

pub mod json;
pub mod live;

/// Reason why a record cannot be replayed.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The record has another version of the rules, so replaying it would prove nothing.
    #[error(
        "the record was played by version {found} of the rules of {game}; this program has version {known}"
    )]
    OtherRules {
        /// Id of the game.
        game: String,
        /// Version in the record.
        found: u32,
        /// Version of this program.
        known: u32,
    },
    /// The settings in the header are invalid.
    #[error("invalid settings in the record: {}", Diagnostic::from(.0.clone()).summary())]
    Settings(#[from] SettingsError),
    /// The rules give another result than the record.
    #[error("turn {turn}: {what}")]
    Differs {
        /// Turn, counted from 1.
        turn: usize,
        /// Description of the difference.
        what: String,
    },
}

/// A record whose game does not follow from the rules.
impl From<ReplayError> for Diagnostic {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::OtherRules { .. } => {
                Self::wrong_use(error, "replay it with the version of Agon that played it")
            }
            ReplayError::Settings(_) => Self::rejected(error)
                .hint("if the game was played with its own word list, name it again: --set words=FILE"),
            ReplayError::Differs { .. } => {
                Self::rejected(error).hint("do not trust this record: it differs from what the rules give")
            }
        }
    }
}

/// A finished game that can be viewed turn by turn.
pub trait Film {
    /// The record of the game.
    fn record(&self) -> &Record;

    /// Number of positions: the start, and one after each turn.
    fn len(&self) -> usize;

    /// Always false: a film contains at least the start.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Picture after `turn` turns, for terminals.
    fn picture(&self, turn: usize, viewpoint: Viewpoint) -> Picture;

    /// The same with numbers in place of letters, if the game has such a picture.
    fn picture_with_numbers(&self, turn: usize, viewpoint: Viewpoint) -> Option<Picture>;

    /// The board after `turn` turns as shapes.
    fn drawing(&self, turn: usize, viewpoint: Viewpoint) -> Drawing;

    /// Frame after `turn` turns, for viewers.
    fn frame(&self, turn: usize) -> Json;

    /// The first frame and the deltas of all following frames.
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

    /// Axis label for [`Film::chart_values`].
    fn chart_label(&self) -> &'static str;

    /// Chart values after `turn` turns: one for each seat, or one for the game.
    fn chart_values(&self, turn: usize) -> Vec<f64>;

    /// Seats that were asked in this turn (counted from 1).
    fn movers(&self, turn: usize) -> SeatSet;

    /// All requests to this seat, in order.
    fn requests(&self, seat: Seat) -> Vec<RecordedRequest>;

    /// Observation of this seat in this turn.
    fn observation(&self, turn: u32, seat: Seat) -> ObservationText;

    /// Checks an answer to this turn's request. Returns its record form, or the fault.
    fn judge_answer(&self, turn: u32, seat: Seat, text: &str) -> Result<String, FaultReport>;

    /// First message to a program at this seat in the JSON-lines protocol.
    fn hello(&self, seat: Seat) -> String;

    /// Faults of this turn. Those after the game belong to the last turn.
    fn faults(&self, turn: usize) -> Vec<&FaultRecord> {
        let last = self.record().turns.len();
        self.record().faults.iter().filter(|fault| (fault.turn as usize).min(last) == turn).collect()
    }
}

/// Maximum number of stored states. Longer films store every n-th state and replay the turns between them on demand.
const MAX_KEYFRAMES: usize = 512;

/// A film of a known game type.
pub struct TypedFilm<G: View> {
    pub(crate) game: G,
    pub(crate) record: Record,
    pub(crate) settings: Settings,
    pub(crate) names: Vec<String>,
    replies: Vec<Vec<Reply<G::Answer>>>,
    stride: usize,
    keyframes: Vec<G::State>,
    last: std::cell::RefCell<(usize, G::State)>,
}

impl<G: View> TypedFilm<G> {
    /// Replays the record through the rules. Checks every turn, the result and the digest.
    pub fn new(record: Record, assets: &Assets) -> Result<Self, ReplayError> {
        let header = &record.header;
        let (game, settings) = game_from_header::<G>(header, assets)?;
        let names = header.seats.iter().map(|seat| seat.name.clone()).collect();
        let mut state = game.start(header.seed);
        let stride = record.turns.len() / MAX_KEYFRAMES + 1;
        let (mut keyframes, mut replies) = (vec![state.clone()], Vec::with_capacity(record.turns.len()));
        for (i, answers) in record.turns.iter().enumerate() {
            let turn = i + 1;
            let answers =
                read_turn(&game, &state, answers).map_err(|what| ReplayError::Differs { turn, what })?;
            advance(&game, &mut state, turn, &answers, record.expired);
            if turn.is_multiple_of(stride) {
                keyframes.push(state.clone());
            }
            replies.push(answers);
        }
        check_end(&game, &state, &record)?;
        let last = (0, keyframes[0].clone()).into();
        let film = Self { game, record, settings, names, replies, stride, keyframes, last };
        film.check_digest()?;
        Ok(film)
    }

    /// Records the replayed game again. A different digest means that the record was altered.
    fn check_digest(&self) -> Result<(), ReplayError> {
        let mut recorder = Recorder::new();
        recorder.begin(&self.record.header);
        for (answers, replies) in self.record.turns.iter().zip(&self.replies) {
            record_turn::<G>(&mut recorder, answers, replies);
        }
        let outcome = self.game.outcome(&self.state_at(self.replies.len()));
        let turns = self.record.turns.len() as u32;
        let outcome = outcome.map(|outcome| outcome.with_faults_after(G::info(), turns, &self.record.faults));
        let again = outcome.and_then(|o| recorder.end(&self.record.faults, self.record.expired, &o).ok());
        compare_digest(&self.record, again.map(|(_, digest)| digest))
    }

    /// State after `turn` turns, or after the last turn if there are fewer.
    fn state_at(&self, turn: usize) -> G::State {
        let turn = turn.min(self.replies.len());
        let (last_turn, last) = &*self.last.borrow();
        let key = turn / self.stride;
        let from_last = *last_turn <= turn && *last_turn >= key * self.stride;
        let (mut at, mut state) = if from_last {
            (*last_turn, last.clone())
        } else {
            (key * self.stride, self.keyframes[key].clone())
        };
        while at < turn {
            advance(&self.game, &mut state, at + 1, &self.replies[at], self.record.expired);
            at += 1;
        }
        state
    }

    pub(crate) fn with_state_at<T>(&self, turn: usize, read: impl FnOnce(&G, &G::State) -> T) -> T {
        let state = self.state_at(turn);
        let result = read(&self.game, &state);
        self.last.replace((turn.min(self.replies.len()), state));
        result
    }
}

impl<G: View> Film for TypedFilm<G> {
    fn record(&self) -> &Record {
        &self.record
    }

    fn len(&self) -> usize {
        self.replies.len() + 1
    }

    fn picture(&self, turn: usize, viewpoint: Viewpoint) -> Picture {
        self.with_state_at(turn, |game, state| game.picture(state, viewpoint, &self.names))
    }

    fn picture_with_numbers(&self, turn: usize, viewpoint: Viewpoint) -> Option<Picture> {
        self.with_state_at(turn, |game, state| game.picture_with_numbers(state, viewpoint, &self.names))
    }

    fn drawing(&self, turn: usize, viewpoint: Viewpoint) -> Drawing {
        self.with_state_at(turn, |game, state| game.drawing(state, viewpoint, &self.names))
    }

    fn frame(&self, turn: usize) -> Json {
        self.with_state_at(turn, G::frame)
    }

    fn chart_label(&self) -> &'static str {
        G::CHART_LABEL
    }

    fn chart_values(&self, turn: usize) -> Vec<f64> {
        self.with_state_at(turn, G::chart_values)
    }

    fn movers(&self, turn: usize) -> SeatSet {
        self.with_state_at(turn.saturating_sub(1), G::to_move)
    }

    fn requests(&self, seat: Seat) -> Vec<RecordedRequest> {
        debug_replay::requests(self, seat)
    }

    fn observation(&self, turn: u32, seat: Seat) -> ObservationText {
        debug_replay::observation_text(self, turn, seat)
    }

    fn judge_answer(&self, turn: u32, seat: Seat, text: &str) -> Result<String, FaultReport> {
        debug_replay::judge_answer(self, turn, seat, text)
    }

    fn hello(&self, seat: Seat) -> String {
        let told = HelloInfo::new(&self.game, &self.settings, seat, &self.names);
        agon_host::interactive::hello::<G>(&told, debug_replay::bot_seed(&self.record, seat))
    }
}

/// Replays a record through the rules as [`TypedFilm::new`] does, without keeping any state. `recorder` is only used.
pub fn check_record<G: Game>(
    record: &Record,
    assets: &Assets,
    recorder: &mut Recorder,
) -> Result<(), ReplayError> {
    let (game, _) = game_from_header::<G>(&record.header, assets)?;
    let mut state = game.start(record.header.seed);
    recorder.begin(&record.header);
    for (i, answers) in record.turns.iter().enumerate() {
        let turn = i + 1;
        let replies =
            read_turn(&game, &state, answers).map_err(|what| ReplayError::Differs { turn, what })?;
        record_turn::<G>(recorder, answers, &replies);
        advance(&game, &mut state, turn, &replies, record.expired);
    }
    check_end(&game, &state, record)?;
    let again = recorder.end(&record.faults, record.expired, &record.outcome).ok();
    compare_digest(record, again.map(|(_, digest)| digest))
}

/// Records the replies of a turn again.
fn record_turn<G: Game>(recorder: &mut Recorder, answers: &str, replies: &[Reply<G::Answer>]) {
    recorder.begin_turn();
    let sits_out = answers.split(' ').map(|token| token == SITS_OUT_TOKEN);
    for (reply, sits_out) in replies.iter().zip(sits_out) {
        match reply {
            _ if sits_out => recorder.sits_out(),
            Reply::Answer(answer) => recorder.answer::<G>(Seat(0), *answer, AnswerTimes::default()),
            Reply::Fault(fault) => recorder.fault(Seat(0), *fault, AnswerTimes::default()),
        }
    }
}

fn compare_digest(record: &Record, again: Option<Digest>) -> Result<(), ReplayError> {
    if again == Some(record.digest) {
        return Ok(());
    }
    let what = "the replayed game has another digest than the record".to_owned();
    Err(ReplayError::Differs { turn: record.turns.len(), what })
}

/// Creates the game that a header describes, if the version of the rules matches.
fn game_from_header<G: Game>(header: &RecordHeader, assets: &Assets) -> Result<(G, Settings), ReplayError> {
    let info = G::info();
    if header.rules != info.rules_version {
        let (found, known) = (header.rules, info.rules_version);
        return Err(ReplayError::OtherRules { game: header.game.clone(), found, known });
    }
    let settings = Settings::from_json(info.settings, &header.settings)?;
    if !info.seats.allows(header.seats.len()) {
        let what = format!("{} seats, {} takes {}", header.seats.len(), info.id, info.seats.describe());
        return Err(ReplayError::Differs { turn: 0, what });
    }
    let game = G::new(&settings, header.seats.len(), assets)?;
    Ok((game, settings))
}

/// Plays a turn as the referee did: applies the replies, then ends the game if the shared clock ran out.
fn advance<G: Game>(
    game: &G,
    state: &mut G::State,
    turn: usize,
    replies: &[Reply<G::Answer>],
    expired: Option<ClockExpiry>,
) {
    game.apply(state, replies);
    if let Some(expiry) = expired.filter(|expiry| expiry.turn as usize == turn) {
        game.expire(state, expiry.fastest);
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
    if token == SITS_OUT_TOKEN {
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
    let with_faults =
        |outcome: agon_core::Outcome| outcome.with_faults_after(G::info(), turn as u32, &record.faults);
    match game.outcome(state).map(with_faults) {
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

/// Record header of a game about to be played.
pub fn header<G: Game>(
    settings: &Settings,
    seed: u64,
    seats: Vec<agon_core::record::SeatRecord>,
) -> RecordHeader {
    RecordHeader {
        agon: "record".to_owned(),
        version: agon_core::record::RECORD_VERSION,
        game: G::info().id.to_owned(),
        rules: G::info().rules_version,
        seed,
        settings: settings_json(settings),
        seats,
    }
}

/// Settings as JSON for a header.
pub fn settings_json(settings: &Settings) -> serde_json::Map<String, Json> {
    settings.iter().map(|(name, value)| (name.to_owned(), serde_json::json!(value))).collect()
}
