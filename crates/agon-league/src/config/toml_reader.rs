//! A table of the file, asked key by key. What is wrong with a key is noted where it stands, and reading goes on.

use std::ops::RangeInclusive;

use agon_core::settings::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::config_error::{ErrorCollector, Span, tame};

/// Longer names would push everything else out of a table.
pub const LONGEST: usize = 60;

/// A value and its place.
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

/// A table.
#[derive(Clone)]
pub struct TomlReader<'f> {
    pub table: &'f DeTable<'f>,
    /// Its header, or all of it if it is written in one line.
    pub span: Span,
    pub notes: &'f ErrorCollector<'f>,
}

impl<'f> TomlReader<'f> {
    pub fn get(&self, key: &str) -> Option<&'f Spanned<DeValue<'f>>> {
        self.table.get(key)
    }

    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Where a key stands; the table's header if it does not.
    pub fn place(&self, key: &str) -> Span {
        self.table.get_key_value(key).map_or_else(|| self.span.clone(), |(key, _)| key.span())
    }

    /// Something is not there.
    pub fn missing(&self, what: &str, hint: impl Into<String>) {
        self.notes.unfit(self.span.clone(), what, hint);
    }

    /// Whether a key is there, or one that is no other key and was probably meant to be it: that is told as such.
    pub fn meant(&self, key: &'static str, known: &[&'static str]) -> bool {
        let meant =
            |other: &str| !known.contains(&other) && nearest(other, known.iter().copied()) == Some(key);
        self.has(key) || self.table.keys().any(|other| meant(other.get_ref()))
    }

    /// Whether a list is there and has nothing in it.
    pub fn is_empty_list(&self, key: &str) -> bool {
        matches!(self.get(key).map(Spanned::get_ref), Some(DeValue::Array(list)) if list.is_empty())
    }

    fn not(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str, hint: impl Into<String>) {
        let what = format!("`{key}` is {}, not {wanted}", kind(value.get_ref()));
        self.notes.wrong(value.span(), what, hint);
    }

    /// A line of text.
    pub fn text(&self, key: &str) -> Option<Located<String>> {
        let value = self.get(key)?;
        let DeValue::String(text) = value.get_ref() else {
            self.not(key, value, "text", format!("write it in quotes: {key} = \"...\""));
            return None;
        };
        self.line(key, text, value.span())
    }

    /// Text that fits a line.
    pub fn line(&self, key: &str, text: &str, span: Span) -> Option<Located<String>> {
        let text = text.trim();
        if text.is_empty() {
            self.notes.wrong(span, format!("`{key}` is empty"), "fill it in, or leave it out");
            return None;
        }
        if text.chars().any(|c| tame(c) != c) {
            let what = format!("`{key}` holds a line break or another control character");
            self.notes.wrong(span, what, "keep it to one line of plain text");
            return None;
        }
        Some(Located::new(text.to_owned(), span))
    }

    /// A name that fits a column of a table.
    pub fn name(&self, key: &str) -> Option<Located<String>> {
        let name = self.text(key)?;
        if name.value.chars().count() > LONGEST {
            let what = format!("`{key}` is longer than {LONGEST} characters");
            self.notes.wrong(name.span, what, "shorten it: it stands in a column of a table");
            return None;
        }
        Some(name)
    }

    /// A whole number in a range.
    pub fn whole(&self, key: &str, range: RangeInclusive<u64>) -> Option<Located<u64>> {
        let value = self.get(key)?;
        let (least, most) = (range.start(), range.end());
        let wanted = format!("a whole number from {least} to {most}");
        let DeValue::Integer(number) = value.get_ref() else {
            self.not(key, value, &wanted, format!("write it without quotes and point: {key} = {least}"));
            return None;
        };
        let parsed = u64::from_str_radix(number.as_str(), number.radix()).ok();
        if let Some(number) = parsed.filter(|number| range.contains(number)) {
            return Some(Located::new(number, value.span()));
        }
        let small = number.as_str().starts_with('-') || parsed.is_some_and(|number| number < *least);
        let bound = if small { format!("at least {least}") } else { format!("at most {most}") };
        let what = format!("`{key}` is {number}; it must be {bound}");
        self.notes.wrong(value.span(), what, format!("{key} is {wanted}"));
        None
    }

    /// The same, as 32 bits.
    pub fn count(&self, key: &str, range: RangeInclusive<u32>) -> Option<Located<u32>> {
        let number = self.whole(key, u64::from(*range.start())..=u64::from(*range.end()))?;
        Some(Located::new(u32::try_from(number.value).unwrap_or(u32::MAX), number.span))
    }

    /// Yes or no.
    pub fn flag(&self, key: &str) -> Option<Located<bool>> {
        let value = self.get(key)?;
        let DeValue::Boolean(flag) = value.get_ref() else {
            self.not(key, value, "true or false", format!("write {key} = true, without quotes"));
            return None;
        };
        Some(Located::new(*flag, value.span()))
    }

    /// One of these words.
    pub fn choice(&self, key: &str, words: &[&'static str]) -> Option<Located<&'static str>> {
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        let all = format!("{key} is {}", either(&quoted));
        let value = self.get(key)?;
        if !value.get_ref().is_str() {
            self.not(key, value, "text", all);
            return None;
        }
        let text = self.text(key)?;
        if let Some(word) = words.iter().find(|word| **word == text.value) {
            return Some(Located::new(*word, text.span));
        }
        let hint = nearest(&text.value, words.iter().copied())
            .map_or_else(|| all.clone(), |near| format!("did you mean \"{near}\"? {all}"));
        self.notes.wrong(text.span, format!("`{key}` cannot be \"{}\"", text.value), hint);
        None
    }

    /// A list of lines of text; one alone counts as a list.
    pub fn texts(&self, key: &str) -> Option<Vec<Located<String>>> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::String(_) => self.text(key).map(|text| vec![text]),
            DeValue::Array(list) => {
                let one = |item: &Spanned<DeValue<'_>>| {
                    if let DeValue::String(text) = item.get_ref() {
                        return self.line(key, text, item.span());
                    }
                    let hint = format!("write it in quotes: {key} = [\"...\", \"...\"]");
                    self.not(key, item, "text", hint);
                    None
                };
                Some(list.iter().filter_map(one).collect())
            }
            _ => {
                self.not(key, value, "a list of texts", format!("write {key} = [\"...\", \"...\"]"));
                None
            }
        }
    }

    /// A table below this one: `[key]`, or `key = { ... }`.
    pub fn below(&self, key: &str, hint: &str) -> Option<Self> {
        let value = self.get(key)?;
        let DeValue::Table(table) = value.get_ref() else {
            self.not(key, value, "a table", hint);
            return None;
        };
        Some(Self { table, span: self.header(key, value), notes: self.notes })
    }

    /// All tables of a list: `[[key]]` each.
    pub fn all(&self, key: &str, hint: &str) -> Vec<Self> {
        let Some(value) = self.get(key) else { return Vec::new() };
        let DeValue::Array(list) = value.get_ref() else {
            self.not(key, value, "a list of tables", hint);
            return Vec::new();
        };
        let one = |item: &'f Spanned<DeValue<'f>>| {
            let DeValue::Table(table) = item.get_ref() else {
                self.not(key, item, "a table", hint);
                return None;
            };
            Some(Self { table, span: item.span(), notes: self.notes })
        };
        list.iter().filter_map(one).collect()
    }

    fn header(&self, key: &str, value: &Spanned<DeValue<'_>>) -> Span {
        let span = value.span();
        if span.is_empty() { self.place(key) } else { span }
    }

    /// Notes every key that is not one of these. `elsewhere` may know where it belongs.
    pub fn finish(&self, known: &[&'static str], elsewhere: impl Fn(&str) -> Option<String>) {
        for key in self.table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let name: &str = key.get_ref();
            let all = || format!("the keys here are {}", known.join(", "));
            let near = || nearest(name, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            let hint = elsewhere(name).or_else(near).unwrap_or_else(all);
            self.notes.wrong(key.span(), format!("there is no key `{name}` here"), hint);
        }
    }
}

/// `a`, `a or b`, `a, b or c`.
pub fn either<S: AsRef<str>>(words: &[S]) -> String {
    match words {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [most @ .., last] => {
            let most: Vec<&str> = most.iter().map(AsRef::as_ref).collect();
            format!("{} or {}", most.join(", "), last.as_ref())
        }
    }
}

/// What a value is, in words.
pub const fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
