//! Selects the files of a package.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agon_host::BotRejection;

use super::PackageScope;

/// Maximum size of a package's files in bytes.
const MAX_BYTES: u64 = 256 << 20;
/// Maximum number of files and folders in a package.
const MAX_FILES: usize = 20_000;
/// Folders that are not part of a bot. Names that begin with a dot are omitted too.
const IGNORED_DIRS: [&str; 2] = ["__pycache__", "__MACOSX"];

/// An entry of a package.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PackageEntry {
    /// An empty folder.
    Folder,
    /// A file, and whether it is executable.
    File(PathBuf, bool),
    /// A link to a path inside the package.
    Link(PathBuf),
    /// A generated file.
    Bytes(Vec<u8>),
}

/// Collected entries, by their path relative to the root.
pub struct FileSet<'g> {
    root: &'g Path,
    closed: &'g [PathBuf],
    entries: BTreeMap<PathBuf, PackageEntry>,
    bytes: u64,
    /// Files that are included because the hash covers them, but are hidden from the bot.
    pub hidden: BTreeSet<PathBuf>,
}

impl<'g> FileSet<'g> {
    /// Collects from a root folder. The bot cannot read the paths in `closed`.
    pub fn new(root: &'g Path, closed: &'g [PathBuf]) -> Self {
        Self { root, closed, entries: BTreeMap::new(), bytes: 0, hidden: BTreeSet::new() }
    }

    /// Adds the bot's files, and other files that it can read.
    pub fn add_bot_files(
        &mut self,
        wanted: &PackageScope,
        covered: &BTreeSet<PathBuf>,
    ) -> Result<(), BotRejection> {
        for path in covered {
            self.add_covered(path)?;
        }
        match wanted {
            PackageScope::Below(folders, but) => {
                for folder in folders {
                    self.add_folder(folder, but.as_deref())?;
                }
                Ok(())
            }
            PackageScope::Mentioned => self.add_mentioned(covered),
            PackageScope::Nothing => Ok(()),
        }
    }

    /// All entries, moved below a folder of the package.
    pub fn entries_below(self, folder: &Path) -> BTreeMap<PathBuf, PackageEntry> {
        let mut entries: BTreeMap<PathBuf, PackageEntry> =
            self.entries.into_iter().map(|(path, entry)| (folder.join(path), entry)).collect();
        if entries.is_empty() {
            entries.insert(folder.to_owned(), PackageEntry::Folder);
        }
        entries
    }

    /// Adds a file that the hash covers.
    fn add_covered(&mut self, path: &Path) -> Result<(), BotRejection> {
        let inside = path.strip_prefix(self.root).unwrap_or(path).to_owned();
        if !self.add(path)? {
            let hint = "replace the link by the file";
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

    /// Adds a file or a link. Returns `false` if it leads outside.
    fn add(&mut self, path: &Path) -> Result<bool, BotRejection> {
        let Ok(inside) = path.strip_prefix(self.root).map(Path::to_owned) else { return Ok(false) };
        if self.entries.contains_key(&inside) {
            return Ok(true);
        }
        let unreadable = |error: std::io::Error| {
            BotRejection::new(
                format!("cannot be read: {error}"),
                "check that the file exists and is readable",
            )
            .in_file(inside.display().to_string())
        };
        let about = path.symlink_metadata().map_err(unreadable)?;
        let entry = if about.is_symlink() {
            let Some(target) = self.target(path) else { return Ok(false) };
            PackageEntry::Link(target)
        } else if about.is_dir() {
            PackageEntry::Folder
        } else if about.is_file() {
            self.bytes += about.len();
            PackageEntry::File(path.to_owned(), about.permissions().mode() & 0o111 != 0)
        } else {
            return Ok(true);
        };
        self.entries.insert(inside, entry);
        if self.bytes > MAX_BYTES || self.entries.len() > MAX_FILES {
            let what = format!("its folder contains more than {} MiB or {MAX_FILES} files", MAX_BYTES >> 20);
            return Err(BotRejection::new(
                what,
                "put the bot into a separate folder with only the files it needs",
            ));
        }
        Ok(true)
    }

    /// Target of a link, if it is in the bot's folder and the bot may read it.
    fn target(&self, link: &Path) -> Option<PathBuf> {
        let target = fs::read_link(link).ok()?;
        let real = link.canonicalize().ok()?;
        let fits = target.is_relative() && real.starts_with(self.root) && !self.is_closed(&real);
        fits.then_some(target)
    }

    /// Adds everything below a folder, sorted by name.
    fn add_folder(&mut self, folder: &Path, but: Option<&Path>) -> Result<(), BotRejection> {
        let unlisted = |error| {
            BotRejection::new(format!("cannot be listed: {error}"), "check the read permission")
                .in_file(folder.display().to_string())
        };
        let entries = fs::read_dir(folder).map_err(unlisted)?.flatten();
        let mut any = false;
        for path in entries.map(|entry| entry.path()).collect::<BTreeSet<_>>() {
            if is_never_packed(&path) || self.is_closed(&path) || but == Some(&*path) {
                continue;
            }
            any = true;
            let about = path.symlink_metadata();
            if about.as_ref().is_ok_and(fs::Metadata::is_dir) {
                self.add_folder(&path, but)?;
            } else if about.is_ok_and(|about| about.is_symlink() || is_readable(&path)) {
                self.add(&path)?;
            }
        }
        if !any && folder != self.root {
            self.add(folder)?;
        }
        Ok(())
    }

    /// Adds entries at the top of the root that covered files mention, and those that the added files mention, recursively.
    fn add_mentioned(&mut self, covered: &BTreeSet<PathBuf>) -> Result<(), BotRejection> {
        let entries = fs::read_dir(self.root).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut beside: BTreeSet<PathBuf> =
            entries.filter(|path| !is_never_packed(path) && !self.is_closed(path)).collect();
        let mut open: Vec<PathBuf> = covered.iter().cloned().collect();
        while let Some(path) = open.pop() {
            let Ok(text) = fs::read(&path) else { continue };
            let named: Vec<PathBuf> = beside.iter().filter(|path| is_named(path, &text)).cloned().collect();
            for path in named {
                beside.remove(&path);
                if path.is_dir() && !path.is_symlink() {
                    let before: BTreeSet<PathBuf> = self.entries.keys().cloned().collect();
                    self.add_folder(&path, None)?;
                    let new = self.entries.keys().filter(|inside| !before.contains(*inside));
                    open.extend(new.map(|inside| self.root.join(inside)));
                } else if is_readable(&path) && self.add(&path)? {
                    open.push(path);
                }
            }
        }
        Ok(())
    }
}

/// Whether a text contains the name of a file; for a module, the name without its extension.
fn is_named(path: &Path, text: &[u8]) -> bool {
    let script = path.extension().is_some_and(|ending| ending == "py");
    let name =
        if script { path.file_stem() } else { path.file_name() }.unwrap_or_default().as_encoded_bytes();
    !name.is_empty() && text.windows(name.len()).any(|part| part == name)
}

/// Whether a file is never packed: a ledger contains the secret seed.
fn is_never_packed(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kept = name.ends_with(".agon")
        || name.ends_with(".ledger")
        || name.contains(".ledger-")
        || name.contains(".ledger.");
    name.starts_with('.') || IGNORED_DIRS.contains(&&*name) || (kept && !path.is_dir())
}

/// Whether this process can read a file. Otherwise the bot cannot read it either.
fn is_readable(path: &Path) -> bool {
    path.is_file() && fs::File::open(path).is_ok()
}
