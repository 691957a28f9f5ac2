//! Validates reports. Cheap enough for every match.

use agon_core::Assets;
use agon_core::outcome::SeatOutcome;
use agon_core::record::{self, Record};
use agon_engine::AnyGame;
use agon_league::{FixedPoint, GameResult, SeatResult};

use crate::messages::JobMatch;
use crate::messages::match_report::MatchReport;

/// Bots at the seats of a match, as in its records: names and hashes.
pub type SeatBots = Vec<(String, String)>;

/// Checks that a match agrees with the records of its games: digests, seeds, seats, results. Returns the bots at its seats.
pub fn check_consistency(report: &MatchReport, game: &str) -> Result<SeatBots, String> {
    let key = report.result.key;
    let mismatch = |what: String| Err(format!("match {key}: {what}"));
    if report.result.games.is_empty() || report.result.games.len() != report.games.len() {
        return mismatch(format!("{} results for {} games", report.result.games.len(), report.games.len()));
    }
    let mut seat_bots: Option<SeatBots> = None;
    for (number, (result, (digest, bytes))) in report.result.games.iter().zip(&report.games).enumerate() {
        let number = number + 1;
        let Some(bytes) = bytes else { return mismatch(format!("game {number} has no record")) };
        let record = match record::read(bytes, 1) {
            Ok((record, [])) => record,
            Ok(_) => return mismatch(format!("extra data after the record of game {number}")),
            Err(error) => return mismatch(format!("game {number}: {error}")),
        };
        if record.header.game != game || record.digest.0 != *digest || record.header.seed != result.seed {
            return mismatch(format!("the record of game {number} is of another game"));
        }
        if !result_matches_record(result, &record) {
            return mismatch(format!("the result of game {number} differs from its record"));
        }
        let seats: SeatBots = record.header.seats.into_iter().map(|seat| (seat.name, seat.hash)).collect();
        if seat_bots.as_ref().is_some_and(|before| *before != seats) {
            return mismatch(format!("game {number} has other bots than the games before"));
        }
        seat_bots = Some(seats);
    }
    Ok(seat_bots.unwrap_or_default())
}

fn result_matches_record(result: &GameResult, record: &Record) -> bool {
    let same = |(recorded, reported): (&SeatOutcome, &SeatResult)| {
        reported.score == FixedPoint::from_f64(recorded.score)
            && reported.place == recorded.place
            && reported.stats == recorded.stats.map(FixedPoint::from_f64)
    };
    record.outcome.seats.len() == result.seats.len()
        && record.outcome.seats.iter().zip(&result.seats).all(same)
        && record.outcome.ended == result.ended
        && record.turns.len() as u32 == result.turns
        && record.outcome.match_lost_by.map(|seat| seat.0) == result.match_lost_by
}

/// Checks that a match is the requested one. `entrants` are all entrants, as named in records.
pub fn check_against_job(
    report: &MatchReport,
    seat_bots: &SeatBots,
    job_match: &JobMatch,
    entrants: &SeatBots,
) -> Result<(), String> {
    let key = report.result.key;
    let mismatch = |what: &str| Err(format!("match {key}: {what}"));
    for game in &report.result.games {
        let seats = game.seats.iter().map(|seat| seat.entrant.0);
        if !seats.eq(job_match.seats.iter().copied()) {
            return mismatch("wrong entrants at the seats");
        }
    }
    if report.result.games.first().is_some_and(|game| game.seed != job_match.seed) {
        return mismatch("wrong seed");
    }
    if !seat_bots.iter().map(Some).eq(job_match.seats.iter().map(|seat| entrants.get(*seat as usize))) {
        return mismatch("its records name the wrong bots");
    }
    for fault in &report.faults {
        let seat = job_match.seats.get(usize::from(fault.seat));
        if seat != Some(&fault.entrant) || fault.game as usize >= report.games.len() {
            return mismatch("a fault names the wrong entrant or game");
        }
    }
    if report.data.iter().any(|(entrant, _)| !job_match.seats.contains(entrant)) {
        return mismatch("it has data of an entrant that did not play");
    }
    Ok(())
}

/// Replays every record of a match. Returns the first violation of the rules.
pub fn check_replay(game: &dyn AnyGame, assets: &Assets, records: &[Vec<u8>]) -> Result<(), String> {
    for (number, bytes) in records.iter().enumerate() {
        let (record, _) = record::read(bytes, number + 1).map_err(|error| error.to_string())?;
        game.film(record, assets).map_err(|error| format!("the record of game {}: {error}", number + 1))?;
    }
    Ok(())
}
