//! Word Racer: two players each fill a hidden 7 x 7 board with the same 49 letters, which they call in turn. Words in rows and
//! columns score.
//!
//! - [`board`]: letters, positions, lines. [`words`]: the word list. [`scoring`]: points and found words.
//! - [`state`]: the rules. [`answer`]: answers such as `Q 17` and `17`.
//! - [`view`]: display. [`bots`]: the house bots. [`text_protocol`]: stdin of programs.

pub mod answer;
pub mod board;
pub mod bots;
mod description;
mod drawing;
pub mod scoring;
pub mod state;
pub mod text_protocol;
pub mod view;
pub mod words;

use std::sync::Arc;
use std::time::Duration;

use agon_core::random::series_seed;
use agon_core::{
    Assets, BankEmptyAction, BotLifetime, ClockRule, FastRng, FaultPenalty, Game, GameInfo, IllegalAnswer,
    Outcome, Reply, RequestInfo, Rng, RngStream, RoleInfo, ScoreDirection, ScoreInfo, Seat, SeatCount,
    SeatSet, SettingDefault, SettingKind, SettingSpec, SettingValue, Settings, SettingsError, StatInfo,
};
use serde::Serialize;

pub use answer::Answer;
pub use board::{Board, CELLS, CENTRE, Letter, SIDE};
pub use scoring::{BestPlaces, FoundWord, POINTS, best_places, board_points, found_words, line_points};
pub use state::{RequestKind, State, TURNS, other_seat};
pub use words::{WordList, WordListError};

/// Value of the setting `words` for the built-in list.
const BUILT_IN_NAME: &str = "built-in";

static INFO: GameInfo = GameInfo {
    id: "word-racer",
    title: "Word Racer",
    summary: "fill a hidden 7 x 7 board with letters that both players call; words in rows and columns score",
    rules_version: 1,
    seats: SeatCount { min: 2, max: 2 },
    roles: &[RoleInfo { name: "player", better: ScoreDirection::Higher }],
    settings: &[
        SettingSpec {
            name: "first",
            help: "seat that calls first",
            kind: SettingKind::Int { min: 0, max: 1 },
            default: SettingDefault::Int(0),
        },
        SettingSpec {
            name: "letter",
            help: "first letter, in the centre of both boards",
            kind: SettingKind::Choice(&[
                "A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K", "L", "M", "N", "O", "P", "Q", "R",
                "S", "T", "U", "V", "W", "X", "Y", "Z",
            ]),
            default: SettingDefault::Drawn("uniform from A to Z"),
        },
        SettingSpec {
            name: "seconds",
            help: "time for all answers of a player in a game, in seconds",
            kind: SettingKind::Real { min: 0.01, max: 86_400.0 },
            default: SettingDefault::Real(10.0),
        },
        SettingSpec {
            name: "words",
            help: "word list: a file with one word of 2 to 7 letters per line, or built-in",
            kind: SettingKind::Asset,
            default: SettingDefault::Word(BUILT_IN_NAME),
        },
    ],
    requests: &[
        RequestInfo {
            name: "call",
            asks: "a letter that both players write down, and the position where you write it",
            example: "Q 17",
            keys: &[],
        },
        RequestInfo {
            name: "place",
            asks: "the position where you write the letter that the other player called",
            example: "17",
            keys: &[],
        },
    ],
    faults: [FaultPenalty::LoseGame; 4],
    clock: "10 s for all answers of a player in a game",
    lifetime: BotLifetime::Game,
    names_shown: false,
    score: ScoreInfo { name: "points", unit: "", decimals: 2 },
    stats: &[StatInfo { name: "word points", decimals: 1 }],
    bots: description::BOTS,
    standings: description::STANDINGS,
    competition: description::COMPETITION,
    texts: description::TEXTS,
    starters: description::STARTERS,
};

/// Rules of Word Racer with the settings of one game.
#[derive(Clone, Debug)]
pub struct WordRacer {
    first: Seat,
    letter: Option<Letter>,
    limit: Duration,
    words: Arc<WordList>,
}

impl WordRacer {
    /// The word list.
    pub const fn words(&self) -> &Arc<WordList> {
        &self.words
    }

    /// Word points of both boards, in seat order.
    pub fn points(&self, state: &State) -> [u32; 2] {
        [Seat(0), Seat(1)].map(|seat| board_points(&self.words, state.board(seat)))
    }
}

/// Observation of a seat: its board and the called letters, but not where the other player wrote them.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Observation<'s> {
    /// Own board, row by row, `.` for an empty cell.
    pub board: &'s Board,
    /// Whether this seat calls first.
    pub first: bool,
    /// Turn, 1 to 48.
    pub turn: usize,
    /// Letters called so far, in order; the last one is to be placed now. Callers alternate.
    pub calls: &'s [Letter],
    /// Positions where this seat wrote them.
    pub places: &'s [u8],
    /// Letter to place; `None` if this seat is to call.
    pub letter: Option<Letter>,
    /// The word list.
    #[serde(skip)]
    pub words: &'s WordList,
}

impl Observation<'_> {
    /// Whether this seat called letter `turn`, counted from 0.
    pub const fn called(&self, turn: usize) -> bool {
        self.first == turn.is_multiple_of(2)
    }
}

impl Game for WordRacer {
    type State = State;
    type Observation<'s> = Observation<'s>;
    type Answer = Answer;

    fn info() -> &'static GameInfo {
        &INFO
    }

    fn new(settings: &Settings, seats: usize, assets: &Assets) -> Result<Self, SettingsError> {
        if !INFO.seats.allows(seats) {
            return Err(SettingsError::one(
                format!("Word Racer has 2 seats, not {seats}"),
                "use exactly two bots",
            ));
        }
        let letter = settings.word("letter").and_then(|word| word.chars().next()).and_then(Letter::read);
        let seconds = settings.real("seconds").unwrap_or(10.0);
        Ok(Self {
            first: Seat(u8::from(settings.int("first") == Some(1))),
            letter,
            limit: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(10)),
            words: word_list(settings.word("words").unwrap_or(BUILT_IN_NAME), assets)?,
        })
    }

    fn seats(&self) -> usize {
        2
    }

    fn clock(&self) -> ClockRule {
        ClockRule::Bank { limit: self.limit, when_empty: BankEmptyAction::Timeout }
    }

    fn start_counts() -> bool {
        true
    }

    fn text_protocol() -> Option<agon_core::game::TextRequestWriter<Self>> {
        Some(text_protocol::write_request)
    }

    /// Games 2k and 2k + 1 have the same first letter, with the other seat calling first.
    fn series_game(settings: &Settings, seed: u64, index: u32) -> (Settings, u64) {
        let mut settings = settings.clone();
        let first = settings.int("first").unwrap_or(0);
        settings.set("first", SettingValue::Int((first ^ i64::from(index & 1)) & 1));
        (settings, series_seed(seed, index / 2))
    }

    fn start(&self, seed: u64) -> State {
        let drawn = || Letter::from_code(Rng::new(seed, RngStream::Game).below(26) as u8);
        let letter = self.letter.or_else(drawn).unwrap_or(Letter::A);
        State::new(self.first, letter)
    }

    fn to_move(&self, state: &State) -> SeatSet {
        state.to_move()
    }

    fn request(&self, state: &State, _seat: Seat) -> usize {
        usize::from(matches!(state.request(), Some((_, RequestKind::Place(_)))))
    }

    fn request_of(seen: &Observation<'_>) -> usize {
        usize::from(seen.letter.is_some())
    }

    fn observe<'s>(&'s self, state: &'s State, seat: Seat) -> Observation<'s> {
        let letter = match state.request() {
            Some((mover, RequestKind::Place(letter))) if mover == seat => Some(letter),
            _ => None,
        };
        Observation {
            board: state.board(seat),
            first: state.first() == seat,
            turn: (state.turns_done() + 1).min(TURNS),
            calls: state.calls(),
            places: state.places(seat),
            letter,
            words: &self.words,
        }
    }

    fn check(&self, state: &State, seat: Seat, answer: Answer) -> Result<(), IllegalAnswer> {
        state.check(seat, answer)
    }

    fn apply(&self, state: &mut State, replies: &[Reply<Answer>]) {
        state.apply(replies.first().copied());
    }

    fn outcome(&self, state: &State) -> Option<Outcome> {
        if state.request().is_some() {
            return None;
        }
        let points = self.points(state);
        let mut outcome = match state.fault() {
            Some((seat, fault)) => {
                let mut scores = [3.0; 2];
                scores[seat.index() & 1] = 0.0;
                Outcome::ranked(&scores, format!("{fault} of seat {seat}"))
            }
            None => match points[0].cmp(&points[1]) {
                std::cmp::Ordering::Greater => Outcome::ranked(&[3.0, 0.0], "boards full"),
                std::cmp::Ordering::Less => Outcome::ranked(&[0.0, 3.0], "boards full"),
                std::cmp::Ordering::Equal => Outcome::ranked(&[1.0, 1.0], "boards full, equal points"),
            },
        };
        for (seat, points) in outcome.seats.iter_mut().zip(points) {
            seat.stats[0] = f64::from(points);
        }
        Some(outcome)
    }

    fn sample(&self, state: &State, seat: Seat, rng: &mut FastRng) -> Option<Answer> {
        state.sample(seat, rng)
    }

    fn resample(&self, state: &State, seat: Seat, rng: &mut FastRng) -> State {
        state.resample(seat, rng)
    }

    fn write_answer(answer: Answer, out: &mut Vec<u8>) {
        answer.write(out);
    }

    fn read_answer(text: &str) -> Result<Answer, String> {
        Answer::read(text)
    }
}

/// Word list of a setting: the built-in one, or a file given by its hash.
fn word_list(name: &str, assets: &Assets) -> Result<Arc<WordList>, SettingsError> {
    if name == BUILT_IN_NAME {
        return Ok(WordList::built_in());
    }
    let content = assets.get(name).ok_or_else(|| {
        SettingsError::one(
            format!("setting `words`: the word list {name} is missing"),
            "give the file itself, or omit the setting to use the built-in list",
        )
    })?;
    WordList::from_bytes(content).map_err(|error| {
        SettingsError::one(
            format!("setting `words`: line {} of the word list is `{}`", error.line_number, error.text),
            "write one word of 2 to 7 letters A to Z on each line",
        )
    })
}
