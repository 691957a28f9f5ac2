//! What a file's reader has to know of the game: its house bots, and its settings.

use agon_core::settings::{Kind, nearest};
use agon_core::{Assets, Default, GameInfo, Settings, SettingsError, Value};
use agon_games::registry::{self, Hosted, Visitor};
use toml::de::DeValue;

use super::toml_reader::{Located, TomlReader, kind};
use super::config_error::Span;

/// Settings that a schedule sets, game by game.
const SCHEDULED: [&str; 2] = ["first", "played"];

/// A game that a competition is of.
pub struct GameContext {
    pub info: &'static GameInfo,
    /// Its house bots: name, and the roles they play (none for all).
    pub house: Vec<(&'static str, &'static [&'static str])>,
    check: fn(&Settings) -> Result<(), SettingsError>,
}

struct Look;

impl Visitor for Look {
    type Output = GameContext;

    fn visit<G: Hosted>(self) -> GameContext {
        let house = G::bots().iter().map(|bot| (bot.name, bot.roles)).collect();
        GameContext { info: G::info(), house, check: fit::<G> }
    }
}

/// Whether settings fit together.
fn fit<G: Hosted>(settings: &Settings) -> Result<(), SettingsError> {
    let mut settings = settings.clone();
    // Files are for others to read: nothing is known of what is in them.
    for spec in G::info().settings.iter().filter(|spec| spec.kind == Kind::Asset) {
        if let Default::Word(word) = spec.default {
            settings.set(spec.name, Value::Word(word.to_owned()));
        }
    }
    G::new(&settings, G::info().seats.min, &Assets::none()).map(drop)
}

/// A setting as the file has it: name, and value as the command line would have it.
pub type Pair = (String, Located<String>);

impl GameContext {
    /// The game of this id.
    pub fn of(id: &str) -> Result<Self, agon_games::UnknownGame> {
        registry::visit(id, Look)
    }

    /// Whether seats have different roles.
    pub const fn has_roles(&self) -> bool {
        self.info.roles.len() > 1
    }

    /// Whether the game has a setting of this name.
    pub fn has_setting(&self, name: &str) -> bool {
        self.info.settings.iter().any(|spec| spec.name == name)
    }

    /// The settings of a table, those of them that are right. `skip` are keys that mean something else there.
    pub fn pairs(
        &self,
        fields: &TomlReader<'_>,
        skip: &[&str],
        elsewhere: impl Fn(&str) -> Option<String>,
    ) -> Vec<Pair> {
        let mut pairs = Vec::new();
        for (key, value) in fields.table {
            let name: &str = key.get_ref();
            if skip.contains(&name) {
                continue;
            }
            if SCHEDULED.contains(&name) && self.has_setting(name) {
                let what = format!("`{name}` cannot be set for a competition");
                fields.notes.wrong(
                    key.span(),
                    what,
                    "the schedule decides it from game to game: leave it out",
                );
                continue;
            }
            let Some(text) = written(value.get_ref()) else {
                let spec = self.info.settings.iter().find(|spec| spec.name == name);
                let wanted = spec.map_or_else(|| "a value".to_owned(), |spec| spec.kind.to_string());
                let what = format!("setting `{name}` is {}, not {wanted}", kind(value.get_ref()));
                let hint = spec.map_or_else(
                    || format!("`agon games {}` lists the settings", self.info.id),
                    |spec| format!("{name} is: {}", spec.help),
                );
                fields.notes.wrong(value.span(), what, hint);
                continue;
            };
            match Settings::parse(self.info.settings, [(name, text.as_str())]) {
                Ok(read) => {
                    // One way to write it, so that 1 and 1.0 are no difference.
                    let text = read.get(name).map_or(text, ToString::to_string);
                    pairs.push((name.to_owned(), Located::new(text, value.span())));
                }
                Err(error) => {
                    let known = self.has_setting(name);
                    let span = if known { value.span() } else { key.span() };
                    for problem in error.problems {
                        let hint = if known { None } else { elsewhere(name) };
                        fields.notes.wrong(span.clone(), problem.what, hint.unwrap_or(problem.hint));
                    }
                }
            }
        }
        pairs
    }

    /// Settings from pairs, of which later ones count more; what does not fit together is noted.
    pub fn settings(&self, fields: &TomlReader<'_>, span: Span, pairs: &[&[Pair]]) -> Settings {
        let mut chosen: Vec<(&str, &str)> = Vec::new();
        for (name, at) in pairs.iter().copied().flatten() {
            chosen.retain(|(other, _)| other != name);
            chosen.push((name, &at.value));
        }
        let settings = Settings::parse(self.info.settings, chosen)
            .unwrap_or_else(|_| Settings::defaults(self.info.settings));
        if let Err(error) = (self.check)(&settings) {
            for problem in error.problems {
                fields.notes.unfit(span.clone(), problem.what, problem.hint);
            }
        }
        settings
    }

    /// A house bot by its name, with the roles it plays.
    pub fn house_bot(&self, name: &str) -> Result<&'static [&'static str], String> {
        if let Some((_, roles)) = self.house.iter().find(|(bot, _)| *bot == name) {
            return Ok(roles);
        }
        let names: Vec<&str> = self.house.iter().map(|(name, _)| *name).collect();
        let all = format!("the house bots are {}", names.join(", "));
        Err(nearest(name, names.iter().copied())
            .map_or_else(|| all.clone(), |near| format!("did you mean house:{near}? {all}")))
    }
}

/// A value as the command line would have it.
fn written(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => {
            i128::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
        }
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Array(list) => {
            let items: Option<Vec<String>> = list.iter().map(|item| written(item.get_ref())).collect();
            items.map(|items| items.join(","))
        }
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}
