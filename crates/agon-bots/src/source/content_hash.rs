//! One hash for a bot: the names and contents of all its files, in order.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use agon_core::record::Digest;
use sha2::{Digest as _, Sha256};

/// Folders with data, logs and build products, which are not part of the bot.
const IGNORED_DIRS: [&str; 5] = ["data", "logs", "__pycache__", "node_modules", "__MACOSX"];
/// Maximum number of files; further files are ignored.
const MAX_FILES: usize = 10_000;
/// Maximum number of hashed bytes; further files count by name and size only.
const MAX_BYTES: u64 = 256 << 20;

/// The hash of a folder, or of a file and the files beside it that it mentions. `more` are further strings that belong to the
/// bot, such as a class or a command.
pub fn hash(path: &Path, more: &[&str]) -> io::Result<String> {
    let root = path.parent().filter(|_| path.is_file()).unwrap_or(path);
    hash_files(root, &files(path)?, more)
}

/// The files that [`hash`] covers.
pub fn files(path: &Path) -> io::Result<BTreeSet<PathBuf>> {
    if path.is_file() && path.parent().is_some() { mentioned(path) } else { Ok(all(path)) }
}

/// The hash of these files, with names relative to a folder.
pub fn hash_files(root: &Path, files: &BTreeSet<PathBuf>, more: &[&str]) -> io::Result<String> {
    let mut hash = Sha256::new();
    let mut left = MAX_BYTES;
    // Prefix each part with its length, so that no two lists of parts give the same bytes.
    let part = |hash: &mut Sha256, bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    hash.update((more.len() as u64).to_le_bytes());
    for word in more {
        part(&mut hash, word.as_bytes());
    }
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(file);
        part(&mut hash, name.as_os_str().as_encoded_bytes());
        let size = file.metadata()?.len();
        // A file that we cannot read, the bot cannot read either.
        let open = if size > left { None } else { fs::File::open(file).ok() };
        let Some(open) = open else {
            hash.update(size.to_le_bytes());
            continue;
        };
        left -= size;
        let mut content = Vec::new();
        open.take(size).read_to_end(&mut content)?;
        part(&mut hash, &content);
    }
    Ok(Digest(hash.finalize().into()).to_string())
}

/// All files of a folder that belong to the bot. Links are not followed.
pub fn all(folder: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with('.') || IGNORED_DIRS.contains(&&*name) || files.len() >= MAX_FILES {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => drop(files.insert(entry.path())),
                _ => {}
            }
        }
    }
    files
}

/// A file, the files beside it that it mentions by name, the files that those mention, and so on. Contests often keep many bots
/// in one folder with a few shared helpers. The result may contain too many files, but not too few.
fn mentioned(file: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let folder = file.parent().unwrap_or(file);
    let mut beside: Vec<(String, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_part = path.extension().is_some_and(|e| e == "py" || e == "json") || path.is_dir();
        if is_part && !stem.is_empty() && !IGNORED_DIRS.contains(&&*stem) && !stem.starts_with('.') {
            beside.push((stem, path));
        }
    }
    let mut files = BTreeSet::new();
    let mut open = vec![file.to_owned()];
    while let Some(path) = open.pop() {
        if files.len() >= MAX_FILES || !files.insert(path.clone()) {
            continue;
        }
        if path.metadata()?.len() > MAX_BYTES {
            continue;
        }
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let words: BTreeSet<&str> = text
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !word.is_empty())
            .collect();
        for (stem, path) in &beside {
            if words.contains(stem.as_str()) {
                open.extend(if path.is_dir() { all(path) } else { BTreeSet::from([path.clone()]) });
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_covers_relevant_files_only() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let whole = || hash(folder.path(), &["Bot"]).unwrap();
        write("Bot.py", "import helper\n");
        write("helper.py", "import deep.er\n");
        write("deep/er.py", "1");
        write("other.py", "2");
        let first = whole();
        for ignored in ["data/x", "logs/log_1.json", "__pycache__/a.pyc", ".git/config"] {
            write(ignored, "x");
            assert_eq!(whole(), first, "{ignored}");
        }
        assert_ne!(hash(folder.path(), &["Other"]).unwrap(), first);
        write("deep/er.py", "3");
        assert_ne!(whole(), first);
        // A single file: the hash covers the files it mentions, and no others.
        let alone = || hash(&folder.path().join("Bot.py"), &[]).unwrap();
        let first = alone();
        write("other.py", "4");
        assert_eq!(alone(), first);
        write("deep/er.py", "5");
        assert_ne!(alone(), first);
        fs::rename(folder.path().join("deep/er.py"), folder.path().join("deep/re.py")).unwrap();
        let renamed = alone();
        write("deep/er.py", "5");
        assert_ne!(alone(), renamed, "names count");
    }
}
