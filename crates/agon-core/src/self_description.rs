//! What a bot says about itself when it is loaded: its name and its author.

use serde::{Deserialize, Serialize};

use crate::sanitize::{is_deceptive, replace_char};

/// Name and author of a bot, as the bot gives them. Untrusted: the text is made safe to show and short enough for a table when
/// it is read.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct SelfDescription {
    /// The bot's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The bot's author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contributor: Option<String>,
}

impl SelfDescription {
    /// Maximum number of characters of each text, as in a competition file.
    pub const MAX_CHARS: usize = 60;

    /// A description from untrusted texts.
    pub fn new(name: Option<&str>, contributor: Option<&str>) -> Self {
        Self { name: name.and_then(table_text), contributor: contributor.and_then(table_text) }
    }

    /// Whether it says nothing.
    pub const fn is_empty(&self) -> bool {
        self.name.is_none() && self.contributor.is_none()
    }
}

/// A text that fits a table column: one line without control or deceptive characters, each run of blanks as one, cut to
/// [`SelfDescription::MAX_CHARS`]. `None` if nothing is left.
fn table_text(text: &str) -> Option<String> {
    // Bounds the work on a text of any length.
    let head = text.chars().take(16 * SelfDescription::MAX_CHARS);
    let space_or_safe = |c: char| if c.is_whitespace() { ' ' } else { replace_char(c) };
    let safe: String = head.filter(|&c| !is_deceptive(c)).map(space_or_safe).collect();
    let words: Vec<&str> = safe.split_whitespace().collect();
    let cut: String = words.join(" ").chars().take(SelfDescription::MAX_CHARS).collect();
    let cut = cut.trim_end();
    (!cut.is_empty()).then(|| cut.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_is_one_short_line_without_control_characters() {
        let of = |text: &str| SelfDescription::new(Some(text), None).name;
        assert_eq!(of("Hein Won't Let Me Cheat").as_deref(), Some("Hein Won't Let Me Cheat"));
        assert_eq!(of("  two\n lines\t ").as_deref(), Some("two lines"));
        assert_eq!(of("\u{1b}[2Jx\u{202e}\u{200b}").as_deref(), Some("\u{fffd}[2Jx"));
        assert_eq!(of(" \u{200b} "), None);
        assert_eq!(of("").as_deref(), None);
        assert_eq!(of(&"N".repeat(10_000)).map(|name| name.len()), Some(SelfDescription::MAX_CHARS));
        assert!(SelfDescription::new(None, Some("\u{feff}")).is_empty());
    }
}
