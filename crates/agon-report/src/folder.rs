//! Output folder of a report. It is written to a temporary folder beside it and moved when it is complete.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use agon_bots::error::Diagnostic;
use agon_files::{IfExists, TemporaryFolder};

/// File that marks a folder as written by `agon report`, and lists its files.
const MARKER: &str = ".agon-report";
const HEAD: &str = "agon report 1";
const HINT: &str = "check disk space and write permission";

/// A report that is being written.
pub struct ReportWriter {
    path: PathBuf,
    /// Holds the new report, and after it was exchanged the old one.
    temporary: TemporaryFolder,
    /// Paths of written files, with `/` as separator.
    files: BTreeSet<String>,
    /// Files of an earlier report in the folder.
    before: BTreeSet<String>,
    /// Whether the folder contains other files, which must stay.
    shared: bool,
}

impl ReportWriter {
    /// Checks that a report may be written to the folder. Files whose names begin with one of `others` may exist.
    pub fn create(path: &Path, others: &[&str]) -> Result<Self, Diagnostic> {
        let path = std::path::absolute(path)?;
        let found = names_in(&path)?;
        let before = report_files(&path);
        let foreign = |name: &&String| {
            let of = |known: &String| known.split('/').next() == Some(name.as_str());
            **name != MARKER && !before.as_ref().is_some_and(|files| files.iter().any(of))
        };
        let strangers: Vec<&String> = found.iter().filter(foreign).collect();
        let unexpected = strangers.iter().find(|name| !others.iter().any(|other| name.starts_with(other)));
        if let (Some(name), None) = (unexpected, &before) {
            let what = format!("{} contains other files, such as {name}", path.display());
            return Err(Diagnostic::wrong_use(
                what,
                "name a new folder, or one that agon report has written",
            ));
        }
        let temporary = fs::create_dir_all(path.parent().unwrap_or(&path))
            .and_then(|()| TemporaryFolder::beside(&path))
            .map_err(|e| Diagnostic::io("make", &path, &e, HINT))?;
        let shared = !strangers.is_empty();
        Ok(Self { path, temporary, files: BTreeSet::new(), before: before.unwrap_or_default(), shared })
    }

    /// Adds a file to the report.
    pub fn add(&mut self, name: &str, content: &[u8]) -> Result<(), Diagnostic> {
        let path = self.temporary.path().join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|e| Diagnostic::io("make", folder, &e, HINT))?;
        }
        fs::write(&path, content).map_err(|e| Diagnostic::io("write", &path, &e, HINT))?;
        self.files.insert(name.to_owned());
        Ok(())
    }

    /// Moves the report to its folder. Returns the number of pages.
    pub fn finish(mut self) -> Result<usize, Diagnostic> {
        let pages =
            self.files.iter().filter(|name| Path::new(name).extension().is_some_and(|e| e == "html")).count();
        let list = self.files.iter().fold(format!("{HEAD}\n"), |list, name| list + name + "\n");
        self.add(MARKER, list.as_bytes())?;
        self.place().map_err(|e| Diagnostic::io("write", &self.path, &e, HINT))?;
        Ok(pages)
    }

    fn place(&mut self) -> io::Result<()> {
        if !self.shared && self.temporary.move_to(&self.path, IfExists::Replace).is_ok() {
            return Ok(());
        }
        self.move_files()
    }

    /// Moves file by file into a folder with other files. The page that links to all others comes last, then outdated files are removed.
    fn move_files(&self) -> io::Result<()> {
        let last = |name: &&String| *name == "summary.html";
        for name in self.files.iter().filter(|name| !last(name)).chain(self.files.iter().filter(last)) {
            let to = self.path.join(name);
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder)?;
            }
            let from = self.temporary.path().join(name);
            // The folder may be on another file system.
            fs::rename(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop))?;
        }
        for name in self.before.difference(&self.files) {
            let _ = fs::remove_file(self.path.join(name));
        }
        Ok(())
    }
}

/// Names in a folder; empty if the folder does not exist.
fn names_in(path: &Path) -> Result<Vec<String>, Diagnostic> {
    let failed =
        |e: io::Error| Diagnostic::io("read", path, &e, "name a folder, or a path that does not exist yet");
    let entries = match fs::read_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(failed)?,
    };
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    entries.map(name).collect::<io::Result<_>>().map_err(failed)
}

/// Files of an earlier report in the folder, or `None`. The marker is not trusted: only plain relative paths in it count.
fn report_files(path: &Path) -> Option<BTreeSet<String>> {
    let text = fs::read_to_string(path.join(MARKER)).ok()?;
    let mut lines = text.lines();
    let plain = |name: &&str| Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    (lines.next() == Some(HEAD))
        .then(|| lines.filter(|name| !name.is_empty()).filter(plain).map(str::to_owned).collect())
}
