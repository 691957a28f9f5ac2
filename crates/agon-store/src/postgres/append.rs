//! Storing finished matches in one transaction. One statement per table inserts all rows.

use std::collections::HashMap;

use agon_core::record::Digest;
use agon_league::MatchKey;
use sqlx::{PgConnection, Row as _};

use super::db_error::AttemptError;
use super::text::{digest, escape, key};
use super::{bot_output, bots, progress, state};
use crate::incoming::{self, IncomingGame, IncomingMatch};
use crate::model::{AppendResult, FinishedMatch, MatchFault, PhaseState, Snapshot};
use crate::{encoding, phase_transitions};

pub async fn append(
    change: &mut PgConnection,
    batch: &[FinishedMatch],
    snapshot: Option<&Snapshot>,
) -> Result<AppendResult, AttemptError> {
    let new = store_new(change, incoming::validate_batch(batch)?).await?;
    if let Some(snapshot) = snapshot {
        progress::store_snapshot(change, snapshot).await?;
    }
    Ok(AppendResult { new, already_stored: batch.len() as u64 - new })
}

/// Stores the new ones of these matches and returns their number.
async fn store_new(
    change: &mut PgConnection,
    mut incoming: Vec<IncomingMatch<'_>>,
) -> Result<u64, AttemptError> {
    let phases = incoming::distinct_phases(&incoming);
    if phases.is_empty() {
        return Ok(0);
    }
    let all = state::phases(change).await?;
    for &number in &phases {
        let status = phase_transitions::find_phase(all.clone(), number)?;
        if status.state != PhaseState::Running {
            // A caller that missed the acknowledgement may append stored matches again. New matches are too late.
            let (in_phase, rest): (Vec<_>, Vec<_>) =
                incoming.into_iter().partition(|one| one.key().phase == number);
            if !only_new(change, in_phase).await?.is_empty() {
                return Err(phase_transitions::takes_no_matches(&status).into());
            }
            incoming = rest;
        }
    }
    let last: i64 =
        sqlx::query_scalar("SELECT coalesce(max(last_match), 0) FROM phase").fetch_one(&mut *change).await?;
    for (one, id) in incoming.iter_mut().zip(last + 1..) {
        one.id = id;
    }
    let new = insert_matches(change, &incoming).await?;
    if new < incoming.len() as u64 {
        incoming = only_new(change, incoming).await?;
    }
    insert_games(change, &incoming).await?;
    insert_faults(change, &incoming).await?;
    for one in &incoming {
        bots::store_data_folders(change, one.finished).await?;
    }
    let outputs: Vec<_> = incoming
        .iter()
        .flat_map(|one| one.finished.bot_outputs.iter().map(|output| (one.id, output)))
        .collect();
    bot_output::store(change, &outputs).await?;
    for phase in phases {
        update_phase_totals(change, phase, &incoming).await?;
    }
    Ok(new)
}

/// Leaves out matches that are already stored. A stored match with a different result is an error.
async fn only_new<'b>(
    change: &mut PgConnection,
    incoming: Vec<IncomingMatch<'b>>,
) -> Result<Vec<IncomingMatch<'b>>, AttemptError> {
    let column = |of: fn(MatchKey) -> i64| incoming.iter().map(|one| of(one.key())).collect::<Vec<i64>>();
    let rows = sqlx::query(
        "SELECT phase, stage, number, id, digest FROM match
         WHERE (phase, stage, number) IN (SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]))",
    )
    .bind(column(|key| key.phase.into()))
    .bind(column(|key| key.stage.into()))
    .bind(column(|key| key.number as i64))
    .fetch_all(change)
    .await?;
    let mut known: HashMap<MatchKey, (i64, Digest)> = HashMap::with_capacity(rows.len());
    for row in &rows {
        known.insert(key(row, 0)?, (row.try_get(3)?, digest(row, 4)?));
    }
    let mut new = Vec::with_capacity(incoming.len());
    for one in incoming {
        let is_already_stored = match known.get(&one.key()) {
            Some((id, digest)) => one.is_already_stored(*id, *digest)?,
            None => false,
        };
        if !is_already_stored {
            new.push(one);
        }
    }
    Ok(new)
}

async fn insert_matches(
    change: &mut PgConnection,
    incoming: &[IncomingMatch<'_>],
) -> Result<u64, sqlx::Error> {
    let numbers = |of: fn(&IncomingMatch<'_>) -> i64| incoming.iter().map(of).collect::<Vec<i64>>();
    let done = sqlx::query(
        "INSERT INTO match (id, phase, stage, number, finished, entrants, faults, digest, points, worker)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[],
                              $8::bytea[], $9::bytea[], $10::text[])
         ON CONFLICT (phase, stage, number) DO NOTHING",
    )
    .bind(numbers(|one| one.id))
    .bind(numbers(|one| one.key().phase.into()))
    .bind(numbers(|one| one.key().stage.into()))
    .bind(numbers(|one| one.key().number as i64))
    .bind(numbers(|one| one.finished.finished.0))
    .bind(incoming.iter().map(IncomingMatch::entrant_list).collect::<Vec<_>>())
    .bind(numbers(|one| one.finished.faults.len() as i64))
    .bind(incoming.iter().map(|one| &one.digest.0[..]).collect::<Vec<_>>())
    .bind(incoming.iter().map(|one| encoding::encode_points(&one.finished.result.points)).collect::<Vec<_>>())
    .bind(incoming.iter().map(|one| one.finished.worker.as_deref().map(escape)).collect::<Vec<_>>())
    .execute(change)
    .await?;
    Ok(done.rows_affected())
}

/// Inserts games and their records.
async fn insert_games(change: &mut PgConnection, incoming: &[IncomingMatch<'_>]) -> Result<(), sqlx::Error> {
    let games: Vec<IncomingGame<'_>> = incoming.iter().flat_map(IncomingMatch::games).collect();
    if games.is_empty() {
        return Ok(());
    }
    let numbers = |of: fn(&IncomingGame<'_>) -> i64| games.iter().map(of).collect::<Vec<i64>>();
    sqlx::query(
        "INSERT INTO game (match, game, part, seed, turns, ended, lost_by, digest, seats)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::bytea[],
                              $9::bytea[])",
    )
    .bind(numbers(|game| game.id))
    .bind(numbers(|game| game.number.into()))
    .bind(numbers(|game| game.result.part.into()))
    .bind(numbers(|game| game.result.seed as i64))
    .bind(numbers(|game| game.result.turns.into()))
    .bind(games.iter().map(|game| escape(&game.result.ended)).collect::<Vec<_>>())
    .bind(games.iter().map(|game| game.result.match_lost_by.map(i64::from)).collect::<Vec<_>>())
    .bind(games.iter().map(|game| &game.stored.digest.0[..]).collect::<Vec<_>>())
    .bind(games.iter().map(|game| encoding::encode_seats(&game.result.seats)).collect::<Vec<_>>())
    .execute(&mut *change)
    .await?;
    let with_record: Vec<(i64, i64, &[u8])> = games
        .iter()
        .filter_map(|game| Some((game.id, i64::from(game.number), game.stored.record.as_deref()?)))
        .collect();
    if with_record.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO record (match, game, bytes) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[])",
    )
    .bind(with_record.iter().map(|record| record.0).collect::<Vec<_>>())
    .bind(with_record.iter().map(|record| record.1).collect::<Vec<_>>())
    .bind(with_record.iter().map(|record| record.2).collect::<Vec<_>>())
    .execute(change)
    .await?;
    Ok(())
}

async fn insert_faults(change: &mut PgConnection, incoming: &[IncomingMatch<'_>]) -> Result<(), sqlx::Error> {
    let faults: Vec<(i64, &MatchFault)> = incoming.iter().flat_map(IncomingMatch::faults).collect();
    if faults.is_empty() {
        return Ok(());
    }
    let numbers = |of: fn(&(i64, &MatchFault)) -> i64| faults.iter().map(of).collect::<Vec<i64>>();
    sqlx::query(
        "INSERT INTO fault (id, match, game, turn, seat, entrant, kind, says, stderr)
         SELECT (SELECT coalesce(max(id), 0) FROM fault) + place, match, game, turn, seat, entrant, kind, says, stderr
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[])
              WITH ORDINALITY AS one (match, game, turn, seat, entrant, kind, says, stderr, place)",
    )
    .bind(numbers(|(id, _)| *id))
    .bind(numbers(|(_, fault)| fault.game.into()))
    .bind(numbers(|(_, fault)| fault.turn.into()))
    .bind(numbers(|(_, fault)| fault.seat.into()))
    .bind(numbers(|(_, fault)| fault.entrant.0.into()))
    .bind(faults.iter().map(|(_, fault)| fault.report.fault.name()).collect::<Vec<_>>())
    .bind(faults.iter().map(|(_, fault)| escape(&fault.report.message)).collect::<Vec<_>>())
    .bind(faults.iter().map(|(_, fault)| escape(&fault.report.stderr)).collect::<Vec<_>>())
    .execute(change)
    .await?;
    Ok(())
}

/// Adds the new matches to the totals of the phase.
async fn update_phase_totals(
    change: &mut PgConnection,
    phase: u32,
    incoming: &[IncomingMatch<'_>],
) -> Result<(), sqlx::Error> {
    let in_phase = || incoming.iter().filter(|one| one.key().phase == phase);
    let Some(last) = in_phase().map(|one| one.id).max() else { return Ok(()) };
    sqlx::query(
        "UPDATE phase SET matches = matches + $1, games = games + $2, faults = faults + $3, last_match = $4 WHERE phase = $5",
    )
    .bind(in_phase().count() as i64)
    .bind(in_phase().map(|one| one.finished.games.len() as i64).sum::<i64>())
    .bind(in_phase().map(|one| one.finished.faults.len() as i64).sum::<i64>())
    .bind(last)
    .bind(i64::from(phase))
    .execute(change)
    .await?;
    Ok(())
}
