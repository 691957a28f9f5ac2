//! Names people give, and the other short texts they write: what is allowed, and when two names are the same.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::SiteDbError;

/// Of an account's or an entrant's name, in characters.
pub const NAME_LENGTH: usize = 40;

/// A name that is allowed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Name {
    /// As it is shown: letters written in one way (NFC).
    pub shown: String,
    /// The same for names that differ only in case, in spaces or in how a letter is written.
    pub key: String,
}

impl Name {
    pub fn new(field: &'static str, text: &str) -> Result<Self, SiteDbError> {
        let shown: String = text.nfc().take(NAME_LENGTH + 1).collect();
        let refused = |what: String| Err(SiteDbError::invalid(field, what));
        if shown.is_empty() {
            return refused("it is empty".to_owned());
        }
        if shown.chars().count() > NAME_LENGTH {
            return refused(format!("it is longer than {NAME_LENGTH} characters"));
        }
        if shown.starts_with(char::is_whitespace) || shown.ends_with(char::is_whitespace) {
            return refused("it begins or ends with a space".to_owned());
        }
        if shown.starts_with(is_combining_mark) {
            return refused("it begins with an accent that has no letter".to_owned());
        }
        if let Some(bad) = shown.chars().find(|&c| !is_printable(c)) {
            return refused(format!("a character of it cannot be seen (U+{:04X})", bad as u32));
        }
        let key = key(&shown);
        Ok(Self { shown, key })
    }
}

/// What two names have in common that people would mix up.
pub(super) fn key(name: &str) -> String {
    // Once up and down again brings `ß` and `ss`, both sigmas, and `K` (Kelvin) and `k` together.
    let lower: String = name.nfkd().flat_map(char::to_lowercase).collect();
    let folded: String =
        lower.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether it can be seen, and does nothing to its neighbours: no control, no direction, nothing without a width, no space but the
/// ordinary one, nothing without a meaning.
fn is_printable(c: char) -> bool {
    if c == ' ' {
        return true;
    }
    let hidden = matches!(c as u32,
        0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFD
        | 0x0001_BCA0..=0x0001_BCA3 | 0x0001_D173..=0x0001_D17A
        // tags, selectors, and what is everybody's own
        | 0x000E_0000..=0x0010_FFFF | 0xE000..=0xF8FF | 0xFDD0..=0xFDEF);
    let means_nothing = c as u32 & 0xFFFE == 0xFFFE;
    !(c.is_control() || c.is_whitespace() || hidden || means_nothing)
}

/// A line of text people wrote, of `least` to `most` characters: anything but control characters and those that turn a line around.
pub(super) fn line(field: &'static str, text: &str, least: usize, most: usize) -> Result<(), SiteDbError> {
    let characters = text.chars().take(most + 1).count();
    if characters < least || text.trim().len() < least.min(1) {
        return Err(SiteDbError::invalid(field, "it is empty"));
    }
    if characters > most {
        return Err(SiteDbError::invalid(field, format!("it is longer than {most} characters")));
    }
    let turns = |c: char| matches!(c as u32, 0x061C | 0x200E | 0x200F | 0x2028..=0x202E | 0x2066..=0x2069);
    match text.chars().find(|&c| c.is_control() || turns(c)) {
        Some(bad) => Err(SiteDbError::invalid(
            field,
            format!("a character of it cannot be seen (U+{:04X})", bad as u32),
        )),
        None => Ok(()),
    }
}

/// At most so many characters of it.
pub(super) fn cut(text: &str, most: usize) -> &str {
    text.char_indices().nth(most).map_or(text, |(end, _)| &text[..end])
}

/// A competition's id: 1 to 48 of `a-z`, `0-9` and `-`.
pub(super) fn slug(field: &'static str, text: &str) -> Result<(), SiteDbError> {
    let allowed = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if allowed && (1..=48).contains(&text.len()) {
        return Ok(());
    }
    Err(SiteDbError::invalid(field, "it must be 1 to 48 small letters (a-z), digits and hyphens"))
}

/// A path below the data folder: no way out of it.
pub(super) fn below(field: &'static str, path: &str) -> Result<(), SiteDbError> {
    let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains(['\0', '\\']);
    if path.len() <= 400 && path.split('/').all(plain) {
        return Ok(());
    }
    Err(SiteDbError::invalid(field, "it must be a path below the data folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(names: &[&str]) {
        let keys: Vec<String> = names.iter().map(|name| Name::new("name", name).unwrap().key).collect();
        assert!(keys.iter().all(|key| *key == keys[0]), "{names:?}: {keys:?}");
    }

    #[test]
    fn names_that_people_would_mix_up_are_the_same() {
        same(&["Ada", "ADA", "ada", "ａｄａ", "𝐀da"]);
        same(&["Zoë", "ZOË", "Zoe\u{308}", "zOE\u{308}"]);
        same(&["Straße", "STRASSE", "strasse", "STRAẞE"]);
        same(&["Σίσυφος", "ΣΊΣΥΦΟΣ", "σίσυφοσ"]);
        same(&["ﬁsh", "fish", "FISH"]);
        same(&["two words", "Two  Words"]);
        same(&["№ 5", "No 5"]);
        assert_ne!(key("Ada"), key("Ava"));
        assert_ne!(key("a b"), key("ab"));
        assert_ne!(key("Zoë"), key("Zoe"));
    }

    #[test]
    fn names_are_shown_as_they_were_given() {
        for name in
            ["a", "Zoë 2", "名前", "O'Neill <b>", "x".repeat(40).as_str(), "é".repeat(40).as_str(), "🐙"]
        {
            assert_eq!(Name::new("name", name).unwrap().shown, name);
        }
        // Forty letters, each written as two characters, are forty.
        assert_eq!(Name::new("name", &"e\u{301}".repeat(40)).unwrap().shown, "é".repeat(40));
    }

    #[test]
    fn names_that_hide_something_are_refused() {
        let long = "x".repeat(41);
        for (name, why) in [
            ("", "it is empty"),
            (" ", "begins or ends"),
            (" ada", "begins or ends"),
            ("ada ", "begins or ends"),
            ("ada\u{a0}", "begins or ends"),
            ("\u{3000}ada", "begins or ends"),
            (long.as_str(), "longer than 40"),
            ("a\nb", "U+000A"),
            ("a\0b", "U+0000"),
            ("a\u{7f}b", "U+007F"),
            ("a\u{85}b", "U+0085"),
            ("a\tb", "U+0009"),
            ("a\u{a0}b", "U+00A0"),
            ("a\u{202e}b", "U+202E"),
            ("a\u{2066}b", "U+2066"),
            ("\u{200f}b", "U+200F"),
            ("a\u{200b}", "U+200B"),
            ("a\u{200d}b", "U+200D"),
            ("\u{feff}ada", "U+FEFF"),
            ("a\u{ad}b", "U+00AD"),
            ("\u{3164}", "U+3164"),
            ("a\u{e0041}", "U+E0041"),
            ("a\u{e000}", "U+E000"),
            ("a\u{ffff}", "U+FFFF"),
            ("\u{301}a", "accent"),
        ] {
            let refused = Name::new("name", name).unwrap_err().to_string();
            assert!(refused.starts_with("name: ") && refused.contains(why), "{name:?}: {refused}");
        }
    }

    #[test]
    fn a_huge_name_is_refused_without_reading_it_all() {
        assert!(Name::new("name", &"a\u{301}".repeat(10_000_000)).is_err());
    }

    #[test]
    fn ids_and_folders_lead_nowhere_else() {
        for good in ["a", "autumn-cup-2026", "0", "-", "x".repeat(48).as_str()] {
            slug("id", good).unwrap();
        }
        for bad in ["", "A", "a b", "a_b", "a/b", "..", "ä", "x".repeat(49).as_str()] {
            assert!(slug("id", bad).is_err(), "{bad}");
        }
        for good in ["bots/0123/v1", "x", "a.b"] {
            below("folder", good).unwrap();
        }
        for bad in ["", "/etc", "a/../b", "..", "a//b", "a/", "./a", "a\\b", "a\0b"] {
            assert!(below("folder", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn lines_have_bounds_in_characters() {
        line("label", "laptop ünïcode", 1, 60).unwrap();
        line("note", "", 0, 60).unwrap();
        for bad in ["", "  ", "a\nb", "a\u{202e}b", "ä".repeat(61).as_str()] {
            assert!(line("label", bad, 1, 60).is_err(), "{bad}");
        }
        assert_eq!((cut("äbc", 2), cut("äbc", 3), cut("", 2)), ("äb", "äbc", ""));
    }
}
