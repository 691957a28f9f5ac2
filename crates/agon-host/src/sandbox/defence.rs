//! Defences that a test can switch off one by one, to show that the attack behind each of them is real.

use serde::{Deserialize, Serialize};

use crate::test_switches;

/// One defence of the limits on memory and disk. All of them are on, except in tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defence {
    /// Mappings that grow like a stack, and huge pages from the system's pool, are refused: no limit counts them.
    MappingFlags,
    /// The launcher counts the memory that is really used, of all processes.
    MemoryCount,
    /// Memory that a fork no longer shares with its parent is counted.
    ForkedMemory,
    /// Page tables are counted.
    PageTables,
    /// Kernel objects with memory of their own (Landlock rules, filters, sealed memory) are refused.
    KernelObjects,
    /// Buffers in the kernel (sockets, pipes) are counted and cannot be enlarged.
    Buffers,
    /// The number of signals that wait to be delivered is limited.
    PendingSignals,
    /// Advice about memory that reaches the page cache, the swap space or other processes is refused.
    PageAdvice,
    /// Space is counted in blocks, and cannot be reserved beyond the end of a file.
    Blocks,
    /// The length of files is counted, also where they have holes.
    Lengths,
    /// Every entry of a folder counts at least one block.
    Entries,
    /// A folder that cannot be listed counts as too large.
    UnlistableFolders,
    /// Files that are deleted but still open or mapped are counted.
    DeletedFiles,
    /// Descriptors cannot be kept where the launcher does not find them: in a thread's own table, or on their way through a socket.
    DescriptorTables,
    /// Folders are measured as often as a bot could fill them.
    FolderPace,
    /// A folder whose content is kept has a file system of exactly its size while the bot runs.
    ExactFolders,
}

impl Defence {
    /// All defences.
    const ALL: [Self; 16] = [
        Self::MappingFlags,
        Self::MemoryCount,
        Self::ForkedMemory,
        Self::PageTables,
        Self::KernelObjects,
        Self::Buffers,
        Self::PendingSignals,
        Self::PageAdvice,
        Self::Blocks,
        Self::Lengths,
        Self::Entries,
        Self::UnlistableFolders,
        Self::DeletedFiles,
        Self::DescriptorTables,
        Self::FolderPace,
        Self::ExactFolders,
    ];

    /// The defences that a test has switched off for the whole program.
    pub(super) fn switched_off() -> Vec<Self> {
        let named = |defence: &Self| {
            let name = serde_json::to_value(defence).unwrap_or_default();
            test_switches::all().iter().any(|one| name == one.as_str())
        };
        Self::ALL.into_iter().filter(named).collect()
    }
}
