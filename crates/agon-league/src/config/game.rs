//! What the file reader needs from the game: house bots and settings.

use agon_core::settings::{SettingKind, closest_name};
use agon_core::{Assets, GameInfo, SettingDefault, SettingValue, Settings, SettingsError};
use agon_games::{GameVisitor, PlayableGame};
use toml::de::DeValue;

use super::config_error::Span;
use super::toml_reader::{Located, TomlReader, type_name};

/// Settings that the schedule sets for each game.
const SCHEDULE_SETTINGS: [&str; 2] = ["first", "played"];

/// The game of a competition.
pub struct GameContext {
    pub info: &'static GameInfo,
    /// Name and roles of each house bot (no roles: plays all).
    pub house_bots: Vec<(&'static str, &'static [&'static str])>,
    check_settings: fn(&Settings) -> Result<(), SettingsError>,
}

struct GameContextVisitor;

impl GameVisitor for GameContextVisitor {
    type Output = GameContext;

    fn visit<G: PlayableGame>(self) -> GameContext {
        let house = G::bots().iter().map(|bot| (bot.name, bot.roles)).collect();
        GameContext { info: G::info(), house_bots: house, check_settings: check_settings::<G> }
    }
}

/// Whether the settings are consistent.
fn check_settings<G: PlayableGame>(settings: &Settings) -> Result<(), SettingsError> {
    let mut settings = settings.clone();
    // Asset files are loaded elsewhere; their content is not known here.
    for spec in G::info().settings.iter().filter(|spec| spec.kind == SettingKind::Asset) {
        if let SettingDefault::Word(word) = spec.default {
            settings.set(spec.name, SettingValue::Word(word.to_owned()));
        }
    }
    G::new(&settings, G::info().seats.min, &Assets::none()).map(drop)
}

/// Name of a setting and its value as on the command line.
pub type SettingPair = (String, Located<String>);

impl GameContext {
    /// The game with this id.
    pub fn of(id: &str) -> Result<Self, agon_games::UnknownGame> {
        agon_games::visit(id, GameContextVisitor)
    }

    /// Whether seats have different roles.
    pub const fn has_roles(&self) -> bool {
        self.info.roles.len() > 1
    }

    /// Whether the game has a setting of this name.
    pub fn has_setting(&self, name: &str) -> bool {
        self.info.settings.iter().any(|spec| spec.name == name)
    }

    /// Reads the valid settings of a table. `skip` lists keys that are not settings.
    pub fn read_settings(
        &self,
        fields: &TomlReader<'_>,
        skip: &[&str],
        elsewhere: impl Fn(&str) -> Option<String>,
    ) -> Vec<SettingPair> {
        let mut pairs = Vec::new();
        for (key, value) in fields.table {
            let name: &str = key.get_ref();
            if skip.contains(&name) {
                continue;
            }
            if SCHEDULE_SETTINGS.contains(&name) && self.has_setting(name) {
                let what = format!("`{name}` cannot be set for a competition");
                fields.errors.local_error(key.span(), what, "remove it: the schedule sets it for each game");
                continue;
            }
            let Some(text) = value_text(value.get_ref()) else {
                let spec = self.info.settings.iter().find(|spec| spec.name == name);
                let wanted = spec.map_or_else(|| "a value".to_owned(), |spec| spec.kind.to_string());
                let what = format!("setting `{name}` is {}, not {wanted}", type_name(value.get_ref()));
                let hint = spec.map_or_else(
                    || format!("`agon games {}` lists the settings", self.info.id),
                    |spec| format!("{name}: {}", spec.help),
                );
                fields.errors.local_error(value.span(), what, hint);
                continue;
            };
            match Settings::parse(self.info.settings, [(name, text.as_str())]) {
                Ok(read) => {
                    // Normalise, so that 1 and 1.0 do not differ.
                    let text = read.get(name).map_or(text, ToString::to_string);
                    pairs.push((name.to_owned(), Located::new(text, value.span())));
                }
                Err(error) => {
                    let known = self.has_setting(name);
                    let span = if known { value.span() } else { key.span() };
                    for problem in error.problems {
                        let hint = if known { None } else { elsewhere(name) };
                        fields.errors.local_error(
                            span.clone(),
                            problem.message,
                            hint.unwrap_or(problem.hint),
                        );
                    }
                }
            }
        }
        pairs
    }

    /// Merges settings; later ones override earlier ones. Reports values that contradict each other.
    pub fn merge_settings(&self, fields: &TomlReader<'_>, span: Span, pairs: &[&[SettingPair]]) -> Settings {
        let mut chosen: Vec<(&str, &str)> = Vec::new();
        for (name, at) in pairs.iter().copied().flatten() {
            chosen.retain(|(other, _)| other != name);
            chosen.push((name, &at.value));
        }
        let settings = Settings::parse(self.info.settings, chosen)
            .unwrap_or_else(|_| Settings::defaults(self.info.settings));
        if let Err(error) = (self.check_settings)(&settings) {
            for problem in error.problems {
                fields.errors.global_error(span.clone(), problem.message, problem.hint);
            }
        }
        settings
    }

    /// Roles of a house bot, or a hint if there is no such bot.
    pub fn house_bot_roles(&self, name: &str) -> Result<&'static [&'static str], String> {
        if let Some((_, roles)) = self.house_bots.iter().find(|(bot, _)| *bot == name) {
            return Ok(roles);
        }
        let names: Vec<&str> = self.house_bots.iter().map(|(name, _)| *name).collect();
        let all = format!("the house bots are {}", names.join(", "));
        Err(closest_name(name, names.iter().copied())
            .map_or_else(|| all.clone(), |near| format!("did you mean house:{near}? {all}")))
    }
}

/// A value as the command line would write it.
fn value_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => {
            i128::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
        }
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Array(list) => {
            let items: Option<Vec<String>> = list.iter().map(|item| value_text(item.get_ref())).collect();
            items.map(|items| items.join(","))
        }
        DeValue::Boolean(_) | DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}
