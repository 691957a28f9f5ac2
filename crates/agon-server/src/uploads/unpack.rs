//! Turns uploaded files into a bot's folder, by the rules for archives.

use std::fs;
use std::io;
use std::path::Path;

use agon_bots::source::archive::{ArchiveLimits, unpack_file, write_files};
use agon_bots::source::notebook;
use agon_bots::source::submitted_folder::make_programs_executable;
use agon_core::Diagnostic;
use agon_host::BotRejection;
use agon_host::scratch_dir::make_world_readable;

use super::SubmissionMeta;
use super::upload::Upload;
use crate::error::{ApiError, ApiResult};

/// Creates the bot's folder inside the upload's folder. Problems with the files are the author's to fix: 422.
pub fn unpack(upload: &Upload) -> ApiResult<SubmissionMeta> {
    let folder = upload.folder();
    let mut meta = SubmissionMeta { class: upload.class.clone(), ..SubmissionMeta::default() };
    let done = match &upload.files[..] {
        [one]
            if !one.name.contains(['/', '\\'])
                && is_archive(&one.name, &one.at).map_err(ApiError::internal)? =>
        {
            let file = fs::File::open(&one.at).map_err(ApiError::internal)?;
            unpack_file(file, &folder, "the archive", ArchiveLimits::of_packed_bytes(upload.max_bytes))
        }
        [one] if !one.name.contains('/') => {
            let (name, done) = keep_single_file(&one.name, &one.at, &folder);
            meta.single_file = name;
            done
        }
        files => write_files(files, &folder),
    };
    done.map_err(|rejection| rejection_error(&rejection))?;
    make_world_readable(&folder)
        .and_then(|()| make_programs_executable(&folder))
        .map_err(ApiError::internal)?;
    Ok(meta)
}

/// Whether the file is an archive, by its name or its first bytes.
fn is_archive(name: &str, at: &Path) -> io::Result<bool> {
    use std::io::Read as _;
    let ends = |ending: &str| name.to_lowercase().ends_with(ending);
    let mut start = [0; 4];
    let read = fs::File::open(at)?.read(&mut start)?;
    Ok(ends(".zip") || (!ends(".py") && start[..read] == *b"PK\x03\x04"))
}

/// Keeps a single file: a Python bot. Its name is kept if it is simple, else replaced by `bot.py`.
fn keep_single_file(name: &str, at: &Path, folder: &Path) -> (Option<String>, Result<(), BotRejection>) {
    let shown: String = name.chars().take(100).collect();
    if notebook::is_notebook(Path::new(name)) {
        return (None, Err(notebook::rejection(Path::new(&shown)).in_file(shown)));
    }
    if !name.to_lowercase().ends_with(".py") {
        let hint = "submit a .py, a .zip or a folder (a program needs an agon.toml in its folder)";
        return (None, Err(BotRejection::new("this is not a bot file", hint).in_file(shown)));
    }
    let stem = &name[..name.len() - 3];
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+');
    let file_name = if (1..=80).contains(&stem.len()) && stem.chars().all(plain) { stem } else { "bot" };
    let file_name = format!("{file_name}.py");
    match fs::metadata(at) {
        Ok(about) if about.len() == 0 => {
            return (
                None,
                Err(BotRejection::new("the file is empty", "submit the bot's file").in_file(shown)),
            );
        }
        _ => {}
    }
    let moved = fs::rename(at, folder.join(&file_name)).map_err(|error| {
        BotRejection::new(
            format!("cannot be stored: {error}"),
            "ask an organiser to check the server's disk space",
        )
    });
    (Some(file_name), moved)
}

/// Converts a rejection into an API error.
pub fn rejection_error(rejection: &BotRejection) -> ApiError {
    let message = Diagnostic::from(rejection.clone()).summary();
    let error = ApiError::invalid("file", message.clone()).details(vec![message]);
    if rejection.hint.is_empty() { error } else { error.hint(&rejection.hint) }
}
