//! The layers of the sandbox by name, and their state on this machine.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One layer. Each works without the others: what one lets through by mistake, another stops.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// Mount, process, network, IPC and host name namespaces (and a user namespace when not started as root).
    Namespaces,
    /// Landlock rules for files.
    Landlock,
    /// Landlock rules for TCP.
    LandlockNetwork,
    /// Landlock scopes for signals and abstract sockets.
    LandlockScopes,
    /// The system call filter.
    Seccomp,
    /// The kernel's limits for each process.
    Limits,
    /// A cgroup for all processes of a bot together.
    Cgroup,
    /// A separate user for each bot.
    User,
    /// No capabilities, and no way to gain any.
    Privileges,
}

impl LayerKind {
    /// All layers, in display order.
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

    /// Describes the protection it gives.
    pub const fn what(self) -> &'static str {
        match self {
            Self::Namespaces => {
                "the bot sees only its own files, its own processes and no network; its scratch has an exact size"
            }
            Self::Landlock => "the kernel refuses every file that the policy does not name",
            Self::LandlockNetwork => "the kernel refuses every TCP connection",
            Self::LandlockScopes => "no signals and no abstract sockets to processes outside",
            Self::Seccomp => {
                "no sockets, no tracing, no mounting, no new namespaces: only the system calls a bot needs"
            }
            Self::Limits => {
                "memory, processes, descriptors, file sizes and CPU time are limited; no core dumps"
            }
            Self::Cgroup => {
                "one meter for all processes of a bot, ended ones included; all of them are frozen off turn and killed at once"
            }
            Self::User => "each bot runs as a separate user that owns nothing",
            Self::Privileges => "no capabilities, and no program can give any",
        }
    }

    /// Describes how an operator enables it.
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
                "run agon in a cgroup of version 2 that it may write to. As a user with systemd: \
                 systemd-run --user --scope -p Delegate=yes agon ...; as a service: Delegate=yes in its unit; \
                 in a container: mount /sys/fs/cgroup writable. Without it, bots can start no processes"
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

/// A layer and the result of trying it on this machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Layer {
    /// The kind of layer.
    pub kind: LayerKind,
    /// Whether it works here.
    pub active: bool,
    /// How it was entered, or what went wrong.
    pub detail: String,
}

impl Layer {
    /// The name used everywhere.
    pub const fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// Describes the protection it gives.
    pub const fn what(&self) -> &'static str {
        self.kind.what()
    }

    /// Describes how an operator enables it.
    pub const fn how_to_get(&self) -> &'static str {
        self.kind.how_to_get()
    }
}
