//! Validation of names and other short texts, and equality of names.

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::SiteDbError;

/// Maximum length of an account's or entrant's name.
pub const MAX_NAME_CHARS: usize = 40;

/// A valid name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Name {
    /// Form for display, in NFC.
    pub display: String,
    /// Unique form: equal for names that differ only in case, spaces or encoding.
    pub key: String,
}

impl Name {
    pub fn new(field: &'static str, text: &str) -> Result<Self, SiteDbError> {
        let display: String = text.nfc().take(MAX_NAME_CHARS + 1).collect();
        let refused = |what: String| Err(SiteDbError::invalid(field, what));
        if display.is_empty() {
            return refused("it is empty".to_owned());
        }
        if display.chars().count() > MAX_NAME_CHARS {
            return refused(format!("it is longer than {MAX_NAME_CHARS} characters"));
        }
        if display.starts_with(char::is_whitespace) || display.ends_with(char::is_whitespace) {
            return refused("it begins or ends with a space".to_owned());
        }
        if display.starts_with(is_combining_mark) {
            return refused("it begins with a combining accent".to_owned());
        }
        if let Some(bad) = display.chars().find(|&c| !is_printable(c)) {
            return refused(format!("it contains an invisible character (U+{:04X})", bad as u32));
        }
        let key = key(&display);
        Ok(Self { display, key })
    }
}

/// Unique form of a name; equal for names that people would confuse.
pub(super) fn key(name: &str) -> String {
    // Upper case and lower case again unifies `ß` and `ss`, both sigmas, and `K` (Kelvin) and `k`.
    let lower: String = name.nfkd().flat_map(char::to_lowercase).collect();
    let folded: String =
        lower.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Unique form of any text given as a name, valid or not: equal for all spellings that sign in to one account. At most as long as a name.
pub fn name_key(name: &str) -> String {
    key(&name.trim().nfc().take(MAX_NAME_CHARS + 1).collect::<String>())
}

/// Whether a character is visible and does not affect its neighbours. Excludes control characters, direction marks, zero-width
/// characters, special spaces and noncharacters.
fn is_printable(c: char) -> bool {
    if c == ' ' {
        return true;
    }
    let is_invisible = matches!(c as u32,
        0x00AD | 0x034F | 0x061C | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F
        | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0x2800 | 0x3164
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0 | 0xFFF0..=0xFFFD
        | 0x0001_BCA0..=0x0001_BCA3 | 0x0001_D173..=0x0001_D17A
        // tags, variation selectors, private use
        | 0x000E_0000..=0x0010_FFFF | 0xE000..=0xF8FF | 0xFDD0..=0xFDEF);
    let is_noncharacter = c as u32 & 0xFFFE == 0xFFFE;
    !(c.is_control() || c.is_whitespace() || is_invisible || is_noncharacter)
}

/// Checks a line of `min` to `max` characters. Rejects control characters and direction marks.
pub(super) fn check_line(field: &'static str, text: &str, min: usize, max: usize) -> Result<(), SiteDbError> {
    let characters = text.chars().take(max + 1).count();
    if characters < min || text.trim().len() < min.min(1) {
        return Err(SiteDbError::invalid(field, "it is empty"));
    }
    if characters > max {
        return Err(SiteDbError::invalid(field, format!("it is longer than {max} characters")));
    }
    let changes_direction =
        |c: char| matches!(c as u32, 0x061C | 0x200E | 0x200F | 0x2028..=0x202E | 0x2066..=0x2069);
    match text.chars().find(|&c| c.is_control() || changes_direction(c)) {
        Some(bad) => Err(SiteDbError::invalid(
            field,
            format!("it contains an invisible character (U+{:04X})", bad as u32),
        )),
        None => Ok(()),
    }
}

/// The first `max` characters of a text.
pub(super) fn truncated(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(end, _)| &text[..end])
}

/// Checks the id of a competition: 1 to 48 of `a-z`, `0-9` and `-`.
pub(super) fn check_slug(field: &'static str, text: &str) -> Result<(), SiteDbError> {
    let allowed = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if allowed && (1..=48).contains(&text.len()) {
        return Ok(());
    }
    Err(SiteDbError::invalid(field, "it must be 1 to 48 lowercase letters (a-z), digits and hyphens"))
}

/// Checks that a path is relative and stays in the data folder.
pub(super) fn check_relative_path(field: &'static str, path: &str) -> Result<(), SiteDbError> {
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
    fn names_that_look_equal_have_the_same_key() {
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
    fn valid_names_are_displayed_unchanged() {
        for name in
            ["a", "Zoë 2", "名前", "O'Neill <b>", "x".repeat(40).as_str(), "é".repeat(40).as_str(), "🐙"]
        {
            assert_eq!(Name::new("name", name).unwrap().display, name);
        }
        // Forty letters of two code points each count as forty characters.
        assert_eq!(Name::new("name", &"e\u{301}".repeat(40)).unwrap().display, "é".repeat(40));
    }

    #[test]
    fn names_with_invisible_characters_are_rejected() {
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
    fn huge_name_is_rejected_without_reading_all_of_it() {
        assert!(Name::new("name", &"a\u{301}".repeat(10_000_000)).is_err());
    }

    #[test]
    fn slugs_and_relative_paths_cannot_leave_their_folder() {
        for good in ["a", "autumn-cup-2026", "0", "-", "x".repeat(48).as_str()] {
            check_slug("id", good).unwrap();
        }
        for bad in ["", "A", "a b", "a_b", "a/b", "..", "ä", "x".repeat(49).as_str()] {
            assert!(check_slug("id", bad).is_err(), "{bad}");
        }
        for good in ["bots/0123/v1", "x", "a.b"] {
            check_relative_path("folder", good).unwrap();
        }
        for bad in ["", "/etc", "a/../b", "..", "a//b", "a/", "./a", "a\\b", "a\0b"] {
            assert!(check_relative_path("folder", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn line_length_is_limited_in_characters() {
        check_line("label", "laptop ünïcode", 1, 60).unwrap();
        check_line("note", "", 0, 60).unwrap();
        for bad in ["", "  ", "a\nb", "a\u{202e}b", "ä".repeat(61).as_str()] {
            assert!(check_line("label", bad, 1, 60).is_err(), "{bad}");
        }
        assert_eq!((truncated("äbc", 2), truncated("äbc", 3), truncated("", 2)), ("äb", "äbc", ""));
    }
}
