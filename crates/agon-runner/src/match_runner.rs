//! Where the matches of a phase are played: everything that is the same for all of them.

use std::path::{Path, PathBuf};

use agon_core::record::{Digest, Recorder};
use agon_core::{Assets, Lifetime, Settings, SettingsError};
use agon_engine::log::GameLog;
use agon_engine::referee::{Played, Room};
use agon_engine::table::PlayError;
use agon_engine::{Plan, Reporter, Seating, Table};
use agon_league::config::PhaseConfig;
use agon_league::{Entrant, FixedPoint, Fixture, GameResult, MatchKey, MatchResult, SeatResult};
use agon_store::{DataFolder, FinishedMatch, StoredGame, MatchFault, SecretSeed, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::data_dir;
use crate::match_progress::{MatchProgress, ResolvedPart};
use crate::seeds;
use crate::output_capture::OutputCapture;

/// An entrant, ready to play.
#[derive(Clone, Debug)]
pub struct LoadedEntrant {
    /// Its name in tables and records.
    pub name: String,
    /// Its bot.
    pub seating: Seating,
    /// The commit it was taken from.
    pub commit: Option<String>,
    /// A file that it finds in its folder though it did not bring it: what was published of the competition so far.
    pub extra_file: Option<PathBuf>,
}

impl LoadedEntrant {
    /// Where it keeps what it has learnt, if its game lets it.
    pub fn data(&self) -> Option<&Path> {
        match &self.seating {
            Seating::Program(one) if one.logs.is_some() => {
                one.program.writable.first().map(|folder| &*folder.path)
            }
            _ => None,
        }
    }

    /// Where it reads about games that were played, if its game lets it.
    pub fn logs(&self) -> Option<&Path> {
        match &self.seating {
            Seating::Program(one) => one.logs.as_deref(),
            _ => None,
        }
    }
}

/// Everything that the matches of a phase have in common.
pub struct PhaseContext<'h> {
    /// The game.
    pub table: &'h dyn Table,
    /// Files in place of what games ship.
    pub assets: &'h Assets,
    /// From 0.
    pub phase: u32,
    /// By entrant.
    pub members: &'h [LoadedEntrant],
    /// What seeds are drawn from.
    pub secret: &'h SecretSeed,
    /// Whether a match has parts that give points.
    in_parts: bool,
    /// The parts of a match, for each variant.
    variants: Vec<Vec<ResolvedPart>>,
}

impl<'h> PhaseContext<'h> {
    /// For a phase.
    pub fn new(
        table: &'h dyn Table,
        assets: &'h Assets,
        number: u32,
        phase: &PhaseConfig,
        members: &'h [LoadedEntrant],
        secret: &'h SecretSeed,
    ) -> Result<Self, SettingsError> {
        let no_variant = [Vec::new()];
        let variants = if phase.variants.is_empty() { &no_variant[..] } else { &phase.variants[..] };
        let variants = variants.iter().map(|pairs| parts(phase, pairs)).collect::<Result<_, _>>()?;
        let in_parts = !phase.parts.is_empty();
        Ok(Self { table, assets, phase: number, members, secret, in_parts, variants })
    }

    /// Whether bots keep something from match to match: then their matches are played in order.
    pub fn in_order(&self) -> bool {
        self.table.info().lifetime == Lifetime::Match && self.members.iter().any(|one| one.data().is_some())
    }

    /// Whether a match has parts that give points.
    pub const fn in_parts(&self) -> bool {
        self.in_parts
    }

    /// The parts of a match, for each variant. There is at least one variant.
    pub fn variants(&self) -> &[Vec<ResolvedPart>] {
        &self.variants
    }

    /// The seed of a board.
    pub fn seed(&self, board: u64) -> u64 {
        seeds::game_seed(self.secret, self.phase, board)
    }

    /// Plays a match to its end.
    pub fn play<'p>(
        &self,
        key: MatchKey,
        fixture: &Fixture,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        let seats: Vec<(Entrant, &LoadedEntrant)> =
            fixture.seats.iter().filter_map(|&seat| Some((seat, self.members.get(seat.index())?))).collect();
        let parts = self.variants.get(fixture.variant as usize).or(self.variants.first());
        let parts = parts.map_or(&[][..], |parts| parts);
        let bout = MatchRunner { table: self.table, assets: self.assets, parts, in_parts: self.in_parts };
        bout.play(key, &seats, self.seed(fixture.seed_index), recorder, reporter)
    }
}

/// How a match is played, wherever that is.
#[derive(Clone, Copy)]
pub struct MatchRunner<'b> {
    /// The game.
    pub table: &'b dyn Table,
    /// Files in place of what games ship.
    pub assets: &'b Assets,
    /// Its parts; at least one.
    pub parts: &'b [ResolvedPart],
    /// Whether they give points.
    pub in_parts: bool,
}

impl MatchRunner<'_> {
    /// Plays a match to its end. What bots keep after it is read from their folders.
    pub fn play<'p>(
        &self,
        key: MatchKey,
        members: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        let entrants: Vec<Entrant> = members.iter().map(|(entrant, _)| *entrant).collect();
        let seats: Vec<Seating> = members.iter().map(|(_, one)| one.seating.clone()).collect();
        let names = members.iter().map(|(_, one)| one.name.clone()).collect();
        let parts = self.parts;
        let Some(first) = parts.first() else {
            return Err(PlayError::Io(std::io::ErrorKind::InvalidInput.into()));
        };
        let plan = Plan { settings: &first.settings, seed, seats: &seats, assets: self.assets };
        let mut course = MatchProgress::new(parts, names);
        let mut transcript = OutputCapture::of(&seats);
        let log = transcript.as_mut().map(|log| log as &mut dyn GameLog);
        // Not passed on as it is: the log does not live as long as what is behind it.
        let reporter: Option<&mut dyn Reporter> = match reporter {
            Some(reporter) => Some(&mut *reporter),
            None => None,
        };
        let mut room = Room { reporter, console: None, recorder: Some(recorder), log };
        self.table.play_match(&plan, &mut course, &mut room)?;
        let points = course.points(self.in_parts);
        let mut finished = finished(key, &entrants, course.played, points);
        finished.data = belongings_of(members)?;
        finished.logs = transcript.map_or_else(Vec::new, |log| log.logs);
        Ok(finished)
    }
}

/// What the bots of a match keep after it.
fn belongings_of(members: &[(Entrant, &LoadedEntrant)]) -> Result<Vec<DataFolder>, PlayError> {
    let mut kept: Vec<DataFolder> = Vec::new();
    for &(entrant, member) in members {
        let Some(folder) = member.data() else { continue };
        if kept.iter().all(|one| one.entrant != entrant) {
            let bytes = data_dir::pack(folder)?;
            let hash = Digest(Sha256::digest(&bytes).into());
            kept.push(DataFolder { entrant, hash, bytes });
        }
    }
    Ok(kept)
}

/// The parts of a match of a phase on one of its variants.
fn parts(phase: &PhaseConfig, variant: &[(String, String)]) -> Result<Vec<ResolvedPart>, SettingsError> {
    let set = |settings: &Settings, pairs: &[(String, String)]| {
        let pairs = pairs.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        settings.with(pairs)
    };
    let settings = set(&phase.settings, variant)?;
    if phase.parts.is_empty() {
        return Ok(vec![ResolvedPart { games: 1, first_to: 1, settings }]);
    }
    let part = |part: &agon_league::config::MatchPart| {
        let settings = set(&settings, &part.settings)?;
        Ok(ResolvedPart { games: part.games, first_to: part.first_to, settings })
    };
    phase.parts.iter().map(part).collect()
}

fn finished(
    key: MatchKey,
    seats: &[Entrant],
    played: Vec<(u8, Played)>,
    points: Vec<FixedPoint>,
) -> FinishedMatch {
    let mut result = MatchResult { key, games: Vec::with_capacity(played.len()), points };
    let mut finished = (Vec::with_capacity(played.len()), Vec::new());
    for (number, (part, game)) in played.into_iter().enumerate() {
        result.games.push(game_result(seats, part, &game));
        for fault in game.faults {
            let entrant = seats.get(fault.seat.index()).copied().unwrap_or(Entrant(u32::MAX));
            let (game, seat) = (number as u32, fault.seat.0);
            finished.1.push(MatchFault { game, turn: fault.turn, seat, entrant, report: fault.report });
        }
        if let Some((bytes, digest)) = game.record {
            finished.0.push(StoredGame { digest, record: Some(bytes) });
        }
    }
    let (games, faults) = finished;
    FinishedMatch {
        result,
        games,
        faults,
        data: Vec::new(),
        logs: Vec::new(),
        finished: Timestamp::now(),
        worker: None,
    }
}

fn game_result(seats: &[Entrant], part: u8, game: &Played) -> GameResult {
    let seat = |((entrant, outcome), tally): (
        (&Entrant, &agon_core::outcome::SeatOutcome),
        &agon_engine::SeatTally,
    )| {
        SeatResult {
            entrant: *entrant,
            score: FixedPoint::of(outcome.score),
            place: outcome.place,
            stats: outcome.stats.map(FixedPoint::of),
            answers: tally.answers,
            faults: tally.faults,
            thought_ns: tally.time.charged().as_nanos() as u64,
            longest_ns: tally.longest.as_nanos() as u64,
        }
    };
    GameResult {
        part,
        seed: game.seed,
        turns: game.turns,
        ended: game.outcome.ended.to_string(),
        match_lost_by: game.outcome.match_lost_by.map(|seat| seat.0),
        seats: seats.iter().zip(&game.outcome.seats).zip(&game.seats).map(seat).collect(),
    }
}
