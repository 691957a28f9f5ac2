//! What a bot uses of its limits, measured from outside as often as it matters.

use std::time::Duration;

use rustix::process::Pid;

use super::bot_processes::BotProcesses;
use super::folder_quota::FolderWatch;
use super::kept_folders::KeptFolder;
use super::launcher_protocol::{BotExit, Launch};
use super::layer::LayerKind;
use super::memory::MemoryWatch;

/// The shortest interval between two counts of the memory.
const MIN_MEMORY_INTERVAL: Duration = Duration::from_millis(1);
/// The longest interval between two measurements. Orphans are reaped as often.
const MAX_INTERVAL: Duration = Duration::from_millis(100);

/// Watches the memory of all processes of a bot, and the folders that have no size of their own.
pub(super) struct UsageWatch<'a> {
    processes: BotProcesses,
    /// `None` if the limits are left out on purpose.
    memory: Option<MemoryWatch>,
    folders: FolderWatch<'a>,
}

impl<'a> UsageWatch<'a> {
    /// For a bot that has just started. `first` is the first process of its namespace.
    pub(super) fn of(launch: &'a Launch, bot: Pid, first: Option<Pid>, kept: &[KeptFolder]) -> Self {
        let processes = BotProcesses::of(bot, first, launch.policy.limits.processes > 1);
        let folders = FolderWatch::of(launch, processes.all(), kept);
        let memory = launch.plan.has(LayerKind::Limits).then(|| MemoryWatch::of(&launch.policy));
        Self { processes, memory, folders }
    }

    /// Time until the next check.
    pub(super) fn interval(&self) -> Duration {
        let memory = self.memory.as_ref().map_or(Duration::MAX, MemoryWatch::interval);
        memory.max(MIN_MEMORY_INTERVAL).min(self.folders.interval()).min(MAX_INTERVAL)
    }

    /// The limit that the bot exceeds, if there is one.
    pub(super) fn check(&mut self) -> Option<BotExit> {
        self.processes.refresh();
        if let Some(full) = self.folders.full(self.processes.all()) {
            return Some(BotExit::FolderFull(full));
        }
        let exceeds = self.memory.as_mut()?.exceeds_limit(self.processes.all());
        exceeds.then_some(BotExit::TooMuchMemory)
    }
}
