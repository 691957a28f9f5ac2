//! How pages present a competition: what it is about, its prizes and its sponsors. Nothing here changes a result.

use serde::Serialize;
use toml::de::DeValue;

use super::toml_reader::{Located, TomlReader};

/// Maximum length of `about`.
pub const MAX_ABOUT_CHARS: usize = 2000;
/// Maximum number of prizes.
pub const MAX_PRIZES: usize = 20;
/// Maximum length of a prize.
pub const MAX_PRIZE_CHARS: usize = 120;
/// Maximum number of sponsors.
pub const MAX_SPONSORS: usize = 20;
/// Maximum length of a link.
const MAX_LINK_CHARS: usize = 300;
/// Maximum length of the name of a picture.
const MAX_PICTURE_CHARS: usize = 80;
/// Keys of a sponsor.
const SPONSOR_KEYS: [&str; 3] = ["name", "link", "picture"];
/// Hint for `[[sponsor]]`.
const SPONSOR_HINT: &str = "write [[sponsor]], with two brackets, and name = \"...\" below it";

/// What pages show about a competition.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Presentation {
    /// What the competition is about, in Markdown.
    pub about: Option<String>,
    /// Prizes: the first is for the first place.
    pub prizes: Vec<String>,
    /// Sponsors in the order of the file.
    pub sponsors: Vec<Sponsor>,
}

/// One `[[sponsor]]`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sponsor {
    /// Display name.
    pub name: String,
    /// Address of the sponsor's page: `https://...` or `http://...`.
    pub link: Option<String>,
    /// Name of a picture, which was uploaded for the competition.
    pub picture: Option<String>,
}

/// Whether a text can be the name of a picture: lowercase letters, digits and hyphens, and the ending of a type that every browser shows
/// and that contains no program.
pub fn is_picture_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let stem = name.strip_suffix(".png").or_else(|| name.strip_suffix(".webp"));
    stem.is_some_and(|stem| !stem.is_empty() && stem.chars().all(plain))
        && name.chars().count() <= MAX_PICTURE_CHARS
}

/// Reads `about`, `prizes` and the `[[sponsor]]` tables.
pub(super) fn read(fields: &TomlReader<'_>) -> Presentation {
    Presentation { about: about(fields), prizes: prizes(fields), sponsors: sponsors(fields) }
}

fn about(fields: &TomlReader<'_>) -> Option<String> {
    let value = fields.get("about")?;
    let refuse = |what: String, hint: &str| {
        fields.errors.local_error(value.span(), what, hint);
        None
    };
    let DeValue::String(text) = value.get_ref() else {
        return refuse("`about` is not text".to_owned(), "write about = \"\"\"...\"\"\"");
    };
    let text = text.trim().replace("\r\n", "\n");
    if text.chars().count() > MAX_ABOUT_CHARS {
        let what = format!("`about` is longer than {MAX_ABOUT_CHARS} characters");
        return refuse(what, "shorten it, and link to the rest");
    }
    if text.chars().any(|c| c != '\n' && agon_core::sanitize::replace_char(c) != c) {
        let what = "`about` holds a control character".to_owned();
        return refuse(what, "keep it to lines of plain text");
    }
    (!text.is_empty()).then_some(text)
}

fn prizes(fields: &TomlReader<'_>) -> Vec<String> {
    let Some(prizes) = fields.texts("prizes") else { return Vec::new() };
    if prizes.len() > MAX_PRIZES {
        let what = format!("there are more than {MAX_PRIZES} prizes");
        fields.errors.local_error(fields.key_span("prizes"), what, "write the last ones as one");
        return Vec::new();
    }
    let fits = |Located { value, span }: Located<String>| {
        if value.chars().count() > MAX_PRIZE_CHARS {
            let what = format!("this prize is longer than {MAX_PRIZE_CHARS} characters");
            fields.errors.local_error(span, what, "shorten it; `about` has room for more");
            return None;
        }
        Some(value)
    };
    prizes.into_iter().filter_map(fits).collect()
}

fn sponsors(fields: &TomlReader<'_>) -> Vec<Sponsor> {
    let tables = fields.tables("sponsor", SPONSOR_HINT);
    if tables.len() > MAX_SPONSORS {
        let what = format!("there are more than {MAX_SPONSORS} sponsors");
        fields.errors.local_error(fields.key_span("sponsor"), what, "remove some");
        return Vec::new();
    }
    tables.iter().filter_map(sponsor).collect()
}

fn sponsor(fields: &TomlReader<'_>) -> Option<Sponsor> {
    fields.reject_unknown_keys(&SPONSOR_KEYS, |_| None);
    if !fields.has_or_misspells("name", &SPONSOR_KEYS) {
        fields.missing("this sponsor has no `name`", "add name = \"...\"");
    }
    let name = fields.name("name");
    let link = fields.text("link").and_then(|link| check_link(fields, link));
    let picture = fields.text("picture").and_then(|picture| {
        if is_picture_name(&picture.value) {
            return Some(picture.value);
        }
        let what = format!("`{}` is not the name of a picture", picture.value);
        let hint = "write lowercase letters, digits and hyphens, and .png or .webp";
        fields.errors.local_error(picture.span, what, hint);
        None
    });
    Some(Sponsor { name: name?.value, link, picture })
}

fn check_link(fields: &TomlReader<'_>, link: Located<String>) -> Option<String> {
    let host = link.value.strip_prefix("https://").or_else(|| link.value.strip_prefix("http://"));
    let is_plain = |host: &str| {
        !host.is_empty() && !host.starts_with('/') && !link.value.contains([' ', '"', '<', '>', '\\'])
    };
    if host.is_some_and(is_plain) && link.value.chars().count() <= MAX_LINK_CHARS {
        return Some(link.value);
    }
    let what = format!("`{}` is not the address of a page", link.value);
    fields.errors.local_error(link.span, what, "write link = \"https://...\"");
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_picture_name_accepts_only_pictures_without_folders() {
        for name in ["sponsor-1.png", "a.webp", "0-9.png"] {
            assert!(is_picture_name(name), "{name}");
        }
        for name in ["", ".png", "a.svg", "a/b.png", "../a.png", "A.png", "a.png.html", "a b.png"] {
            assert!(!is_picture_name(name), "{name}");
        }
    }
}
