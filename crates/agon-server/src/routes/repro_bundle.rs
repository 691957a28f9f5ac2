//! A crash capsule: all that an author needs to have a fault happen again at home.

use std::fmt::Write as _;
use std::io::{Cursor, Write as _};
use std::sync::Arc;

use agon_core::Lifetime;
use agon_core::record::read;
use agon_core::settings::Kind;
use agon_store::{BotOutput, StoredFault};
use bytes::Bytes;
use tokio::runtime::Handle;
use zip::write::SimpleFileOptions;

use super::matches::GameLookup;
use crate::read_model::overview::match_name;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

const RECORD: &str = "game.agon";

/// The capsule of a fault. `name` is that of the folder in it.
pub async fn pack(
    app: &AppState,
    played: Arc<GameLookup>,
    bot: &str,
    fault: &StoredFault,
    name: &str,
) -> ApiResult<Bytes> {
    let info = played.sitting.table.info();
    // A bot that lives for a match has seen the games before this one, and must see them again.
    let first = if info.lifetime == Lifetime::Match { 0 } else { played.game };
    let mut records = Vec::new();
    for game in first..=played.game {
        let bytes = played.ledger.record(played.key(), game).await.map_err(ApiError::broke)?;
        let missing = || ApiError::not_found("record").hint("this competition keeps no records");
        records.push(bytes.ok_or_else(missing)?);
    }
    let log =
        played.ledger.log(played.key(), played.game, fault.fault.seat).await.map_err(ApiError::broke)?;
    let (bot, fault, name) = (bot.to_owned(), fault.clone(), name.to_owned());
    let work = move |_: &Handle| {
        let assets = assets(&played, records.last().map(Vec::as_slice).unwrap_or_default())?;
        let readme = readme(&played, &bot, &fault, records.len(), &assets);
        let mut files =
            vec![("README.txt".to_owned(), readme.into_bytes()), (RECORD.to_owned(), records.concat())];
        if let Some(log) = &log {
            files.push(("log.txt".to_owned(), log_text(log).into_bytes()));
        }
        files.extend(assets.into_iter().map(|(setting, content)| (format!("{setting}.txt"), content)));
        zipped(&name, files)
    };
    app.arenas.work(work).await
}

fn zipped(folder: &str, files: Vec<(String, Vec<u8>)>) -> ApiResult<Bytes> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in files {
        let options = SimpleFileOptions::default().unix_permissions(0o644);
        zip.start_file(format!("{folder}/{path}"), options).map_err(ApiError::broke)?;
        zip.write_all(&content).map_err(ApiError::broke)?;
    }
    Ok(zip.finish().map_err(ApiError::broke)?.into_inner().into())
}

/// Files of the competition's own that the game was played with, by the setting that names them.
fn assets(played: &GameLookup, record: &[u8]) -> ApiResult<Vec<(&'static str, Vec<u8>)>> {
    let (record, _) = read(record, 1).map_err(ApiError::broke)?;
    let mut files = Vec::new();
    for spec in played.sitting.table.info().settings.iter().filter(|spec| spec.kind == Kind::Asset) {
        let named = record.header.settings.get(spec.name).and_then(serde_json::Value::as_str);
        let named = named.filter(|word| *word != "built-in");
        if let Some(content) = named.and_then(|word| played.sitting.assets.get(word)) {
            files.push((spec.name, content.to_vec()));
        }
    }
    Ok(files)
}

fn log_text(log: &BotOutput) -> String {
    let mut text = String::new();
    let mut turn = None;
    for one in &log.printed {
        if turn != Some(one.turn) {
            let new_line = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let _ = writeln!(text, "{new_line}--- turn {}", one.turn);
            turn = Some(one.turn);
        }
        text += &one.text;
    }
    text
}

/// One line, whatever a bot says.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn readme(
    played: &GameLookup,
    bot: &str,
    fault: &StoredFault,
    games: usize,
    assets: &[(&'static str, Vec<u8>)],
) -> String {
    let (key, own) = (played.key(), &fault.fault);
    let mut command = format!("agon debug {RECORD} --seat {}", own.seat);
    if games > 1 {
        let _ = write!(command, " --game {games}");
    }
    for (setting, _) in assets {
        let _ = write!(command, " --set {setting}={setting}.txt");
    }
    // A fault while it was started has no turn to go to.
    let at_turn = if own.turn > 0 { format!(" --turn {}", own.turn) } else { String::new() };
    let before = if games > 1 {
        format!(", and before it the {} games of its match that the bot had played by then", games - 1)
    } else {
        String::new()
    };
    format!(
        "{title}: {kind} of {bot}\n\
         {competition}, phase {phase}, match {name}, game {game}, turn {turn}\n\
         \n    {says}\n\n\
         {RECORD} holds the game as it was played{before}. log.txt, if it is there, is what the bot printed.\n\
         \n\
         To have it happen again, with your bot in place of BOT (its folder, its file, or what you entered):\n\
         \n    {command} --bot BOT{at_turn}\n\n\
         shows what it saw in that turn, what it answers now, and whether that is what was recorded. Without --turn\n\
         all of its answers are compared. A Python bot can be stopped in that turn, in its own code:\n\
         \n    {command} --bot BOT{at_turn} --pdb\n\n\
         To see the game:\n\
         \n    agon replay {RECORD} --watch\n",
        title = played.sitting.table.info().title,
        kind = own.report.fault.name(),
        bot = one_line(bot),
        competition = one_line(&played.sitting.competition.name),
        phase = key.phase + 1,
        name = match_name(key),
        game = own.game + 1,
        turn = own.turn,
        says = one_line(&own.report.says),
    )
}
