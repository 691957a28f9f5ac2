//! Names of archive entries: which are safe as file names, and which collide on some file system.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization as _;

use super::BotRejection;

/// Maximum depth of folders.
pub(super) const MAX_DEPTH: usize = 12;
/// Maximum length of one file or folder name, in bytes.
const MAX_NAME_BYTES: usize = 200;

/// A parsed entry name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ArchivePath {
    /// Its parts, each a plain name.
    pub parts: Vec<String>,
    /// Whether it ends with a `/`.
    pub is_folder: bool,
}

/// Whether an entry is junk that operating systems add by themselves.
pub(super) fn is_junk(name: &str) -> bool {
    name.split('/').any(|part| part == "__MACOSX" || part == ".DS_Store")
}

/// Parses an entry's name.
pub(super) fn read(name: &str) -> Result<ArchivePath, BotRejection> {
    let refused = |what: &str, hint: &str| Err(BotRejection::new(what, hint).in_file(name));
    let again = "pack the bot's folder again, with plain file names";
    if name.chars().any(char::is_control) {
        return refused("the name holds a control character", again);
    }
    if name.contains('\\') {
        return refused("the name holds a backslash", "pack it with a program that writes / between folders");
    }
    let drive = name.as_bytes().get(..2).is_some_and(|two| two[0].is_ascii_alphabetic() && two[1] == b':');
    if name.starts_with('/') || drive {
        return refused("an absolute path", again);
    }
    let is_folder = name.ends_with('/');
    let parts: Vec<String> = name.strip_suffix('/').unwrap_or(name).split('/').map(str::to_owned).collect();
    if parts.iter().any(|part| part == "..") {
        return refused("the path leaves the archive by `..`", again);
    }
    if parts.iter().any(|part| part.is_empty() || part == ".") {
        return refused("a path with an empty part or `.`", again);
    }
    if parts.len() > MAX_DEPTH {
        return refused(&format!("more than {MAX_DEPTH} folders deep"), "use fewer nested folders");
    }
    if parts.iter().any(|part| part.len() > MAX_NAME_BYTES) {
        return refused(&format!("a name of more than {MAX_NAME_BYTES} bytes"), "give it a shorter name");
    }
    if parts.iter().any(|part| is_reserved(part)) {
        return refused("a name that some systems reserve", "give it another name");
    }
    Ok(ArchivePath { parts, is_folder })
}

/// Whether some system treats the name as a device or cuts its end.
fn is_reserved(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let numbered = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let is_numbered = numbered.is_some_and(|n| n.len() == 1 && n.as_bytes()[0].is_ascii_digit());
    is_numbered || matches!(stem.as_str(), "con" | "prn" | "aux" | "nul") || part.ends_with(['.', ' '])
}

/// All names so far, keyed by their form on a file system without case and with one Unicode normalisation.
#[derive(Default)]
pub(super) struct UsedPaths(HashMap<String, (String, bool)>);

impl UsedPaths {
    /// Adds a name and the folders that contain it. Fails if it collides with an earlier name.
    pub(super) fn take(&mut self, name: &ArchivePath) -> Result<(), BotRejection> {
        for depth in 1..=name.parts.len() {
            let path = name.parts[..depth].join("/");
            let last = depth == name.parts.len();
            let is_folder = !last || name.is_folder;
            match self.0.get(&folded(&path)) {
                None => {
                    self.0.insert(folded(&path), (path, is_folder));
                }
                Some((other, _)) if *other != path => {
                    let what = format!("the same name as {other} except for case or Unicode form");
                    return Err(BotRejection::new(what, "give one of them another name").in_file(path));
                }
                Some((_, was_folder)) if !(is_folder && *was_folder) => {
                    let what = if is_folder == *was_folder {
                        "is listed twice"
                    } else {
                        "is both a file and a folder"
                    };
                    return Err(BotRejection::new(what, "pack each file once").in_file(path));
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

/// Folds case and Unicode normalisation.
fn folded(path: &str) -> String {
    let lower: String = path.nfkd().flat_map(char::to_lowercase).collect();
    // `ß` and `ẞ`, final sigma: convert to upper case and back.
    lower.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_names_are_rejected() {
        let what = |name: &str| read(name).unwrap_err().what;
        assert_eq!(what("/etc/passwd"), "an absolute path");
        assert_eq!(what("C:evil.py"), "an absolute path");
        assert_eq!(what("a/../../b.py"), "the path leaves the archive by `..`");
        assert_eq!(what(".."), "the path leaves the archive by `..`");
        assert_eq!(what("a\\..\\b.py"), "the name holds a backslash");
        assert_eq!(what("a\0.py"), "the name holds a control character");
        assert_eq!(what("a//b.py"), "a path with an empty part or `.`");
        assert_eq!(what(""), "a path with an empty part or `.`");
        assert_eq!(what(&"d/".repeat(13)), "more than 12 folders deep");
        assert_eq!(what(&"n".repeat(201)), "a name of more than 200 bytes");
        for reserved in ["a/NUL.py", "con", "Com1.txt", "aux .py", "end.", "end ", "lpt9/x.py"] {
            assert_eq!(what(reserved), "a name that some systems reserve", "{reserved}");
        }
        assert!(read("console.py").is_ok() && read("com.py").is_ok() && read(".hidden").is_ok());
        let name = read("id10+_bot/a b.py").unwrap();
        assert_eq!((name.parts.len(), name.is_folder), (2, false));
        assert!(read("data/").unwrap().is_folder);
    }

    #[test]
    fn names_that_collide_on_some_system_are_rejected() {
        let clash = |names: &[&str]| {
            let mut taken = UsedPaths::default();
            names
                .iter()
                .try_for_each(|name| taken.take(&read(name).unwrap()))
                .map_err(|r| (r.file.unwrap(), r.what))
        };
        assert!(clash(&["a/", "a/b.py", "a/c.py", "b/b.py"]).is_ok());
        assert_eq!(clash(&["Bot.py", "bot.py"]).unwrap_err().0, "bot.py");
        assert!(clash(&["caf\u{e9}.py", "cafe\u{301}.py"]).is_err());
        assert!(clash(&["stra\u{df}e.py", "STRASSE.py"]).is_err());
        assert!(clash(&["A/x.py", "a/y.py"]).is_err());
        assert_eq!(clash(&["x.py", "x.py"]).unwrap_err().1, "is listed twice");
        assert_eq!(clash(&["x", "x/y.py"]).unwrap_err().1, "is both a file and a folder");
    }
}
