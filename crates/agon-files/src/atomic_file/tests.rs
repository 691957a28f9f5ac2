use std::collections::BTreeSet;
use std::thread;

use tempfile::TempDir;

use super::*;

/// Both kinds of temporary files.
const KINDS: [AtomicFileOptions; 2] = [AtomicFile::options(), AtomicFile::options().unnamed()];

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cup.toml");
    (folder, path)
}

/// Names in a folder.
fn names(folder: &TempDir) -> BTreeSet<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn file_is_absent_until_it_is_finished_and_then_complete() {
    for options in KINDS {
        let (folder, path) = folder();
        let mut file = options.create(&path).unwrap();
        file.write_all(b"one ").unwrap();
        file.write_all(b"two").unwrap();
        assert!(!path.exists() && file.metadata().unwrap().len() == 7, "{options:?}");
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one two");
        assert_eq!(names(&folder).len(), 1, "{options:?}");
    }
}

#[test]
fn named_file_has_a_recognisable_temporary_name_and_an_unnamed_file_has_none() {
    let (folder, path) = folder();
    let file = AtomicFile::options().create(&path).unwrap();
    let name = names(&folder).pop_first().unwrap();
    assert!(crate::temporary_name::is_temporary(Path::new(&name)), "{name}");
    drop(file);
    let _file = AtomicFile::options().unnamed().create(&path).unwrap();
    assert!(names(&folder).is_empty());
}

#[test]
fn drop_without_finish_removes_the_temporary_file_and_keeps_the_target() {
    for options in KINDS {
        let (folder, path) = folder();
        fs::write(&path, "old").unwrap();
        let mut file = options.create(&path).unwrap();
        file.write_all(b"new").unwrap();
        drop(file);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(&folder).len(), 1, "{options:?}");
    }
}

#[test]
fn existing_target_is_replaced_by_default() {
    for options in KINDS {
        let (folder, path) = folder();
        fs::write(&path, "old and longer").unwrap();
        options.write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(&folder).len(), 1, "{options:?}");
    }
}

#[test]
fn existing_target_is_kept_on_request() {
    for options in KINDS.map(|options| options.if_exists(IfExists::Keep)) {
        let (folder, path) = folder();
        options.write(&path, b"first").unwrap();
        let error = options.write(&path, b"second").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(names(&folder).len(), 1, "{options:?}");
    }
}

#[test]
fn symbolic_link_at_the_target_is_replaced_or_kept_and_never_followed() {
    for options in KINDS {
        let (folder, path) = folder();
        let other = folder.path().join("other");
        fs::write(&other, "other").unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        let kept = options.if_exists(IfExists::Keep).write(&path, b"new").unwrap_err();
        assert_eq!(kept.kind(), io::ErrorKind::AlreadyExists);
        options.write(&path, b"new").unwrap();
        assert!(path.symlink_metadata().unwrap().is_file());
        assert_eq!(fs::read(&other).unwrap(), b"other");
    }
}

#[test]
fn mode_does_not_depend_on_the_umask() {
    for options in KINDS {
        let (_folder, path) = folder();
        for mode in [0o600, 0o644, 0o666] {
            options.mode(mode).write(&path, b"").unwrap();
            assert_eq!(mode_of(&path), mode, "{options:?}");
        }
    }
}

#[test]
fn default_mode_is_that_of_other_new_files() {
    for options in KINDS {
        let (folder, path) = folder();
        let other = folder.path().join("other");
        fs::write(&other, "").unwrap();
        options.write(&path, b"").unwrap();
        assert_eq!(mode_of(&path), mode_of(&other), "{options:?}");
    }
}

#[test]
fn synced_file_is_written_with_every_option() {
    for options in KINDS {
        for sync in [SyncToDisk::Never, SyncToDisk::File, SyncToDisk::FileAndFolder] {
            for if_exists in [IfExists::Keep, IfExists::Replace] {
                let (folder, path) = folder();
                options.sync(sync).if_exists(if_exists).write(&path, b"content").unwrap();
                assert_eq!(fs::read(&path).unwrap(), b"content");
                assert_eq!(names(&folder).len(), 1, "{options:?}");
            }
        }
    }
}

#[test]
fn missing_parent_is_an_error() {
    for options in KINDS {
        let (folder, _) = folder();
        let error = options.create(&folder.path().join("no/cup.toml")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(names(&folder).is_empty());
    }
}

#[test]
fn folder_at_the_target_is_an_error_and_stays() {
    for options in KINDS {
        for if_exists in [IfExists::Keep, IfExists::Replace] {
            let (folder, path) = folder();
            fs::create_dir(&path).unwrap();
            options.if_exists(if_exists).write(&path, b"new").unwrap_err();
            assert!(path.is_dir() && names(&folder).len() == 1, "{options:?}");
        }
    }
}

#[test]
fn long_name_can_be_written() {
    for options in KINDS {
        let (folder, _) = folder();
        let path = folder.path().join("x".repeat(255));
        options.write(&path, b"content").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"content");
    }
}

#[test]
fn publish_moves_a_complete_file_and_keeps_or_replaces_the_target() {
    let (folder, path) = folder();
    let from = folder.path().join("written");
    let options = AtomicFile::options().sync(SyncToDisk::FileAndFolder);
    fs::write(&from, "first").unwrap();
    options.if_exists(IfExists::Keep).publish(&from, &path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"first");
    let error = options.if_exists(IfExists::Keep).publish(&from, &path).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    fs::remove_file(&from).unwrap();
    fs::write(&from, "second").unwrap();
    options.publish(&from, &path).unwrap();
    assert_eq!((fs::read(&path).unwrap(), names(&folder).len()), (b"second".to_vec(), 1));
}

#[test]
fn writers_at_once_leave_the_whole_content_of_one_of_them() {
    for options in KINDS {
        let (folder, path) = folder();
        let content = |writer: u8| vec![writer; 100_000];
        options.write(&path, &content(0)).unwrap();
        thread::scope(|scope| {
            for writer in 1..=2 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..50 {
                        options.write(path, &content(writer)).unwrap();
                        let found = fs::read(path).unwrap();
                        assert_eq!(found, content(found[0]));
                    }
                });
            }
        });
        assert_eq!(names(&folder).len(), 1, "{options:?}");
    }
}

#[test]
fn exactly_one_of_two_writers_creates_a_file_that_is_kept() {
    for options in KINDS.map(|options| options.if_exists(IfExists::Keep)) {
        for _ in 0..20 {
            let (folder, path) = folder();
            let write = |writer: u8| options.write(&path, &[writer; 1000]).is_ok();
            let (one, other) = thread::scope(|scope| {
                let one = scope.spawn(|| write(1));
                (write(2), one.join().unwrap())
            });
            assert!(one != other, "{options:?}");
            let winner = if one { 2 } else { 1 };
            assert_eq!(fs::read(&path).unwrap(), [winner; 1000]);
            assert_eq!(names(&folder).len(), 1, "{options:?}");
        }
    }
}
