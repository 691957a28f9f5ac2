//! Archive format of packages. The same files always give the same bytes, independent of time and user.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Component, Path, PathBuf};

use tar::{Archive, Builder, EntryType, Header};

use super::collect::PackageEntry;

/// Compression level: fast, and good enough for sources and weights.
const ZSTD_LEVEL: i32 = 3;
/// Maximum unpacked size of a package in bytes.
const MAX_UNPACKED_BYTES: u64 = 512 << 20;

/// Packs the entries.
pub fn pack(entries: &BTreeMap<PathBuf, PackageEntry>) -> io::Result<Vec<u8>> {
    let mut builder = Builder::new(zstd::Encoder::new(Vec::new(), ZSTD_LEVEL)?);
    for (path, entry) in entries {
        let mut header = Header::new_gnu();
        header.set_mtime(0);
        header.set_size(0);
        header.set_mode(0o644);
        header.set_entry_type(EntryType::Regular);
        match entry {
            PackageEntry::Folder => {
                header.set_entry_type(EntryType::Directory);
                header.set_mode(0o755);
                builder.append_data(&mut header, path, io::empty())?;
            }
            PackageEntry::Link(target) => {
                header.set_entry_type(EntryType::Symlink);
                builder.append_link(&mut header, path, target)?;
            }
            PackageEntry::Bytes(bytes) => {
                header.set_size(bytes.len() as u64);
                builder.append_data(&mut header, path, bytes.as_slice())?;
            }
            PackageEntry::File(from, runs) => {
                // Read first, because the size must not change while it is written.
                let content = fs::read(from)?;
                header.set_size(content.len() as u64);
                header.set_mode(if *runs { 0o755 } else { 0o644 });
                builder.append_data(&mut header, path, content.as_slice())?;
            }
        }
    }
    builder.into_inner()?.finish()
}

/// Unpacks a package into a new folder. No entry may be or lead outside the folder.
pub fn unpack(packed: &[u8], folder: &Path) -> io::Result<()> {
    make(folder)?;
    let mut archive = Archive::new(zstd::Decoder::new(packed)?.take(MAX_UNPACKED_BYTES));
    let mut links = Vec::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.into_owned();
        if !name.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(outside(&name));
        }
        let path = folder.join(&name);
        if let Some(parent) = name.parent() {
            make_all(folder, parent)?;
        }
        match entry.header().entry_type() {
            EntryType::Directory => make_all(folder, &name)?,
            EntryType::Symlink => {
                let target = entry.link_name()?.map(std::borrow::Cow::into_owned).unwrap_or_default();
                if leads_outside(&name, &target) {
                    return Err(outside(&name));
                }
                links.push((target, path));
            }
            EntryType::Regular => {
                let mut file = File::create_new(&path)?;
                io::copy(&mut entry, &mut file)?;
                let runs = entry.header().mode()? & 0o111 != 0;
                file.set_permissions(Permissions::from_mode(if runs { 0o755 } else { 0o644 }))?;
            }
            _ => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("`{}` is not a file, folder or link", name.display()),
                ));
            }
        }
    }
    // Links come last, so that nothing is written through them.
    for (target, path) in links {
        symlink(target, path)?;
    }
    Ok(())
}

fn outside(name: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("`{}` would be outside its folder", name.display()))
}

/// Whether a link leads out of its folder.
fn leads_outside(name: &Path, target: &Path) -> bool {
    let mut depth = name.components().count() as i64 - 1;
    target.components().any(|part| {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => depth = -1,
        }
        depth < 0
    })
}

fn make(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        // The bot's user must be able to read the folder, whatever the umask of this process is.
        _ => fs::set_permissions(folder, Permissions::from_mode(0o755)),
    }
}

fn make_all(folder: &Path, inside: &Path) -> io::Result<()> {
    let mut path = folder.to_owned();
    for part in inside.components() {
        path.push(part);
        make(&path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(name: &str, target: &str) -> BTreeMap<PathBuf, PackageEntry> {
        BTreeMap::from([(PathBuf::from(name), PackageEntry::Link(PathBuf::from(target)))])
    }

    #[test]
    fn link_that_leaves_its_folder_is_rejected() {
        for (name, target, fits) in [
            ("a/b", "c", true),
            ("a/b", "../c", true),
            ("a/b", "../../c", false),
            ("a", "b/../../c", false),
            ("a", "/etc/passwd", false),
        ] {
            let place = tempfile::tempdir().unwrap();
            let packed = pack(&link(name, target)).unwrap();
            let unpacked = unpack(&packed, &place.path().join("bot"));
            assert_eq!(unpacked.is_ok(), fits, "{name} -> {target}: {unpacked:?}");
        }
    }
}
