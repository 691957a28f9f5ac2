//! A folder in which the blocks of a page are run, as on an operator's machine.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agon_test_servers::{Database, Postgres};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tempfile::TempDir;

use crate::pages::{Block, repository};

/// Maximum duration of a block. Only a block that hangs runs this long.
const BLOCK_TIMEOUT: Duration = Duration::from_mins(5);

/// The competition of the pages. Its schema in a database depends on its seed.
pub const COMPETITION: &str = "name = \"Cup\"\ngame = \"colour-battle\"\nseed = \"a small canvas\"\n\n[settings]\nrounds = 60\n\n[[phase]]\n\
                               format = \"arena\"\ngames = 24\n\n[[entrant]]\nbot = \"house:random\"\n\n[[entrant]]\nbot = \"house:sweeper\"\n";
/// Owner of the database of the pages. The user `agon` of the test's server is its superuser.
pub const OWNER: &str = "docs_owner";

/// A folder with `cup.toml`, `deploy/`, and programs on its `PATH`.
pub struct Stage {
    folder: TempDir,
    /// Names in the pages, and what they are here.
    replacements: Vec<(String, String)>,
    variables: Vec<(&'static str, String)>,
}

impl Stage {
    pub fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let here = folder.path();
        let bin = here.join("bin");
        fs::create_dir(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_agon"), bin.join("agon")).unwrap();
        symlink(agon_test_servers::nats_server(), bin.join("nats-server")).unwrap();
        symlink(repository("deploy").canonicalize().unwrap(), here.join("deploy")).unwrap();
        fs::write(here.join("cup.toml"), COMPETITION).unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        let cache = env!("CARGO_TARGET_TMPDIR").to_owned();
        let variables = vec![("PATH", path), ("HOME", here.display().to_string()), ("XDG_CACHE_HOME", cache)];
        Self { folder, replacements: Vec::new(), variables }
    }

    /// Path of a file in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// From now on, `name` of the pages is `here`.
    pub fn replace(&mut self, name: &str, here: impl Into<String>) {
        self.replacements.push((name.to_owned(), here.into()));
    }

    /// From now on, the database of the pages is a new one on this server. Returns it.
    pub fn use_database(&mut self, server: &Postgres) -> Database {
        let database = server.database();
        let port = server.port().to_string();
        self.variables.extend([
            ("PGHOST", "127.0.0.1".to_owned()),
            ("PGPORT", port.clone()),
            ("PGUSER", "agon".to_owned()),
        ]);
        let url = format!("postgres://{OWNER}@127.0.0.1:{port}/{}", database.name);
        self.replace("postgres://agon@db.example.org/agon", url);
        for command in
            ["psql agon", "psql -At agon", "pg_dump agon", "ON_ERROR_STOP=1 agon", "--owner agon agon"]
        {
            let (before, _) = command.rsplit_once(' ').unwrap();
            let before = before.replace("--owner agon", &format!("--owner {OWNER}"));
            self.replace(command, format!("{before} {}", database.name));
        }
        database
    }

    /// Runs a block, which must succeed. Returns its output.
    #[track_caller]
    pub fn run(&self, block: &Block) -> String {
        assert_eq!(block.reason_not_to_run(), None);
        let text = match &*block.kind {
            "sql" => format!("sqlite3 -readonly cup.ledger <<'QUERY'\n{}\nQUERY\n", block.text),
            _ => block.text.clone(),
        };
        self.script(&format!("docs/{}:{}", block.page, block.line), &text)
    }

    /// Runs a script, which must succeed. Returns its output. Programs that it leaves in the background are ended.
    #[track_caller]
    pub fn script(&self, name: &str, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, here) in &self.replacements {
            text = text.replace(name, here);
        }
        let log = self.path("output.txt");
        // A session of its own: without a terminal, a program that asks for a password reads stdin.
        let mut child = self
            .command("setsid")
            .args(["bash", "-euo", "pipefail", "-c", &text])
            .stdin(File::open(self.passwords()).unwrap())
            .stdout(File::create(&log).unwrap())
            .stderr(File::options().append(true).open(&log).unwrap())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        let status = loop {
            match child.try_wait().unwrap() {
                Some(status) => break Some(status),
                None if begin.elapsed() > BLOCK_TIMEOUT => break None,
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        let _ = child.wait();
        let said = fs::read_to_string(&log).unwrap_or_default();
        assert!(status.is_some_and(|status| status.success()), "{name}: {status:?}\n{text}\n{said}");
        said
    }

    /// A file with the answers to `createuser --pwprompt`.
    fn passwords(&self) -> PathBuf {
        let path = self.path("passwords.txt");
        fs::write(&path, "secret1\nsecret1\n").unwrap();
        path
    }

    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path());
        for variable in ["AGON_NATS", "AGON_NATS_PASSWORD_FILE", "PGDATABASE", "PGPASSWORD"] {
            command.env_remove(variable);
        }
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        command
    }

    /// Starts `agon` with these arguments, until it is dropped.
    pub fn background(&self, words: &[&str], variables: &[(&str, &str)]) -> Background {
        let log = File::create(self.path(&format!("{}.txt", words[0]))).unwrap();
        let mut command = self.command("agon");
        command.args(words).envs(variables.iter().copied());
        let child =
            command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        Background(child)
    }
}

/// A program in the background.
pub struct Background(Child);

impl Background {
    /// Asks it to stop, and waits for its end.
    pub fn stop(mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let status = self.0.wait().unwrap();
        assert!(status.success(), "{status}");
    }

    /// Kills it, like a power cut.
    pub fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
