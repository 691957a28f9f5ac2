//! Edits the text of a competition file: a top-level key, the `[[entrant]]` tables. Keeps comments and the order of everything else.

use thiserror::Error;
use toml_edit::{DocumentMut, Item, RawString, Value};

/// An entrant in the file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntrantLine {
    /// Name of the entrant.
    pub name: String,
    /// Bot spec, relative to the competition's folder.
    pub bot: String,
    /// Role, in a game with roles.
    pub role: Option<String>,
    /// Name of the author.
    pub contributor: Option<String>,
    /// Marks with their notes.
    pub marks: Vec<(String, Option<String>)>,
}

/// The entrants of a text are not `[[entrant]]` tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("entrants must be written as [[entrant]] on separate lines")]
pub struct InlineEntrants;

/// The complete file: the text without entrants, then an `[[entrant]]` for each entrant.
pub fn render(organiser_text: &str, lines: &[EntrantLine]) -> String {
    let mut text = organiser_text.trim_end().to_owned();
    text.push('\n');
    for line in lines {
        text +=
            &format!("\n[[entrant]]\nname = {}\nbot = {}\n", toml_quote(&line.name), toml_quote(&line.bot));
        if let Some(role) = &line.role {
            text += &format!("role = {}\n", toml_quote(role));
        }
        if let Some(contributor) = &line.contributor {
            text += &format!("contributor = {}\n", toml_quote(contributor));
        }
        if !line.marks.is_empty() {
            let mark = |(mark, note): &(String, Option<String>)| {
                format!(
                    "{} = {}",
                    toml_quote(mark),
                    note.as_deref().map_or_else(|| "true".to_owned(), toml_quote)
                )
            };
            let marks: Vec<String> = line.marks.iter().map(mark).collect();
            text += &format!("marks = {{ {} }}\n", marks.join(", "));
        }
    }
    text
}

/// Sets a top-level key of the text. Keeps everything else, including comments. A text that is not TOML stays as it is: its errors are
/// reported when it is parsed, with their positions.
pub fn set_top_level_key(organiser_text: &str, key: &str, value: impl Into<Value>) -> String {
    let Ok(mut document) = organiser_text.parse::<DocumentMut>() else { return organiser_text.to_owned() };
    let mut value = value.into();
    if let Some(old) = document.get_mut(key).and_then(Item::as_value_mut) {
        // Keeps the comments before and after the value.
        *value.decor_mut() = old.decor().clone();
        *old = value;
    } else {
        document.insert(key, Item::Value(value));
    }
    document.to_string()
}

/// Sets a key of `[settings]`, or removes it. Keeps everything else, including comments. A text that is not TOML stays as it is.
pub fn set_setting(organiser_text: &str, key: &str, value: Option<&str>) -> String {
    let Ok(mut document) = organiser_text.parse::<DocumentMut>() else { return organiser_text.to_owned() };
    match (document.get_mut("settings").and_then(Item::as_table_like_mut), value) {
        (Some(settings), Some(value)) => drop(settings.insert(key, Item::Value(Value::from(value)))),
        (Some(settings), None) => drop(settings.remove(key)),
        (None, Some(value)) => {
            let mut settings = toml_edit::Table::new();
            settings.insert(key, Item::Value(Value::from(value)));
            document.insert("settings", Item::Table(settings));
        }
        (None, None) => {}
    }
    document.to_string()
}

/// A text as a TOML string.
pub fn toml_quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// Splits a text into the part without entrants, and its `[[entrant]]` tables. A text that is not TOML has no entrants: its errors are
/// reported when it is parsed.
pub fn split_entrants(text: &str) -> Result<(String, String), InlineEntrants> {
    let Ok(mut document) = text.parse::<DocumentMut>() else { return Ok((text.to_owned(), String::new())) };
    let entrants = match document.remove("entrant") {
        None => return Ok((document.to_string(), String::new())),
        Some(Item::ArrayOfTables(entrants)) => entrants,
        Some(_) => return Err(InlineEntrants),
    };
    // The comment above the first entrant explains where entrants belong. It stays.
    let comment = entrants.get(0).and_then(|first| first.decor().prefix()).and_then(RawString::as_str);
    let end = format!("{}{}", comment.unwrap_or_default(), document.trailing().as_str().unwrap_or_default());
    document.set_trailing(end);
    let mut only_entrants = DocumentMut::new();
    only_entrants.insert("entrant", Item::ArrayOfTables(entrants));
    Ok((document.to_string(), only_entrants.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_top_level_key_replaces_or_inserts_only_at_the_top() {
        let text = "# about\n\nname = \"x\" # why\ngame = \"y\"\n[settings]\nname = 3\n";
        assert_eq!(
            set_top_level_key(text, "name", "z"),
            "# about\n\nname = \"z\" # why\ngame = \"y\"\n[settings]\nname = 3\n"
        );
        assert_eq!(set_top_level_key("[[phase]]\n", "name", "z"), "name = \"z\"\n[[phase]]\n");
        assert_eq!(set_top_level_key("\"name\" = 'x'\n", "name", 3), "\"name\" = 3\n");
        let inside = "text = \"\"\"\nname = 1\n\"\"\"\n";
        assert_eq!(set_top_level_key(inside, "name", "z"), format!("{inside}name = \"z\"\n"));
        assert_eq!(set_top_level_key("name = ", "name", "z"), "name = ", "not TOML");
    }

    #[test]
    fn set_setting_changes_one_key_of_the_settings_and_keeps_the_rest() {
        let text = "# about\nname = \"x\"\n\n[settings] # why\nseconds = 5\n\n[[phase]]\nformat = \"f\"\n";
        let with = set_setting(text, "words", Some("words.dat"));
        assert!(with.contains("[settings] # why\nseconds = 5\nwords = \"words.dat\"\n"), "{with}");
        assert_eq!(set_setting(&with, "words", None), text);
        let new = set_setting("name = \"x\"\n[[phase]]\nformat = \"f\"\n", "words", Some("words.dat"));
        let read: DocumentMut = new.parse().unwrap();
        assert_eq!(read["settings"]["words"].as_str(), Some("words.dat"), "{new}");
        assert_eq!(read["name"].as_str(), Some("x"), "{new}");
        assert_eq!(read["phase"].as_array_of_tables().map(toml_edit::ArrayOfTables::len), Some(1), "{new}");
        assert_eq!(set_setting("name = ", "words", Some("w")), "name = ", "not TOML");
    }

    #[test]
    fn render_writes_marks_that_the_reader_reads_back() {
        let line = |marks: &[(&str, Option<&str>)]| EntrantLine {
            name: "a".to_owned(),
            bot: "house:random".to_owned(),
            role: None,
            contributor: None,
            marks: marks.iter().map(|(mark, note)| ((*mark).to_owned(), note.map(str::to_owned))).collect(),
        };
        let marks = [("AI", Some("wrote \"all\" of it")), ("exploit", None), ("odd one's", Some("x"))];
        let text = render(
            "game = \"word-racer\"\n[[phase]]\nformat = \"round-robin\"\n",
            &[line(&marks), line(&[])],
        );
        let text = text.replacen("name = \"a\"", "name = \"b\"", 1);
        let read = crate::CompetitionConfig::read(&text).unwrap();
        let shown = |n: usize| {
            read.entrants[n].marks.iter().map(|one| (one.mark.clone(), one.note.clone())).collect::<Vec<_>>()
        };
        let mut expected = line(&marks).marks;
        expected.sort();
        let mut found = shown(0);
        found.sort();
        assert_eq!(found, expected, "{text}");
        assert_eq!(shown(1), []);
    }

    #[test]
    fn split_entrants_finds_every_spelling_of_the_tables_and_nothing_else() {
        let text = "game = 'g'\n\n# Entrants:\n[[entrant]]\nbot = \"a\"\n[entrant.marks]\nAI = \"\"\n[[phase]]\nformat = \"f\"\n\
            [[ \"entrant\" ]]\nbot = \"b\"\n# end\n";
        let (rest, entrants) = split_entrants(text).unwrap();
        assert_eq!(rest, "game = 'g'\n[[phase]]\nformat = \"f\"\n\n# Entrants:\n# end\n");
        let entrants: DocumentMut = entrants.parse().unwrap();
        assert_eq!(entrants["entrant"].as_array_of_tables().unwrap().len(), 2);
        let inside = "text = \"\"\"\n[[entrant]]\n\"\"\"\n";
        assert_eq!(split_entrants(inside).unwrap(), (inside.to_owned(), String::new()));
    }

    #[test]
    fn toml_quote_round_trips_any_text() {
        for text in
            ["", "plain", "A \"cup\"", "it's \"both\"", "back\\slash", "line\nbreak", "\u{1b}[0m", "ünï"]
        {
            let document: DocumentMut = format!("key = {}\n", toml_quote(text)).parse().unwrap();
            assert_eq!(document["key"].as_str(), Some(text));
        }
    }
}
