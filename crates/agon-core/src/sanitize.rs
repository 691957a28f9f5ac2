//! Makes untrusted text (names, output of bots, answers of servers) safe to show. One function for each way to show it.

/// Maximum number of characters of [`short_line`].
const MAX_SHORT_LINE_CHARS: usize = 1000;

/// Escapes control characters, so that the text stays on one line and cannot control the terminal.
pub fn one_line(text: &str) -> String {
    escape(text.chars(), char::is_control)
}

/// The first characters of a text on one line, without terminal control characters or changes of the writing direction.
pub fn short_line(text: &str) -> String {
    escape(text.chars().take(MAX_SHORT_LINE_CHARS), |c| c.is_control() || changes_direction(c))
}

/// Untrusted bytes as lines of text. Control characters other than line ends and tabs are escaped, and so are invisible characters that
/// could deceive a reader.
pub fn printable(bytes: &[u8]) -> String {
    let odd = |c: char| (c.is_control() && c != '\n' && c != '\t') || is_deceptive(c);
    escape(String::from_utf8_lossy(bytes).chars(), odd)
}

/// Replaces control characters by another one.
pub fn replace_controls(text: &str, with: char) -> String {
    text.chars().map(|c| if c.is_control() { with } else { c }).collect()
}

/// Replaces control characters other than line ends by U+FFFD.
pub fn terminal_lines(text: &str) -> String {
    let odd = |c: char| c.is_control() && c != '\n';
    text.chars().map(|c| if odd(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Replaces a character that a terminal would interpret or that changes the writing direction. Keeps the number of columns.
pub fn replace_char(c: char) -> char {
    match c {
        '\t' => ' ',
        _ if c.is_control() || changes_direction(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

/// Whether a character changes the writing direction of the text around it.
pub const fn changes_direction(c: char) -> bool {
    matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character reverses the text direction, ends a line in some terminals or editors, or has no width. With these, one
/// text can look like another. Joiners (U+200C, U+200D) stay: scripts and emoji need them.
pub const fn is_deceptive(c: char) -> bool {
    changes_direction(c)
        || matches!(c,
            '\u{61c}' | '\u{2028}' | '\u{2029}'
            | '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Writes the odd characters as Rust escapes.
fn escape(chars: impl Iterator<Item = char>, odd: impl Fn(char) -> bool) -> String {
    let mut text = String::with_capacity(chars.size_hint().0);
    for c in chars {
        if odd(c) {
            text.extend(c.escape_default());
        } else {
            text.push(c);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_escapes_control_characters_only() {
        assert_eq!(one_line("a\nb\u{1b}\u{202e}"), "a\\nb\\u{1b}\u{202e}");
    }

    #[test]
    fn short_line_is_cut_and_keeps_its_direction() {
        assert_eq!(short_line("a\u{1b}[2J\u{202e}b"), "a\\u{1b}[2J\\u{202e}b");
        assert_eq!(short_line(&"x".repeat(5000)).len(), MAX_SHORT_LINE_CHARS);
    }

    #[test]
    fn printable_escapes_terminal_control_characters() {
        assert_eq!(printable(b"a\tb\n\x1b[31m\0\xff"), "a\tb\n\\u{1b}[31m\\u{0}\u{fffd}");
    }

    #[test]
    fn printable_escapes_deceptive_characters() {
        for c in "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{feff}\u{2028}\u{2029}\u{200b}\u{e0041}".chars() {
            let shown = printable(format!("a{c}b").as_bytes());
            assert_eq!(shown, format!("a\\u{{{:x}}}b", u32::from(c)));
        }
        let honest = "Zoë שלום العربية 日本 👩\u{200d}👧 ✔";
        assert_eq!(printable(honest.as_bytes()), honest);
    }

    #[test]
    fn replaced_text_keeps_its_length() {
        assert_eq!(replace_controls("a\nb\t", ' '), "a b ");
        assert_eq!(terminal_lines("a\nb\u{1b}[2J"), "a\nb\u{fffd}[2J");
        assert_eq!(['\t', '\u{1b}', '\u{202e}', 'x'].map(replace_char), [' ', '\u{fffd}', '\u{fffd}', 'x']);
    }
}
