//! Bots in git repositories: fetches the newest commit, keeps every version, runs nothing of it.
//!
//! Each repository has a folder: `bare` is the fetched repository, `commits/ID/NAME` are the files of a commit, `current` names the
//! commit in use. Files of a commit never change, so a version that has played stays the same.

mod command;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_core::assets::content_hash;
use agon_files::{AtomicFile, IfExists, TemporaryFolder};

use super::{BotRejection, short_line};
use command::Git;

/// Maximum number of commits and files listed.
const MAX_LISTED: usize = 20;
/// The ref of the newest commit of the branch.
const NEWEST_REF: &str = "refs/agon/newest";

/// Limits for a repository.
#[derive(Clone, Copy, Debug)]
pub struct RepositoryLimits {
    /// Timeout of one git call.
    pub time: Duration,
    /// Maximum size of the repository with its history.
    pub fetched_bytes: u64,
    /// Maximum size of all files of one commit.
    pub files_bytes: u64,
    /// Maximum number of files.
    pub files: usize,
}

impl Default for RepositoryLimits {
    fn default() -> Self {
        Self { time: Duration::from_mins(2), fetched_bytes: 500 << 20, files_bytes: 100 << 20, files: 10_000 }
    }
}

impl RepositoryLimits {
    fn words(&self) -> String {
        let Self { fetched_bytes, files_bytes, files, .. } = self;
        let (fetched, held) = (fetched_bytes >> 20, files_bytes >> 20);
        format!(
            "at most {files} files of {held} MiB together, {fetched} MiB with their history: a bot is small"
        )
    }
}

/// A repository, and the folder in which it is kept.
#[derive(Clone, Debug)]
pub struct Repository {
    address: String,
    branch: Option<String>,
    name: String,
    folder: PathBuf,
    /// Its limits.
    pub limits: RepositoryLimits,
}

/// The files of a commit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkout {
    /// Their folder.
    pub folder: PathBuf,
    /// The commit's id, 40 digits or more.
    pub commit: String,
}

impl Checkout {
    /// The bot spec within the files: a path, optionally with a class; the whole folder if `path` is `None`.
    pub fn bot(&self, path: Option<&str>) -> String {
        path.map_or_else(|| self.folder.clone(), |path| self.folder.join(path)).display().to_string()
    }
}

/// Result of `update`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FetchResult {
    /// The commit in use before; `None` the first time.
    pub old: Option<String>,
    /// The commit in use now.
    pub new: String,
    /// The folder with its files.
    pub folder: PathBuf,
    /// Whether the branch's history no longer contains the old commit.
    pub rewritten: bool,
    /// Number of new commits.
    pub commits: usize,
    /// The newest of them, newest first: id and subject.
    pub subjects: Vec<(String, String)>,
    /// Number of files that differ.
    pub files: usize,
    /// Some of them: added, changed or removed, and the path.
    pub paths: Vec<(&'static str, String)>,
    /// Submodules, which are left out.
    pub left_out: Vec<String>,
}

impl Repository {
    /// The repository of an entrant. `beside` is the competition file's folder: paths are relative to it, and the repository is kept in
    /// its `.agon/git`.
    pub fn new(beside: &Path, entrant: &str, address: &str, branch: Option<&str>) -> Self {
        let address = if is_remote(address) {
            address.to_owned()
        } else {
            let path = beside.join(address);
            std::path::absolute(&path).unwrap_or(path).display().to_string()
        };
        let name = address.trim_end_matches('/').trim_end_matches(".git");
        let name = folder_name(name.rsplit(['/', ':']).next().unwrap_or_default());
        let hash = content_hash(format!("{entrant}\n{address}").as_bytes());
        let hash: String = hash.trim_start_matches("sha256:").chars().take(8).collect();
        let folder = beside.join(".agon/git").join(format!("{}-{hash}", folder_name(entrant)));
        Self { address, branch: branch.map(str::to_owned), name, folder, limits: RepositoryLimits::default() }
    }

    /// The address to fetch from.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The files in use: those of the newest commit at the last call of [`Self::update`].
    pub fn checkout(&self) -> Result<Checkout, BotRejection> {
        let Some(commit) = self.current() else {
            return Err(BotRejection::new(
                format!("{} was never fetched", self.address),
                "run `agon update` with the competition's file",
            ));
        };
        self.checkout_of(&commit)
    }

    /// The files of any commit that was in use before.
    pub fn checkout_of(&self, commit: &str) -> Result<Checkout, BotRejection> {
        let unknown = || {
            BotRejection::new(
                format!("{} has no commit {commit}", self.address),
                "restore the folder .agon beside the competition's file, or run `agon update`",
            )
        };
        if !is_id(commit) {
            return Err(unknown());
        }
        let folder = self.place(commit);
        if !folder.is_dir() {
            if !self.bare().is_dir() {
                return Err(unknown());
            }
            self.check_out(commit)?;
        }
        Ok(Checkout { folder, commit: commit.to_owned() })
    }

    /// Fetches the newest commit of the branch and puts it in use.
    pub fn update(&self) -> Result<FetchResult, BotRejection> {
        fs::create_dir_all(&self.folder)
            .map_err(|error| BotRejection::io("make this folder", &self.folder, &error))?;
        let git = self.git();
        if !self.bare().join("HEAD").is_file() {
            git.run(&["init", "--quiet", "--bare"])?;
        }
        let from =
            self.branch.as_ref().map_or_else(|| "HEAD".to_owned(), |branch| format!("refs/heads/{branch}"));
        let what = format!("+{from}:{NEWEST_REF}");
        let words =
            ["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--"];
        let fetched = git.run(&[&words[..], &[&self.address, &what]].concat()).and_then(|_| {
            let large = command::size(&self.bare()) > self.limits.fetched_bytes;
            if large {
                Err(BotRejection::new("the repository is too large", self.limits.words()))
            } else {
                Ok(())
            }
        });
        if let Err(refusal) = fetched {
            // Remove the folder of a repository that was never fetched successfully.
            if self.current().is_none() {
                let _ = fs::remove_dir_all(&self.folder);
            }
            return Err(refusal);
        }
        let new = git
            .run(&["rev-parse", "--verify", "--quiet", &format!("{NEWEST_REF}^{{commit}}")])?
            .trim()
            .to_owned();
        let left_out = self.check_out(&new)?;
        let old = self.current();
        let mut updated = FetchResult {
            folder: self.place(&new),
            old: old.clone(),
            new: new.clone(),
            rewritten: false,
            commits: 0,
            subjects: Vec::new(),
            files: 0,
            paths: Vec::new(),
            left_out,
        };
        if old.as_ref() != Some(&new) {
            self.compare(&mut updated)?;
            self.put_in_use(&new)?;
        }
        Ok(updated)
    }

    fn git(&self) -> Git {
        Git { repository: self.bare(), limits: self.limits }
    }

    fn bare(&self) -> PathBuf {
        self.folder.join("bare")
    }

    /// The folder of a commit's files. Its last part is a name, because some bots are named after their folder.
    fn place(&self, commit: &str) -> PathBuf {
        self.folder.join("commits").join(commit).join(&self.name)
    }

    fn current(&self) -> Option<String> {
        let text = fs::read_to_string(self.folder.join("current")).ok()?;
        Some(text.trim().to_owned()).filter(|commit| is_id(commit))
    }

    fn put_in_use(&self, commit: &str) -> Result<(), BotRejection> {
        let path = self.folder.join("current");
        let written = AtomicFile::options().write(&path, format!("{commit}\n").as_bytes());
        written.map_err(|error| BotRejection::io("write it", &path, &error))
    }

    /// Fills in the changes since the commit before.
    fn compare(&self, updated: &mut FetchResult) -> Result<(), BotRejection> {
        let git = self.git();
        let old = updated.old.as_deref().filter(|old| {
            git.ask(&["cat-file", "-e", &format!("{old}^{{commit}}")], &[]).is_ok_and(|output| output.good)
        });
        let range = old.map_or_else(|| updated.new.clone(), |old| format!("{old}..{}", updated.new));
        updated.commits = git.run(&["rev-list", "--count", &range])?.trim().parse().unwrap_or_default();
        let log =
            git.run(&["log", "--no-show-signature", &format!("-{MAX_LISTED}"), "--format=%h%x09%s", &range])?;
        let pair =
            |line: &str| line.split_once('\t').map(|(id, subject)| (id.to_owned(), short_line(subject)));
        updated.subjects = log.lines().filter_map(pair).collect();
        let Some(old) = old else { return Ok(()) };
        updated.rewritten = !git.ask(&["merge-base", "--is-ancestor", old, &updated.new], &[])?.good;
        let words =
            ["diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--name-status", old, &updated.new];
        let list = git.run(&words)?;
        let mut fields = list.split('\0');
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            let how = match status.chars().next() {
                Some('A') => "added",
                Some('D') => "removed",
                _ => "changed",
            };
            updated.files += 1;
            if updated.paths.len() < MAX_LISTED {
                updated.paths.push((how, short_line(path)));
            }
        }
        Ok(())
    }

    /// Writes the files of a commit to their folder, if they are not there yet. Returns the submodules.
    fn check_out(&self, commit: &str) -> Result<Vec<String>, BotRejection> {
        let git = self.git();
        let left_out = self.within_limits(&git, commit)?;
        let place = self.place(commit);
        if place.is_dir() {
            return Ok(left_out);
        }
        let broke = |error: io::Error| BotRejection::io("write there", &self.folder, &error);
        let whole = self.folder.join("commits").join(commit);
        fs::create_dir_all(self.folder.join("commits")).map_err(broke)?;
        let mut unfinished = TemporaryFolder::beside(&whole).map_err(broke)?;
        let (files, index) = (unfinished.path().join(&self.name), unfinished.path().join("index"));
        fs::create_dir(&files).map_err(broke)?;
        // Keep every commit that was in use, even if its author removes it.
        git.run(&["update-ref", &format!("refs/agon/kept/{commit}"), commit])?;
        let more = [("GIT_INDEX_FILE", index.as_path()), ("GIT_WORK_TREE", files.as_path())];
        for words in [&["read-tree", commit][..], &["checkout-index", "--all", "--force", "--quiet"]] {
            git.must(words, &more)?;
        }
        let _ = fs::remove_file(&index);
        match unfinished.move_to(&whole, IfExists::Keep) {
            // Another process has just done the same.
            Err(_) if place.is_dir() => Ok(left_out),
            Err(error) => Err(broke(error)),
            Ok(()) => Ok(left_out),
        }
    }

    /// Checks the limits before anything is written: a small repository can describe a very large folder.
    fn within_limits(&self, git: &Git, commit: &str) -> Result<Vec<String>, BotRejection> {
        let list = git.run(&["ls-tree", "-r", "-z", "--long", "--full-tree", commit])?;
        let (mut files, mut bytes, mut left_out) = (0, 0_u64, Vec::new());
        for entry in list.split('\0').filter(|entry| !entry.is_empty()) {
            let Some((about, path)) = entry.split_once('\t') else { continue };
            let fields: Vec<&str> = about.split_whitespace().collect();
            if fields.get(1) == Some(&"commit") {
                left_out.push(short_line(path));
            }
            files += 1;
            bytes += fields.get(3).and_then(|size| size.parse::<u64>().ok()).unwrap_or_default();
        }
        if files > self.limits.files || bytes > self.limits.files_bytes {
            let what = format!("the commit holds {files} files, {} MiB", bytes >> 20);
            return Err(BotRejection::new(what, self.limits.words()));
        }
        Ok(left_out)
    }
}

/// Whether an address is a URL or an ssh address: `https://...`, `user@host:path`.
fn is_remote(address: &str) -> bool {
    let colon = address.find(':');
    address.contains("://") || colon.is_some_and(|colon| !address[..colon].contains('/'))
}

/// Whether a text is a commit id.
fn is_id(text: &str) -> bool {
    (40..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A name that is usable as a folder name on any system.
fn folder_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' };
    let name: String = name.chars().take(40).map(plain).collect();
    let name = name.trim_start_matches('-').to_owned();
    if name.is_empty() { "bot".to_owned() } else { name }
}
