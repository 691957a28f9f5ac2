//! Exports a competition as files for other programs.

use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use agon_bots::Diagnostic;
use agon_competition::LoadedCompetition;
use agon_competition::history::{create_file, unreadable_record, write_history};
use agon_core::Seat;
use agon_core::record::read;
use agon_core::text_format::csv_quote;
use agon_league::config::EntrantSpec;
use agon_league::{MatchKey, MatchResult};
use agon_runner::shown_entrants::shown_entrants;
use agon_store::{Ledger, MatchFilter};
use futures_util::StreamExt as _;

use crate::table_formats;

/// A file or folder that was written.
pub struct Written {
    /// Path of the file or folder.
    pub path: PathBuf,
    /// Short description.
    pub is: String,
}

/// Exports all started phases to a folder. Seeds and records are included only after the secret seed was revealed.
pub async fn all(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    begun: u32,
    revealed: bool,
    folder: &Path,
) -> Result<Vec<Written>, Diagnostic> {
    let mut written = Vec::new();
    let mut wrote = |path: PathBuf, is: String| written.push(Written { path, is });
    for phase in 0..begun {
        let standings = agon_runner::phase_results::shown_standings(
            ledger,
            &loaded.competition,
            loaded.table.info(),
            phase,
        );
        let standings = standings.await?;
        for (ending, format) in
            [("json", table_formats::TableFormat::Json), ("csv", table_formats::TableFormat::Csv)]
        {
            let path = folder.join(format!("table-{}.{ending}", phase + 1));
            create_file(&path)?
                .write_all(table_formats::render(&standings, format, true, None).as_bytes())?;
            wrote(path, format!("table of phase {}", phase + 1));
        }
    }
    let path = folder.join("games.csv");
    let games = games_csv(loaded, ledger, begun, revealed, &path).await?;
    wrote(path, format!("one line per seat of {games} games"));
    let path = folder.join("history.json");
    if let Some(count) = write_history(loaded, ledger, 0..begun, &path).await? {
        wrote(path, format!("history of {count} matches, for bots to learn from"));
    }
    let logs = folder.join("logs");
    if let Some(count) = game_logs(loaded, ledger, begun, &logs).await? {
        wrote(logs, format!("logs of {count} games, in the format that bots read"));
    }
    if revealed {
        let path = folder.join("records.agon");
        let count = records(ledger, begun, &path).await?;
        wrote(path, format!("records of {count} games, for agon replay"));
    }
    Ok(written)
}

/// CSV header of [`game_lines`].
pub fn game_titles(loaded: &LoadedCompetition) -> String {
    let mut titles = "phase,stage,match,game,part,seed,turns,ended,seat,role,name,score,place".to_owned();
    for stat in loaded.table.info().stats {
        titles += &format!(",{}", csv_quote(stat.name));
    }
    titles + ",timeout,crash,illegal,garbled,answers,time_us,longest_us,empty_us\n"
}

/// CSV lines, one for each seat of each game of a match. `entrants` are those that tables show. Seeds are included only after the
/// secret seed was revealed.
pub fn game_lines(
    loaded: &LoadedCompetition,
    entrants: &[EntrantSpec],
    one: &MatchResult,
    revealed: bool,
) -> String {
    use std::fmt::Write as _;
    let info = loaded.table.info();
    let MatchKey { phase, stage, number: in_stage } = one.key;
    let mut out = String::new();
    for (number, game) in one.games.iter().enumerate() {
        let seed = if revealed { game.seed.to_string() } else { String::new() };
        let ended = csv_quote(&game.ended);
        let head = format!(
            "{},{},{},{},{},{seed},{},{ended}",
            phase + 1,
            stage + 1,
            in_stage + 1,
            number + 1,
            game.part + 1,
            game.turns
        );
        for (seat, own) in game.seats.iter().enumerate() {
            let role = info.role(Seat(seat as u8)).name;
            let name = entrants.get(own.entrant.index()).map_or("", |one| &one.name);
            let name = csv_quote(name);
            // Writing to a string cannot fail.
            let _ = write!(out, "{head},{seat},{role},{name},{},{}", own.score.to_f64(), own.place);
            for (_, stat) in info.stats.iter().zip(own.stats) {
                let _ = write!(out, ",{}", stat.to_f64());
            }
            for faults in own.faults {
                let _ = write!(out, ",{faults}");
            }
            let micros = |ns: u64| ns as f64 / 1000.0;
            let times = [own.thought_ns, own.longest_ns, own.empty_ns].map(micros);
            let _ = writeln!(out, ",{},{},{},{}", own.answers, times[0], times[1], times[2]);
        }
    }
    out
}

async fn games_csv(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    begun: u32,
    revealed: bool,
    path: &Path,
) -> Result<u64, Diagnostic> {
    let mut out = BufWriter::new(create_file(path)?);
    out.write_all(game_titles(loaded).as_bytes())?;
    let mut count = 0;
    for phase in 0..begun {
        let entrants = shown_entrants(ledger, &loaded.competition, phase).await?;
        let mut matches = ledger.matches(phase, MatchFilter::default());
        while let Some(one) = matches.next().await {
            let one = one?.result;
            count += one.games.len() as u64;
            out.write_all(game_lines(loaded, &entrants, &one, revealed).as_bytes())?;
        }
    }
    out.flush()?;
    Ok(count)
}

/// Writes Connect Five's logs, one file per game, in the order of the schedule.
async fn game_logs(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    begun: u32,
    folder: &Path,
) -> Result<Option<u64>, Diagnostic> {
    let mut count = 0;
    for phase in 0..begun {
        let mut records = ledger.records(phase, MatchFilter::default());
        while let Some(one) = records.next().await {
            let one = one?;
            let (record, _) = read(&one.bytes, 1).map_err(|e| unreadable_record(one.key, &e))?;
            let text = loaded
                .table
                .bot_log(record, None, &loaded.assets)
                .map_err(|e| unreadable_record(one.key, &e))?;
            let Some(text) = text else { return Ok(None) };
            if count == 0 {
                fs::create_dir_all(folder).map_err(|e| {
                    Diagnostic::io("create", folder, &e, "check disk space and write permission")
                })?;
            }
            count += 1;
            create_file(&folder.join(format!("game-{count:04}.json")))?.write_all(text.as_bytes())?;
        }
    }
    Ok((count > 0).then_some(count))
}

async fn records(ledger: &dyn Ledger, begun: u32, path: &Path) -> Result<u64, Diagnostic> {
    let mut out = BufWriter::new(create_file(path)?);
    let mut count = 0;
    for phase in 0..begun {
        let mut records = ledger.records(phase, MatchFilter::default());
        while let Some(one) = records.next().await {
            out.write_all(&one?.bytes)?;
            count += 1;
        }
    }
    out.flush()?;
    Ok(count)
}
