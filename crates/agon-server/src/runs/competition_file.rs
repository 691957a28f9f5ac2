//! The file of a competition that is made on the desk: the organiser's text, and an `[[entrant]]` for everybody who takes part.
//!
//! The text is kept in the office without entrants. On the server only house bots and bots that were handed in take part, the sandbox is
//! on, and no file of the machine is named: an organiser of a site is not the owner of its machine.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use agon_core::settings::Kind;
use agon_league::config::{BotSource, CompetitionConfig, SandboxRule, SeedSource};
use agon_venue::competing::Place;

use crate::config::Config;
use crate::error::{ApiError, ApiResult, Mistake};

/// The name of the file, in the competition's folder.
pub const FILE: &str = "cup.toml";
/// The longest text: the API's bodies are not much longer.
const LONGEST: usize = 48 * 1024;
/// Nobody has entered yet, and formats need somebody: so many stand in (of each role).
const STAND_INS: usize = 8;

/// Who takes part.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntrantLine {
    /// Its name.
    pub name: String,
    /// The BOT, seen from the competition's folder.
    pub bot: String,
    /// Its role, in games that have some.
    pub role: Option<String>,
    /// Whose it is.
    pub contributor: Option<String>,
}

/// An organiser's text, looked at.
#[derive(Clone, Debug)]
pub struct ParsedFile {
    /// Without entrants.
    pub head: String,
    /// The house bots it names.
    pub house: Vec<EntrantLine>,
    /// At most so many bots of one contributor, if it says so.
    pub per_contributor: Option<u32>,
}

/// The folder of a competition.
pub fn folder(config: &Config, id: &str) -> PathBuf {
    config.data.join("competitions").join(id)
}

/// Its file.
pub fn path(config: &Config, id: &str) -> PathBuf {
    folder(config, id).join(FILE)
}

/// Reads what an organiser wrote. Every mistake in it is told at once.
pub fn read(text: &str, game: &str, name: Option<&str>) -> ApiResult<ParsedFile> {
    if text.len() > LONGEST {
        return Err(ApiError::invalid("file", format!("the file is longer than {LONGEST} bytes")));
    }
    let (head, entrants) = split(text);
    names_nobody(&head)?;
    let head = match name {
        Some(name) => set(&head, "name", &toml_quote(name)),
        None => head,
    };
    // With what it names itself if that is enough, else with some who stand in: the mistakes of the head are the same.
    let competition = match CompetitionConfig::read(&format!("{head}\n{entrants}")) {
        Ok(found) => found,
        Err(_) => provisional(&head, game, &named(&entrants, game)?)?,
    };
    if competition.game != game {
        let what = format!("the file is of {}, the competition of {game}", competition.game);
        return Err(refused(&head, "game", what, "change `game` back"));
    }
    allowed(&head, &competition)?;
    Ok(ParsedFile { head, house: named(&entrants, game)?, per_contributor: competition.most_by_contributor })
}

/// The competition as it would be with these, and with others where they are too few. Their own mistakes are those of the head.
pub fn provisional(head: &str, game: &str, lines: &[EntrantLine]) -> ApiResult<CompetitionConfig> {
    let bots = agon_engine::table(game).map_err(|error| ApiError::invalid("game", error.to_string()))?;
    let roles = bots.info().roles;
    let mut all = lines.to_vec();
    let stand_in = |role: &'static str, number: usize| {
        let bot = bots.bots().iter().find(|bot| bot.roles.contains(&role)).map_or("", |bot| bot.name);
        let role = (roles.len() > 1).then(|| role.to_owned());
        let name = format!("\u{2026} {} {number}", role.as_deref().unwrap_or("bot"));
        EntrantLine { name, bot: format!("house:{bot}"), role, contributor: None }
    };
    for role in roles {
        let there = all.iter().filter(|line| line.role.as_deref() == Some(role.name) || roles.len() == 1);
        let missing = STAND_INS.saturating_sub(there.count());
        all.extend((0..missing).map(|number| stand_in(role.name, number + 1)));
    }
    let text = render(head, &all);
    let mut competition = CompetitionConfig::read(&text).map_err(|found| mistakes(head, &found))?;
    if !only(&competition, &all) {
        return Err(ApiError::invalid("file", "the file names bots that were not handed in"));
    }
    competition.entrants.truncate(lines.len());
    Ok(competition)
}

/// The file as it is played.
pub fn render(head: &str, lines: &[EntrantLine]) -> String {
    let mut text = head.trim_end().to_owned();
    text.push('\n');
    for line in lines {
        text += &format!("\n[[entrant]]\nname = {}\nbot = {}\n", toml_quote(&line.name), toml_quote(&line.bot));
        if let Some(role) = &line.role {
            text += &format!("role = {}\n", toml_quote(role));
        }
        if let Some(contributor) = &line.contributor {
            text += &format!("contributor = {}\n", toml_quote(contributor));
        }
    }
    text
}

/// Writes a competition's file, whole or not at all.
pub fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder)?;
    let draft = path.with_extension("toml.new");
    let mut file = std::fs::File::create(&draft)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&draft, path)?;
    std::fs::File::open(folder)?.sync_all()
}

/// Where a competition that is made on the desk is.
pub fn place(config: &Config, id: &str) -> Place {
    let folder = folder(config, id);
    Place { named: FILE.to_owned(), ledger: folder.join(FILE).with_extension("ledger"), folder }
}

/// Sets a key of the file's top.
pub fn set(head: &str, key: &str, value: &str) -> String {
    let line = format!("{key} = {value}");
    let mut lines: Vec<&str> = head.lines().collect();
    let top = lines.iter().position(|line| line.trim_start().starts_with('[')).unwrap_or(lines.len());
    let is_key = |line: &&str| {
        let rest = line.trim_start().strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    if let Some(at) = lines[..top].iter().position(is_key) {
        lines[at] = &line;
    } else {
        let at = lines[..top].iter().position(|line| !line.trim_start().starts_with('#')).unwrap_or(top);
        lines.insert(at, &line);
    }
    lines.join("\n") + "\n"
}

/// As a TOML string.
pub fn toml_quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if c.is_control() => quoted += &format!("\\u{:04X}", c as u32),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// What is left of a text must name no entrant: one can be written in many ways (`[["entrant"]]`, `entrant = [...]`, behind a string
/// that is not closed), and only house bots and those that were handed in may play here.
fn names_nobody(head: &str) -> ApiResult<()> {
    // What is no TOML is told of with its place, later.
    let Ok(read) = toml::de::DeTable::parse(head) else { return Ok(()) };
    if !read.get_ref().contains_key("entrant") {
        return Ok(());
    }
    let hint = "below each [[entrant]] write bot = \"house:NAME\"";
    Err(refused(head, "entrant", "entrants are written as [[entrant]], in lines of their own", hint))
}

/// Whether exactly these take part. A text that names others in a way we did not see is never played.
fn only(competition: &CompetitionConfig, lines: &[EntrantLine]) -> bool {
    competition.entrants.len() == lines.len()
        && competition.entrants.iter().zip(lines).all(|(one, line)| {
            one.name == line.name && matches!(&one.bot, BotSource::Given(bot) if *bot == line.bot)
        })
}

/// The text without its `[[entrant]]` tables, line for line where it was, and those tables.
fn split(text: &str) -> (String, String) {
    let (mut head, mut entrants, mut inside) = (String::new(), String::new(), false);
    for line in text.lines() {
        let start = line.trim_start();
        if start.starts_with('[') {
            let title: String = start.chars().filter(|c| !c.is_whitespace()).collect();
            inside = title.starts_with("[[entrant]]") || (inside && title.starts_with("[entrant."));
        }
        let part = if inside { &mut entrants } else { &mut head };
        part.push_str(line.trim_end_matches('\r'));
        part.push('\n');
    }
    (head, entrants)
}

/// The entrants that stand in a file: house bots, nothing else. Read key by key: there may be too few of them for a game yet.
fn named(entrants: &str, game: &str) -> ApiResult<Vec<EntrantLine>> {
    let table = agon_engine::table(game).map_err(|error| ApiError::invalid("game", error.to_string()))?;
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
            return Err(wrong(what).hint("everybody else is handed in by its author"));
        };
        lines.push(line(table.as_ref(), house, Some(name), text("role"))?);
    }
    Ok(lines)
}

/// A house bot as an entrant.
pub fn line(
    table: &dyn agon_engine::Table,
    house: &str,
    name: Option<String>,
    role: Option<String>,
) -> ApiResult<EntrantLine> {
    let Some(bot) = table.bots().into_iter().find(|bot| bot.name == house) else {
        let names: Vec<&str> = table.bots().iter().map(|bot| bot.name).collect();
        let what = format!("{} has no house bot `{house}`", table.info().title);
        return Err(ApiError::invalid("house", what).hint(format!("there are {}", names.join(", "))));
    };
    let roles = table.info().roles.len() > 1;
    let role = role.or_else(|| bot.roles.first().map(|role| (*role).to_owned())).filter(|_| roles);
    let name = name.unwrap_or_else(|| house.to_owned());
    Ok(EntrantLine { name, bot: format!("house:{house}"), role, contributor: None })
}

/// What would reach beyond the competition's own folder is not for a file that came over the web.
fn allowed(head: &str, competition: &CompetitionConfig) -> ApiResult<()> {
    if matches!(competition.seed, SeedSource::File(_) | SeedSource::Variable(_)) {
        let hint = "leave it out: one is drawn, and kept secret until the end";
        return Err(refused(head, "seed", "the seed cannot come from a file or the environment", hint));
    }
    if competition.sandbox != SandboxRule::Required {
        return Err(refused(head, "sandbox", "no bot runs outside the sandbox here", "leave `sandbox` out"));
    }
    let Ok(table) = agon_engine::table(competition.game) else { return Ok(()) };
    let phases = competition.phases.iter().map(|phase| &phase.settings);
    for settings in phases.chain([&competition.settings]) {
        let assets = table.info().settings.iter().filter(|spec| spec.kind == Kind::Asset);
        if let Some(spec) =
            assets.into_iter().find(|spec| settings.word(spec.name).is_some_and(|w| w != "built-in"))
        {
            let what = format!("`{}` cannot name a file here", spec.name);
            return Err(refused(head, spec.name, what, "leave it out"));
        }
    }
    Ok(())
}

/// One mistake, at the line of a key.
fn refused(head: &str, key: &str, what: impl Into<String>, hint: &str) -> ApiError {
    let is_key = |line: &str| {
        line.trim_start().strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let line = head.lines().position(is_key).map(|at| at as u32 + 1);
    let what = what.into();
    let at = line.map_or_else(String::new, |line| format!("{line}: "));
    ApiError::invalid("file", format!("{FILE}:{at}{what}")).hint(hint).mistakes(vec![Mistake {
        line,
        column: line.map(|_| 1),
        what,
        hint: hint.to_owned(),
    }])
}

/// The mistakes of a file, each with its place in what the organiser wrote.
fn mistakes(head: &str, found: &[agon_league::config::ConfigError]) -> ApiError {
    let lines = head.lines().count();
    let list: Vec<Mistake> = found
        .iter()
        .take(20)
        .map(|one| {
            let own = one.line <= lines;
            Mistake {
                line: own.then_some(one.line as u32),
                column: own.then_some(one.column as u32),
                what: one.what.clone(),
                hint: one.hint.clone(),
            }
        })
        .collect();
    let details = found.iter().take(20).map(|one| one.in_file(FILE)).collect();
    let message = match found {
        [one] => format!("{FILE}:{}:{}: {}", one.line, one.column, one.what),
        _ => format!("{FILE}: {} mistakes", found.len()),
    };
    ApiError::invalid("file", message).details(details).mistakes(list)
}

/// The whole file as it is to be played, or its mistakes.
pub fn checked(head: &str, lines: &[EntrantLine]) -> ApiResult<(String, CompetitionConfig)> {
    let text = render(head, lines);
    let competition = CompetitionConfig::read(&text).map_err(|found| mistakes(head, &found))?;
    if !only(&competition, lines) {
        return Err(ApiError::invalid("file", "the file names bots that were not handed in"));
    }
    allowed(head, &competition)?;
    Ok((text, competition))
}

#[cfg(test)]
mod tests {
    use super::*;
    use agon_league::config::preset;

    #[test]
    fn every_preset_is_a_draft_with_its_house_bots() {
        for info in agon_games::infos() {
            let draft = read(preset(info.id).unwrap(), info.id, Some("A \"cup\"")).unwrap();
            assert!(draft.house.len() >= 4, "{}", info.id);
            assert!(!draft.head.lines().any(|line| line.starts_with("[[entrant]]")));
            let (_, competition) = checked(&draft.head, &draft.house).unwrap();
            assert_eq!(competition.name, "A \"cup\"");
            assert_eq!(competition.entrants.len(), draft.house.len());
            let alone = read(&draft.head, info.id, None).unwrap();
            assert!(alone.house.is_empty());
            assert!(provisional(&alone.head, info.id, &[]).unwrap().entrants.is_empty());
        }
    }

    #[test]
    fn what_reaches_into_the_machine_is_refused_by_line() {
        let cases = [
            ("seed = { file = \"/etc/passwd\" }", "seed"),
            ("seed = { variable = \"HOME\" }", "seed"),
            ("sandbox = \"off\"", "sandbox"),
            ("[settings]\nwords = \"/etc/passwd\"", "words"),
            ("[[entrant]]\nname = \"x\"\nbot = \"sh -c id\"", "house bots"),
            ("[[entrant]]\nname = \"x\"\ngit = \"https://example.org/x\"", "house bots"),
            ("[[\"entrant\"]]\nname = \"x\"\nbot = \"sh -c id\"", "entrants are written"),
            ("[['entrant']]\nname = \"x\"\nbot = \"sh -c id\"", "entrants are written"),
            (
                "entrant = [{ name = \"x\", bot = \"sh -c id\" }, { name = \"y\", bot = \"/bin/sh\" }]",
                "entrants are written",
            ),
            ("[[entrant ]]\nname = \"x\"\nbot = \"sh -c id\"", "house bots"),
            ("[[\"\\u0065ntrant\"]]\nname = \"x\"\nbot = \"sh -c id\"", "entrants are written"),
        ];
        for (line, word) in cases {
            let text = format!("game = \"word-racer\"\n{line}\n\n[[phase]]\nformat = \"round-robin\"\n");
            let error = read(&text, "word-racer", None).unwrap_err();
            assert_eq!(error.status(), 422, "{line}");
            assert!(error.message().contains(word), "{line}: {}", error.message());
        }
    }

    #[test]
    fn a_key_of_the_top_is_set_once() {
        let text = "# about\n\nname = \"x\"\ngame = \"y\"\n[settings]\nname = 3\n";
        assert_eq!(
            set(text, "name", "\"z\""),
            "# about\n\nname = \"z\"\ngame = \"y\"\n[settings]\nname = 3\n"
        );
        assert_eq!(set("[[phase]]\n", "name", "\"z\""), "name = \"z\"\n[[phase]]\n");
    }
}
