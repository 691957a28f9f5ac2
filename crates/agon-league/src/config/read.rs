//! From a file's text to a [`CompetitionConfig`], or to all that is wrong with it.

use agon_core::{Lifetime, Settings};
use toml::de::{DeTable, DeValue, Error};

use super::toml_reader::{Located, TomlReader};
use super::game::{Pair, GameContext};
use super::config_error::{ConfigError, ErrorCollector, WHOLE};
use super::{CompetitionConfig, SandboxRule, SeedSource, entrants, validate, phases};

/// The keys at the top of a file.
pub const TOP: [&str; 9] =
    ["name", "game", "seed", "sandbox", "stateless", "bots_per_contributor", "settings", "entrant", "phase"];
/// How an entrant is written.
const ENTRANT: &str = "write [[entrant]], with two brackets, above each, and bot = \"...\" below it";
/// How a phase is written.
const PHASE: &str = "write [[phase]], with two brackets, above each, and format = \"...\" below it";
/// A larger file was not written by hand, nor by a program that meant well.
const MOST_BYTES: usize = 4 << 20;

/// Where a key belongs that stands in the wrong table.
pub fn top_key(key: &str) -> Option<String> {
    let plain = TOP.contains(&key) && !["settings", "entrant", "phase", "name"].contains(&key);
    plain.then(|| format!("`{key}` stands at the top of the file, above the first line in brackets"))
}

impl CompetitionConfig {
    /// Reads a competition's file. Every mistake in it is told at once, in the order of the file.
    pub fn read(text: &str) -> Result<Self, Vec<ConfigError>> {
        let notes = ErrorCollector::new(text);
        if text.len() > MOST_BYTES {
            notes.syntax(WHOLE, "the file is larger than 4 MiB", "is it the right one?");
            return Err(notes.finish());
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            syntax(&notes, text, error);
        }
        let fields = TomlReader { table: table.get_ref(), span: WHOLE, notes: &notes };
        let competition = competition(&fields);
        let mistakes = notes.finish();
        match competition {
            Some(competition) if mistakes.is_empty() => Ok(competition),
            _ => Err(mistakes),
        }
    }
}

/// What the parser stumbled over, in words that help.
fn syntax(notes: &ErrorCollector<'_>, text: &str, error: &Error) {
    let span = error.span().unwrap_or_default();
    let said = error.message().lines().next().unwrap_or_default();
    let start = text.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default().trim();
    let key = line.split_once('=').map_or(line, |(key, _)| key).trim();
    let value = line.split_once('=').map_or("", |(_, value)| value).trim();
    let (what, hint) = if said.starts_with("duplicate key") {
        let key = text.get(span.clone()).unwrap_or(key);
        let hint = if line.starts_with('[') {
            "keep one of the two; what there are several of has two brackets: [[entrant]], [[phase]]"
        } else {
            "keep one of the two"
        };
        (format!("`{key}` is there twice"), hint.to_owned())
    } else if said.starts_with("string values must be quoted") {
        ("text needs quotes".to_owned(), format!("write {key} = \"{}\"", value.replace(['"', '\''], "")))
    } else if said.starts_with("invalid basic string") && said.ends_with("`\"`") {
        ("the text has no closing quote".to_owned(), "end it with \" on the same line".to_owned())
    } else if line.starts_with('[') {
        let hint =
            "a table is written [settings], one of several [[entrant]] or [[phase]], alone on its line";
        (said.to_owned(), hint.to_owned())
    } else {
        (
            said.to_owned(),
            "a line is key = value; text stands in quotes, numbers do not, lists are [1, 2]".to_owned(),
        )
    };
    notes.syntax(span, what, hint);
}

fn competition(fields: &TomlReader<'_>) -> Option<CompetitionConfig> {
    fields.finish(&TOP, |key| match key {
        "format" | "matches" | "games" | "rounds" | "legs" | "boards" => {
            Some(format!("`{key}` belongs to a phase: put it below a line [[phase]]"))
        }
        "bot" | "git" | "contributor" | "marks" => {
            Some(format!("`{key}` belongs to an entrant: put it below a line [[entrant]]"))
        }
        _ => None,
    });
    let played = game(fields);
    let name = fields.name("name");
    let seed = seed(fields);
    let sandbox = match fields.choice("sandbox", &["required", "off"]) {
        Some(Located { value: "off", .. }) => SandboxRule::Off,
        _ => SandboxRule::Required,
    };
    let most_by_contributor = fields.count("bots_per_contributor", 1..=1_000_000).map(|most| most.value);
    check_stateless(fields, played.as_ref());
    let base = fields.below("settings", "write [settings] on a line of its own, and name = value below it");
    let pairs: Vec<Pair> = match (&played, &base) {
        (Some(played), Some(base)) => played.pairs(base, &[], top_key),
        _ => Vec::new(),
    };
    let listed =
        entrants::read(&fields.all("entrant", ENTRANT), fields, played.as_ref(), most_by_contributor);
    let phase_tables = fields.all("phase", PHASE);
    let phases = phases::read(&phase_tables, fields, played.as_ref(), &pairs, &listed);
    let played = played?;
    let at = base.map_or(WHOLE, |base| base.span);
    let settings: Settings = played.settings(fields, at, &[&pairs]);
    validate::validate(fields, &played, &listed, &phases);
    Some(CompetitionConfig {
        name: name.map_or_else(|| played.info.title.to_owned(), |name| name.value),
        game: played.info.id,
        settings,
        entrants: listed.into_iter().map(|one| one.spec).collect(),
        phases: phases.into_iter().map(|one| one.phase).collect(),
        seed,
        sandbox,
        most_by_contributor,
    })
}

fn game(fields: &TomlReader<'_>) -> Option<GameContext> {
    if !fields.has("game") {
        if fields.meant("game", &TOP) {
            return None;
        }
        let ids: Vec<&str> = agon_games::infos().iter().map(|info| info.id).collect();
        fields.missing(
            "there is no `game`",
            format!(
                "say which one is played, such as game = \"{}\"; the games are {}",
                ids[0],
                ids.join(", ")
            ),
        );
        return None;
    }
    let id = fields.text("game")?;
    match GameContext::of(&id.value) {
        Ok(played) => Some(played),
        Err(unknown) => {
            fields.notes.wrong(id.span, format!("there is no game \"{}\"", unknown.id), unknown.hint);
            None
        }
    }
}

/// `stateless = "strict"` is still accepted, because older files say it; there is no other mode.
fn check_stateless(fields: &TomlReader<'_>, played: Option<&GameContext>) {
    const HINT: &str = "\"strict\" is the only mode: write stateless = \"strict\", or leave the line out";
    let Some(mode) = fields.text("stateless") else { return };
    match (mode.value.as_str(), played) {
        ("strict", Some(played)) if played.info.lifetime != Lifetime::Call => {
            let what = format!("`stateless` is not for {}: its bots may remember", played.info.title);
            fields.notes.unfit(fields.place("stateless"), what, "leave it out");
        }
        ("strict", _) => {}
        ("fresh" | "audited", _) => {
            fields.notes.wrong(
                mode.span,
                format!("the mode \"{}\" of `stateless` was removed", mode.value),
                HINT,
            );
        }
        (other, _) => fields.notes.wrong(mode.span, format!("`stateless` cannot be \"{other}\""), HINT),
    }
}

/// `seed = "..."`, a number, `{ file = "..." }` or `{ variable = "..." }`.
fn seed(fields: &TomlReader<'_>) -> SeedSource {
    const HINT: &str = "write seed = \"any words\", or seed = { file = \"seed.txt\" }, or seed = { variable = \"NAME\" }; without it one is drawn";
    let Some(value) = fields.get("seed") else { return SeedSource::Drawn };
    match value.get_ref() {
        DeValue::String(text) if text == "drawn" => SeedSource::Drawn,
        DeValue::String(_) => {
            fields.text("seed").map_or(SeedSource::Drawn, |text| SeedSource::Given(text.value))
        }
        DeValue::Integer(number) => SeedSource::Given(number.to_string()),
        DeValue::Table(table) => {
            let place = TomlReader { table, span: value.span(), notes: fields.notes };
            place.finish(&["file", "variable"], |_| None);
            match (place.text("file"), place.text("variable")) {
                (Some(_), Some(second)) => {
                    fields.notes.wrong(second.span, "the seed has two places", "keep `file` or `variable`");
                    SeedSource::Drawn
                }
                (Some(file), None) => SeedSource::File(file.value),
                (None, Some(variable)) => SeedSource::Variable(variable.value),
                (None, None) => {
                    if table.is_empty() {
                        fields.notes.wrong(value.span(), "the seed's place is empty", HINT);
                    }
                    SeedSource::Drawn
                }
            }
        }
        _ => {
            fields.notes.wrong(value.span(), "`seed` is not text", HINT);
            SeedSource::Drawn
        }
    }
}
