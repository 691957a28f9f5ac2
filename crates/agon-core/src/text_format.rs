//! Small texts that several crates write: quoted words, numbers with their nouns, escaped markup.

use std::fmt::Display;

use crate::sanitize::changes_direction;

/// A number with its noun: `1 game`, `12 games`.
pub fn plural<N: Copy + Display + PartialEq + From<u8>>(n: N, one: &str, many: &str) -> String {
    let noun = if n == N::from(1) { one } else { many };
    format!("{n} {noun}")
}

/// Quotes text as one word for a shell.
pub fn shell_quote(text: &str) -> String {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return text.to_owned();
    }
    single_quote(text)
}

/// Quotes a path as one word for a shell. A command would read a path that begins with a dash as an option: it gets a `./`.
pub fn shell_quote_path(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+,@%".contains(c);
    if path.starts_with('-') {
        single_quote(&format!("./{path}"))
    } else if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else {
        single_quote(path)
    }
}

fn single_quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Quotes a CSV field, if it needs quotes.
pub fn csv_quote(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// Escapes text for HTML. Text from users and bots never becomes markup. Invisible characters and characters that change the writing
/// direction are written as escapes.
pub fn html_escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\n' | '\t' => out.push(c),
            _ if c.is_control() || is_invisible_in_html(c) => out.extend(c.escape_unicode()),
            _ => out.push(c),
        }
    }
    out
}

const fn is_invisible_in_html(c: char) -> bool {
    changes_direction(c)
        || matches!(
            c,
            '\u{61c}' | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_gets_its_noun() {
        assert_eq!(
            (plural(1_u32, "match", "matches"), plural(0_usize, "game", "games")),
            ("1 match".into(), "0 games".into())
        );
        assert_eq!(plural(12_345_u64, "game", "games"), "12345 games");
    }

    #[test]
    fn path_with_special_characters_is_quoted() {
        assert_eq!(shell_quote_path("bots/my-bot_2.0"), "bots/my-bot_2.0");
        assert_eq!(shell_quote_path("my bot"), "'my bot'");
        assert_eq!(shell_quote_path("it's"), r"'it'\''s'");
        assert_eq!(shell_quote_path("-bot"), "'./-bot'");
        assert_eq!(shell_quote_path("$HOME"), "'$HOME'");
        assert_eq!(shell_quote_path(""), "''");
    }

    #[test]
    fn word_is_quoted_unless_it_is_letters_and_digits() {
        assert_eq!(
            (shell_quote("seed1"), shell_quote("-n"), shell_quote("it's")),
            ("seed1".into(), "'-n'".into(), r"'it'\''s'".into())
        );
    }

    #[test]
    fn csv_field_is_quoted_if_it_must_be() {
        assert_eq!((csv_quote("a b"), csv_quote("a,\"b\"")), ("a b".into(), "\"a,\"\"b\"\"\"".into()));
    }

    #[test]
    fn html_escape_keeps_letters_of_all_scripts_and_spells_out_invisible_characters() {
        assert_eq!(html_escape("Zoë 日本 עברית 👩‍👩‍👧"), "Zoë 日本 עברית 👩‍👩‍👧");
        assert_eq!(
            html_escape("a\u{200b}\u{1b}[2J\u{feff}\u{202e}"),
            "a\\u{200b}\\u{1b}[2J\\u{feff}\\u{202e}"
        );
        assert_eq!(html_escape("<b a='\"'>&"), "&lt;b a=&#39;&quot;&#39;&gt;&amp;");
    }
}
