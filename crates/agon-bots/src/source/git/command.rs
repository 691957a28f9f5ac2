//! The program `git`, run so that it does nothing but what it was asked: no hooks, no filters, no questions, no settings of
//! anybody, and not for ever.

use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::super::{BotRejection, sanitize};
use super::Limits;

/// What is asked of git in every call, besides what is asked for.
const SETTINGS: [&str; 16] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    // A link is written as a small file: it cannot lead anywhere.
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
/// What git may know of its surroundings: how to get out, and whose keys to use.
const KEPT: [&str; 14] = [
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
/// How often a running git is looked at.
const GLANCE: Duration = Duration::from_millis(20);
/// How much of what git complains about is kept.
const COMPLAINT: usize = 8 << 10;
/// How long a list may be, of files or of commits.
const LIST: usize = 8 << 20;

/// One call.
pub struct Git {
    /// The bare repository.
    pub repository: PathBuf,
    pub limits: Limits,
}

/// What a call gave.
pub struct Output {
    pub good: bool,
    pub text: String,
    complaint: String,
}

impl Git {
    /// Runs it; a call that fails is refused in git's own words.
    pub fn run(&self, words: &[&str]) -> Result<String, BotRejection> {
        self.must(words, &[])
    }

    /// The same, with more in its environment.
    pub fn must(&self, words: &[&str], more: &[(&str, &Path)]) -> Result<String, BotRejection> {
        let output = self.ask(words, more)?;
        if output.good { Ok(output.text) } else { Err(in_words(&output.complaint)) }
    }

    /// Runs it with more in its environment; that it fails may be an answer.
    pub fn ask(&self, words: &[&str], more: &[(&str, &Path)]) -> Result<Output, BotRejection> {
        let mut command = Command::new("git");
        command.arg("--git-dir").arg(&self.repository);
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        command.args(words).env_clear();
        command.envs(KEPT.iter().filter_map(|name| std::env::var_os(name).map(|value| (name, value))));
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
                "the program git is not on this machine",
                "install it, such as: apt install git",
            ),
            _ => BotRejection::new(format!("git cannot be started: {error}"), "does `git --version` work?"),
        })?;
        Running { child, over: false }.watch(self)
    }
}

/// A git that runs, ended with all it started when this is dropped.
struct Running {
    child: Child,
    over: bool,
}

impl Running {
    fn watch(mut self, git: &Git) -> Result<Output, BotRejection> {
        let text = self.child.stdout.take().map(|pipe| thread::spawn(move || read(pipe, LIST)));
        let complaint = self.child.stderr.take().map(|pipe| thread::spawn(move || read(pipe, COMPLAINT)));
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

    /// Until it ends, takes too long, or fetches too much.
    fn wait(&mut self, git: &Git) -> Result<ExitStatus, BotRejection> {
        let started = Instant::now();
        let mut glances = 0_u32;
        loop {
            let broke = |error: io::Error| {
                BotRejection::new(format!("git cannot be waited for: {error}"), "try again")
            };
            if started.elapsed() > git.limits.time {
                let what = format!("git did not finish within {} s", git.limits.time.as_secs());
                return Err(BotRejection::new(what, "is the repository reachable from here? try again"));
            }
            if let Some(status) = self.child.try_wait().map_err(broke)? {
                self.over = true;
                return Ok(status);
            }
            glances += 1;
            if glances.is_multiple_of(25) && size(&git.repository) > git.limits.fetched_bytes {
                return Err(BotRejection::new("the repository is too large", git.limits.words()));
            }
            thread::sleep(GLANCE);
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

impl Drop for Running {
    fn drop(&mut self) {
        if !self.over {
            self.end();
        }
    }
}

/// So much of what comes; and whether there was more.
fn read(pipe: impl Read, most: usize) -> (String, bool) {
    let mut bytes = Vec::new();
    let _ = pipe.take(most as u64 + 1).read_to_end(&mut bytes);
    let cut = bytes.len() > most;
    bytes.truncate(most);
    (String::from_utf8_lossy(&bytes).into_owned(), cut)
}

/// What a folder holds, in bytes.
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

/// Git's complaint, and what to do about the commonest.
fn in_words(complaint: &str) -> BotRejection {
    let lines = || complaint.lines().map(str::trim);
    let said = lines().find_map(|line| line.strip_prefix("fatal: ").or_else(|| line.strip_prefix("error: ")));
    let said = said.or_else(|| lines().find(|line| !line.is_empty())).unwrap_or("it gave no reason");
    let has = |words: &str| complaint.contains(words);
    if let Some((_, branch)) = said.split_once("find remote ref refs/heads/") {
        let hint = "is it spelt right? without `branch` the repository's own is taken";
        return BotRejection::new(format!("it has no branch {branch}"), hint);
    }
    let hint = if has("find remote ref") {
        "nothing was committed to it yet"
    } else if has("terminal prompts disabled") || has("Authentication failed") || has("Permission denied") {
        "it is private, or not there; a key for ssh that needs no password would be used"
    } else if has("does not exist") || has("not found") || has("does not appear to be a git repository") {
        "is the address right? a path is read from the competition file's folder"
    } else if has("Host key verification failed") {
        "connect to it once by hand with ssh, and check its key"
    } else if has("Could not resolve host") || has("Failed to connect") || has("Connection") {
        "is this machine online? `agon update` can be run again at any time"
    } else if has("dubious ownership") {
        "a repository on this machine must belong to who runs Agon"
    } else if has("fsck") || has("invalid path") {
        "it holds something that a well-meant repository does not: ask its author"
    } else {
        "does `git ls-remote` of it work?"
    };
    BotRejection::new(format!("git: {}", sanitize(said)), hint)
}
