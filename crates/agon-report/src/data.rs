//! Content of a report as plain data. The caller fills it from the ledger.

use agon_core::{Fault, GameInfo};
use agon_league::bracket::Bracket;
use agon_league::format::BalanceReport;
use agon_league::standings::Standings;
use agon_league::{Entrant, MatchKey};
use agon_store::PhaseState;

use crate::text_format::slug;

/// Milliseconds since 1970, UTC.
pub type Timestamp = i64;

/// Report of a competition.
#[derive(Clone, Debug)]
pub struct Report {
    /// Name of the competition.
    pub name: String,
    /// The game.
    pub game: &'static GameInfo,
    /// Version of Agon that started the competition.
    pub engine: String,
    /// Start time of the competition.
    pub started: Option<Timestamp>,
    /// Time when this report was made.
    pub written: Timestamp,
    /// SHA-256 of the secret seed, in hexadecimal digits.
    pub commitment: String,
    /// The secret seed, and the time when it was revealed.
    pub seed: Option<(String, Timestamp)>,
    /// Entrants, in the order of the competition file.
    pub entrants: Vec<Participant>,
    /// All phases, including those not started.
    pub phases: Vec<PhaseReport>,
}

/// An entrant.
#[derive(Clone, Debug, Default)]
pub struct Participant {
    /// Name of the entrant.
    pub name: String,
    /// Author of the bot.
    pub contributor: Option<String>,
    /// Marks with notes: `AI`, `exploit`.
    pub marks: Vec<(String, Option<String>)>,
    /// Role, in a game with several roles.
    pub role: Option<&'static str>,
    /// All versions of the bot, the oldest first.
    pub versions: Vec<Version>,
    /// Faults in all phases.
    pub faults: FaultList,
}

/// A version of a bot.
#[derive(Clone, Debug)]
pub struct Version {
    /// Version number, from 1.
    pub number: u32,
    /// Content hash of the bot's files.
    pub hash: String,
    /// Commit that the bot was taken from.
    pub commit: Option<String>,
    /// First phase that this version plays, from 0.
    pub from_phase: u32,
    /// Time of submission.
    pub at: Timestamp,
}

/// Report of a phase.
#[derive(Clone, Debug, Default)]
pub struct PhaseReport {
    /// Phase number, from 0.
    pub number: u32,
    /// Name of the phase.
    pub name: String,
    /// Format of the phase, as text.
    pub format: String,
    /// State of the phase.
    pub state: PhaseState,
    /// Start time of the phase.
    pub started: Option<Timestamp>,
    /// Time when the table was published.
    pub published: Option<Timestamp>,
    /// SHA-256 of the published table.
    pub table: Option<String>,
    /// Number of matches played.
    pub matches: u64,
    /// Number of games in these matches.
    pub games_played: u64,
    /// Minimum and maximum number of matches of the phase.
    pub expected: Option<(u64, u64)>,
    /// Standings. `None` if no match was played.
    pub standings: Option<Standings>,
    /// Thinking times of the entrants, in the order of the competition file.
    pub think_times: Vec<ThinkTimes>,
    /// Faults, newest first.
    pub faults: FaultList,
    /// Number of faults of each entrant.
    pub fault_counts: Vec<(Entrant, u64)>,
    /// Balance of the schedule.
    pub balance: Option<BalanceReport>,
    /// Bracket of an elimination.
    pub bracket: Option<Bracket>,
    /// Games of the phase.
    pub games: GameList,
}

/// Thinking times of an entrant.
#[derive(Clone, Copy, Debug)]
pub struct ThinkTimes {
    /// The entrant.
    pub entrant: Entrant,
    /// Number of answers.
    pub answers: u64,
    /// Mean time per answer, in nanoseconds.
    pub mean: f64,
    /// Time of the longest answer, in nanoseconds.
    pub longest: f64,
}

/// A list of faults that may be cut.
#[derive(Clone, Debug, Default)]
pub struct FaultList {
    /// Faults that are shown, newest first.
    pub shown: Vec<FaultLine>,
    /// Total number of faults.
    pub total: u64,
    /// Whether messages and output of bots are held back, because they could describe games with hidden seeds.
    pub held_back: bool,
}

/// A fault.
#[derive(Clone, Debug)]
pub struct FaultLine {
    /// End time of the match.
    pub at: Timestamp,
    /// The match.
    pub key: MatchKey,
    /// Game of the match, from 0.
    pub game: u32,
    /// Turn of the fault.
    pub turn: u32,
    /// The entrant.
    pub entrant: Entrant,
    /// Kind of fault.
    pub fault: Fault,
    /// Message of the engine, including the bot's error message.
    pub message: String,
    /// End of the bot's output.
    pub output: String,
    /// Whether the game has a page.
    pub has_page: bool,
}

/// A list of games that may be cut.
#[derive(Clone, Debug, Default)]
pub struct GameList {
    /// Games that are shown, in the order of the schedule.
    pub shown: Vec<GameLine>,
    /// Total number of games.
    pub total: u64,
    /// Whether all games are held back, because their seeds are still secret.
    pub hidden: bool,
}

/// A game.
#[derive(Clone, Debug)]
pub struct GameLine {
    /// The match.
    pub key: MatchKey,
    /// Game of the match, from 0.
    pub game: u32,
    /// Number of games of the match.
    pub games_in_match: u32,
    /// Name of the stage: `round 3`, `quarter-finals`. Empty if the stage has no useful name.
    pub stage: String,
    /// Number of turns.
    pub turns: u32,
    /// Short text that says how the game ended.
    pub ended: String,
    /// Seats, in order.
    pub seats: Vec<SeatLine>,
    /// Games of the match that each seat has won before this game. Empty for the first game.
    pub wins_before: Vec<u32>,
    /// Number of faults in the game.
    pub faults: u32,
    /// Whether the game has a page.
    pub has_page: bool,
    /// Reasons for choosing the game: `closest game`.
    pub reasons: Vec<String>,
}

/// A seat of a game.
#[derive(Clone, Copy, Debug)]
pub struct SeatLine {
    /// The entrant.
    pub entrant: Entrant,
    /// Score of the seat.
    pub score: f64,
    /// Place of the seat; 1 is the best.
    pub place: u8,
    /// Statistic that is shown beside the score, such as Word Racer's word points.
    pub beside: Option<f64>,
}

impl GameLine {
    /// Path of the game's page.
    pub fn file(&self) -> String {
        game_file(self.key, self.game)
    }

    /// Number of the game: `2.1.17`, with the game number if the match has several games.
    pub fn number(&self) -> String {
        if self.games_in_match > 1 {
            format!("{}, game {}", self.key, self.game + 1)
        } else {
            self.key.to_string()
        }
    }

    /// Seats, the best first.
    pub fn best_first(&self) -> Vec<SeatLine> {
        let mut seats = self.seats.clone();
        seats.sort_by_key(|seat| seat.place);
        seats
    }
}

/// Path of a game's page. It consists of numbers only.
pub fn game_file(key: MatchKey, game: u32) -> String {
    format!("games/{}-{}-{}-{}.html", key.phase + 1, key.stage + 1, key.number + 1, game + 1)
}

impl PhaseReport {
    /// Path of the phase's page.
    pub fn file(&self) -> String {
        format!("phase-{}.html", self.number + 1)
    }

    /// Number of faults of an entrant.
    pub fn faults_of(&self, entrant: Entrant) -> u64 {
        self.fault_counts.iter().find(|(one, _)| *one == entrant).map_or(0, |(_, count)| *count)
    }

    /// Whether a match was played.
    pub const fn has_started(&self) -> bool {
        self.matches > 0
    }
}

impl Report {
    /// Path of an entrant's page. The number makes it unique. The name only makes it readable.
    pub fn bot_file(&self, entrant: Entrant) -> String {
        let slug = slug(self.entrants.get(entrant.index()).map_or("", |one| &one.name));
        let dash = if slug.is_empty() { "" } else { "-" };
        format!("bots/{:02}{dash}{slug}.html", entrant.0 + 1)
    }

    /// Name of an entrant, without marks.
    pub fn name_of(&self, entrant: Entrant) -> String {
        let known = self.entrants.get(entrant.index()).map(|one| one.name.clone());
        known.unwrap_or_else(|| format!("entrant {}", entrant.0 + 1))
    }

    /// The latest phase with played matches.
    pub fn latest(&self) -> Option<&PhaseReport> {
        self.phases.iter().rev().find(|phase| phase.has_started())
    }

    /// Games that have a page, in the order of phases and schedules.
    pub fn pages(&self) -> impl Iterator<Item = &GameLine> {
        self.phases.iter().flat_map(|phase| &phase.games.shown).filter(|game| game.has_page)
    }
}
