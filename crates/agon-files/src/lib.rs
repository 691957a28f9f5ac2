//! Files and folders that appear complete or not at all.
//!
//! [`AtomicFile`] writes a file, [`TemporaryFolder`] holds a folder until it is complete. Both write beside the target and give the content
//! its final name in one step, so other programs never see a part of it. Errors are plain [`std::io::Error`]s: the callers know what to tell
//! the user.

pub mod atomic_file;
pub mod temporary_folder;
pub mod temporary_name;

pub use atomic_file::{AtomicFile, AtomicFileOptions, IfExists, SyncToDisk};
pub use temporary_folder::TemporaryFolder;
