//! The file of a competition created on the dashboard: the organiser's text, plus an `[[entrant]]` for each entrant.
//!
//! The site database stores the text without entrants. On the server only house bots and submitted bots take part, the sandbox is on, and
//! the file cannot name other files of the machine: an organiser of a site is not the owner of its machine.

use std::path::{Path, PathBuf};

use agon_competition::CompetitionPaths;
use agon_core::settings::SettingKind;
use agon_core::{Diagnostic, GameInfo};
use agon_files::{AtomicFile, SyncToDisk};
use agon_games::UnknownGame;
use agon_league::config::edit::split_entrants;
use agon_league::config::{CompetitionConfig, EntrantBot, SandboxRule, SeedSource};

use crate::config::Config;
use crate::error::{ApiError, ApiResult, ConfigErrorBody};

pub use agon_league::config::edit::{EntrantLine, render, set_setting, set_top_level_key};

/// Name of the file in the competition's folder.
pub const FILE: &str = "cup.toml";
/// Maximum size of the text in bytes; somewhat less than that of an API request.
const MAX_FILE_BYTES: usize = 48 * 1024;
/// Number of placeholder entrants per role. Formats need entrants, even before the first bot is submitted.
const PLACEHOLDERS_PER_ROLE: usize = 8;

/// An organiser's text after parsing.
#[derive(Clone, Debug)]
pub struct ParsedFile {
    /// The text without entrants.
    pub organiser_text: String,
    /// The house bots that it names.
    pub house_bots: Vec<EntrantLine>,
    /// Maximum number of bots per contributor, if given.
    pub per_contributor: Option<u32>,
}

/// The folder of a competition.
pub fn folder(config: &Config, id: &str) -> PathBuf {
    config.data.join("competitions").join(id)
}

/// The file of a competition.
pub fn path(config: &Config, id: &str) -> PathBuf {
    folder(config, id).join(FILE)
}

/// Name in the competition's folder of the file that a setting names. There is one name, so that a text from the web cannot name
/// any other file of the machine.
pub fn asset_file_name(info: &GameInfo, setting: &'static str) -> &'static str {
    info.bots.file.filter(|file| file.setting == setting).map_or(setting, |file| file.name)
}

/// Parses an organiser's text. Reports all errors at once. `folder` is the competition's folder, if it exists: the text can name files
/// that were uploaded to it.
pub fn parse(text: &str, game: &str, name: Option<&str>, folder: Option<&Path>) -> ApiResult<ParsedFile> {
    if text.len() > MAX_FILE_BYTES {
        return Err(ApiError::invalid("file", format!("the file is longer than {MAX_FILE_BYTES} bytes")));
    }
    let (organiser_text, entrants) = split_entrants(text).map_err(|error| {
        error_at_key(text, "entrant", error.to_string(), "below each [[entrant]] write bot = \"house:NAME\"")
    })?;
    let organiser_text = match name {
        Some(name) => set_top_level_key(&organiser_text, "name", name),
        None => organiser_text,
    };
    // Parsed with its own entrants if there are enough, else with placeholders. The errors of the text are the same.
    let competition = match CompetitionConfig::read(&format!("{organiser_text}\n{entrants}")) {
        Ok(found) => found,
        Err(_) => provisional(&organiser_text, game, &parse_house_bots(&entrants, game)?)?,
    };
    if competition.game != game {
        let what = format!("the file is for {}, but the competition is for {game}", competition.game);
        return Err(error_at_key(&organiser_text, "game", what, "change `game` back"));
    }
    check_restrictions(&organiser_text, &competition, folder)?;
    Ok(ParsedFile {
        organiser_text,
        house_bots: parse_house_bots(&entrants, game)?,
        per_contributor: competition.max_bots_per_contributor,
    })
}

/// Parses the text with these entrants and adds placeholders if there are too few. Errors refer to lines of the text.
pub fn provisional(organiser_text: &str, game: &str, lines: &[EntrantLine]) -> ApiResult<CompetitionConfig> {
    let any_game = agon_engine::any_game(game).map_err(unknown_game)?;
    let roles = any_game.info().roles;
    let mut all = lines.to_vec();
    let placeholder = |role: &'static str, number: usize| {
        let bot =
            any_game.house_bots().iter().find(|bot| bot.roles.contains(&role)).map_or("", |bot| bot.name);
        let role = (roles.len() > 1).then(|| role.to_owned());
        let name = format!("\u{2026} {} {number}", role.as_deref().unwrap_or("bot"));
        EntrantLine { name, bot: format!("house:{bot}"), role, contributor: None, marks: Vec::new() }
    };
    for role in roles {
        let there = all.iter().filter(|line| line.role.as_deref() == Some(role.name) || roles.len() == 1);
        let missing = PLACEHOLDERS_PER_ROLE.saturating_sub(there.count());
        all.extend((0..missing).map(|number| placeholder(role.name, number + 1)));
    }
    let text = render(organiser_text, &all);
    let mut competition =
        CompetitionConfig::read(&text).map_err(|found| config_errors(organiser_text, &found))?;
    if !has_exactly(&competition, &all) {
        return Err(ApiError::invalid("file", "the file names bots that were not submitted"));
    }
    competition.entrants.truncate(lines.len());
    Ok(competition)
}

/// Writes a competition's file atomically.
pub fn write(path: &Path, text: &str) -> std::io::Result<()> {
    write_bytes(path, text.as_bytes())
}

/// Writes a file of a competition atomically.
pub fn write_bytes(path: &Path, content: &[u8]) -> std::io::Result<()> {
    std::fs::create_dir_all(path.parent().unwrap_or(path))?;
    AtomicFile::options().sync(SyncToDisk::FileAndFolder).write(path, content)
}

/// Paths of a competition created on the dashboard. Creates its folder.
pub fn paths(config: &Config, id: &str) -> std::io::Result<CompetitionPaths> {
    let folder = folder(config, id);
    std::fs::create_dir_all(&folder)?;
    let folder = folder.canonicalize()?;
    let ledger = folder.join(FILE).with_extension("ledger");
    Ok(CompetitionPaths { named: FILE.to_owned(), ledger, folder })
}

/// Whether exactly these entrants take part. A safety net: only house bots and submitted bots may play on the server.
fn has_exactly(competition: &CompetitionConfig, lines: &[EntrantLine]) -> bool {
    competition.entrants.len() == lines.len()
        && competition.entrants.iter().zip(lines).all(|(one, line)| {
            one.name == line.name && matches!(&one.bot, EntrantBot::Spec(bot) if *bot == line.bot)
        })
}

fn unknown_game(error: UnknownGame) -> ApiError {
    ApiError::from(Diagnostic::from(error)).field("game")
}

/// Parses the `[[entrant]]` tables, which may name house bots only. Reads single keys, because there may be too few entrants yet.
fn parse_house_bots(entrants: &str, game: &str) -> ApiResult<Vec<EntrantLine>> {
    let any_game = agon_engine::any_game(game).map_err(unknown_game)?;
    let hint = "below each [[entrant]] write bot = \"house:NAME\"";
    let wrong = |what: String| ApiError::invalid("file", what).hint(hint);
    let read = toml::de::DeTable::parse(entrants).map_err(|error| wrong(error.message().to_owned()))?;
    let list = read.get_ref().get("entrant").and_then(|list| list.get_ref().as_array());
    let mut lines: Vec<EntrantLine> = Vec::new();
    for one in list.into_iter().flatten() {
        let text = |key: &str| Some(one.get_ref().as_table()?.get(key)?.get_ref().as_str()?.to_owned());
        let bot = text("bot").unwrap_or_default();
        let name = text("name").unwrap_or_else(|| bot.trim_start_matches("house:").to_owned());
        let Some(house) = bot.strip_prefix("house:") else {
            let what = format!("entrant {name}: only house bots can be named in the file");
            return Err(wrong(what).hint("authors submit all other bots"));
        };
        let line = house_bot_line(any_game.as_ref(), house, Some(name), text("role"))?;
        lines.push(EntrantLine { marks: marks(one.get_ref()), ..line });
    }
    Ok(lines)
}

/// `marks` of an `[[entrant]]`. Errors in it are reported when the file is parsed as a whole.
fn marks(entrant: &toml::de::DeValue<'_>) -> Vec<(String, Option<String>)> {
    use toml::de::DeValue;
    let note = |value: &DeValue<'_>| value.as_str().map(str::to_owned).filter(|note| !note.is_empty());
    match entrant.as_table().and_then(|table| table.get("marks")).map(toml::Spanned::get_ref) {
        Some(DeValue::Array(list)) => {
            list.iter().filter_map(|mark| Some((mark.get_ref().as_str()?.to_owned(), None))).collect()
        }
        Some(DeValue::Table(table)) => {
            table.iter().map(|(mark, value)| (mark.get_ref().to_string(), note(value.get_ref()))).collect()
        }
        _ => Vec::new(),
    }
}

/// A house bot as an entrant.
pub fn house_bot_line(
    any_game: &dyn agon_engine::AnyGame,
    house: &str,
    name: Option<String>,
    role: Option<String>,
) -> ApiResult<EntrantLine> {
    let Some(bot) = any_game.house_bots().into_iter().find(|bot| bot.name == house) else {
        let names: Vec<&str> = any_game.house_bots().iter().map(|bot| bot.name).collect();
        let what = format!("{} has no house bot `{house}`", any_game.info().title);
        return Err(ApiError::invalid("house", what).hint(format!("choose one of {}", names.join(", "))));
    };
    let roles = any_game.info().roles.len() > 1;
    let role = role.or_else(|| bot.roles.first().map(|role| (*role).to_owned())).filter(|_| roles);
    let name = name.unwrap_or_else(|| house.to_owned());
    Ok(EntrantLine { name, bot: format!("house:{house}"), role, contributor: None, marks: Vec::new() })
}

/// Rejects settings that reach beyond the competition's folder: the file was sent over the web.
fn check_restrictions(
    organiser_text: &str,
    competition: &CompetitionConfig,
    folder: Option<&Path>,
) -> ApiResult<()> {
    if matches!(competition.seed, SeedSource::File(_) | SeedSource::Variable(_)) {
        let hint = "omit `seed`: the server draws one and keeps it secret until the end";
        return Err(error_at_key(
            organiser_text,
            "seed",
            "the seed cannot come from a file or the environment",
            hint,
        ));
    }
    if competition.sandbox != SandboxRule::Required {
        return Err(error_at_key(
            organiser_text,
            "sandbox",
            "bots always run in the sandbox here",
            "omit `sandbox`",
        ));
    }
    if competition.packages.is_some() {
        return Err(error_at_key(
            organiser_text,
            "packages",
            "packages cannot be fetched here",
            "omit `packages`; the server's operator allows packages for all bots by `agon serve --packages FILE`",
        ));
    }
    let Ok(any_game) = agon_engine::any_game(competition.game) else { return Ok(()) };
    let phases = competition.phases.iter().map(|phase| &phase.settings);
    for settings in phases.chain([&competition.settings]) {
        for spec in any_game.info().settings.iter().filter(|spec| spec.kind == SettingKind::Asset) {
            let uploaded = asset_file_name(any_game.info(), spec.name);
            let is_there = || folder.is_some_and(|folder| folder.join(uploaded).is_file());
            match settings.word(spec.name) {
                None | Some("built-in") => {}
                Some(name) if name == uploaded && is_there() => {}
                Some(_) => {
                    let what = format!("`{}` cannot name a file that was not uploaded", spec.name);
                    let hint =
                        format!("omit it, and upload the file on the dashboard: it is stored as {uploaded}");
                    return Err(error_at_key(organiser_text, spec.name, what, &hint));
                }
            }
        }
    }
    Ok(())
}

/// An error at the line of a key.
fn error_at_key(organiser_text: &str, key: &str, what: impl Into<String>, hint: &str) -> ApiError {
    let is_key = |line: &str| {
        line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let line = organiser_text.lines().position(is_key).map(|at| at as u32 + 1);
    let what = what.into();
    let at = line.map_or_else(String::new, |line| format!("{line}: "));
    ApiError::invalid("file", format!("{FILE}:{at}{what}")).hint(hint).config_errors(vec![ConfigErrorBody {
        line,
        column: line.map(|_| 1),
        what,
        hint: hint.to_owned(),
    }])
}

/// The errors of a file, with their positions in the organiser's text.
fn config_errors(organiser_text: &str, found: &[agon_league::config::ConfigError]) -> ApiError {
    let lines = organiser_text.lines().count();
    let list: Vec<ConfigErrorBody> = found
        .iter()
        .take(20)
        .map(|one| {
            let own = one.line <= lines;
            let body = ConfigErrorBody::from(&one.diagnostic(FILE));
            ConfigErrorBody { line: body.line.filter(|_| own), column: body.column.filter(|_| own), ..body }
        })
        .collect();
    let details = found.iter().take(20).map(|one| one.describe(FILE)).collect();
    let message = match found {
        [one] => format!("{FILE}:{}:{}: {}", one.line, one.column, one.what),
        _ => format!("{FILE}: {} errors", found.len()),
    };
    ApiError::invalid("file", message).details(details).config_errors(list)
}

/// The complete file after all checks, or its errors.
pub fn render_checked(
    organiser_text: &str,
    lines: &[EntrantLine],
    folder: Option<&Path>,
) -> ApiResult<(String, CompetitionConfig)> {
    let text = render(organiser_text, lines);
    let competition =
        CompetitionConfig::read(&text).map_err(|found| config_errors(organiser_text, &found))?;
    if !has_exactly(&competition, lines) {
        return Err(ApiError::invalid("file", "the file names bots that were not submitted"));
    }
    check_restrictions(organiser_text, &competition, folder)?;
    Ok((text, competition))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_league::presets::preset;

    #[test]
    fn parse_accepts_every_preset_with_its_house_bots() {
        for info in agon_games::infos() {
            let parsed = parse(preset(info.id).unwrap(), info.id, Some("A \"cup\""), None).unwrap();
            assert!(parsed.house_bots.len() >= 4, "{}", info.id);
            assert!(!parsed.organiser_text.lines().any(|line| line.starts_with("[[entrant]]")));
            let (_, competition) = render_checked(&parsed.organiser_text, &parsed.house_bots, None).unwrap();
            assert_eq!(competition.name, "A \"cup\"");
            assert_eq!(competition.entrants.len(), parsed.house_bots.len());
            let alone = parse(&parsed.organiser_text, info.id, None, None).unwrap();
            assert!(alone.house_bots.is_empty());
            assert!(provisional(&alone.organiser_text, info.id, &[]).unwrap().entrants.is_empty());
        }
    }

    #[test]
    fn parse_rejects_settings_that_reach_into_the_machine() {
        let cases = [
            ("seed = { file = \"/etc/passwd\" }", "seed"),
            ("seed = { variable = \"HOME\" }", "seed"),
            ("sandbox = \"off\"", "sandbox"),
            ("[settings]\nwords = \"/etc/passwd\"", "words"),
            ("[[entrant]]\nname = \"x\"\nbot = \"sh -c id\"", "house bots"),
            ("[[entrant]]\nname = \"x\"\ngit = \"https://example.org/x\"", "house bots"),
            ("[[\"entrant\"]]\nname = \"x\"\nbot = \"sh -c id\"", "house bots"),
            ("[['entrant']]\nname = \"x\"\nbot = \"sh -c id\"", "house bots"),
            (
                "entrant = [{ name = \"x\", bot = \"sh -c id\" }, { name = \"y\", bot = \"/bin/sh\" }]",
                "entrants must be written",
            ),
            ("[[entrant ]]\nname = \"x\"\nbot = \"sh -c id\"", "house bots"),
            ("[[\"\\u0065ntrant\"]]\nname = \"x\"\nbot = \"sh -c id\"", "house bots"),
        ];
        for (line, word) in cases {
            let text = format!("game = \"word-racer\"\n{line}\n\n[[phase]]\nformat = \"round-robin\"\n");
            let error = parse(&text, "word-racer", None, None).unwrap_err();
            assert_eq!(error.status(), 422, "{line}");
            assert!(error.message().contains(word), "{line}: {}", error.message());
        }
    }

    #[test]
    fn parse_rejects_packages_because_nothing_is_fetched_on_a_server() {
        let text =
            "game = \"connect-five\"\npackages = \"/etc/passwd\"\n\n[[phase]]\nformat = \"round-robin\"\n";
        let error = parse(text, "connect-five", None, None).unwrap_err();
        assert_eq!(error.status(), 422);
        assert!(error.message().contains("packages cannot be fetched here"), "{}", error.message());
    }
}
