//! The program of a bot, and the only place that starts one.

use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agon_core::Diagnostic;

use crate::handle::{ProcessHandle, UnsandboxedProcess};
use crate::sandbox::{self, Policy, Streams, Writable};
use crate::test_switches::is_off;
use crate::zygote::forked_bot::PausePolicy;
use crate::{bot_limits, python, python_files};

/// A program with its arguments, working folder and environment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// The program, then its arguments. No shell interprets them.
    pub words: Vec<String>,
    /// The working folder.
    pub folder: PathBuf,
    /// Environment variables besides `PATH` and `LANG`.
    pub environment: Vec<(String, String)>,
    /// Folders outside the working folder that it may read and run files from, such as its interpreter's.
    pub readable_dirs: Vec<PathBuf>,
    /// Folders it may write to. Only the sandbox enforces this.
    pub writable: Vec<Writable>,
    /// Files and folders that the sandbox hides although a readable folder contains them, such as other bots. Without a sandbox
    /// nothing is hidden.
    pub hidden: Vec<PathBuf>,
    /// The files and folders of the bot, if they differ from what is run: it may run from a copy.
    pub bot_files: Vec<PathBuf>,
    /// A folder made for this bot. The launcher removes it if the engine dies without removing it.
    pub private: Option<PathBuf>,
    /// Whether it runs in the sandbox. Then this program's `main` must first call [`sandbox::run_launcher_if_requested`], and the
    /// bot's program is searched in the system's folders and the bot's own.
    pub sandboxed: bool,
    /// Whether it may start threads, but no other processes. Only the sandbox enforces this.
    pub threads_only: bool,
    /// How to fork it from a zygote instead of starting it. Only used in the sandbox.
    pub zygote: Option<ZygoteOptions>,
}

/// How to fork a bot from a zygote.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ZygoteOptions {
    /// The game that the bot plays.
    pub game: String,
    /// The bot: a path, optionally with a class.
    pub target: String,
    /// The zygote's arguments.
    pub arguments: Vec<String>,
    /// The zygote's environment.
    pub environment: Vec<(String, String)>,
    /// Whether a new fork gives each answer.
    pub forks_calls: bool,
    /// Whether a new fork plays each game.
    pub forks_games: bool,
    /// Whether all players of a game are asked at the same time.
    pub asked_together: bool,
    /// When the bot is stopped between requests.
    pub hold: PausePolicy,
}

impl ZygoteOptions {
    /// Whether one process answers all turns of a game and may remember them.
    pub const fn plays_on(&self) -> bool {
        !self.forks_calls
    }

    /// Number of processes that the host needs for its forks: 0 if it does not fork.
    const fn host_processes(&self) -> u32 {
        match (self.forks_calls, self.forks_games) {
            // The host, the process that is forked for each call, and the fork.
            (true, _) => 3,
            (false, true) => 2,
            (false, false) => 0,
        }
    }
}

/// Why a command cannot be run as a bot.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", Diagnostic::from(self.clone()))]
pub struct ProgramError {
    /// The problem.
    pub what: String,
    /// The instruction for the user.
    pub hint: String,
}

impl From<ProgramError> for Diagnostic {
    fn from(error: ProgramError) -> Self {
        Self::wrong_use(error.what, error.hint)
    }
}

impl ProgramError {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: hint.into() }
    }
}

impl Program {
    /// A program with arguments.
    pub fn new<W: Into<String>>(words: impl IntoIterator<Item = W>, folder: impl Into<PathBuf>) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self {
            words,
            folder: folder.into(),
            environment: Vec::new(),
            readable_dirs: Vec::new(),
            writable: Vec::new(),
            hidden: Vec::new(),
            bot_files: Vec::new(),
            private: None,
            sandboxed: false,
            threads_only: false,
            zygote: None,
        }
    }

    /// The same program, in the sandbox.
    #[must_use]
    pub fn sandboxed(self) -> Self {
        Self { sandboxed: true, ..self }
    }

    /// The words of a command line. Looks for no file.
    pub fn command_words(command: &str) -> Result<Vec<String>, ProgramError> {
        split(command)
    }

    /// Parses a command line: words, `'...'`, `"..."` and `\` before a character. Checks that the folder and the program exist.
    pub fn from_command(command: &str, folder: impl Into<PathBuf>) -> Result<Self, ProgramError> {
        let program = Self::new(split(command)?, folder);
        program.locate()?;
        Ok(program)
    }

    /// The path of the program: as given if its name contains a `/` (relative to its folder), else from the `PATH`.
    pub fn locate(&self) -> Result<PathBuf, ProgramError> {
        let folder = &self.folder;
        if !folder.is_dir() {
            return Err(ProgramError::new(
                format!("there is no folder {}", folder.display()),
                "name the folder the bot runs in",
            ));
        }
        let Some(name) = self.words.first().filter(|name| !name.is_empty()) else {
            return Err(ProgramError::new("the command is empty", "such as \"python3 bot.py\""));
        };
        if name.contains('/') {
            let path = folder.join(name);
            return match runnable(&path) {
                Some(true) => python_files::check_no_shim(&path).map(|()| path),
                Some(false) => Err(ProgramError::new(
                    format!("{} is not a program", path.display()),
                    format!("mark it as one (chmod +x), or name what runs it, such as \"python3 {name}\""),
                )),
                None => Err(ProgramError::new(
                    format!("there is no file {}", path.display()),
                    "give a path relative to the bot's folder",
                )),
            };
        }
        if let Some(interpreter) = python::for_command(name) {
            return interpreter;
        }
        let paths =
            if self.sandboxed { sandbox::PATH.into() } else { std::env::var_os("PATH").unwrap_or_default() };
        let found =
            std::env::split_paths(&paths).map(|dir| dir.join(name)).find(|p| runnable(p) == Some(true));
        found.ok_or_else(|| {
            let hint = match runnable(&folder.join(name)) {
                Some(_) => format!("a file of that name is in the bot's folder: write ./{name}"),
                None => "install it, or name it by its path".to_owned(),
            };
            ProgramError::new(format!("there is no program `{name}` on the PATH"), hint)
        })
    }

    /// A folder that the bot needs and that only root can read, if this process runs as root.
    pub fn private_folder_of_root(&self) -> Option<&Path> {
        const READ_AND_ENTER: u32 = 0o005;
        let is_private = |folder: &&Path| {
            let about = folder.metadata();
            about.is_ok_and(|about| {
                about.is_dir() && about.uid() == 0 && about.mode() & READ_AND_ENTER != READ_AND_ENTER
            })
        };
        let above_writable = self.writable.iter().filter_map(|writable| writable.path.parent());
        let needed = self.readable_dirs.iter().map(PathBuf::as_path).chain(above_writable);
        let applies = self.sandboxed && rustix::process::getuid().is_root();
        std::iter::once(self.folder.as_path()).chain(needed).filter(|_| applies).find(is_private)
    }
}

/// Starts a program with pipes for its standard streams. Every bot is started here.
pub(crate) fn start(program: &Program, more: &[(&str, String)]) -> io::Result<Box<dyn ProcessHandle>> {
    let path = program.locate().map_err(|error| io::Error::new(io::ErrorKind::NotFound, error.what))?;
    // The child enters the folder before it looks for the program, so only an absolute path is safe.
    let path = std::path::absolute(path)?;
    if program.sandboxed {
        let jailed = sandbox::spawn(&policy(program, more)?, Streams::default()).map_err(io::Error::other)?;
        let jailed: Box<dyn ProcessHandle> = Box::new(jailed);
        tracing::debug!(program = %path.display(), pid = jailed.id(), sandbox = true, "bot process started");
        return Ok(jailed);
    }
    let mut command = Command::new(&path);
    sandbox::unsafe_syscalls::kill_with_parent(&mut command);
    let child = command
        .args(program.words.get(1..).unwrap_or_default())
        .current_dir(&program.folder)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("LANG", "C.UTF-8")
        .envs(program.environment.iter().map(|(name, value)| (name, value)))
        .envs(more.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()?;
    tracing::debug!(program = %path.display(), pid = child.id(), sandbox = false, "bot process started");
    Ok(Box::new(UnsandboxedProcess::new(child)?))
}

/// The sandbox policy of a program.
pub(crate) fn policy(program: &Program, more: &[(&str, String)]) -> io::Result<Policy> {
    let path = program.locate().map_err(|error| io::Error::new(io::ErrorKind::NotFound, error.what))?;
    let mut policy = Policy::new(std::path::absolute(path)?, program.folder.canonicalize()?);
    // A compiled bot may run from its own folder. Java and Node reserve far more address space than they use, and start a dozen
    // threads before the bot's first line.
    policy.executable.push(policy.folder.clone());
    policy.executable.extend(program.readable_dirs.iter().cloned());
    if program.zygote.is_none() {
        policy.executable.extend(python_files::of_program(&policy.program, &policy.folder));
    }
    policy.writable.extend(program.writable.iter().cloned());
    policy.hidden.extend(program.hidden.iter().cloned());
    policy.private.clone_from(&program.private);
    policy.limits = bot_limits::LIMITS;
    policy.processes_need_cgroup = !is_off("meter");
    policy.threads_only = program.threads_only;
    policy.host_processes = program.zygote.as_ref().map_or(0, ZygoteOptions::host_processes);
    policy.host_adds_landlock_rules = program.zygote.as_ref().is_some_and(|zygote| zygote.forks_calls);
    policy.arguments.extend(program.words.iter().skip(1).cloned());
    policy.environment.extend(program.environment.iter().cloned());
    policy.environment.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    Ok(policy)
}

/// `None` if there is no such file, else whether it is executable.
fn runnable(path: &Path) -> Option<bool> {
    use std::os::unix::fs::PermissionsExt as _;
    let about = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some(about.permissions().mode() & 0o111 != 0)
}

/// Splits a command into words.
fn split(command: &str) -> Result<Vec<String>, ProgramError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(rest.next()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    if let Some(open) = quote {
        return Err(ProgramError::new(
            format!("the command has {open} without its partner: {command}"),
            "close it",
        ));
    }
    words.extend(word);
    if words.iter().any(|word| word.contains('\0')) {
        return Err(ProgramError::new("the command holds a NUL", "leave it out"));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_follows_shell_quoting() {
        let words = |command| split(command).unwrap();
        assert_eq!(words("python3 -u  bot.py"), ["python3", "-u", "bot.py"]);
        assert_eq!(
            words(r#"java -cp 'my dir' "a \"b\"" c\ d '' "#),
            ["java", "-cp", "my dir", "a \"b\"", "c d", ""]
        );
        assert_eq!(words("  "), [""; 0]);
        assert!(split("python3 'bot.py").unwrap_err().what.contains("without its partner"));
    }

    #[test]
    fn missing_program_is_rejected_with_a_hint() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("bot"), "#!/bin/sh\n").unwrap();
        let refused = |command: &str| Program::from_command(command, folder.path()).unwrap_err();
        assert_eq!(refused("").what, "the command is empty");
        assert_eq!(
            refused("no-such-program-here x").what,
            "there is no program `no-such-program-here` on the PATH"
        );
        assert_eq!(refused("bot").hint, "a file of that name is in the bot's folder: write ./bot");
        assert!(refused("./bot").hint.contains("chmod +x"));
        assert!(refused("./other").what.starts_with("there is no file "));
        assert!(refused("./").what.starts_with("there is no file "));
        assert!(Program::from_command("sh", folder.path()).is_ok());
        assert!(Program::from_command("sh", "/no/such/folder").unwrap_err().what.contains("no folder"));
    }
}
