//! Names of temporary files and folders: `.NAME.RANDOM.part`, beside the target.
//!
//! The random part makes a name unique also between containers that share a folder: they may have the same process ids.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

/// Ending of a temporary name.
const ENDING: &str = ".part";
/// Maximum number of characters of the target's name in a temporary name. A file name has at most 255 bytes.
const MAX_NAME_CHARS: usize = 50;
/// Maximum number of names that are tried. Finding this many random names taken is not a coincidence.
const MAX_TRIES: u32 = 16;

/// Whether a path has the name of a temporary file or folder. If it is old, a killed program has left it behind.
pub fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_encoded_bytes();
    name.starts_with(b".") && name.ends_with(ENDING.as_bytes())
}

/// Calls `create` with temporary names beside `target` until one is free. Returns the name and the result.
pub(crate) fn create_beside<T>(
    target: &Path,
    create: impl Fn(&Path) -> io::Result<T>,
) -> io::Result<(PathBuf, T)> {
    for _ in 0..MAX_TRIES {
        let name = temporary_name(target);
        match create(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return Ok((name, created?)),
        }
    }
    Err(io::Error::other("every temporary name is taken"))
}

fn temporary_name(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name.chars().take(MAX_NAME_CHARS).collect();
    let random = RandomState::new().build_hasher().finish();
    target.with_file_name(format!(".{name}.{random:016x}{ENDING}"))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn temporary_name_is_hidden_beside_the_target_and_different_each_time() {
        let target = Path::new("/cups/cup.toml");
        let (one, other) = (temporary_name(target), temporary_name(target));
        assert_ne!(one, other);
        assert_eq!(one.parent(), target.parent());
        assert!(is_temporary(&one) && one.display().to_string().starts_with("/cups/.cup.toml."));
        assert!(!is_temporary(target) && !is_temporary(Path::new("book.part")));
    }

    #[test]
    fn temporary_name_of_a_long_name_fits_into_a_file_name() {
        let target = PathBuf::from("\u{10348}".repeat(63));
        assert!(temporary_name(&target).as_os_str().len() <= 255);
    }

    #[test]
    fn create_beside_tries_another_name_if_one_is_taken() {
        let tries = Cell::new(0);
        let create = |_: &Path| {
            tries.set(tries.get() + 1);
            if tries.get() < 3 { Err(io::ErrorKind::AlreadyExists.into()) } else { Ok(tries.get()) }
        };
        assert_eq!(create_beside(Path::new("cup.toml"), create).unwrap().1, 3);
        let taken = |_: &Path| -> io::Result<()> { Err(io::ErrorKind::AlreadyExists.into()) };
        // Not `AlreadyExists`: that would mean the target.
        let error = create_beside(Path::new("cup.toml"), taken).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Other);
    }
}
