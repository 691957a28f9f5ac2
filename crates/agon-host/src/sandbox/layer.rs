//! The layers of the sandbox by name, and what is known about each on this machine.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One layer. Each stands on its own: what one lets through by mistake, another stops.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// Mount, process, network, IPC and host name namespaces (and a user namespace when not started as root).
    Namespaces,
    /// Landlock's rules for files.
    Landlock,
    /// Landlock's rules for TCP.
    LandlockNetwork,
    /// Landlock's scopes for signals and abstract sockets.
    LandlockScopes,
    /// The filter of system calls.
    Seccomp,
    /// The kernel's limits for each process.
    Limits,
    /// A cgroup for all of a bot's processes together.
    Cgroup,
    /// A user of its own for each bot.
    User,
    /// No capabilities, and no way to gain any.
    Privileges,
}

impl LayerKind {
    /// All layers, in the order they are shown.
    pub const ALL: [Self; 9] = [
        Self::Namespaces,
        Self::Landlock,
        Self::LandlockNetwork,
        Self::LandlockScopes,
        Self::Seccomp,
        Self::Limits,
        Self::Cgroup,
        Self::User,
        Self::Privileges,
    ];

    /// The name used everywhere.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
            Self::LandlockNetwork => "landlock-network",
            Self::LandlockScopes => "landlock-scopes",
            Self::Seccomp => "seccomp",
            Self::Limits => "limits",
            Self::Cgroup => "cgroup",
            Self::User => "user",
            Self::Privileges => "privileges",
        }
    }

    /// What it gives.
    pub const fn what(self) -> &'static str {
        match self {
            Self::Namespaces => {
                "the bot sees only its own files, its own processes and no network; its scratch has an exact size"
            }
            Self::Landlock => "the kernel refuses every file that was not named",
            Self::LandlockNetwork => "the kernel refuses every TCP connection",
            Self::LandlockScopes => "no signals and no abstract sockets to anyone outside",
            Self::Seccomp => {
                "no sockets, no tracing, no mounting, no new namespaces: only the system calls a bot needs"
            }
            Self::Limits => {
                "memory, processes, descriptors, file sizes and processor time are bounded; no core dumps"
            }
            Self::Cgroup => "memory and processes are bounded for all of a bot's processes together",
            Self::User => "each bot is a user of its own, who owns nothing",
            Self::Privileges => "no capabilities, and no program can give any",
        }
    }

    /// What an operator does to get it.
    pub const fn how_to_get(self) -> &'static str {
        match self {
            Self::Namespaces => {
                "run as root, or let ordinary users make user namespaces: sysctl user.max_user_namespaces=10000, \
                 kernel.unprivileged_userns_clone=1 (Debian), kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu); \
                 in a container: --security-opt seccomp=unconfined"
            }
            Self::Landlock => {
                "Linux 5.13 or newer with CONFIG_SECURITY_LANDLOCK=y and 'landlock' in the boot parameter lsm="
            }
            Self::LandlockNetwork => "Linux 6.7 or newer with Landlock",
            Self::LandlockScopes => "Linux 6.12 or newer with Landlock",
            Self::Seccomp => "a kernel with CONFIG_SECCOMP_FILTER=y on x86-64, arm64 or riscv64",
            Self::Limits => {
                "the limits Agon itself was started with are lower than what bots need: raise them (ulimit)"
            }
            Self::Cgroup => {
                "give Agon a cgroup folder it may write to, with memory and pids enabled (systemd: Delegate=yes)"
            }
            Self::User => "run as root; otherwise all bots run as the user who started Agon",
            Self::Privileges => "any Linux since 3.5",
        }
    }
}

impl fmt::Display for LayerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A layer as it was found on this machine by trying it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Layer {
    /// Which one.
    pub kind: LayerKind,
    /// Whether it can be entered here.
    pub active: bool,
    /// How it was entered, or what went wrong.
    pub detail: String,
}

impl Layer {
    /// The name used everywhere.
    pub const fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// What it gives.
    pub const fn what(&self) -> &'static str {
        self.kind.what()
    }

    /// What an operator does to get it.
    pub const fn how_to_get(&self) -> &'static str {
        self.kind.how_to_get()
    }
}
