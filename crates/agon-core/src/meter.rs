//! How the CPU time of a bot is measured.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A way to measure the CPU time of a bot. The strongest comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum MeterKind {
    /// The bot has its own cgroup: all CPU time of all its processes is counted, also of those that have ended.
    #[serde(rename = "cgroup")]
    Cgroup,
    /// The clock of one process, which counts all its threads. The bot can start no other process.
    #[serde(rename = "process")]
    Process,
    /// The clocks of the processes that still run. Only without a sandbox.
    #[serde(rename = "running processes")]
    RunningProcesses,
}

impl MeterKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Cgroup, Self::Process, Self::RunningProcesses];

    /// Name in records and in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cgroup => "cgroup",
            Self::Process => "process",
            Self::RunningProcesses => "running processes",
        }
    }
}

impl fmt::Display for MeterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_serialised_form_is_the_name() {
        for kind in MeterKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}
