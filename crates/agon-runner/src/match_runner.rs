//! Plays one match.

use agon_core::Assets;
use agon_core::record::{Digest, Recorder};
use agon_engine::any_game::{FaultsAfterMatch, PlayError};
use agon_engine::referee::{GameHooks, PlayedGame};
use agon_engine::turn_log::TurnLog;
use agon_engine::{AnyGame, MatchSetup, PlayerSpec, Reporter};
use agon_league::{Entrant, FixedPoint, GameResult, MatchKey, MatchResult, SeatResult};
use agon_store::{DataFolder, FinishedMatch, MatchFault, StoredGame, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::data_dir;
use crate::match_progress::{MatchProgress, ResolvedPart};
use crate::output_capture::OutputCapture;
use crate::phase_context::LoadedEntrant;

/// Plays single matches, on this machine or on a worker.
#[derive(Clone, Copy)]
pub struct MatchRunner<'b> {
    /// The game.
    pub game: &'b dyn AnyGame,
    /// Files that replace the game's built-in ones.
    pub assets: &'b Assets,
    /// Parts of the match; at least one.
    pub parts: &'b [ResolvedPart],
    /// Whether the parts give points.
    pub parts_give_points: bool,
}

impl MatchRunner<'_> {
    /// Plays a match to its end. Afterwards the bots' `data/` folders are packed into the result.
    pub fn play<'p>(
        &self,
        key: MatchKey,
        players: &[(Entrant, &LoadedEntrant)],
        seed: u64,
        recorder: &'p mut Recorder,
        reporter: Option<&'p mut (dyn Reporter + 'p)>,
    ) -> Result<FinishedMatch, PlayError> {
        let entrants: Vec<Entrant> = players.iter().map(|(entrant, _)| *entrant).collect();
        let seats: Vec<PlayerSpec> = players.iter().map(|(_, one)| one.player.clone()).collect();
        let names = players.iter().map(|(_, one)| one.name.clone()).collect();
        let parts = self.parts;
        let Some(first) = parts.first() else {
            return Err(PlayError::Io(std::io::ErrorKind::InvalidInput.into()));
        };
        let setup = MatchSetup { settings: &first.settings, seed, seats: &seats, assets: self.assets };
        let mut progress = MatchProgress::new(parts, names);
        let mut output = OutputCapture::for_seats(&seats);
        let log = output.as_mut().map(|log| log as &mut dyn TurnLog);
        // Reborrow: the log does not live as long as the value behind `reporter`.
        let reporter: Option<&mut dyn Reporter> = match reporter {
            Some(reporter) => Some(&mut *reporter),
            None => None,
        };
        let mut hooks = GameHooks { reporter, console: None, persons: None, recorder: Some(recorder), log };
        let after_match = self.game.play_match(&setup, &mut progress, &mut hooks)?;
        let points = progress.points(self.parts_give_points);
        let mut finished = finished_match(key, &entrants, progress.played, points);
        add_faults_after_match(&mut finished, &entrants, after_match);
        finished.data = pack_data_dirs(players)?;
        finished.bot_outputs = output.map_or_else(Vec::new, OutputCapture::finish);
        Ok(finished)
    }
}

/// Packs the `data/` folders of the bots of a match.
fn pack_data_dirs(players: &[(Entrant, &LoadedEntrant)]) -> Result<Vec<DataFolder>, PlayError> {
    let mut packed: Vec<DataFolder> = Vec::new();
    for &(entrant, player) in players {
        let Some(folder) = player.data_dir() else { continue };
        if packed.iter().all(|one| one.entrant != entrant) {
            let bytes = data_dir::pack(folder)?;
            let hash = Digest(Sha256::digest(&bytes).into());
            packed.push(DataFolder { entrant, hash, bytes });
        }
    }
    Ok(packed)
}

fn finished_match(
    key: MatchKey,
    seats: &[Entrant],
    played: Vec<(u8, PlayedGame)>,
    points: Vec<FixedPoint>,
) -> FinishedMatch {
    let mut result = MatchResult { key, games: Vec::with_capacity(played.len()), points };
    let (mut games, mut faults) = (Vec::with_capacity(played.len()), Vec::new());
    for (number, (part, game)) in played.into_iter().enumerate() {
        result.games.push(game_result(seats, part, &game));
        for fault in game.faults {
            let entrant = seats.get(fault.seat.index()).copied().unwrap_or(Entrant(u32::MAX));
            let (game, seat) = (number as u32, fault.seat.0);
            faults.push(MatchFault { game, turn: fault.turn, seat, entrant, report: fault.report });
        }
        if let Some((bytes, digest)) = game.record {
            games.push(StoredGame { digest, record: Some(bytes) });
        }
    }
    FinishedMatch {
        result,
        games,
        faults,
        data: Vec::new(),
        bot_outputs: Vec::new(),
        finished: Timestamp::now(),
        worker: None,
    }
}

/// Adds the faults in what bots did after the match. They count as faults after its last game.
fn add_faults_after_match(finished: &mut FinishedMatch, seats: &[Entrant], faults: FaultsAfterMatch) {
    let Some(last) = finished.result.games.last() else { return };
    let (game, turn) = (finished.result.games.len() as u32 - 1, last.turns + 1);
    for (seat, report) in faults {
        let entrant = seats.get(seat.index()).copied().unwrap_or(Entrant(u32::MAX));
        finished.faults.push(MatchFault { game, turn, seat: seat.0, entrant, report });
    }
}

/// Result of a played game with these entrants at its seats.
pub fn game_result(seats: &[Entrant], part: u8, game: &PlayedGame) -> GameResult {
    let seat = |((entrant, outcome), seat_stats): (
        (&Entrant, &agon_core::outcome::SeatOutcome),
        &agon_engine::SeatStats,
    )| {
        SeatResult {
            entrant: *entrant,
            score: FixedPoint::from_f64(outcome.score),
            place: outcome.place,
            stats: outcome.stats.map(FixedPoint::from_f64),
            answers: seat_stats.answers,
            faults: seat_stats.faults,
            thought_ns: seat_stats.time.charged().as_nanos() as u64,
            longest_ns: seat_stats.longest.as_nanos() as u64,
            meter: seat_stats.meter,
            empty_ns: seat_stats.empty_total().as_nanos() as u64,
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
