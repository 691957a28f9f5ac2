//! Whether what a worker hands in can be what was asked for: cheap enough for every match.

use agon_core::Assets;
use agon_core::outcome::SeatOutcome;
use agon_core::record::{self, Record};
use agon_engine::Table;
use agon_league::{FixedPoint, GameResult, SeatResult};

use crate::messages::JobMatch;
use crate::messages::match_report::MatchReport;

/// Who sat where, as a match's records have it: names, and hashes of bots.
pub type SeatBots = Vec<(String, String)>;

/// Whether a match agrees with the records of its games: digests, seeds, seats, results. Gives who sat there.
pub fn check_consistency(played: &MatchReport, game: &str) -> Result<SeatBots, String> {
    let key = played.result.key;
    let wrong = |what: String| Err(format!("match {key}: {what}"));
    if played.result.games.is_empty() || played.result.games.len() != played.games.len() {
        return wrong(format!("{} results for {} games", played.result.games.len(), played.games.len()));
    }
    let mut sat: Option<SeatBots> = None;
    for (number, (result, (digest, bytes))) in played.result.games.iter().zip(&played.games).enumerate() {
        let number = number + 1;
        let Some(bytes) = bytes else { return wrong(format!("game {number} has no record")) };
        let record = match record::read(bytes, 1) {
            Ok((record, [])) => record,
            Ok(_) => return wrong(format!("something follows the record of game {number}")),
            Err(error) => return wrong(format!("game {number}: {error}")),
        };
        if record.header.game != game || record.digest.0 != *digest || record.header.seed != result.seed {
            return wrong(format!("the record of game {number} is of another game"));
        }
        if !is_result_of(result, &record) {
            return wrong(format!("the result of game {number} is not that of its record"));
        }
        let seats: SeatBots = record.header.seats.into_iter().map(|seat| (seat.name, seat.hash)).collect();
        if sat.as_ref().is_some_and(|before| *before != seats) {
            return wrong(format!("game {number} was played by others than the games before it"));
        }
        sat = Some(seats);
    }
    Ok(sat.unwrap_or_default())
}

fn is_result_of(result: &GameResult, record: &Record) -> bool {
    let same = |(recorded, said): (&SeatOutcome, &SeatResult)| {
        said.score == FixedPoint::of(recorded.score)
            && said.place == recorded.place
            && said.stats == recorded.stats.map(FixedPoint::of)
    };
    record.outcome.seats.len() == result.seats.len()
        && record.outcome.seats.iter().zip(&result.seats).all(same)
        && record.outcome.ended == result.ended
        && record.turns.len() as u32 == result.turns
        && record.outcome.match_lost_by.map(|seat| seat.0) == result.match_lost_by
}

/// Whether a match is the one that was asked for. `entrants` are all, as records name them.
pub fn check_against_job(played: &MatchReport, sat: &SeatBots, asked: &JobMatch, entrants: &SeatBots) -> Result<(), String> {
    let key = played.result.key;
    let wrong = |what: &str| Err(format!("match {key}: {what}"));
    for game in &played.result.games {
        let seats = game.seats.iter().map(|seat| seat.entrant.0);
        if !seats.eq(asked.seats.iter().copied()) {
            return wrong("others have played it than should have");
        }
    }
    if played.result.games.first().is_some_and(|game| game.seed != asked.seed) {
        return wrong("it was played by another seed");
    }
    if !sat.iter().map(Some).eq(asked.seats.iter().map(|seat| entrants.get(*seat as usize))) {
        return wrong("its records name other bots than should have played");
    }
    for fault in &played.faults {
        let seat = asked.seats.get(usize::from(fault.seat));
        if seat != Some(&fault.entrant) || fault.game as usize >= played.games.len() {
            return wrong("a fault is somebody else's");
        }
    }
    if played.data.iter().any(|(entrant, _)| !asked.seats.contains(entrant)) {
        return wrong("it brings a folder of somebody who did not play");
    }
    Ok(())
}

/// Plays every record of a match through the rules; gives what does not follow from them.
pub fn replayed(table: &dyn Table, assets: &Assets, records: &[Vec<u8>]) -> Result<(), String> {
    for (number, bytes) in records.iter().enumerate() {
        let (record, _) = record::read(bytes, number + 1).map_err(|error| error.to_string())?;
        table.film(record, assets).map_err(|error| format!("the record of game {}: {error}", number + 1))?;
    }
    Ok(())
}
