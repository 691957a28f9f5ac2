//! Settings of a game: names, types, defaults and bounds.

use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::{Diagnostic, ErrorKind};

/// Type and bounds of a setting.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SettingKind {
    /// A whole number.
    Int {
        /// Minimum.
        min: i64,
        /// Maximum.
        max: i64,
    },
    /// A number.
    Real {
        /// Minimum.
        min: f64,
        /// Maximum.
        max: f64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A fixed number of whole numbers, written `2,6`.
    List {
        /// Number of elements.
        len: usize,
        /// Minimum of each element.
        min: i64,
        /// Maximum of each element.
        max: i64,
    },
    /// A file that replaces the one the game ships. Records contain the hash of its content.
    Asset,
}

impl fmt::Display for SettingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int { min, max } => write!(f, "a whole number from {min} to {max}"),
            Self::Real { min, max } => write!(f, "a number from {min} to {max}"),
            Self::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Self::List { len, min, max } => {
                write!(f, "{len} whole numbers from {min} to {max}, such as {}", {
                    let sample: Vec<String> = (0..*len as i64).map(|i| (min + i).to_string()).collect();
                    sample.join(",")
                })
            }
            Self::Asset => f.write_str("a file"),
        }
    }
}

/// Value of a setting that is not given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SettingDefault {
    /// Drawn from the seed; the text says how.
    Drawn(&'static str),
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// A word.
    Word(&'static str),
}

/// Description of a setting.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SettingSpec {
    /// Name in lower case with underscores.
    pub name: &'static str,
    /// Help text in one line.
    pub help: &'static str,
    /// Type and bounds.
    pub kind: SettingKind,
    /// Default value.
    pub default: SettingDefault,
}

impl Serialize for SettingSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("name", self.name)?;
        map.serialize_entry("help", self.help)?;
        map.serialize_entry("wants", &self.kind.to_string())?;
        match self.default {
            SettingDefault::Drawn(how) => map.serialize_entry("drawn", how)?,
            SettingDefault::Int(n) => map.serialize_entry("default", &n)?,
            SettingDefault::Real(x) => map.serialize_entry("default", &x)?,
            SettingDefault::Word(w) => map.serialize_entry("default", w)?,
        }
        map.end()
    }
}

impl SettingSpec {
    fn default_value(&self) -> SettingValue {
        match self.default {
            SettingDefault::Drawn(_) => SettingValue::Drawn,
            SettingDefault::Int(n) => SettingValue::Int(n),
            SettingDefault::Real(x) => SettingValue::Real(x),
            SettingDefault::Word(w) => SettingValue::Word(w.to_owned()),
        }
    }

    /// Parses a value as written on the command line.
    pub fn parse(&self, text: &str) -> Option<SettingValue> {
        let text = text.trim();
        match self.kind {
            SettingKind::Int { min, max } => {
                let n = text.parse().ok().filter(|n| (min..=max).contains(n))?;
                Some(SettingValue::Int(n))
            }
            SettingKind::Real { min, max } => {
                let x = text.parse().ok().filter(|x| (min..=max).contains(x))?;
                Some(SettingValue::Real(x))
            }
            SettingKind::Choice(words) => words
                .iter()
                .find(|w| w.eq_ignore_ascii_case(text))
                .map(|w| SettingValue::Word((*w).to_owned())),
            SettingKind::List { len, min, max } => {
                let list: Option<Vec<i64>> = text
                    .split(',')
                    .map(|n| n.trim().parse().ok().filter(|n| (min..=max).contains(n)))
                    .collect();
                list.filter(|list| list.len() == len).map(SettingValue::List)
            }
            SettingKind::Asset => (!text.is_empty()).then(|| SettingValue::Word(text.to_owned())),
        }
    }
}

/// The value of a setting.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum SettingValue {
    /// To be drawn from the seed.
    Drawn,
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// A word.
    Word(String),
    /// Whole numbers.
    List(Vec<i64>),
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drawn => f.write_str("drawn"),
            Self::Int(n) => write!(f, "{n}"),
            Self::Real(x) => write!(f, "{x}"),
            Self::Word(w) => f.write_str(w),
            Self::List(list) => {
                let words: Vec<String> = list.iter().map(ToString::to_string).collect();
                f.write_str(&words.join(","))
            }
        }
    }
}

/// Values of all settings of a game.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    specs: &'static [SettingSpec],
    values: Vec<SettingValue>,
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl Settings {
    /// All settings at their defaults.
    pub fn defaults(specs: &'static [SettingSpec]) -> Self {
        Self { specs, values: specs.iter().map(SettingSpec::default_value).collect() }
    }

    /// Defaults with some settings changed. The error lists all problems.
    pub fn parse<'a>(
        specs: &'static [SettingSpec],
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, SettingsError> {
        Self::defaults(specs).with(pairs)
    }

    /// These settings with some changed. The error lists all problems.
    pub fn with<'a>(
        &self,
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, SettingsError> {
        let specs = self.specs;
        let mut settings = self.clone();
        let mut problems = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for (name, text) in pairs {
            match specs.iter().position(|spec| spec.name == name) {
                None => problems.push(unknown_setting(specs, name)),
                Some(_) if seen.contains(&name) => problems.push(SettingProblem {
                    message: format!("setting `{name}` is given twice"),
                    hint: "give it only once".to_owned(),
                }),
                Some(i) => match specs[i].parse(text) {
                    Some(value) => settings.values[i] = value,
                    None => problems.push(SettingProblem {
                        message: format!("setting `{name}`: `{text}` is not {}", specs[i].kind),
                        hint: format!("{name}: {}", specs[i].help),
                    }),
                },
            }
            seen.push(name);
        }
        if problems.is_empty() { Ok(settings) } else { Err(SettingsError { problems }) }
    }

    /// Reads settings from a record's JSON object.
    pub fn from_json(
        specs: &'static [SettingSpec],
        json: &serde_json::Map<String, serde_json::Value>,
    ) -> Result<Self, SettingsError> {
        let texts: Vec<(&str, String)> = json
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.as_str(), json_text(value)))
            .collect();
        Self::parse(specs, texts.iter().map(|(name, text)| (*name, text.as_str())))
    }

    /// Names and values, in the order of the game's list.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &SettingValue)> {
        self.specs.iter().map(|spec| spec.name).zip(&self.values)
    }

    /// The value of a setting.
    pub fn get(&self, name: &str) -> Option<&SettingValue> {
        self.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// Sets a value without a check, such as one drawn for a match.
    pub fn set(&mut self, name: &str, value: SettingValue) {
        if let Some(i) = self.specs.iter().position(|spec| spec.name == name) {
            self.values[i] = value;
        }
    }

    /// A whole number; `None` if it is drawn from the seed.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(SettingValue::Int(n)) => Some(*n),
            _ => None,
        }
    }

    /// A number; `None` if it is drawn from the seed.
    pub fn real(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(SettingValue::Real(x)) => Some(*x),
            Some(SettingValue::Int(n)) => Some(*n as f64),
            _ => None,
        }
    }

    /// A word; `None` if it is drawn from the seed.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(SettingValue::Word(w)) => Some(w),
            _ => None,
        }
    }

    /// A list; `None` if it is drawn from the seed.
    pub fn list(&self, name: &str) -> Option<&[i64]> {
        match self.get(name) {
            Some(SettingValue::List(list)) => Some(list),
            _ => None,
        }
    }
}

fn json_text(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(s) => s.clone(),
        serde_json::Value::Array(list) => list.iter().map(json_text).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

fn unknown_setting(specs: &[SettingSpec], name: &str) -> SettingProblem {
    let allowed = specs.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", ");
    let hint = closest_name(name, specs.iter().map(|spec| spec.name)).map_or_else(
        || format!("allowed: {allowed}"),
        |near| format!("did you mean `{near}`? allowed: {allowed}"),
    );
    SettingProblem { message: format!("unknown setting `{name}`"), hint }
}

/// The candidate most similar to `word`, if any is similar enough.
pub fn closest_name<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::jaro_winkler(&word, c), c))
        .filter(|(score, _)| *score > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, c)| c)
}

/// One problem in the settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingProblem {
    /// Error message.
    pub message: String,
    /// Instruction how to fix it.
    pub hint: String,
}

/// All problems in the settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingsError {
    /// At least one problem.
    pub problems: Vec<SettingProblem>,
}

impl SettingsError {
    /// An error with one problem.
    pub fn one(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { problems: vec![SettingProblem { message: message.into(), hint: hint.into() }] }
    }
}

impl From<SettingProblem> for Diagnostic {
    fn from(problem: SettingProblem) -> Self {
        Self::wrong_use(problem.message, problem.hint)
    }
}

impl From<SettingsError> for Diagnostic {
    fn from(error: SettingsError) -> Self {
        let problems = error.problems.into_iter().map(Self::from);
        Self::several(problems).unwrap_or_else(|| Self::new(ErrorKind::Usage, "the settings are not valid"))
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Diagnostic::from(self.clone()).fmt(f)
    }
}

impl std::error::Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[SettingSpec] = &[
        SettingSpec {
            name: "rounds",
            help: "rounds",
            kind: SettingKind::Int { min: 1, max: 9 },
            default: SettingDefault::Int(5),
        },
        SettingSpec {
            name: "p",
            help: "drift",
            kind: SettingKind::Real { min: 0.0, max: 1.0 },
            default: SettingDefault::Drawn(""),
        },
        SettingSpec {
            name: "special",
            help: "columns",
            kind: SettingKind::List { len: 2, min: 0, max: 8 },
            default: SettingDefault::Drawn(""),
        },
    ];

    #[test]
    fn defaults_serialise_drawn_values_as_null() {
        let settings = Settings::defaults(SPECS);
        assert_eq!(settings.int("rounds"), Some(5));
        assert_eq!(settings.real("p"), None);
        assert_eq!(serde_json::to_string(&settings).unwrap(), r#"{"rounds":5,"p":null,"special":null}"#);
    }

    #[test]
    fn settings_round_trip_through_json() {
        let settings = Settings::parse(SPECS, [("p", "0.25"), ("special", "2, 6")]).unwrap();
        let json: serde_json::Map<_, _> =
            serde_json::from_str(&serde_json::to_string(&settings).unwrap()).unwrap();
        assert_eq!(Settings::from_json(SPECS, &json).unwrap(), settings);
    }

    #[test]
    fn parse_reports_every_problem_with_the_allowed_values() {
        let error =
            Settings::parse(SPECS, [("round", "3"), ("p", "2"), ("special", "1,2,3"), ("rounds", "x")])
                .unwrap_err();
        let text = error.to_string();
        assert_eq!(error.problems.len(), 4);
        assert!(text.contains("unknown setting `round`"), "{text}");
        assert!(text.contains("did you mean `rounds`? allowed: rounds, p, special"), "{text}");
        assert!(text.contains("`2` is not a number from 0 to 1"), "{text}");
        assert!(text.contains("`1,2,3` is not 2 whole numbers from 0 to 8, such as 0,1"), "{text}");
        assert!(Settings::parse(SPECS, [("p", "NaN")]).is_err());
        assert!(Settings::parse(SPECS, [("p", "0"), ("p", "1")]).is_err());
    }
}
