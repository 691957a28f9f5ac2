//! A game's configuration: what can be set, by name and type, with defaults and bounds.

use std::fmt;

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// The type of a setting, with its bounds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Kind {
    /// A whole number.
    Int {
        /// At least.
        min: i64,
        /// At most.
        max: i64,
    },
    /// A number.
    Real {
        /// At least.
        min: f64,
        /// At most.
        max: f64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// So many whole numbers, written `2,6`.
    List {
        /// How many.
        len: usize,
        /// Each at least.
        min: i64,
        /// Each at most.
        max: i64,
    },
    /// A file in place of the one the game ships; in records, the hash of its content.
    Asset,
}

impl fmt::Display for Kind {
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

/// What a setting is when nobody sets it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Default {
    /// Drawn from the seed; the words say how.
    Drawn(&'static str),
    /// A whole number.
    Int(i64),
    /// A number.
    Real(f64),
    /// A word.
    Word(&'static str),
}

/// A setting on offer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spec {
    /// Lower case, underscores.
    pub name: &'static str,
    /// One line.
    pub help: &'static str,
    /// Type and bounds.
    pub kind: Kind,
    /// If not set.
    pub default: Default,
}

impl Serialize for Spec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("name", self.name)?;
        map.serialize_entry("help", self.help)?;
        map.serialize_entry("wants", &self.kind.to_string())?;
        match self.default {
            Default::Drawn(how) => map.serialize_entry("drawn", how)?,
            Default::Int(n) => map.serialize_entry("default", &n)?,
            Default::Real(x) => map.serialize_entry("default", &x)?,
            Default::Word(w) => map.serialize_entry("default", w)?,
        }
        map.end()
    }
}

impl Spec {
    fn default_value(&self) -> Value {
        match self.default {
            Default::Drawn(_) => Value::Drawn,
            Default::Int(n) => Value::Int(n),
            Default::Real(x) => Value::Real(x),
            Default::Word(w) => Value::Word(w.to_owned()),
        }
    }

    /// Reads a value as it is written on the command line.
    pub fn parse(&self, text: &str) -> Option<Value> {
        let text = text.trim();
        match self.kind {
            Kind::Int { min, max } => {
                let n = text.parse().ok().filter(|n| (min..=max).contains(n))?;
                Some(Value::Int(n))
            }
            Kind::Real { min, max } => {
                let x = text.parse().ok().filter(|x| (min..=max).contains(x))?;
                Some(Value::Real(x))
            }
            Kind::Choice(words) => {
                words.iter().find(|w| w.eq_ignore_ascii_case(text)).map(|w| Value::Word((*w).to_owned()))
            }
            Kind::List { len, min, max } => {
                let list: Option<Vec<i64>> = text
                    .split(',')
                    .map(|n| n.trim().parse().ok().filter(|n| (min..=max).contains(n)))
                    .collect();
                list.filter(|list| list.len() == len).map(Value::List)
            }
            Kind::Asset => (!text.is_empty()).then(|| Value::Word(text.to_owned())),
        }
    }
}

/// The value of a setting.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Value {
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

impl fmt::Display for Value {
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

/// Values for all settings of a game.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    specs: &'static [Spec],
    values: Vec<Value>,
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl Settings {
    /// All defaults.
    pub fn defaults(specs: &'static [Spec]) -> Self {
        Self { specs, values: specs.iter().map(Spec::default_value).collect() }
    }

    /// Defaults with some settings changed. Reports every mistake, not just the first.
    pub fn parse<'a>(
        specs: &'static [Spec],
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, SettingsError> {
        Self::defaults(specs).with(pairs)
    }

    /// These with some changed. Reports every mistake, not just the first.
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
                None => problems.push(unknown(specs, name)),
                Some(_) if seen.contains(&name) => problems.push(Problem {
                    what: format!("setting `{name}` is given twice"),
                    hint: "give it once".to_owned(),
                }),
                Some(i) => match specs[i].parse(text) {
                    Some(value) => settings.values[i] = value,
                    None => problems.push(Problem {
                        what: format!("setting `{name}`: `{text}` is not {}", specs[i].kind),
                        hint: format!("{name} is: {}", specs[i].help),
                    }),
                },
            }
            seen.push(name);
        }
        if problems.is_empty() { Ok(settings) } else { Err(SettingsError { problems }) }
    }

    /// Reads settings from a record's JSON object.
    pub fn from_json(
        specs: &'static [Spec],
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
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.specs.iter().map(|spec| spec.name).zip(&self.values)
    }

    /// The value of a setting.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// Sets a value that is known to be right, such as one drawn for a match.
    pub fn set(&mut self, name: &str, value: Value) {
        if let Some(i) = self.specs.iter().position(|spec| spec.name == name) {
            self.values[i] = value;
        }
    }

    /// A whole number; `None` if it is to be drawn.
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.get(name) {
            Some(Value::Int(n)) => Some(*n),
            _ => None,
        }
    }

    /// A number; `None` if it is to be drawn.
    pub fn real(&self, name: &str) -> Option<f64> {
        match self.get(name) {
            Some(Value::Real(x)) => Some(*x),
            Some(Value::Int(n)) => Some(*n as f64),
            _ => None,
        }
    }

    /// A word; `None` if it is to be drawn.
    pub fn word(&self, name: &str) -> Option<&str> {
        match self.get(name) {
            Some(Value::Word(w)) => Some(w),
            _ => None,
        }
    }

    /// A list; `None` if it is to be drawn.
    pub fn list(&self, name: &str) -> Option<&[i64]> {
        match self.get(name) {
            Some(Value::List(list)) => Some(list),
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

fn unknown(specs: &[Spec], name: &str) -> Problem {
    let allowed = specs.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", ");
    let hint = nearest(name, specs.iter().map(|spec| spec.name)).map_or_else(
        || format!("allowed: {allowed}"),
        |near| format!("did you mean `{near}`? allowed: {allowed}"),
    );
    Problem { what: format!("unknown setting `{name}`"), hint }
}

/// The candidate that looks most like `word`, if any looks like it at all.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    candidates
        .into_iter()
        .map(|c| (strsim::jaro_winkler(&word, c), c))
        .filter(|(score, _)| *score > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, c)| c)
}

/// One mistake in the settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub hint: String,
}

/// All mistakes in the settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SettingsError {
    /// At least one.
    pub problems: Vec<Problem>,
}

impl SettingsError {
    /// One mistake.
    pub fn one(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { problems: vec![Problem { what: what.into(), hint: hint.into() }] }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{}\nhint: {}", problem.what, problem.hint)?;
        }
        Ok(())
    }
}

impl std::error::Error for SettingsError {}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECS: &[Spec] = &[
        Spec { name: "rounds", help: "rounds", kind: Kind::Int { min: 1, max: 9 }, default: Default::Int(5) },
        Spec {
            name: "p",
            help: "drift",
            kind: Kind::Real { min: 0.0, max: 1.0 },
            default: Default::Drawn(""),
        },
        Spec {
            name: "special",
            help: "columns",
            kind: Kind::List { len: 2, min: 0, max: 8 },
            default: Default::Drawn(""),
        },
    ];

    #[test]
    fn defaults_and_drawn_values() {
        let settings = Settings::defaults(SPECS);
        assert_eq!(settings.int("rounds"), Some(5));
        assert_eq!(settings.real("p"), None);
        assert_eq!(serde_json::to_string(&settings).unwrap(), r#"{"rounds":5,"p":null,"special":null}"#);
    }

    #[test]
    fn settings_survive_the_record() {
        let settings = Settings::parse(SPECS, [("p", "0.25"), ("special", "2, 6")]).unwrap();
        let json: serde_json::Map<_, _> =
            serde_json::from_str(&serde_json::to_string(&settings).unwrap()).unwrap();
        assert_eq!(Settings::from_json(SPECS, &json).unwrap(), settings);
    }

    #[test]
    fn every_mistake_is_reported_with_what_is_allowed() {
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
