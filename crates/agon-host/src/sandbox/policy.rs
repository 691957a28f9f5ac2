//! The permissions and limits of a bot, as plain data.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::defence::Defence;
use super::layer::LayerKind;

/// Everything the sandbox must know about one bot. It can be serialised and contains no handles.
///
/// A path means the same inside and outside: the sandbox hides, it does not rename. Paths that are not named here do not
/// exist for the bot, apart from `/dev/null`, `/dev/random`, `/dev/urandom` and (with namespaces) a `/proc` that shows
/// the bot's own processes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// The program to run, as an absolute path.
    pub program: PathBuf,
    /// Its arguments, without the program's name.
    pub arguments: Vec<String>,
    /// The whole environment of the bot.
    pub environment: BTreeMap<String, String>,
    /// The working folder, as an absolute path below one of the paths named here.
    pub folder: PathBuf,
    /// Files and folders (with everything below) that can be read.
    pub readable: Vec<PathBuf>,
    /// Files and folders (with everything below) that can be read and executed.
    pub executable: Vec<PathBuf>,
    /// Folders that can be written.
    pub writable: Vec<Writable>,
    /// Files and folders (with everything below) that are hidden although a folder named here contains them, such as another bot's
    /// files. Their names can still be listed.
    pub hidden: Vec<PathBuf>,
    /// A folder that the launcher removes if the engine dies, because then no other process can.
    pub private: Option<PathBuf>,
    /// Resource limits.
    pub limits: Limits,
    /// The user that the bot runs as when Agon runs as root. By default an id that no other bot on this machine has.
    pub user: Option<User>,
    /// Whether the bot may start processes only if it has a cgroup. Without one, processes that have ended cannot be measured.
    pub processes_need_cgroup: bool,
    /// Whether the bot may start threads, but no processes.
    #[serde(default)]
    pub threads_only: bool,
    /// Number of processes of a bot whose host forks for each game or call; otherwise 0. Without a cgroup the bot has no more.
    pub host_processes: u32,
    /// Whether the host in the bot's process adds Landlock rules of its own before it opens the bot's file. It refuses further ones itself.
    pub host_adds_landlock_rules: bool,
    /// Layers without which the bot must not start.
    pub required: Vec<LayerKind>,
    /// Layers that are left out on purpose.
    pub without: Vec<LayerKind>,
    /// Defences that are switched off. Only tests do that.
    #[doc(hidden)]
    #[serde(default)]
    pub weakened: Vec<Defence>,
}

/// Maximum number of entries in a folder that a bot can write to.
pub(super) const MAX_FOLDER_ENTRIES: u64 = 16_384;

/// A folder that the bot can write to. It must exist.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Writable {
    /// Its path.
    pub path: PathBuf,
    /// Maximum size of its content. Exact if there are namespaces. Otherwise the launcher measures as often as needed and kills a bot
    /// that exceeds it.
    pub bytes: u64,
    /// Whether the content is kept after the bot has ended. Otherwise the folder is scratch space and starts empty.
    pub kept: bool,
}

/// The user that the bot runs as.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct User {
    /// The user id, not 0.
    pub uid: u32,
    /// The group id, not 0. There are no other groups.
    pub gid: u32,
}

impl User {
    /// The first id for bots, above those of people, services and containers.
    const FIRST_DEDICATED_ID: u32 = 1_900_000_000;

    /// An id that no other bot has, unless this process has started 4096 more since.
    pub(super) fn dedicated(process: u32, number: u32) -> Self {
        let id = Self::FIRST_DEDICATED_ID + process % 60_000 * 4096 + number % 4096;
        Self { uid: id, gid: id }
    }

    /// Whether this is such an id.
    pub(super) fn is_dedicated(self) -> bool {
        self.uid >= Self::FIRST_DEDICATED_ID
    }

    /// The kernel's overflow id, for machines with few ids.
    pub(super) const OVERFLOW: Self = Self { uid: 65534, gid: 65534 };
}

/// Resource limits of a bot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of private memory, for each process and for all of them together. The launcher counts as often as needed and kills a bot
    /// before it exceeds this by a tenth.
    pub memory: u64,
    /// Bytes of address space for each process. `None` for programs that reserve far more than they use (Java, Node, Go).
    pub address_space: Option<u64>,
    /// Processes and threads together. With 1 the bot can start neither.
    pub processes: u32,
    /// Open descriptors.
    pub open_files: u32,
    /// Bytes in one file.
    pub file_size: u64,
    /// Seconds of CPU time for each process: a backstop behind the game's clock.
    pub cpu_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 512 << 20,
            address_space: Some(16 << 30),
            processes: 16,
            open_files: 64,
            file_size: 64 << 20,
            cpu_seconds: 3600,
        }
    }
}

/// The layers without which no bot starts unless its policy says otherwise.
pub const REQUIRED: [LayerKind; 4] =
    [LayerKind::Landlock, LayerKind::Seccomp, LayerKind::Limits, LayerKind::Privileges];

/// The `PATH` of a bot.
pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Folders of programs and libraries. Those that exist on this machine become executable.
const SYSTEM_EXECUTABLE: [&str; 8] =
    ["/bin", "/lib", "/lib64", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/local/bin", "/usr/local/lib"];

/// Whether a path, which must have no `..`, is in a folder of programs and libraries that every bot can see and run.
pub fn is_system_executable(path: &Path) -> bool {
    SYSTEM_EXECUTABLE.iter().any(|folder| path.starts_with(folder))
}

/// Further paths that programs read. They tell the bot nothing about people or their files.
const SYSTEM_READABLE: [&str; 5] = [
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/ssl/openssl.cnf",
    "/usr/share/zoneinfo",
];

impl Policy {
    /// A policy for a program in a folder: it can read the folder and the system's programs and libraries, write nothing, and has
    /// the default limits.
    pub fn new(program: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: BTreeMap::from([
                ("LANG".to_owned(), "C.UTF-8".to_owned()),
                ("PATH".to_owned(), PATH.to_owned()),
            ]),
            readable: existing(&SYSTEM_READABLE).chain(java_settings()).chain([folder.clone()]).collect(),
            executable: existing(&SYSTEM_EXECUTABLE).collect(),
            folder,
            writable: Vec::new(),
            hidden: Vec::new(),
            private: None,
            limits: Limits::default(),
            user: None,
            processes_need_cgroup: false,
            threads_only: false,
            host_processes: 0,
            host_adds_landlock_rules: false,
            required: REQUIRED.to_vec(),
            without: Vec::new(),
            weakened: Defence::switched_off(),
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn arguments<S: Into<String>>(mut self, arguments: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable of the bot.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Makes a folder the bot's scratch space: empty at the start, limited in size, removed at the end.
    #[must_use]
    pub fn scratch(mut self, path: impl Into<PathBuf>, bytes: u64) -> Self {
        self.writable.push(Writable { path: path.into(), bytes, kept: false });
        self
    }

    /// The contradiction in the policy, if there is one.
    pub(super) fn fault(&self) -> Option<String> {
        let folders = self.writable.iter().map(|writable| &writable.path);
        let paths = [&self.program, &self.folder];
        let mut paths = paths
            .into_iter()
            .chain(&self.readable)
            .chain(&self.executable)
            .chain(&self.hidden)
            .chain(folders.clone());
        if let Some(path) = paths.find(|path| !plain(path)) {
            return Some(format!("{} is not an absolute path without '..'", path.display()));
        }
        if let Some(hidden) = self.hidden.iter().find(|hidden| {
            let around = |path: &PathBuf| path.starts_with(hidden);
            around(&self.program)
                || around(&self.folder)
                || folders.clone().any(|path| hidden.starts_with(path))
        }) {
            let hidden = hidden.display();
            return Some(format!(
                "{hidden} cannot be hidden: it is the bot's own, or in a folder it writes to"
            ));
        }
        if !self.hidden.is_empty() && self.without.contains(&LayerKind::Landlock) {
            return Some(format!("paths cannot be hidden without the layer '{}'", LayerKind::Landlock));
        }
        if let Some(user) = self.user
            && (user.uid == 0 || user.gid == 0)
        {
            return Some("a bot must not run as user or group 0".to_owned());
        }
        if let Some(kind) = self.required.iter().find(|kind| self.without.contains(kind)) {
            return Some(format!("the layer '{kind}' is both required and left out"));
        }
        if self.limits.processes == 0 {
            return Some("a bot needs at least one process".to_owned());
        }
        let text = |text: &String| text.contains('\0');
        if self.arguments.iter().any(text) || self.environment.iter().any(|(k, v)| text(k) || text(v)) {
            return Some("an argument or a variable contains a NUL character".to_owned());
        }
        None
    }

    /// Whether the bot must not start without a layer.
    pub(super) fn requires(&self, kind: LayerKind) -> bool {
        self.required.contains(&kind) || (kind == LayerKind::Landlock && !self.hidden.is_empty())
    }

    /// The same policy for a bot without a cgroup: if its host forks, it has room for exactly those forks.
    pub(super) fn without_cgroup(mut self) -> Self {
        if self.processes_need_cgroup && self.host_processes > 0 {
            self.limits.processes = self.limits.processes.min(self.host_processes);
        }
        self
    }

    /// Whether the bot itself may start processes. Threads are another matter.
    pub(super) fn may_start_processes(&self, has_cgroup: bool) -> bool {
        self.host_processes > 0 || (!self.threads_only && (has_cgroup || !self.processes_need_cgroup))
    }

    /// Whether to enter a layer where it exists.
    pub(super) fn wants(&self, kind: LayerKind) -> bool {
        !self.without.contains(&kind)
    }
}

/// Whether a path is absolute and without `..`.
fn plain(path: &Path) -> bool {
    path.is_absolute() && !path.components().any(|part| part == std::path::Component::ParentDir)
}

fn existing(paths: &'static [&'static str]) -> impl Iterator<Item = PathBuf> {
    paths.iter().map(PathBuf::from).filter(|path| path.exists())
}

/// Debian keeps Java's settings, without which Java does not start, outside Java's folder.
fn java_settings() -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir("/etc").into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with("java-") && name.ends_with("-openjdk"))
    })
}
