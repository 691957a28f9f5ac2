//! Typed access to a TOML table. Reports invalid values with their position and continues reading.

use std::ops::RangeInclusive;

use agon_core::sanitize::replace_char;
use agon_core::settings::closest_name;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::config_error::{ErrorCollector, Span};

/// Maximum length of a name; longer ones do not fit a table column.
pub const MAX_NAME_CHARS: usize = 60;

/// A value and its span.
#[derive(Clone, Debug)]
pub struct Located<T> {
    pub value: T,
    pub span: Span,
}

impl<T> Located<T> {
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

/// A TOML table.
#[derive(Clone)]
pub struct TomlReader<'f> {
    pub table: &'f DeTable<'f>,
    /// Span of the header, or of the whole table if it is inline.
    pub span: Span,
    pub errors: &'f ErrorCollector<'f>,
}

impl<'f> TomlReader<'f> {
    pub fn get(&self, key: &str) -> Option<&'f Spanned<DeValue<'f>>> {
        self.table.get(key)
    }

    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Span of a key; of the table header if the key is missing.
    pub fn key_span(&self, key: &str) -> Span {
        self.table.get_key_value(key).map_or_else(|| self.span.clone(), |(key, _)| key.span())
    }

    /// Reports something missing.
    pub fn missing(&self, what: &str, hint: impl Into<String>) {
        self.errors.global_error(self.span.clone(), what, hint);
    }

    /// Whether the table has the key, or an unknown key that is probably a misspelling of it. That one is reported separately.
    pub fn has_or_misspells(&self, key: &'static str, known: &[&'static str]) -> bool {
        let meant =
            |other: &str| !known.contains(&other) && closest_name(other, known.iter().copied()) == Some(key);
        self.has(key) || self.table.keys().any(|other| meant(other.get_ref()))
    }

    /// Whether the key holds an empty list.
    pub fn is_empty_list(&self, key: &str) -> bool {
        matches!(self.get(key).map(Spanned::get_ref), Some(DeValue::Array(list)) if list.is_empty())
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str, hint: impl Into<String>) {
        let what = format!("`{key}` is {}, not {wanted}", type_name(value.get_ref()));
        self.errors.local_error(value.span(), what, hint);
    }

    /// Reads a line of text.
    pub fn text(&self, key: &str) -> Option<Located<String>> {
        let value = self.get(key)?;
        let DeValue::String(text) = value.get_ref() else {
            self.wrong_type(key, value, "text", format!("write it in quotes: {key} = \"...\""));
            return None;
        };
        self.single_line(key, text, value.span())
    }

    /// Checks that a text is one line and not empty.
    pub fn single_line(&self, key: &str, text: &str, span: Span) -> Option<Located<String>> {
        let text = text.trim();
        if text.is_empty() {
            self.errors.local_error(span, format!("`{key}` is empty"), "fill it in, or leave it out");
            return None;
        }
        if text.chars().any(|c| replace_char(c) != c) {
            let what = format!("`{key}` holds a line break or another control character");
            self.errors.local_error(span, what, "keep it to one line of plain text");
            return None;
        }
        Some(Located::new(text.to_owned(), span))
    }

    /// Reads a name that fits a table column.
    pub fn name(&self, key: &str) -> Option<Located<String>> {
        let name = self.text(key)?;
        if name.value.chars().count() > MAX_NAME_CHARS {
            let what = format!("`{key}` is longer than {MAX_NAME_CHARS} characters");
            self.errors.local_error(name.span, what, "shorten it to fit a table column");
            return None;
        }
        Some(name)
    }

    /// Reads an integer in a range.
    pub fn whole_number(&self, key: &str, range: RangeInclusive<u64>) -> Option<Located<u64>> {
        let value = self.get(key)?;
        let (least, most) = (range.start(), range.end());
        let wanted = format!("a whole number from {least} to {most}");
        let DeValue::Integer(number) = value.get_ref() else {
            self.wrong_type(
                key,
                value,
                &wanted,
                format!("write it without quotes or decimal point: {key} = {least}"),
            );
            return None;
        };
        let parsed = u64::from_str_radix(number.as_str(), number.radix()).ok();
        if let Some(number) = parsed.filter(|number| range.contains(number)) {
            return Some(Located::new(number, value.span()));
        }
        let small = number.as_str().starts_with('-') || parsed.is_some_and(|number| number < *least);
        let bound = if small { format!("at least {least}") } else { format!("at most {most}") };
        let what = format!("`{key}` is {number}; it must be {bound}");
        self.errors.local_error(value.span(), what, format!("{key} is {wanted}"));
        None
    }

    /// Reads a `u32` in a range.
    pub fn count(&self, key: &str, range: RangeInclusive<u32>) -> Option<Located<u32>> {
        let number = self.whole_number(key, u64::from(*range.start())..=u64::from(*range.end()))?;
        Some(Located::new(u32::try_from(number.value).unwrap_or(u32::MAX), number.span))
    }

    /// Reads a boolean.
    pub fn flag(&self, key: &str) -> Option<Located<bool>> {
        let value = self.get(key)?;
        let DeValue::Boolean(flag) = value.get_ref() else {
            self.wrong_type(key, value, "true or false", format!("write {key} = true, without quotes"));
            return None;
        };
        Some(Located::new(*flag, value.span()))
    }

    /// Reads one of these words.
    pub fn choice(&self, key: &str, words: &[&'static str]) -> Option<Located<&'static str>> {
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let all = format!("{key} is {}", join_with_or(&quoted));
        let value = self.get(key)?;
        if !value.get_ref().is_str() {
            self.wrong_type(key, value, "text", all);
            return None;
        }
        let text = self.text(key)?;
        if let Some(word) = words.iter().find(|word| **word == text.value) {
            return Some(Located::new(*word, text.span));
        }
        let hint = closest_name(&text.value, words.iter().copied())
            .map_or_else(|| all.clone(), |near| format!("did you mean \"{near}\"? {all}"));
        self.errors.local_error(text.span, format!("`{key}` cannot be \"{}\"", text.value), hint);
        None
    }

    /// Reads a list of lines; a single text counts as a list.
    pub fn texts(&self, key: &str) -> Option<Vec<Located<String>>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::String(_) => self.text(key).map(|text| vec![text]),
            DeValue::Array(list) => {
                let one = |item: &Spanned<DeValue<'_>>| {
                    if let DeValue::String(text) = item.get_ref() {
                        return self.single_line(key, text, item.span());
                    }
                    let hint = format!("write it in quotes: {key} = [\"...\", \"...\"]");
                    self.wrong_type(key, item, "text", hint);
                    None
                };
                Some(list.iter().filter_map(one).collect())
            }
            _ => {
                self.wrong_type(key, value, "a list of texts", format!("write {key} = [\"...\", \"...\"]"));
                None
            }
        }
    }

    /// Reads a subtable: `[key]` or `key = { ... }`.
    pub fn subtable(&self, key: &str, hint: &str) -> Option<Self> {
        let value = self.get(key)?;
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong_type(key, value, "a table", hint);
            return None;
        };
        Some(Self { table, span: self.header_span(key, value), errors: self.errors })
    }

    /// Reads all tables of a list `[[key]]`.
    pub fn tables(&self, key: &str, hint: &str) -> Vec<Self> {
        let Some(value) = self.get(key) else { return Vec::new() };
        let DeValue::Array(list) = value.get_ref() else {
            self.wrong_type(key, value, "a list of tables", hint);
            return Vec::new();
        };
        let one = |item: &'f Spanned<DeValue<'f>>| {
            let DeValue::Table(table) = item.get_ref() else {
                self.wrong_type(key, item, "a table", hint);
                return None;
            };
            Some(Self { table, span: item.span(), errors: self.errors })
        };
        list.iter().filter_map(one).collect()
    }

    fn header_span(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Span {
        let span = value.span();
        if span.is_empty() { self.key_span(key) } else { span }
    }

    /// Reports every key not in `known`. `elsewhere` gives a hint for keys that belong to another table.
    pub fn reject_unknown_keys(&self, known: &[&'static str], elsewhere: impl Fn(&str) -> Option<String>) {
        for key in self.table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let name: &str = key.get_ref();
            let all = || format!("the keys here are {}", known.join(", "));
            let near =
                || closest_name(name, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            let hint = elsewhere(name).or_else(near).unwrap_or_else(all);
            self.errors.local_error(key.span(), format!("there is no key `{name}` here"), hint);
        }
    }
}

/// Joins words: `a`, `a or b`, `a, b or c`.
pub fn join_with_or<S: AsRef<str>>(words: &[S]) -> String {
    match words {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [most @ .., last] => {
            let most: Vec<&str> = most.iter().map(AsRef::as_ref).collect();
            format!("{} or {}", most.join(", "), last.as_ref())
        }
    }
}

/// Type of a value, for messages.
pub const fn type_name(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a decimal number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
