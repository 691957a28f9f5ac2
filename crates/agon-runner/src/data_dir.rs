//! Packs the folder in which a bot keeps data between matches (Connect Five's `data/`) into bytes for the ledger, and unpacks it.
//!
//! Bots are not trusted. Only regular files and folders are packed; links and special files are skipped. Unpacking never writes outside the
//! target folder. The same content always gives the same bytes.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use tar::{Archive, Builder, EntryType, Header};

/// Maximum size of the packed files. Larger than the data limit of a bot, at which it is killed.
const MAX_BYTES: u64 = 256 << 20;
/// Maximum number of files, so that listing a folder always ends.
const MAX_FILES: usize = 20_000;
/// Fast, and good enough for weights and tables.
const ZSTD_LEVEL: i32 = 3;

/// Packs a folder.
pub fn pack(folder: &Path) -> io::Result<Vec<u8>> {
    pack_filtered(folder, &|_| true)
}

/// Packs the files of a folder for which `wanted` returns true. Paths are relative to the folder.
pub fn pack_filtered(folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> io::Result<Vec<u8>> {
    let mut names = Vec::new();
    list_files(folder, Path::new(""), &mut names)?;
    names.retain(|name| wanted(name));
    names.sort();
    let mut builder = Builder::new(zstd::Encoder::new(Vec::new(), ZSTD_LEVEL)?);
    let mut left = MAX_BYTES;
    for name in names {
        let path = folder.join(&name);
        let metadata = path.symlink_metadata()?;
        let mut header = Header::new_gnu();
        header.set_mtime(0);
        if metadata.is_dir() {
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

/// Lists the files and empty folders below a folder, as paths relative to `root`.
fn list_files(root: &Path, dir: &Path, names: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(dir))? {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, dir.join(entry.file_name()));
        if kind.is_dir() {
            let before = names.len();
            list_files(root, &name, names)?;
            if names.len() == before {
                names.push(name);
            }
        } else if kind.is_file() {
            names.push(name);
        }
        if names.len() > MAX_FILES {
            let message = format!("more than {MAX_FILES} files in {}", root.display());
            return Err(io::Error::new(io::ErrorKind::QuotaExceeded, message));
        }
    }
    Ok(())
}

/// Replaces the content of a folder by the packed files.
pub fn unpack(packed: &[u8], folder: &Path) -> io::Result<()> {
    clear_dir(folder)?;
    unpack_over(packed, folder).map(drop)
}

/// Adds the packed files to a folder. Files with the same name are replaced. Returns the paths of the files.
pub fn unpack_over(packed: &[u8], folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut names = Vec::new();
    let mut archive = Archive::new(zstd::Decoder::new(packed)?.take(2 * MAX_BYTES));
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.into_owned();
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            let message = format!("`{}` would lie outside its folder", name.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
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
            // Never write through a link: it could point to the bot's program files.
            fs::remove_file(&path)?;
        }
        let mut file = File::create_new(&path)?;
        io::copy(&mut entry, &mut file)?;
        file.set_permissions(Permissions::from_mode(0o644))?;
        names.push(name);
    }
    Ok(names)
}

fn clear_dir(folder: &Path) -> io::Result<()> {
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

    fn sample_dir() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("deep/empty")).unwrap();
        fs::write(folder.path().join("weights.bin"), [7; 5000]).unwrap();
        fs::write(folder.path().join("deep/ö.txt"), "x").unwrap();
        folder
    }

    #[test]
    fn unpack_restores_packed_files_and_removes_others() {
        let (from, to) = (sample_dir(), tempfile::tempdir().unwrap());
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
    fn pack_skips_links() {
        let from = sample_dir();
        let plain = pack(from.path()).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", from.path().join("link")).unwrap();
        std::os::unix::fs::symlink("/etc", from.path().join("deep/all")).unwrap();
        assert_eq!(pack(from.path()).unwrap(), plain);
    }

    #[test]
    fn unpack_rejects_paths_outside_its_folder() {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_size(1);
        header.as_old_mut().name[..6].copy_from_slice(b"../out");
        header.set_cksum();
        let mut builder = Builder::new(zstd::Encoder::new(Vec::new(), ZSTD_LEVEL).unwrap());
        builder.append(&header, &b"x"[..]).unwrap();
        let packed = builder.into_inner().unwrap().finish().unwrap();
        let to = tempfile::tempdir().unwrap();
        fs::create_dir(to.path().join("data")).unwrap();
        let error = unpack(&packed, &to.path().join("data")).unwrap_err();
        assert!(error.to_string().contains("outside its folder"), "{error}");
        assert!(!to.path().join("out").exists());
    }
}
