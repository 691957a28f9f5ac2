//! Repro bundle: a zip with which an author can reproduce a fault.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::sync::Arc;

use agon_core::BotLifetime;
use agon_core::record::read;
use agon_core::sanitize::replace_controls;
use agon_core::settings::SettingKind;
use agon_store::{BotOutput, StoredFault};
use bytes::Bytes;
use tokio::runtime::Handle;
use zip::write::SimpleFileOptions;

use super::matches::GameLookup;
use crate::error::{ApiError, ApiResult};
use crate::read_model::overview::match_name;
use crate::state::AppState;

const RECORD_FILE: &str = "game.agon";

/// Builds the bundle of a fault. `name` is the name of the folder in the zip.
pub async fn build(
    app: &AppState,
    lookup: Arc<GameLookup>,
    bot: &str,
    fault: &StoredFault,
    name: &str,
) -> ApiResult<Bytes> {
    let info = lookup.loaded.table.info();
    // A bot that lives for a whole match has seen the earlier games, so they must be replayed too.
    let first = if info.lifetime == BotLifetime::Match { 0 } else { lookup.game };
    let mut records = Vec::new();
    for game in first..=lookup.game {
        let bytes = lookup.ledger.record(lookup.key(), game).await.map_err(ApiError::internal)?;
        let missing = || ApiError::not_found("record").hint("this competition does not store records");
        records.push(bytes.ok_or_else(missing)?);
    }
    let log = lookup
        .ledger
        .bot_output(lookup.key(), lookup.game, fault.fault.seat)
        .await
        .map_err(ApiError::internal)?;
    let (bot, fault, name) = (bot.to_owned(), fault.clone(), name.to_owned());
    let work = move |_: &Handle| {
        let assets = assets(&lookup, records.last().map(Vec::as_slice).unwrap_or_default())?;
        let readme = readme(&lookup, &bot, &fault, records.len(), &assets);
        let mut files =
            vec![("README.txt".to_owned(), readme.into_bytes()), (RECORD_FILE.to_owned(), records.concat())];
        if let Some(log) = &log {
            files.push(("log.txt".to_owned(), log_text(log).into_bytes()));
        }
        files.extend(assets.into_iter().map(|(setting, content)| (format!("{setting}.txt"), content)));
        zip_files(&name, files)
    };
    app.competitions.compute(work).await
}

fn zip_files(folder: &str, files: Vec<(String, Vec<u8>)>) -> ApiResult<Bytes> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in files {
        let options = SimpleFileOptions::default().unix_permissions(0o644);
        zip.start_file(format!("{folder}/{path}"), options).map_err(ApiError::internal)?;
        zip.write_all(&content).map_err(ApiError::internal)?;
    }
    Ok(zip.finish().map_err(ApiError::internal)?.into_inner().into())
}

/// The competition's own asset files that the game was played with, by setting.
fn assets(lookup: &GameLookup, record: &[u8]) -> ApiResult<Vec<(&'static str, Vec<u8>)>> {
    let (record, _) = read(record, 1).map_err(ApiError::internal)?;
    let mut files = Vec::new();
    for spec in lookup.loaded.table.info().settings.iter().filter(|spec| spec.kind == SettingKind::Asset) {
        let named = record.header.settings.get(spec.name).and_then(serde_json::Value::as_str);
        let named = named.filter(|word| *word != "built-in");
        if let Some(content) = named.and_then(|word| lookup.loaded.assets.get(word)) {
            files.push((spec.name, content.to_vec()));
        }
    }
    Ok(files)
}

fn log_text(log: &BotOutput) -> String {
    let mut text = String::new();
    let mut turn = None;
    for one in &log.pieces {
        if turn != Some(one.turn) {
            let new_line = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let _ = writeln!(text, "{new_line}--- turn {}", one.turn);
            turn = Some(one.turn);
        }
        text += &one.text;
    }
    text
}

fn readme(
    lookup: &GameLookup,
    bot: &str,
    fault: &StoredFault,
    games: usize,
    assets: &[(&'static str, Vec<u8>)],
) -> String {
    let (key, own) = (lookup.key(), &fault.fault);
    let mut command = format!("agon debug {RECORD_FILE} --seat {}", own.seat);
    if games > 1 {
        let _ = write!(command, " --game {games}");
    }
    for (setting, _) in assets {
        let _ = write!(command, " --set {setting}={setting}.txt");
    }
    // A fault during the start has no turn.
    let at_turn = if own.turn > 0 { format!(" --turn {}", own.turn) } else { String::new() };
    let before = if games > 1 {
        format!(", after the {} earlier games of the match that the bot played", games - 1)
    } else {
        String::new()
    };
    format!(
        "{title}: {kind} of {bot}\n\
         {competition}, phase {phase}, match {name}, game {game}, turn {turn}\n\
         \n    {says}\n\n\
         {RECORD_FILE} contains the recorded game{before}. log.txt, if present, contains the bot's output.\n\
         \n\
         To reproduce the fault, replace BOT by your bot (its folder or file, or the bot spec you submitted):\n\
         \n    {command} --bot BOT{at_turn}\n\n\
         This shows the bot's input in that turn, its answer now, and whether it matches the record. Without --turn\n\
         all answers are compared. To stop a Python bot in that turn with the debugger:\n\
         \n    {command} --bot BOT{at_turn} --pdb\n\n\
         To watch the game:\n\
         \n    agon replay {RECORD_FILE} --watch\n",
        title = lookup.loaded.table.info().title,
        kind = own.report.fault.name(),
        bot = replace_controls(bot, ' '),
        competition = replace_controls(&lookup.loaded.competition.name, ' '),
        phase = key.phase + 1,
        name = match_name(key),
        game = own.game + 1,
        turn = own.turn,
        says = replace_controls(&own.report.message, ' '),
    )
}
