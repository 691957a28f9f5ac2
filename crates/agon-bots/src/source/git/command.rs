//! Runs the `git` program with a timeout and without hooks, filters, prompts or user settings.

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::super::{BotRejection, short_line};
use super::RepositoryLimits;

/// Settings for every call.
const SETTINGS: [&str; 16] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    // Write a link as a small file, so that it cannot point anywhere.
    "core.symlinks=false",
    "core.autocrlf=false",
    "core.longpaths=true",
    "credential.helper=",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
    "protocol.file.allow=always",
    "transfer.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "init.defaultBranch=main",
];
/// Environment variables that git may keep: network access and keys.
const KEPT_VARIABLES: [&str; 14] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "SSH_AUTH_SOCK",
    "http_proxy",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "GIT_SSL_CAINFO",
];
/// Interval between checks of a running git.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Maximum number of bytes kept of git's stderr.
const MAX_STDERR_BYTES: usize = 8 << 10;
/// Maximum length of a list of files or commits.
const MAX_STDOUT_BYTES: usize = 8 << 20;

/// A bare repository and its limits, for calls of git.
pub struct Git {
    /// The bare repository.
    pub repository: PathBuf,
    pub limits: RepositoryLimits,
}

/// Result of a call.
pub struct Output {
    pub good: bool,
    pub text: String,
    complaint: String,
}

impl Git {
    /// Runs git. A failed call is rejected with git's message.
    pub fn run(&self, words: &[&str]) -> Result<String, BotRejection> {
        self.must(words, &[])
    }

    /// The same, with extra environment variables.
    pub fn must(&self, words: &[&str], more: &[(&str, &Path)]) -> Result<String, BotRejection> {
        let output = self.ask(words, more)?;
        if output.good { Ok(output.text) } else { Err(rejection_of(&output.complaint)) }
    }

    /// Runs git with extra environment variables. A failed call is not an error here.
    pub fn ask(&self, words: &[&str], more: &[(&str, &Path)]) -> Result<Output, BotRejection> {
        let mut command = Command::new("git");
        command.arg("--git-dir").arg(&self.repository);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(words).env_clear();
        command
            .envs(KEPT_VARIABLES.iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value))));
        command.envs([
            ("LC_ALL", "C"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ALLOW_PROTOCOL", "https:ssh:file"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o ControlMaster=no -o ControlPath=none"),
        ]);
        command.envs(more.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let child = command.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => BotRejection::new(
                "git is not installed on this machine",
                "install it, for example: apt install git",
            ),
            _ => BotRejection::new(
                format!("git cannot be started: {error}"),
                "check that `git --version` works",
            ),
        })?;
        RunningGit { child, over: false }.watch(self)
    }
}

/// A running git. Dropping it kills git and everything git started.
struct RunningGit {
    child: Child,
    over: bool,
}

impl RunningGit {
    fn watch(mut self, git: &Git) -> Result<Output, BotRejection> {
        let text = self.child.stdout.take().map(|pipe| thread::spawn(move || read(pipe, MAX_STDOUT_BYTES)));
        let complaint =
            self.child.stderr.take().map(|pipe| thread::spawn(move || read(pipe, MAX_STDERR_BYTES)));
        let status = self.wait(git)?;
        let join = |reader: Option<thread::JoinHandle<_>>| {
            reader.and_then(|one| one.join().ok()).unwrap_or_default()
        };
        let ((text, cut), (complaint, _)) = (join(text), join(complaint));
        if cut {
            return Err(BotRejection::new("the repository has too many files", git.limits.words()));
        }
        Ok(Output { good: status.success(), text, complaint })
    }

    /// Waits until git ends, times out, or fetches too much.
    fn wait(&mut self, git: &Git) -> Result<ExitStatus, BotRejection> {
        let started = Instant::now();
        let mut polls = 0_u32;
        loop {
            let broke = |error: io::Error| {
                BotRejection::new(format!("git cannot be waited for: {error}"), "try again")
            };
            if started.elapsed() > git.limits.time {
                let what = format!("git did not finish within {} s", git.limits.time.as_secs());
                return Err(BotRejection::new(
                    what,
                    "check that the repository is reachable from here, then try again",
                ));
            }
            if let Some(status) = self.child.try_wait().map_err(broke)? {
                self.over = true;
                return Ok(status);
            }
            polls += 1;
            if polls.is_multiple_of(25) && size(&git.repository) > git.limits.fetched_bytes {
                return Err(BotRejection::new("the repository is too large", git.limits.words()));
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn end(&mut self) {
        if let Some(group) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
        self.over = true;
    }
}

impl Drop for RunningGit {
    fn drop(&mut self) {
        if !self.over {
            self.end();
        }
    }
}

/// Reads at most `limit` bytes, and says whether there was more.
fn read(pipe: impl Read, limit: usize) -> (String, bool) {
    let mut bytes = Vec::new();
    let _ = pipe.take(limit as u64 + 1).read_to_end(&mut bytes);
    let cut = bytes.len() > limit;
    bytes.truncate(limit);
    (String::from_utf8_lossy(&bytes).into_owned(), cut)
}

/// Size of a folder in bytes.
pub fn size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(about) if about.is_dir() => size(&entry.path()),
            Ok(about) => about.len(),
            Err(_) => 0,
        })
        .sum()
}

/// Git's error message, with a hint for the most common ones.
fn rejection_of(complaint: &str) -> BotRejection {
    let lines = || complaint.lines().map(str::trim);
    let said = lines().find_map(|line| line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")));
    let said = said.or_else(|| lines().find(|line| !line.is_empty())).unwrap_or("it gave no reason");
    let has = |words: &str| complaint.contains(words);
    if let Some((_, branch)) = said.split_once("find remote ref refs/heads/") {
        let hint = "check its spelling; without `branch` the repository's default branch is used";
        return BotRejection::new(format!("it has no branch {branch}"), hint);
    }
    let hint = if has("find remote ref") {
        "commit something to it first"
    } else if has("terminal prompts disabled") || has("Authentication failed") || has("Permission denied") {
        "if it is private, provide an ssh key without a password; otherwise check the address"
    } else if has("does not exist") || has("not found") || has("does not appear to be a git repository") {
        "check the address; a path is relative to the competition file's folder"
    } else if has("Host key verification failed") {
        "connect to it once by hand with ssh, and check its key"
    } else if has("Could not resolve host") || has("Failed to connect") || has("Connection") {
        "check that this machine is online, then run `agon update` again"
    } else if has("dubious ownership") {
        "a local repository must belong to the user that runs Agon"
    } else if has("fsck") || has("invalid path") {
        "it contains something that an honest repository does not: ask its author"
    } else {
        "check that `git ls-remote` works for it"
    };
    BotRejection::new(format!("git: {}", short_line(said)), hint)
}
