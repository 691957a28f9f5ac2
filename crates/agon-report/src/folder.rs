//! The folder of a report: written beside its place and put there when it is whole.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use agon_bots::error::Failure;

/// Says that a folder was written by `agon report`, and which files are its own.
const MARKER: &str = ".agon-report";
const HEAD: &str = "agon report 1";
const HINT: &str = "is there room, and may you write there?";

/// A report in the making.
pub struct ReportWriter {
    path: PathBuf,
    draft: PathBuf,
    /// Paths in it, with `/` between their parts.
    files: BTreeSet<String>,
    /// What an earlier report has written there.
    before: BTreeSet<String>,
    /// Whether somebody else's files lie there too, which stay.
    shared: bool,
}

impl ReportWriter {
    /// Looks whether a report may go there. What begins with one of `others` may be there already.
    pub fn begin(path: &Path, others: &[&str]) -> Result<Self, Failure> {
        let path = std::path::absolute(path)?;
        let found = contents(&path)?;
        let before = own_files(&path);
        let foreign = |name: &&String| {
            let of = |known: &String| known.split('/').next() == Some(name.as_str());
            **name != MARKER && !before.as_ref().is_some_and(|files| files.iter().any(of))
        };
        let strangers: Vec<&String> = found.iter().filter(foreign).collect();
        let unexpected = strangers.iter().find(|name| !others.iter().any(|other| name.starts_with(other)));
        if let (Some(name), None) = (unexpected, &before) {
            let what = format!("{} has other things in it, such as {name}", path.display());
            return Err(Failure::wrong_use(
                what,
                "name a new folder, or one that agon report has written before",
            ));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let draft = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
        fs::create_dir_all(&draft).map_err(|e| Failure::io("make", &draft, &e, HINT))?;
        let shared = !strangers.is_empty();
        Ok(Self { path, draft, files: BTreeSet::new(), before: before.unwrap_or_default(), shared })
    }

    /// A file of the report.
    pub fn add(&mut self, name: &str, content: &[u8]) -> Result<(), Failure> {
        let path = self.draft.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|e| Failure::io("make", folder, &e, HINT))?;
        }
        fs::write(&path, content).map_err(|e| Failure::io("write", &path, &e, HINT))?;
        self.files.insert(name.to_owned());
        Ok(())
    }

    /// Puts it in its place; says how many pages there are.
    pub fn finish(mut self) -> Result<usize, Failure> {
        let pages =
            self.files.iter().filter(|name| Path::new(name).extension().is_some_and(|e| e == "html")).count();
        let list = self.files.iter().fold(format!("{HEAD}\n"), |list, name| list + name + "\n");
        self.add(MARKER, list.as_bytes())?;
        self.place().map_err(|e| Failure::io("write", &self.path, &e, HINT))?;
        Ok(pages)
    }

    fn place(&self) -> io::Result<()> {
        if self.shared {
            return self.move_in();
        }
        // Over nothing, or over an empty folder.
        if fs::rename(&self.draft, &self.path).is_ok() {
            return Ok(());
        }
        // The old report and the new one change places in one step; the draft, now the old one, goes away with us.
        match renameat_with(CWD, &self.draft, CWD, &self.path, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(()),
            Err(_) => self.move_in(),
        }
    }

    /// File by file, among others that stay: the page that leads to all others comes last, and what is no longer there goes.
    fn move_in(&self) -> io::Result<()> {
        let last = |name: &&String| *name == "summary.html";
        for name in self.files.iter().filter(|name| !last(name)).chain(self.files.iter().filter(last)) {
            let to = self.path.join(name);
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder)?;
            }
            let from = self.draft.join(name);
            // The folder may be another disk, mounted there.
            fs::rename(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop))?;
        }
        for name in self.before.difference(&self.files) {
            let _ = fs::remove_file(self.path.join(name));
        }
        Ok(())
    }
}

impl Drop for ReportWriter {
    /// A draft that was never finished, or the report it has replaced.
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.draft);
    }
}

/// What lies in a folder; nothing if there is none.
fn contents(path: &Path) -> Result<Vec<String>, Failure> {
    let failed = |e: io::Error| Failure::io("read", path, &e, "name a folder, or one that is not there yet");
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(failed)?,
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    entries.map(name).collect::<io::Result<_>>().map_err(failed)
}

/// What a report has written there before; `None` if none has. A marker is a file like any other: only plain paths in it count.
fn own_files(path: &Path) -> Option<BTreeSet<String>> {
    let text = fs::read_to_string(path.join(MARKER)).ok()?;
    let mut lines = text.lines();
    let plain = |name: &&str| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    (lines.next() == Some(HEAD))
        .then(|| lines.filter(|name| !name.is_empty()).filter(plain).map(str::to_owned).collect())
}
