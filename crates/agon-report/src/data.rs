//! What a report is about, as plain data: whoever reads the ledger fills it in.

use agon_core::{Fault, GameInfo};
use agon_league::format::BalanceReport;
use agon_league::standings::Standings;
use agon_league::{Entrant, MatchKey};

use crate::bracket::Bracket;
use crate::text_format::slug;

/// A moment: milliseconds since 1970, UTC.
pub type Timestamp = i64;

/// A competition.
#[derive(Clone, Debug)]
pub struct Report {
    /// Its name.
    pub name: String,
    /// Its game.
    pub game: &'static GameInfo,
    /// The version of Agon it was begun with.
    pub engine: String,
    /// When it was begun.
    pub begun: Option<Timestamp>,
    /// When this report was made.
    pub written: Timestamp,
    /// SHA-256 of the secret seed, in hexadecimal digits.
    pub commitment: String,
    /// The seed, once it was revealed, and when.
    pub seed: Option<(String, Timestamp)>,
    /// By their places in the file.
    pub entrants: Vec<Participant>,
    /// All of them, also those that were not begun.
    pub phases: Vec<PhaseReport>,
}

/// Somebody who takes part.
#[derive(Clone, Debug, Default)]
pub struct Participant {
    /// Its name.
    pub name: String,
    /// Who wrote it.
    pub contributor: Option<String>,
    /// `AI`, `exploit`, with notes.
    pub marks: Vec<(String, Option<String>)>,
    /// In a game with different ones.
    pub role: Option<&'static str>,
    /// Every version of its bot, the first first.
    pub versions: Vec<Version>,
    /// What went wrong, in all phases.
    pub faults: FaultList,
}

/// A version of a bot.
#[derive(Clone, Debug)]
pub struct Version {
    /// From 1.
    pub number: u32,
    /// The hash of all its files.
    pub hash: String,
    /// The commit it was taken from.
    pub commit: Option<String>,
    /// From this phase on, from 0.
    pub from_phase: u32,
    /// When it was handed in.
    pub at: Timestamp,
}

/// A phase.
#[derive(Clone, Debug, Default)]
pub struct PhaseReport {
    /// From 0.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// What is played, in words.
    pub format: String,
    /// `waiting`, `running`, `published`, `closed`.
    pub state: &'static str,
    /// When its first match could be played.
    pub started: Option<Timestamp>,
    /// When its table came out.
    pub published: Option<Timestamp>,
    /// SHA-256 of that table.
    pub table: Option<String>,
    /// Matches played.
    pub matches: u64,
    /// Games in them.
    pub games_played: u64,
    /// Matches to be played, at least and at most.
    pub expected: Option<(u64, u64)>,
    /// Its tables; `None` if nothing was played.
    pub standings: Option<Standings>,
    /// How long everybody thought, in the order of the file.
    pub paces: Vec<ThinkTimes>,
    /// What went wrong, newest first.
    pub faults: FaultList,
    /// How often something went wrong, by entrant.
    pub fault_counts: Vec<(Entrant, u64)>,
    /// How evenly the schedule is spread.
    pub balance: Option<BalanceReport>,
    /// In an elimination.
    pub bracket: Option<Bracket>,
    /// What was played.
    pub games: GameList,
}

/// How long an entrant thought.
#[derive(Clone, Copy, Debug)]
pub struct ThinkTimes {
    /// Who.
    pub entrant: Entrant,
    /// How often it was asked.
    pub answers: u64,
    /// Time for an answer, on average, in nanoseconds.
    pub mean: f64,
    /// The longest answer, in nanoseconds.
    pub longest: f64,
}

/// Some faults of many.
#[derive(Clone, Debug, Default)]
pub struct FaultList {
    /// The newest first.
    pub shown: Vec<FaultLine>,
    /// How many there are.
    pub total: u64,
    /// Whether bots' own words are held back: they could tell of a hidden board.
    pub held_back: bool,
}

/// A fault.
#[derive(Clone, Debug)]
pub struct FaultLine {
    /// When its match was over.
    pub at: Timestamp,
    /// In which match.
    pub key: MatchKey,
    /// Which game of it, from 0.
    pub game: u32,
    /// Which turn.
    pub turn: u32,
    /// Who.
    pub entrant: Entrant,
    /// What.
    pub fault: Fault,
    /// What the engine says about it, with the bot's own words.
    pub says: String,
    /// The end of what the bot printed.
    pub printed: String,
    /// Whether its game has a page.
    pub page: bool,
}

/// Some games of many.
#[derive(Clone, Debug, Default)]
pub struct GameList {
    /// In the order of the schedule.
    pub shown: Vec<GameLine>,
    /// How many there are.
    pub total: u64,
    /// Whether all of them are held back: they are played on boards that are still a secret.
    pub hidden: bool,
}

/// A game.
#[derive(Clone, Debug)]
pub struct GameLine {
    /// Of which match.
    pub key: MatchKey,
    /// Which game of it, from 0.
    pub game: u32,
    /// How many games that match has.
    pub of: u32,
    /// `round 3`, `quarter-finals`; empty where a stage has no name worth telling.
    pub stage: String,
    /// How many turns it had.
    pub turns: u32,
    /// In a few words how it ended.
    pub ended: String,
    /// In seat order.
    pub seats: Vec<SeatLine>,
    /// How many faults were made in it.
    pub faults: u32,
    /// Whether it has a page.
    pub page: bool,
    /// Why it was chosen: `closest game`.
    pub why: Vec<String>,
}

/// A seat of a game.
#[derive(Clone, Copy, Debug)]
pub struct SeatLine {
    /// Who.
    pub entrant: Entrant,
    /// Its score.
    pub score: f64,
    /// 1 for the best.
    pub place: u8,
}

impl GameLine {
    /// Where its page is.
    pub fn file(&self) -> String {
        game_file(self.key, self.game)
    }

    /// `2.1.17`, and which game of it where a match has several.
    pub fn number(&self) -> String {
        if self.of > 1 { format!("{}, game {}", self.key, self.game + 1) } else { self.key.to_string() }
    }

    /// Its seats, the best first.
    pub fn best_first(&self) -> Vec<SeatLine> {
        let mut seats = self.seats.clone();
        seats.sort_by_key(|seat| seat.place);
        seats
    }
}

/// Where the page of a game is: made of numbers only.
pub fn game_file(key: MatchKey, game: u32) -> String {
    format!("games/{}-{}-{}-{}.html", key.phase + 1, key.stage + 1, key.number + 1, game + 1)
}

impl PhaseReport {
    /// Where its page is.
    pub fn file(&self) -> String {
        format!("phase-{}.html", self.number + 1)
    }

    /// How many faults an entrant made.
    pub fn faults_of(&self, entrant: Entrant) -> u64 {
        self.fault_counts.iter().find(|(one, _)| *one == entrant).map_or(0, |(_, count)| *count)
    }

    /// Whether anything was played.
    pub const fn is_begun(&self) -> bool {
        self.matches > 0
    }
}

impl Report {
    /// Where an entrant's page is. A name may be anything, so the number makes it unique and the name only readable.
    pub fn bot_file(&self, entrant: Entrant) -> String {
        let slug = slug(self.entrants.get(entrant.index()).map_or("", |one| &one.name));
        let dash = if slug.is_empty() { "" } else { "-" };
        format!("bots/{:02}{dash}{slug}.html", entrant.0 + 1)
    }

    /// A name without marks.
    pub fn name_of(&self, entrant: Entrant) -> String {
        let known = self.entrants.get(entrant.index()).map(|one| one.name.clone());
        known.unwrap_or_else(|| format!("entrant {}", entrant.0 + 1))
    }

    /// The latest phase of which something was played.
    pub fn latest(&self) -> Option<&PhaseReport> {
        self.phases.iter().rev().find(|phase| phase.is_begun())
    }

    /// The games that have a page, in the order of phases and schedules.
    pub fn pages(&self) -> impl Iterator<Item = &GameLine> {
        self.phases.iter().flat_map(|phase| &phase.games.shown).filter(|game| game.page)
    }
}
