//! Unpacks a bot from a `.zip` into a scratch folder, or rejects it and names the bad entry.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read, Seek, SeekFrom, Write as _};
use std::path::Path;

use zip::read::{ZipFile, ZipReadOptions};
use zip::result::ZipError;
use zip::{CompressionMethod, ZipArchive};

use super::archive_paths::{self, ArchivePath, UsedPaths};
use super::scratch_dir::make_world_readable;
use super::{BotRejection, ScratchDir};

/// Maximum size of an archive file, unless the organiser sets another. Trained weights have room.
pub const DEFAULT_PACKED_BYTES: u64 = 64 << 20;
/// The largest maximum that an organiser can set.
pub const MAX_PACKED_BYTES: u64 = 1 << 30;
/// The content of an archive, unpacked, may be this much larger than its maximum size.
const UNPACKED_FACTOR: u64 = 4;
/// Maximum number of entries, including folders and junk.
pub const MAX_ENTRIES: usize = 1000;

/// Size of the pieces in which files are unpacked.
const COPY_BUFFER_BYTES: usize = 64 * 1024;
/// First bytes of each entry of an archive's directory.
const ENTRY_HEADER: &[u8] = b"PK\x01\x02";
/// Maximum number of places in an archive that look like an entry of its directory. More than [`MAX_ENTRIES`], because archives within
/// the archive have them too.
const MAX_ENTRY_HEADERS: usize = 20 * MAX_ENTRIES;

/// The bits of a Unix mode that hold the file type.
const FILE_TYPE_MASK: u32 = 0o170_000;
const KIND_FILE: u32 = 0o100_000;
const KIND_FOLDER: u32 = 0o040_000;
const KIND_LINK: u32 = 0o120_000;

/// How large an archive may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ArchiveLimits {
    /// Maximum size of the file.
    packed: u64,
}

impl Default for ArchiveLimits {
    fn default() -> Self {
        Self { packed: DEFAULT_PACKED_BYTES }
    }
}

impl ArchiveLimits {
    /// Limits for files of this size.
    pub const fn of_packed_bytes(packed: u64) -> Self {
        Self { packed }
    }

    /// Maximum size of the content, unpacked.
    pub const fn unpacked(self) -> u64 {
        self.packed.saturating_mul(UNPACKED_FACTOR)
    }
}

/// Unpacks an archive into a scratch folder that has the archive's name. It is read piece by piece.
pub fn unpack(path: &Path, limits: ArchiveLimits) -> Result<ScratchDir, BotRejection> {
    let shown = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let unreadable = |error: io::Error| BotRejection::io("read it", path, &error);
    let file = File::open(path).map_err(unreadable)?;
    if file.metadata().map_err(unreadable)?.len() > limits.packed {
        let what = format!("the archive is larger than {}", mebibytes(limits.packed));
        let hint = "leave out what the bot does not need, or ask the organiser for more (max_zip_mib)";
        return Err(BotRejection::new(what, hint).in_file(shown));
    }
    let stem = path.file_stem().map_or_else(|| "bot".into(), |stem| stem.to_string_lossy().into_owned());
    let broke = |error: io::Error| {
        BotRejection::new(format!("cannot unpack it: {error}"), "check the free disk space")
    };
    let folder = ScratchDir::new(plain(&stem)).map_err(broke)?;
    unpack_file(file, folder.path(), &shown, limits)?;
    make_world_readable(folder.path()).map_err(broke)?;
    Ok(folder)
}

/// A stem that is usable as a folder name.
fn plain(stem: &str) -> &str {
    if stem.is_empty() || stem == "." || stem == ".." { "bot" } else { stem }
}

/// A size for messages.
fn mebibytes(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 20) { format!("{} MiB", bytes >> 20) } else { format!("{bytes} bytes") }
}

/// Unpacks an archive's file into an empty folder. `shown` is the archive's name in messages.
pub fn unpack_file(
    file: File,
    folder: &Path,
    shown: &str,
    limits: ArchiveLimits,
) -> Result<(), BotRejection> {
    unpack_from(BufReader::with_capacity(COPY_BUFFER_BYTES, file), folder, shown, limits)
}

/// Unpacks an archive's bytes into an empty folder, with the default limits.
pub fn unpack_into(bytes: &[u8], folder: &Path, shown: &str) -> Result<(), BotRejection> {
    unpack_from(Cursor::new(bytes), folder, shown, ArchiveLimits::default())
}

fn unpack_from<R: Read + Seek>(
    mut reader: R,
    folder: &Path,
    shown: &str,
    limits: ArchiveLimits,
) -> Result<(), BotRejection> {
    let broken = |error: &ZipError| {
        let hint = "pack it again, as an ordinary .zip without a password";
        BotRejection::new(format!("the archive is broken: {}", words(error)), hint).in_file(shown)
    };
    let too_many = || {
        let what = format!("the archive has more than {MAX_ENTRIES} entries");
        BotRejection::new(what, "leave out what the bot does not need").in_file(shown)
    };
    // The zip library reads the whole directory into memory, before it tells how many entries there are.
    let headers = count_entry_headers(&mut reader).map_err(|error| broken(&error.into()))?;
    if headers > MAX_ENTRY_HEADERS {
        return Err(too_many());
    }
    let mut archive = ZipArchive::new(reader).map_err(|e| broken(&e))?;
    if archive.len() > MAX_ENTRIES {
        return Err(too_many());
    }
    if archive.has_duplicate_names() {
        let start = archive.central_directory_start();
        let name = duplicate_name(archive.into_inner(), start).unwrap_or_else(|| shown.to_owned());
        return Err(BotRejection::new("is listed twice", "pack each file once").in_file(name));
    }
    let (mut taken, mut left) = (UsedPaths::default(), limits.unpacked());
    for index in 0..archive.len() {
        let Some((text, name, declared)) = head(&mut archive, index)? else { continue };
        taken.take(&name)?;
        let path = name.parts.iter().fold(folder.to_owned(), |path, part| path.join(part));
        let broke = |error: io::Error| {
            BotRejection::new(format!("cannot unpack it: {error}"), "check the free disk space")
                .in_file(&text)
        };
        if name.is_folder {
            fs::create_dir_all(path).map_err(broke)?;
            continue;
        }
        if declared > left {
            return Err(too_much_content(limits).in_file(&text));
        }
        left -= declared;
        let parent = path.parent().unwrap_or(folder);
        let mut target = fs::create_dir_all(parent).and_then(|()| File::create(&path)).map_err(broke)?;
        write_content(&mut archive, index, declared, &mut target)
            .map_err(|refusal| refusal.in_file(&text))?;
    }
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none()) {
        return Err(BotRejection::new("the archive is empty", "put the bot's files into it").in_file(shown));
    }
    Ok(())
}

/// One file of a bot that was uploaded file by file.
#[derive(Clone, Debug)]
pub struct UploadedFile {
    /// Its name as the client sent it, with `/` between folders.
    pub name: String,
    /// The path of its content.
    pub at: std::path::PathBuf,
}

/// Moves files that were uploaded one by one into an empty folder, by the same rules as for an archive.
pub fn write_files(files: &[UploadedFile], folder: &Path) -> Result<(), BotRejection> {
    if files.len() > MAX_ENTRIES {
        return Err(BotRejection::new(
            format!("more than {MAX_ENTRIES} files"),
            "leave out what the bot does not need",
        ));
    }
    let mut taken = UsedPaths::default();
    let mut whole = Vec::new();
    for file in files.iter().filter(|file| !archive_paths::is_junk(&file.name)) {
        let name = archive_paths::read(&file.name)?;
        if name.is_folder {
            return Err(BotRejection::new("is not a file", "send files only").in_file(&file.name));
        }
        taken.take(&name)?;
        whole.push((file, name));
    }
    if whole.is_empty() {
        return Err(BotRejection::new("no files were sent", "send the bot's files"));
    }
    for (file, name) in whole {
        let path = name.parts.iter().fold(folder.to_owned(), |path, part| path.join(part));
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).and_then(|()| fs::rename(&file.at, &path)).map_err(|error| {
            BotRejection::new(format!("cannot be stored: {error}"), "check the free disk space")
                .in_file(&file.name)
        })?;
    }
    Ok(())
}

/// Counts the places in an archive that look like an entry of its directory.
fn count_entry_headers<R: Read + Seek>(reader: &mut R) -> io::Result<usize> {
    let overlap = ENTRY_HEADER.len() - 1;
    reader.seek(SeekFrom::Start(0))?;
    let (mut buffer, mut kept, mut count) = (vec![0; COPY_BUFFER_BYTES], 0, 0);
    loop {
        let read = match reader.read(&mut buffer[kept..]) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let filled = kept + read;
        let windows = buffer[..filled].windows(ENTRY_HEADER.len());
        count += windows.filter(|window| *window == ENTRY_HEADER).count();
        // A header may begin in this piece and end in the next one.
        kept = filled.min(overlap);
        buffer.copy_within(filled - kept..filled, 0);
    }
    reader.seek(SeekFrom::Start(0))?;
    Ok(count)
}

/// Maximum size of an archive's directory that is searched for a name.
const MAX_DIRECTORY_BYTES: u64 = 16 << 20;

/// The first name that an archive's directory, which begins at `start`, lists twice. The zip library keeps only the last entry of a name.
fn duplicate_name<R: Read + Seek>(mut reader: R, start: u64) -> Option<String> {
    const HEADER: usize = 46;
    let mut bytes = Vec::new();
    reader.seek(SeekFrom::Start(start)).ok()?;
    reader.take(MAX_DIRECTORY_BYTES).read_to_end(&mut bytes).ok()?;
    let mut directory = &bytes[..];
    let mut seen = HashSet::new();
    while directory.starts_with(b"PK\x01\x02") && directory.len() >= HEADER {
        let length = |at: usize| usize::from(u16::from_le_bytes([directory[at], directory[at + 1]]));
        let (name, more) = (length(28), length(30) + length(32));
        let text = directory.get(HEADER..HEADER + name)?;
        if !seen.insert(text) {
            return Some(String::from_utf8_lossy(text).into_owned());
        }
        directory = directory.get(HEADER + name + more..)?;
    }
    None
}

/// An entry's name and its declared size. `None` for junk.
fn head<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    index: usize,
) -> Result<Option<(String, ArchivePath, u64)>, BotRejection> {
    let entry = archive.by_index_raw(index).map_err(|error| {
        BotRejection::new(format!("is damaged: {}", words(&error)), "pack it again")
            .in_file(format!("entry {}", index + 1))
    })?;
    let raw = String::from_utf8_lossy(entry.name_raw()).into_owned();
    let text = entry.name().map(std::borrow::Cow::into_owned).map_err(|error| {
        let what = format!("the name cannot be read: {}", words(&error));
        BotRejection::new(what, "give it a plain name").in_file(&raw)
    })?;
    if archive_paths::is_junk(&text) {
        return Ok(None);
    }
    // Check the raw bytes for control characters such as NUL: decoding may have removed them.
    let name = archive_paths::read(if raw.chars().any(char::is_control) { &raw } else { &text })?;
    check_kind(&entry, name.is_folder)
        .map_err(|(what, hint)| BotRejection::new(what, hint).in_file(&text))?;
    Ok(Some((text, name, entry.size())))
}

fn too_much_content(limits: ArchiveLimits) -> BotRejection {
    let what = format!("with it, the archive unpacks to more than {}", mebibytes(limits.unpacked()));
    BotRejection::new(what, "leave out what the bot does not need")
}

/// Writes the content of an entry to a file, piece by piece. The declared size may be false, so this writes at most one byte more.
fn write_content<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    index: usize,
    declared: u64,
    target: &mut File,
) -> Result<(), BotRejection> {
    let damaged = |why: String| BotRejection::new(format!("is damaged: {why}"), "pack it again");
    // The local header's name must equal the central directory's, or two programs would see two different archives.
    let options = ZipReadOptions::new().enforce_header_consistency(true);
    let entry = archive.by_index_with_options(index, options).map_err(|e| damaged(words(&e)))?;
    let mut entry = entry.take(declared + 1);
    let (mut buffer, mut written) = (vec![0; COPY_BUFFER_BYTES], 0);
    loop {
        let read = entry.read(&mut buffer);
        // Check for too much content before the checksum, which would be wrong as well.
        let count = match &read {
            Ok(count) => *count,
            Err(_) if written > declared => 0,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(damaged(error.to_string())),
        };
        if count == 0 {
            break;
        }
        written += count as u64;
        target.write_all(&buffer[..count]).map_err(|error| {
            BotRejection::new(format!("cannot unpack it: {error}"), "check the free disk space")
        })?;
    }
    if written > declared {
        return Err(damaged(format!("holds more than the declared {declared} bytes")));
    }
    if written < declared {
        return Err(damaged(format!("holds {written} bytes, not the declared {declared}")));
    }
    Ok(())
}

/// Accepts only plain files and folders with a common compression method.
fn check_kind<R: Read>(entry: &ZipFile<'_, R>, is_folder: bool) -> Result<(), (String, &'static str)> {
    if entry.encrypted() {
        return Err(("is encrypted".to_owned(), "pack it without a password"));
    }
    let kind = entry.external_attributes() >> 16 & FILE_TYPE_MASK;
    let kind = if kind == 0 { entry.unix_mode().unwrap_or(0) & FILE_TYPE_MASK } else { kind };
    let expected = if is_folder { KIND_FOLDER } else { KIND_FILE };
    if kind == KIND_LINK || entry.is_symlink() {
        return Err(("is a link".to_owned(), "put the file itself into the archive"));
    }
    if kind != 0 && kind != expected {
        return Err(("is neither a file nor a folder".to_owned(), "only files and folders can be packed"));
    }
    match entry.compression() {
        CompressionMethod::Stored | CompressionMethod::Deflated => Ok(()),
        other => {
            let what = format!("uses an unsupported compression method ({other})");
            Err((what, "pack it with deflate, the usual method"))
        }
    }
}

/// The zip library's message without its prefix.
fn words(error: &ZipError) -> String {
    match error {
        ZipError::InvalidArchive(what) => what.to_string(),
        ZipError::UnsupportedArchive(what) => (*what).to_owned(),
        other => other.to_string(),
    }
}
