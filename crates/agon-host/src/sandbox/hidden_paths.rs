//! Hides paths inside a folder that is open: for example another bot's file beside the bot's own.
//!
//! Landlock can only allow, and a rule for a folder covers everything below it. So a folder that contains a hidden path is opened
//! entry by entry, and only its listing is opened as a whole. Names below a hidden folder can be listed, but nothing there can be read.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use landlock::{AccessFs, BitFlags};

use super::landlock_rules::Rule;
use super::launcher_protocol::StepError;
use super::spawn::SandboxError;

/// Maximum number of entries that are opened one by one. A fork's rules go through a socket that takes about 200 KiB.
const MAX_ENTRIES: usize = 2000;
const MAX_RULE_BYTES: usize = 96 << 10;

/// Checks whether these paths can be hidden from a bot that reads these folders. Call it before any bot is started.
pub fn can_hide<'a>(
    hidden: &[PathBuf],
    folders: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), SandboxError> {
    let rules = folders.into_iter().map(|folder| Rule::new(folder, AccessFs::ReadDir)).collect();
    match without(hidden, rules) {
        Ok(_) => Ok(()),
        Err(StepError { step, reason }) => Err(SandboxError::Failed { step, reason }),
    }
}

/// The same rules without the hidden paths.
pub(super) fn without(hidden: &[PathBuf], rules: Vec<Rule>) -> Result<Vec<Rule>, StepError> {
    if hidden.is_empty() {
        return Ok(rules);
    }
    let mut opening = OpenedDirs::around(hidden);
    let mut around: BTreeMap<PathBuf, BitFlags<AccessFs>> = BTreeMap::new();
    for rule in rules {
        match fs::canonicalize(&rule.path) {
            Ok(real) if opening.is_around(&real) => *around.entry(real).or_default() |= rule.access,
            _ => opening.rules.push(rule),
        }
    }
    for (folder, access) in around {
        opening.open(&folder, access)?;
    }
    Ok(opening.rules)
}

struct OpenedDirs {
    hidden: Vec<PathBuf>,
    /// Device and inode of hidden files: a file may have other names, and Landlock rules are about the file.
    files: HashSet<(u64, u64)>,
    rules: Vec<Rule>,
    entries: usize,
    bytes: usize,
}

impl OpenedDirs {
    fn around(hidden: &[PathBuf]) -> Self {
        let real = hidden.iter().filter_map(|path| fs::canonicalize(path).ok());
        let hidden: Vec<PathBuf> = hidden.iter().cloned().chain(real).collect();
        let known = hidden.iter().filter_map(|path| path.metadata().ok());
        let files = known.map(|about| (about.dev(), about.ino())).collect();
        Self { hidden, files, rules: Vec::new(), entries: 0, bytes: 0 }
    }

    /// Whether this path or one below it is hidden.
    fn is_around(&self, path: &Path) -> bool {
        self.hidden.iter().any(|hidden| hidden.starts_with(path))
    }

    /// Opens everything in a folder that is not hidden.
    fn open(&mut self, folder: &Path, access: BitFlags<AccessFs>) -> Result<(), StepError> {
        let failed = |error: io::Error| {
            StepError::new(format!("listing {}, which also holds another bot", folder.display()), error)
        };
        self.rules.push(Rule::new(folder, access & AccessFs::ReadDir));
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // The entry may be gone by now. A symbolic link needs no rule; a rule for it would apply to its target.
            let Ok(about) = entry.metadata() else { continue };
            let path = entry.path();
            if about.is_symlink()
                || self.hidden.contains(&path)
                || self.files.contains(&(about.dev(), about.ino()))
            {
                continue;
            }
            self.count(folder, &path)?;
            if about.is_dir() && self.is_around(&path) {
                self.open(&path, access)?;
            } else {
                self.rules.push(Rule { listed: true, ..Rule::new(path, access) });
            }
        }
        Ok(())
    }

    fn count(&mut self, folder: &Path, path: &Path) -> Result<(), StepError> {
        self.entries += 1;
        self.bytes += path.as_os_str().len();
        if self.entries <= MAX_ENTRIES && self.bytes <= MAX_RULE_BYTES {
            return Ok(());
        }
        Err(StepError::new(
            format!("hiding the other bots in {} from this one", folder.display()),
            format!(
                "it holds too many files (at most {MAX_ENTRIES}, and {} KiB of paths)",
                MAX_RULE_BYTES >> 10
            ),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(hidden: &[PathBuf], rules: Vec<Rule>) -> BTreeMap<PathBuf, BitFlags<AccessFs>> {
        let rules = without(hidden, rules).unwrap();
        rules.into_iter().map(|rule| (rule.path, rule.access)).collect()
    }

    #[test]
    fn folder_is_opened_entry_by_entry_around_hidden_paths() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for file in ["me.py", "other.py", "lib/helper.py", "deep/bots/b.py", "deep/bots/c.py", "deep/d.py"] {
            fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
            fs::write(home.join(file), "").unwrap();
        }
        std::os::unix::fs::symlink(home.join("other.py"), home.join("link.py")).unwrap();
        fs::hard_link(home.join("other.py"), home.join("twin.py")).unwrap();
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let rules = || {
            vec![
                Rule::new(&home, read),
                Rule::new(home.join("lib/.."), AccessFs::Execute),
                Rule::new("/usr", read),
            ]
        };
        let hidden = [home.join("other.py"), home.join("deep/bots/b.py"), home.join("not/there")];
        let all = read | AccessFs::Execute;
        let list = BitFlags::from(AccessFs::ReadDir);
        let expected = [
            ("", list),
            ("me.py", all),
            ("lib", all),
            ("deep", list),
            ("deep/bots", list),
            ("deep/bots/c.py", all),
            ("deep/d.py", all),
        ];
        let mut expected: BTreeMap<_, _> =
            expected.into_iter().map(|(path, access)| (home.join(path), access)).collect();
        let root = expected.remove(&home.join("")).unwrap();
        expected.extend([(home.clone(), root), (PathBuf::from("/usr"), read)]);
        assert_eq!(opened(&hidden, rules()), expected);
        assert_eq!(without(&[], rules()).unwrap().len(), 3);
        assert_eq!(opened(&["/srv/x".into()], vec![Rule::new(&home, read)]), [(home.clone(), read)].into());
    }

    #[test]
    fn folder_with_too_many_entries_is_rejected() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for number in 0..=MAX_ENTRIES {
            fs::write(home.join(number.to_string()), "").unwrap();
        }
        let refused =
            without(&[home.join("other.py")], vec![Rule::new(&home, AccessFs::ReadFile)]).err().unwrap();
        assert!(refused.reason.contains("too many files (at most 2000"), "{refused:?}");
    }
}
