//! Which files make a parcel.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agon_host::BotRejection;

use super::PackageScope;

/// The most that travels with a bot.
const BYTES: u64 = 256 << 20;
/// The most files and folders.
const FILES: usize = 20_000;
/// What is nobody's own. Names that begin with a dot are left out too.
const IGNORED_DIRS: [&str; 2] = ["__pycache__", "__MACOSX"];

/// Something in a parcel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Entry {
    /// A folder with nothing in it.
    Folder,
    /// A file, and whether it can be run.
    File(PathBuf, bool),
    /// A link to a place in the parcel.
    Link(PathBuf),
    /// A file that is made for the parcel.
    Bytes(Vec<u8>),
}

/// What was gathered, by its path from the root.
pub struct FileSet<'g> {
    root: &'g Path,
    closed: &'g [PathBuf],
    entries: BTreeMap<PathBuf, Entry>,
    bytes: u64,
    /// What travels because the hash covers it, and is hidden from the bot.
    pub hidden: BTreeSet<PathBuf>,
}

impl<'g> FileSet<'g> {
    /// From a folder, for a bot to which some paths are closed.
    pub fn new(root: &'g Path, closed: &'g [PathBuf]) -> Self {
        Self { root, closed, entries: BTreeMap::new(), bytes: 0, hidden: BTreeSet::new() }
    }

    /// Takes what a bot is made of and what else it can read.
    pub fn wanted(&mut self, wanted: &PackageScope, covered: &BTreeSet<PathBuf>) -> Result<(), BotRejection> {
        for path in covered {
            self.must(path)?;
        }
        match wanted {
            PackageScope::Below(folders, but) => {
                for folder in folders {
                    self.below(folder, but.as_deref())?;
                }
                Ok(())
            }
            PackageScope::Mentioned => self.mentioned(covered),
            PackageScope::Nothing => Ok(()),
        }
    }

    /// All of it, as it lies below a folder of the parcel.
    pub fn entries_below(self, folder: &Path) -> BTreeMap<PathBuf, Entry> {
        let mut entries: BTreeMap<PathBuf, Entry> =
            self.entries.into_iter().map(|(path, entry)| (folder.join(path), entry)).collect();
        if entries.is_empty() {
            entries.insert(folder.to_owned(), Entry::Folder);
        }
        entries
    }

    /// A file that the hash covers.
    fn must(&mut self, path: &Path) -> Result<(), BotRejection> {
        let inside = path.strip_prefix(self.root).unwrap_or(path).to_owned();
        if !self.take(path)? {
            let hint = "put the file itself there, in place of a link";
            return Err(BotRejection::new("leads outside the bot's folder", hint)
                .in_file(inside.display().to_string()));
        }
        if self.is_closed(path) {
            self.hidden.insert(inside);
        }
        Ok(())
    }

    fn is_closed(&self, path: &Path) -> bool {
        self.closed.iter().any(|closed| path.starts_with(closed))
    }

    /// Takes a file or a link; `false` if it leads outside.
    fn take(&mut self, path: &Path) -> Result<bool, BotRejection> {
        let Ok(inside) = path.strip_prefix(self.root).map(Path::to_owned) else { return Ok(false) };
        if self.entries.contains_key(&inside) {
            return Ok(true);
        }
        let unreadable = |error: std::io::Error| {
            BotRejection::new(format!("cannot be read: {error}"), "is it there, and may you read it?")
                .in_file(inside.display().to_string())
        };
        let about = path.symlink_metadata().map_err(unreadable)?;
        let entry = if about.is_symlink() {
            let Some(target) = self.target(path) else { return Ok(false) };
            Entry::Link(target)
        } else if about.is_dir() {
            Entry::Folder
        } else if about.is_file() {
            self.bytes += about.len();
            Entry::File(path.to_owned(), about.permissions().mode() & 0o111 != 0)
        } else {
            return Ok(true);
        };
        self.entries.insert(inside, entry);
        if self.bytes > BYTES || self.entries.len() > FILES {
            let what = format!("what lies in its folder is more than {} MiB or {FILES} files", BYTES >> 20);
            return Err(BotRejection::new(what, "give the bot a folder of its own, with only what it needs"));
        }
        Ok(true)
    }

    /// Where a link leads, if that is a place in the bot's folder that it may see.
    fn target(&self, link: &Path) -> Option<PathBuf> {
        let target = fs::read_link(link).ok()?;
        let real = link.canonicalize().ok()?;
        let fits = target.is_relative() && real.starts_with(self.root) && !self.is_closed(&real);
        fits.then_some(target)
    }

    /// All that is below a folder, in the order of names.
    fn below(&mut self, folder: &Path, but: Option<&Path>) -> Result<(), BotRejection> {
        let unlisted = |error| {
            BotRejection::new(format!("cannot be listed: {error}"), "may you read it?")
                .in_file(folder.display().to_string())
        };
        let entries = fs::read_dir(folder).map_err(unlisted)?.flatten();
        let mut any = false;
        for path in entries.map(|entry| entry.path()).collect::<BTreeSet<_>>() {
            if is_left_out(&path) || self.is_closed(&path) || but == Some(&*path) {
                continue;
            }
            any = true;
            let about = path.symlink_metadata();
            if about.as_ref().is_ok_and(fs::Metadata::is_dir) {
                self.below(&path, but)?;
            } else if about.is_ok_and(|about| about.is_symlink() || is_readable(&path)) {
                self.take(&path)?;
            }
        }
        if !any && folder != self.root {
            self.take(folder)?;
        }
        Ok(())
    }

    /// What lies at the top of the root and is named in what is covered, and in that, and so on.
    fn mentioned(&mut self, covered: &BTreeSet<PathBuf>) -> Result<(), BotRejection> {
        let entries = fs::read_dir(self.root).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut beside: BTreeSet<PathBuf> =
            entries.filter(|path| !is_left_out(path) && !self.is_closed(path)).collect();
        let mut open: Vec<PathBuf> = covered.iter().cloned().collect();
        while let Some(path) = open.pop() {
            let Ok(text) = fs::read(&path) else { continue };
            let named: Vec<PathBuf> = beside.iter().filter(|path| is_named(path, &text)).cloned().collect();
            for path in named {
                beside.remove(&path);
                if path.is_dir() && !path.is_symlink() {
                    let before: BTreeSet<PathBuf> = self.entries.keys().cloned().collect();
                    self.below(&path, None)?;
                    let new = self.entries.keys().filter(|inside| !before.contains(*inside));
                    open.extend(new.map(|inside| self.root.join(inside)));
                } else if is_readable(&path) && self.take(&path)? {
                    open.push(path);
                }
            }
        }
        Ok(())
    }
}

/// Whether a text has the name of a file in it; of a module, the name without its ending.
fn is_named(path: &Path, text: &[u8]) -> bool {
    let script = path.extension().is_some_and(|ending| ending == "py");
    let name =
        if script { path.file_stem() } else { path.file_name() }.unwrap_or_default().as_encoded_bytes();
    !name.is_empty() && text.windows(name.len()).any(|part| part == name)
}

/// What does not travel, wherever it lies: a ledger holds the secret seed.
fn is_left_out(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kept = name.ends_with(".agon")
        || name.ends_with(".ledger")
        || name.contains(".ledger-")
        || name.contains(".ledger.");
    name.starts_with('.') || IGNORED_DIRS.contains(&&*name) || (kept && !path.is_dir())
}

/// What we may not read the bot may not read either.
fn is_readable(path: &Path) -> bool {
    path.is_file() && fs::File::open(path).is_ok()
}
