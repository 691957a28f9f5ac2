//! The name of a Python bot: that of its class. Only the lines that begin a class or a method are looked at; nothing runs.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::submission_root;

/// Maximum size of a file that is searched for the class.
const MAX_SOURCE_BYTES: u64 = 1 << 20;

/// The class with this method, in a file or in the files of a folder. `None` if there is no such class, or if several could be meant.
pub fn of_bot(path: &Path, method: &str) -> Option<String> {
    if path.is_file() {
        return of_file(path, method);
    }
    let mut files: Vec<PathBuf> =
        fs::read_dir(submission_root(path)).ok()?.flatten().map(|one| one.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "py"));
    let mut names: Vec<String> = files.iter().filter_map(|file| of_file(file, method)).collect();
    if names.len() == 1 { names.pop() } else { None }
}

fn of_file(file: &Path, method: &str) -> Option<String> {
    let mut text = Vec::new();
    File::open(file).ok()?.take(MAX_SOURCE_BYTES).read_to_end(&mut text).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut names = classes_with(&text, method);
    if names.len() > 1 {
        // As the Python host chooses: the one that is named like its file.
        let stem = file.file_stem()?.to_string_lossy().to_lowercase();
        names.retain(|name| name.to_lowercase() == stem);
    }
    if let [name] = names[..] { Some(name.to_owned()) } else { None }
}

/// The top-level classes that define a method themselves.
fn classes_with<'t>(text: &'t str, method: &str) -> Vec<&'t str> {
    let (mut names, mut current) = (Vec::new(), None);
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("class ") {
            current =
                rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty());
        } else if line.starts_with(|c: char| !c.is_whitespace() && !matches!(c, '#' | ')')) {
            current = None;
        } else if let Some(name) = current
            && defines(line.trim_start(), method)
        {
            names.push(name);
            current = None;
        }
    }
    names
}

fn defines(line: &str, method: &str) -> bool {
    let line = line.strip_prefix("async ").unwrap_or(line);
    line.strip_prefix("def ")
        .and_then(|rest| rest.trim_start().strip_prefix(method))
        .is_some_and(|rest| rest.trim_start().starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_with_the_method_is_found() {
        let text = "import random\n\nclass Helper:\n    def get(self): pass\n\nclass Ana_1(Helper):\n    x = 1\n# note\n    def get_move (self, board): pass\n\ndef get_move(self): pass\n";
        assert_eq!(classes_with(text, "get_move"), ["Ana_1"]);
        assert!(classes_with("def get_move(a):\n    pass\n", "get_move").is_empty());
        assert!(classes_with("class A:\n    def get_moves(self): pass\n", "get_move").is_empty());
    }

    #[test]
    fn folder_is_named_after_the_only_class_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, class: &str| {
            fs::write(folder.path().join(name), format!("class {class}:\n    def get_move(self): pass\n"))
                .unwrap();
        };
        write("bot.py", "Learner");
        fs::write(folder.path().join("helper.py"), "class Helper: pass\n").unwrap();
        assert_eq!(of_bot(folder.path(), "get_move").as_deref(), Some("Learner"));
        assert_eq!(of_bot(&folder.path().join("bot.py"), "get_move").as_deref(), Some("Learner"));
        write("other.py", "Other");
        assert_eq!(of_bot(folder.path(), "get_move"), None);
    }
}
