//! Validates reports. Every record of every report is read, compared with the request, and replayed through the rules.

use agon_core::outcome::SeatOutcome;
use agon_core::record::{self, FaultRecord, Record, RecordHeader, Recorder};
use agon_core::{Assets, Outcome};
use agon_engine::referee::PlayedGame;
use agon_engine::{AnyGame, GameSequence as _};
use agon_league::{FixedPoint, GameResult, SeatResult};
use agon_runner::match_progress::{MatchProgress, ResolvedPart};

use crate::messages::JobMatch;
use crate::messages::match_report::MatchReport;

/// Bots at the seats of a match, as in its records: names and hashes.
pub type SeatBots = Vec<(String, String)>;

/// What the records of a reported match say.
#[derive(Debug)]
pub struct ReadMatch {
    seat_bots: SeatBots,
    games: Vec<(RecordHeader, Outcome, Vec<FaultRecord>)>,
}

/// What the coordinator asked for.
#[derive(Clone, Copy)]
pub struct RequestedMatch<'r> {
    /// The match of the job.
    pub job_match: &'r JobMatch,
    /// All entrants, as named in records.
    pub entrants: &'r SeatBots,
    /// Parts of the match.
    pub parts: &'r [ResolvedPart],
    /// Whether the parts give points.
    pub parts_give_points: bool,
    /// The game.
    pub game: &'r dyn AnyGame,
}

/// Reads the records of a match, checks that they agree with its result, and replays them through the rules.
pub fn read_match(
    report: &MatchReport,
    game: &dyn AnyGame,
    assets: &Assets,
    recorder: &mut Recorder,
) -> Result<ReadMatch, String> {
    let key = report.result.key;
    let mismatch = |what: String| Err(format!("match {key}: {what}"));
    if report.result.games.is_empty() || report.result.games.len() != report.games.len() {
        return mismatch(format!("{} results for {} games", report.result.games.len(), report.games.len()));
    }
    let mut read = ReadMatch { seat_bots: Vec::new(), games: Vec::with_capacity(report.games.len()) };
    for (number, (result, (digest, bytes))) in report.result.games.iter().zip(&report.games).enumerate() {
        let number = number + 1;
        let Some(bytes) = bytes else { return mismatch(format!("game {number} has no record")) };
        let record = match record::read(bytes, 1) {
            Ok((record, [])) => record,
            Ok(_) => return mismatch(format!("extra data after the record of game {number}")),
            Err(error) => return mismatch(format!("game {number}: {error}")),
        };
        let header = &record.header;
        if header.game != game.info().id || record.digest.0 != *digest || header.seed != result.seed {
            return mismatch(format!("the record of game {number} is of another game"));
        }
        if !result_matches_record(result, &record) {
            return mismatch(format!("the result of game {number} differs from its record"));
        }
        let seats: SeatBots =
            header.seats.iter().map(|seat| (seat.name.clone(), seat.hash.clone())).collect();
        if number > 1 && read.seat_bots != seats {
            return mismatch(format!("game {number} has other bots than the games before"));
        }
        read.seat_bots = seats;
        if let Err(error) = game.check_record(&record, assets, recorder) {
            return mismatch(format!("the record of game {number}: {error}"));
        }
        read.games.push((record.header, record.outcome, record.faults));
    }
    Ok(read)
}

fn result_matches_record(result: &GameResult, record: &Record) -> bool {
    let same = |(recorded, reported): (&SeatOutcome, &SeatResult)| {
        reported.score == FixedPoint::from_f64(recorded.score)
            && reported.place == recorded.place
            && reported.stats == recorded.stats.map(FixedPoint::from_f64)
    };
    record.outcome.seats.len() == result.seats.len()
        && record.outcome.seats.iter().zip(&result.seats).all(same)
        && record.meters.iter().eq(result.seats.iter().map(|seat| &seat.meter))
        && record.empty_answers.iter().zip(&result.seats).all(|(cost, seat)| {
            let cost = cost.unwrap_or_default().saturating_mul(seat.answers).as_nanos();
            u128::from(seat.empty_ns) == cost.min(seat.thought_ns.into())
        })
        && record.outcome.ended == result.ended
        && record.turns.len() as u32 == result.turns
        && record.outcome.match_lost_by.map(|seat| seat.0) == result.match_lost_by
}

/// Checks that a match is the requested one: entrants, settings and seed of every game, number of games, and points.
pub fn check_request(
    report: &MatchReport,
    read: &ReadMatch,
    requested: RequestedMatch<'_>,
) -> Result<(), String> {
    let key = report.result.key;
    let mismatch = |what: String| Err(format!("match {key}: {what}"));
    let job_match = requested.job_match;
    for game in &report.result.games {
        let seats = game.seats.iter().map(|seat| seat.entrant.0);
        if !seats.eq(job_match.seats.iter().copied()) {
            return mismatch("wrong entrants at the seats".to_owned());
        }
    }
    let seats = job_match.seats.iter().map(|seat| requested.entrants.get(*seat as usize));
    if !read.seat_bots.iter().map(Some).eq(seats) {
        return mismatch("its records name the wrong bots".to_owned());
    }
    if let Err(what) = check_games(report, read, requested) {
        return mismatch(what);
    }
    for fault in &report.faults {
        let seat = job_match.seats.get(usize::from(fault.seat));
        if seat != Some(&fault.entrant) || fault.game as usize >= report.games.len() {
            return mismatch("a fault names the wrong entrant or game".to_owned());
        }
    }
    if report.data.iter().any(|(entrant, _)| !job_match.seats.contains(entrant)) {
        return mismatch("it has data of an entrant that did not play".to_owned());
    }
    Ok(())
}

/// Goes through the match as its rules say, and checks that every game is the one that comes next.
fn check_games(report: &MatchReport, read: &ReadMatch, requested: RequestedMatch<'_>) -> Result<(), String> {
    let names = read.seat_bots.iter().map(|(name, _)| name.clone()).collect();
    let mut progress = MatchProgress::new(requested.parts, names);
    let mut is_lost = false;
    for (number, ((header, outcome, faults), result)) in
        read.games.iter().zip(&report.result.games).enumerate()
    {
        let number = number + 1;
        let Some((index, settings)) = progress.next().filter(|_| !is_lost) else {
            return Err(format!("game {number} was played although the match was decided"));
        };
        let (settings, seed) = requested.game.match_game(settings, requested.job_match.seed, index);
        if header.seed != seed {
            return Err(format!("wrong seed in game {number}"));
        }
        if header.settings != settings {
            return Err(format!("game {number} was not played with the settings asked for"));
        }
        is_lost = outcome.match_lost_by.is_some();
        progress.done(played_game(index, seed, result.turns, outcome.clone(), faults.clone()));
        if progress.played.last().is_none_or(|(part, _)| *part != result.part) {
            return Err(format!("game {number} counts for the wrong part of the match"));
        }
    }
    if !is_lost && progress.next().is_some() {
        return Err(format!("it ends after {} games, before it is decided", read.games.len()));
    }
    if report.result.points != progress.points(requested.parts_give_points) {
        return Err("its points do not follow from its games".to_owned());
    }
    Ok(())
}

/// A game as far as the course of a match depends on it.
const fn played_game(
    index: u32,
    seed: u64,
    turns: u32,
    outcome: Outcome,
    faults: Vec<FaultRecord>,
) -> PlayedGame {
    PlayedGame { index, seed, outcome, turns, faults, seats: Vec::new(), record: None }
}

/// Replays every record of a match. Returns the first violation of the rules.
pub fn check_replay(game: &dyn AnyGame, assets: &Assets, records: &[Vec<u8>]) -> Result<(), String> {
    let mut recorder = Recorder::new();
    for (number, bytes) in records.iter().enumerate() {
        let (record, _) = record::read(bytes, number + 1).map_err(|error| error.to_string())?;
        let checked = game.check_record(&record, assets, &mut recorder);
        checked.map_err(|error| format!("the record of game {}: {error}", number + 1))?;
    }
    Ok(())
}
