//! From files that came in to a bot's folder, by the rules of archives.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use agon_host::intake::Refusal;
use agon_host::intake::archive::{gather_into, unpack_into};
use agon_host::intake::private::show_to_all;

use super::SubmissionMeta;
use super::upload::Upload;
use crate::error::{ApiError, ApiResult};

/// Makes the bot's folder inside the upload's own. What is wrong with it is the sender's to mend: 422.
pub fn unpack(upload: &Upload) -> ApiResult<SubmissionMeta> {
    let folder = upload.folder();
    let mut slip = SubmissionMeta { class: upload.class.clone(), ..SubmissionMeta::default() };
    let done = match &upload.files[..] {
        [one]
            if !one.name.contains(['/', '\\'])
                && is_archive(&one.name, &one.at).map_err(ApiError::broke)? =>
        {
            let bytes = fs::read(&one.at).map_err(ApiError::broke)?;
            unpack_into(&bytes, &folder, "the archive")
        }
        [one] if !one.name.contains('/') => {
            let (name, done) = single(&one.name, &one.at, &folder);
            slip.single = name;
            done
        }
        files => gather_into(files, &folder),
    };
    done.map_err(|refusal| refused(&refusal))?;
    show_to_all(&folder).and_then(|()| let_run(&folder)).map_err(ApiError::broke)?;
    Ok(slip)
}

/// By its name, or by how it begins.
fn is_archive(name: &str, at: &Path) -> io::Result<bool> {
    use std::io::Read as _;
    let ends = |ending: &str| name.to_lowercase().ends_with(ending);
    let mut start = [0; 4];
    let read = fs::File::open(at)?.read(&mut start)?;
    Ok(ends(".zip") || (!ends(".py") && start[..read] == *b"PK\x03\x04"))
}

/// One file: a Python bot. It keeps its name where that is plain.
fn single(name: &str, at: &Path, folder: &Path) -> (Option<String>, Result<(), Refusal>) {
    let shown: String = name.chars().take(100).collect();
    if !name.to_lowercase().ends_with(".py") {
        let hint = "hand in a .py, a .zip, or a folder (a program of your own needs an agon.toml beside it)";
        return (None, Err(Refusal::new("this is no bot that can be read", hint).in_file(shown)));
    }
    let stem = &name[..name.len() - 3];
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+');
    let kept = if (1..=80).contains(&stem.len()) && stem.chars().all(plain) { stem } else { "bot" };
    let kept = format!("{kept}.py");
    match fs::metadata(at) {
        Ok(about) if about.len() == 0 => {
            return (None, Err(Refusal::new("the file is empty", "hand in the bot").in_file(shown)));
        }
        _ => {}
    }
    let moved = fs::rename(at, folder.join(&kept))
        .map_err(|error| Refusal::new(format!("cannot be kept: {error}"), "is there room for it?"));
    (Some(kept), moved)
}

/// Archives do not always say what is to be run: programs and scripts can be.
fn let_run(folder: &Path) -> io::Result<()> {
    use std::io::Read as _;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let_run(&entry.path())?;
            continue;
        }
        let mut start = [0; 4];
        let read = fs::File::open(entry.path())?.read(&mut start)?;
        if start[..read].starts_with(b"#!") || start[..read] == *b"\x7fELF" {
            fs::set_permissions(entry.path(), fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

/// In an answer's words.
pub fn refused(refusal: &Refusal) -> ApiError {
    let place = refusal.place();
    let colon = if place.is_empty() { "" } else { ": " };
    let message = format!("{place}{colon}{}", refusal.what);
    let error = ApiError::invalid("file", message.clone()).details(vec![message]);
    if refusal.hint.is_empty() { error } else { error.hint(&refusal.hint) }
}
