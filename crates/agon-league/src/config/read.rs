//! Reads a file into a [`CompetitionConfig`], or reports all errors in it.

use agon_core::{BotLifetime, Settings};
use toml::de::{DeTable, DeValue, Error};

use super::config_error::{ConfigError, ErrorCollector, WHOLE_FILE};
use super::game::{GameContext, SettingPair};
use super::toml_reader::{Located, TomlReader};
use super::{
    CompetitionConfig, MeterRule, SandboxRule, SeedSource, deadline, entrants, phases, presentation, validate,
};

/// Keys at the top of a file.
pub const TOP_LEVEL_KEYS: [&str; 18] = [
    "name",
    "game",
    "seed",
    "sandbox",
    "meter",
    "stateless",
    "bots_per_contributor",
    "forbidden_libraries",
    "packages",
    "max_zip_mib",
    "deadline",
    "freeze",
    "about",
    "prizes",
    "sponsor",
    "settings",
    "entrant",
    "phase",
];
/// Hint for `[[entrant]]`.
const ENTRANT_HINT: &str = "write [[entrant]], with two brackets, and bot = \"...\" below it";
/// Hint for `[[phase]]`.
const PHASE_HINT: &str = "write [[phase]], with two brackets, and format = \"...\" below it";
/// The largest `max_zip_mib`.
const MAX_ZIP_MIB: u32 = 1024;
/// Maximum size of a competition file.
const MAX_FILE_BYTES: usize = 4 << 20;

/// Hint for a top-level key that is in the wrong table.
pub fn top_level_key_hint(key: &str) -> Option<String> {
    let plain = TOP_LEVEL_KEYS.contains(&key) && !["settings", "entrant", "phase", "sponsor", "name"].contains(&key);
    plain.then(|| format!("move `{key}` to the top of the file, above the first line in brackets"))
}

impl CompetitionConfig {
    /// Reads a competition file. Reports all errors at once, in the order of the file.
    pub fn read(text: &str) -> Result<Self, Vec<ConfigError>> {
        let collector = ErrorCollector::new(text);
        if text.len() > MAX_FILE_BYTES {
            collector.syntax_error(
                WHOLE_FILE,
                "the file is larger than 4 MiB",
                "check that this is the right file",
            );
            return Err(collector.finish());
        }
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            report_syntax_error(&collector, text, error);
        }
        let fields = TomlReader { table: table.get_ref(), span: WHOLE_FILE, errors: &collector };
        let competition = competition(&fields);
        let errors = collector.finish();
        match competition {
            Some(competition) if errors.is_empty() => Ok(competition),
            _ => Err(errors),
        }
    }
}

/// Translates a parser error into a message with a hint.
fn report_syntax_error(collector: &ErrorCollector<'_>, text: &str, error: &Error) {
    let span = error.span().unwrap_or_default();
    let message = error.message().lines().next().unwrap_or_default();
    let start = text.get(..span.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default().trim();
    let key = line.split_once('=').map_or(line, |(key, _)| key).trim();
    let value = line.split_once('=').map_or("", |(_, value)| value).trim();
    let (what, hint) = if message.starts_with("duplicate key") {
        let key = text.get(span.clone()).unwrap_or(key);
        let hint = if line.starts_with('[') {
            "keep one of the two; repeated tables need two brackets: [[entrant]], [[phase]]"
        } else {
            "keep one of the two"
        };
        (format!("duplicate `{key}`"), hint.to_owned())
    } else if message.starts_with("string values must be quoted") {
        ("text needs quotes".to_owned(), format!("write {key} = \"{}\"", value.replace(['"', '\''], "")))
    } else if message.starts_with("invalid basic string") && message.ends_with("`\"`") {
        ("the text has no closing quote".to_owned(), "end it with \" on the same line".to_owned())
    } else if line.starts_with('[') {
        let hint =
            "write [settings] for a table, [[entrant]] or [[phase]] for a repeated one, alone on the line";
        (message.to_owned(), hint.to_owned())
    } else {
        (
            message.to_owned(),
            "write key = value: text in quotes, numbers without quotes, lists as [1, 2]".to_owned(),
        )
    };
    collector.syntax_error(span, what, hint);
}

fn competition(fields: &TomlReader<'_>) -> Option<CompetitionConfig> {
    fields.reject_unknown_keys(&TOP_LEVEL_KEYS, |key| match key {
        "format" | "matches" | "games" | "rounds" | "legs" | "boards" => {
            Some(format!("`{key}` belongs to a phase: move it below a line [[phase]]"))
        }
        "link" | "picture" => {
            Some(format!("`{key}` belongs to a sponsor: move it below a line [[sponsor]]"))
        }
        "bot" | "git" | "contributor" | "marks" => {
            Some(format!("`{key}` belongs to an entrant: move it below a line [[entrant]]"))
        }
        _ => None,
    });
    let game = game(fields);
    let name = fields.name("name");
    let seed = seed(fields);
    let sandbox = match fields.choice("sandbox", &["required", "off"]) {
        Some(Located { value: "off", .. }) => SandboxRule::Off,
        _ => SandboxRule::Required,
    };
    let meter = match fields.choice("meter", &["any", "cgroup"]) {
        Some(Located { value: "cgroup", .. }) => MeterRule::Cgroup,
        _ => MeterRule::Any,
    };
    let max_bots_per_contributor = fields.count("bots_per_contributor", 1..=1_000_000).map(|most| most.value);
    let forbidden_libraries = forbidden_libraries(fields, game.as_ref());
    let packages = packages(fields, game.as_ref());
    let max_zip_mib = fields.count("max_zip_mib", 1..=MAX_ZIP_MIB).map(|most| most.value);
    let deadline = deadline::read(fields, "deadline");
    let freeze = deadline::read(fields, "freeze");
    let presentation = presentation::read(fields);
    check_stateless(fields, game.as_ref());
    let base = fields.subtable("settings", "write [settings] on its own line, and name = value below it");
    let pairs: Vec<SettingPair> = match (&game, &base) {
        (Some(game), Some(base)) => game.read_settings(base, &[], top_level_key_hint),
        _ => Vec::new(),
    };
    let entrants = entrants::read(
        &fields.tables("entrant", ENTRANT_HINT),
        fields,
        game.as_ref(),
        max_bots_per_contributor,
    );
    let phase_tables = fields.tables("phase", PHASE_HINT);
    let phases = phases::read(&phase_tables, fields, game.as_ref(), &pairs, &entrants);
    let game = game?;
    let at = base.map_or(WHOLE_FILE, |base| base.span);
    let settings: Settings = game.merge_settings(fields, at, &[&pairs]);
    validate::validate(fields, &game, &entrants, &phases);
    Some(CompetitionConfig {
        name: name.map_or_else(|| game.info.title.to_owned(), |name| name.value),
        game: game.info.id,
        settings,
        entrants: entrants.into_iter().map(|one| one.spec).collect(),
        phases: phases.into_iter().map(|one| one.phase).collect(),
        seed,
        sandbox,
        meter,
        max_bots_per_contributor,
        forbidden_libraries,
        packages,
        max_zip_mib,
        deadline,
        freeze,
        presentation,
    })
}

/// Reads `packages = "requirements.txt"`. Only for games with a Python API.
fn packages(fields: &TomlReader<'_>, game: Option<&GameContext>) -> Option<String> {
    let path = fields.text("packages")?;
    if game.is_some_and(|game| game.info.bots.python.is_none()) {
        let hint = "remove `packages`; bots of this game contain what they need";
        fields.errors.global_error(
            fields.key_span("packages"),
            "`packages` is only for games with a Python API",
            hint,
        );
    }
    Some(path.value)
}

/// Reads `forbidden_libraries = ["scipy", "sklearn.tree"]`: modules that Python bots may not import.
fn forbidden_libraries(fields: &TomlReader<'_>, game: Option<&GameContext>) -> Vec<String> {
    const HINT: &str = "write the name as in an import, such as \"scipy\" or \"sklearn.tree\"";
    if !fields.has("forbidden_libraries") {
        return Vec::new();
    }
    if let Some(game) = game.filter(|game| game.info.bots.python.is_none()) {
        let what = format!("`forbidden_libraries` is not for {}: it has no Python API", game.info.title);
        fields.errors.global_error(
            fields.key_span("forbidden_libraries"),
            what,
            "remove `forbidden_libraries`",
        );
    }
    let mut libraries: Vec<String> = Vec::new();
    for Located { value, span } in fields.texts("forbidden_libraries").unwrap_or_default() {
        if !is_module_name(&value) {
            fields.errors.local_error(span, format!("`{value}` is not the name of a Python module"), HINT);
        } else if libraries.contains(&value) {
            fields.errors.local_error(span, format!("duplicate library {value}"), "list it once");
        } else {
            libraries.push(value);
        }
    }
    libraries
}

/// Whether a text is a module name: identifiers with dots between them.
fn is_module_name(name: &str) -> bool {
    let is_identifier = |part: &str| {
        part.starts_with(|c: char| c == '_' || c.is_alphabetic())
            && part.chars().all(|c| c == '_' || c.is_alphanumeric())
    };
    name.split('.').all(is_identifier)
}

fn game(fields: &TomlReader<'_>) -> Option<GameContext> {
    if !fields.has("game") {
        if fields.has_or_misspells("game", &TOP_LEVEL_KEYS) {
            return None;
        }
        let ids: Vec<&str> = agon_games::infos().iter().map(|info| info.id).collect();
        fields.missing(
            "there is no `game`",
            format!("add a game, such as game = \"{}\"; the games are {}", ids[0], ids.join(", ")),
        );
        return None;
    }
    let id = fields.text("game")?;
    match GameContext::of(&id.value) {
        Ok(game) => Some(game),
        Err(unknown) => {
            fields.errors.local_error(id.span, format!("there is no game \"{}\"", unknown.id), unknown.hint);
            None
        }
    }
}

/// Accepts `stateless = "strict"`, which older files contain. There is no other mode.
fn check_stateless(fields: &TomlReader<'_>, game: Option<&GameContext>) {
    const HINT: &str = "\"strict\" is the only mode: write stateless = \"strict\", or leave the line out";
    let Some(mode) = fields.text("stateless") else { return };
    match (mode.value.as_str(), game) {
        ("strict", Some(game)) if game.info.lifetime != BotLifetime::Call => {
            let what = format!("`stateless` is not for {}: its bots may remember", game.info.title);
            fields.errors.global_error(fields.key_span("stateless"), what, "remove `stateless`");
        }
        ("strict", _) => {}
        ("fresh" | "audited", _) => {
            fields.errors.local_error(
                mode.span,
                format!("the mode \"{}\" of `stateless` was removed", mode.value),
                HINT,
            );
        }
        (other, _) => {
            fields.errors.local_error(mode.span, format!("`stateless` cannot be \"{other}\""), HINT);
        }
    }
}

/// Reads `seed = "..."`, a number, `{ file = "..." }` or `{ variable = "..." }`.
fn seed(fields: &TomlReader<'_>) -> SeedSource {
    const HINT: &str = "write seed = \"any words\", or seed = { file = \"seed.txt\" }, or seed = { variable = \"NAME\" }, or remove it to draw one";
    let Some(value) = fields.get("seed") else { return SeedSource::Drawn };
    match value.get_ref() {
        DeValue::String(text) if text == "drawn" => SeedSource::Drawn,
        DeValue::String(_) => {
            fields.text("seed").map_or(SeedSource::Drawn, |text| SeedSource::Given(text.value))
        }
        DeValue::Integer(number) => SeedSource::Given(number.to_string()),
        DeValue::Table(table) => {
            let place = TomlReader { table, span: value.span(), errors: fields.errors };
            place.reject_unknown_keys(&["file", "variable"], |_| None);
            match (place.text("file"), place.text("variable")) {
                (Some(_), Some(second)) => {
                    fields.errors.local_error(
                        second.span,
                        "the seed has two sources",
                        "keep `file` or `variable`",
                    );
                    SeedSource::Drawn
                }
                (Some(file), None) => SeedSource::File(file.value),
                (None, Some(variable)) => SeedSource::Variable(variable.value),
                (None, None) => {
                    if table.is_empty() {
                        fields.errors.local_error(value.span(), "the seed has no source", HINT);
                    }
                    SeedSource::Drawn
                }
            }
        }
        _ => {
            fields.errors.local_error(value.span(), "`seed` is not text", HINT);
            SeedSource::Drawn
        }
    }
}
