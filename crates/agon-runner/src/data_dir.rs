//! What a bot keeps between matches (Connect Five's `data/`), as one block of bytes for the ledger.
//!
//! A bot is a stranger: only plain files and folders are taken, links and everything else are left out, and what is put back
//! stays inside its folder. The same content always gives the same bytes, whenever and by whomever it was written.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use tar::{Archive, Builder, EntryType, Header};

/// More than a bot may keep, even before it is ended for it.
const MOST: u64 = 256 << 20;
/// Nobody needs more files, and a listing must end.
const MOST_FILES: usize = 20_000;
/// Fast, and good enough for weights and tables.
const LEVEL: i32 = 3;

/// Packs a folder.
pub fn pack(folder: &Path) -> io::Result<Vec<u8>> {
    pack_some(folder, &|_| true)
}

/// Packs what is wanted of a folder, by its name as seen from there.
pub fn pack_some(folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> io::Result<Vec<u8>> {
    let mut names = Vec::new();
    list(folder, Path::new(""), &mut names)?;
    names.retain(|name| wanted(name));
    names.sort();
    let mut builder = Builder::new(zstd::Encoder::new(Vec::new(), LEVEL)?);
    let mut left = MOST;
    for name in names {
        let path = folder.join(&name);
        let about = path.symlink_metadata()?;
        let mut header = Header::new_gnu();
        header.set_mtime(0);
        if about.is_dir() {
            header.set_entry_type(EntryType::Directory);
            header.set_mode(0o755);
            header.set_size(0);
            builder.append_data(&mut header, &name, io::empty())?;
            continue;
        }
        let mut content = Vec::new();
        File::open(&path)?.take(left).read_to_end(&mut content)?;
        left -= content.len() as u64;
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        builder.append_data(&mut header, &name, content.as_slice())?;
    }
    builder.into_inner()?.finish()
}

/// Names of what is in a folder, as seen from it. Folders only if they are empty: the others are named by what is in them.
fn list(root: &Path, inside: &Path, names: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(inside))? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, inside.join(entry.file_name()));
        if kind.is_dir() {
            let before = names.len();
            list(root, &name, names)?;
            if names.len() == before {
                names.push(name);
            }
        } else if kind.is_file() {
            names.push(name);
        }
        if names.len() > MOST_FILES {
            let what = format!("more than {MOST_FILES} files in {}", root.display());
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, what));
        }
    }
    Ok(())
}

/// Makes a folder hold what was packed, and nothing else.
pub fn unpack(packed: &[u8], folder: &Path) -> io::Result<()> {
    empty(folder)?;
    unpack_over(packed, folder).map(drop)
}

/// Adds what was packed to a folder, in place of files that have the same name; gives the names of the files.
pub fn unpack_over(packed: &[u8], folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    let mut archive = Archive::new(zstd::Decoder::new(packed)?.take(2 * MOST));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.into_owned();
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            let what = format!("`{}` would lie outside its folder", name.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, what));
        }
        let path = folder.join(&name);
        if entry.header().entry_type() == EntryType::Directory {
            fs::create_dir_all(&path)?;
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        if path.symlink_metadata().is_ok() {
            // Never through a link: that would write into the bot's own files.
            fs::remove_file(&path)?;
        }
        let mut file = File::create_new(&path)?;
        io::copy(&mut entry, &mut file)?;
        file.set_permissions(Permissions::from_mode(0o644))?;
        names.push(name);
    }
    Ok(names)
}

fn empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("deep/empty")).unwrap();
        fs::write(folder.path().join("weights.bin"), [7; 5000]).unwrap();
        fs::write(folder.path().join("deep/ö.txt"), "x").unwrap();
        folder
    }

    #[test]
    fn what_was_packed_is_there_again_and_nothing_else() {
        let (from, to) = (filled(), tempfile::tempdir().unwrap());
        fs::write(to.path().join("old"), "gone").unwrap();
        let packed = pack(from.path()).unwrap();
        unpack(&packed, to.path()).unwrap();
        assert!(!to.path().join("old").exists() && to.path().join("deep/empty").is_dir());
        assert_eq!(fs::read(to.path().join("weights.bin")).unwrap(), [7; 5000]);
        assert_eq!(pack(to.path()).unwrap(), packed);
        let nothing = pack(tempfile::tempdir().unwrap().path()).unwrap();
        unpack(&nothing, to.path()).unwrap();
        assert_eq!(fs::read_dir(to.path()).unwrap().count(), 0);
    }

    #[test]
    fn links_are_left_where_they_are() {
        let from = filled();
        let plain = pack(from.path()).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", from.path().join("link")).unwrap();
        std::os::unix::fs::symlink("/etc", from.path().join("deep/all")).unwrap();
        assert_eq!(pack(from.path()).unwrap(), plain);
    }

    #[test]
    fn nothing_is_put_outside_its_folder() {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(1);
        header.as_old_mut().name[..6].copy_from_slice(b"../out");
        header.set_cksum();
        let mut builder = Builder::new(zstd::Encoder::new(Vec::new(), LEVEL).unwrap());
        builder.append(&header, &b"x"[..]).unwrap();
        let packed = builder.into_inner().unwrap().finish().unwrap();
        let to = tempfile::tempdir().unwrap();
        fs::create_dir(to.path().join("data")).unwrap();
        let error = unpack(&packed, &to.path().join("data")).unwrap_err();
        assert!(error.to_string().contains("outside its folder"), "{error}");
        assert!(!to.path().join("out").exists());
    }
}
