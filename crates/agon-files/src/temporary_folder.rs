//! A folder that appears complete or not at all: it has a temporary name beside its target until it is complete.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::atomic_file::IfExists;
use crate::temporary_name::create_beside;

/// A temporary folder. Dropping it removes the folder with all files in it.
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    /// Whether the folder has its final name, and nothing has the temporary name.
    moved: bool,
}

impl TemporaryFolder {
    /// Creates an empty folder beside `target`, in a folder that exists.
    pub fn beside(target: &Path) -> io::Result<Self> {
        let (path, ()) = create_beside(target, |name| fs::create_dir(name))?;
        Ok(Self { path, moved: false })
    }

    /// The temporary path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the folder its final name, in one step. An empty folder with that name is replaced. A folder with files is kept (then this
    /// fails) or replaced. After an error, the folder still has its temporary name.
    pub fn move_to(&mut self, target: &Path, if_exists: IfExists) -> io::Result<()> {
        match (fs::rename(&self.path, target), if_exists) {
            (Ok(()), _) => {
                self.moved = true;
                Ok(())
            }
            (Err(error), IfExists::Keep) => Err(error),
            // Now the temporary name belongs to the old folder, which is removed on drop.
            (Err(_), IfExists::Replace) => {
                Ok(renameat_with(CWD, &self.path, CWD, target, RenameFlags::EXCHANGE)?)
            }
        }
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if !self.moved {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<String> = fs::read_dir(folder).unwrap().map(name).collect();
        names.sort();
        names
    }

    /// A temporary folder with one file.
    fn with_file(target: &Path) -> TemporaryFolder {
        let folder = TemporaryFolder::beside(target).unwrap();
        fs::write(folder.path().join("new.txt"), "new").unwrap();
        folder
    }

    /// A folder with one file.
    fn old_folder(target: &Path) {
        fs::create_dir(target).unwrap();
        fs::write(target.join("old.txt"), "old").unwrap();
    }

    #[test]
    fn folder_appears_with_all_files_when_it_is_moved() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("bot");
        let mut folder = with_file(&target);
        assert!(!target.exists() && crate::temporary_name::is_temporary(folder.path()));
        folder.move_to(&target, IfExists::Keep).unwrap();
        drop(folder);
        assert_eq!(
            (names(home.path()), names(&target)),
            (vec!["bot".to_owned()], vec!["new.txt".to_owned()])
        );
    }

    #[test]
    fn drop_removes_a_folder_that_was_not_moved() {
        let home = tempfile::tempdir().unwrap();
        drop(with_file(&home.path().join("bot")));
        assert!(names(home.path()).is_empty());
    }

    #[test]
    fn empty_target_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("bot");
        fs::create_dir(&target).unwrap();
        with_file(&target).move_to(&target, IfExists::Keep).unwrap();
        assert_eq!(
            (names(home.path()), names(&target)),
            (vec!["bot".to_owned()], vec!["new.txt".to_owned()])
        );
    }

    #[test]
    fn target_with_files_is_kept_and_the_new_folder_can_still_be_used() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("bot");
        old_folder(&target);
        let mut folder = with_file(&target);
        assert!(folder.move_to(&target, IfExists::Keep).is_err());
        assert_eq!(names(folder.path()), ["new.txt"]);
        drop(folder);
        assert_eq!(
            (names(home.path()), names(&target)),
            (vec!["bot".to_owned()], vec!["old.txt".to_owned()])
        );
    }

    #[test]
    fn target_with_files_is_replaced_and_the_old_files_are_removed() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("bot");
        old_folder(&target);
        with_file(&target).move_to(&target, IfExists::Replace).unwrap();
        assert_eq!(
            (names(home.path()), names(&target)),
            (vec!["bot".to_owned()], vec!["new.txt".to_owned()])
        );
    }

    #[test]
    fn missing_parent_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let error = TemporaryFolder::beside(&home.path().join("no/bot")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(names(home.path()).is_empty());
    }

    #[test]
    fn two_folders_for_one_target_do_not_mix() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("bot");
        let (mut one, mut other) = (with_file(&target), with_file(&target));
        fs::write(other.path().join("more.txt"), "").unwrap();
        one.move_to(&target, IfExists::Keep).unwrap();
        assert!(other.move_to(&target, IfExists::Keep).is_err());
        assert_eq!(names(&target), ["new.txt"]);
    }
}
