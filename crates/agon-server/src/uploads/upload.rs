//! A form with files, taken to the disk as it comes: never more of it than is allowed.

use std::path::PathBuf;

use agon_core::record::Digest;
use agon_host::intake::archive::{ENTRIES, Loose};
use agon_store::site_db::SubmissionId;
use axum::extract::Multipart;
use axum::extract::multipart::{Field, MultipartError};
use sha2::{Digest as _, Sha256};
use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt as _;

use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// The longest text of a form's field: bytes.
const TEXT: usize = 400;
/// The longest name of a file that is looked at: bytes.
const NAME: usize = 4096;

/// What a form brought. Its folder is gone when this is dropped.
pub struct Upload {
    /// The submission it becomes.
    pub id: SubmissionId,
    /// The bot's name.
    pub name: Option<String>,
    /// Its role.
    pub role: Option<String>,
    /// The class that is the bot.
    pub class: Option<String>,
    /// The files, as they were called.
    pub files: Vec<Loose>,
    /// All of them together.
    pub bytes: u64,
    /// SHA-256 of them: of the file, if there is one; else of names and contents.
    pub hash: Digest,
    folder: PathBuf,
}

impl Upload {
    /// Where its files may be put together.
    pub fn folder(&self) -> PathBuf {
        self.folder.join("bot")
    }

    /// What it is called where it is shown: harmless, short.
    pub fn shown(&self) -> String {
        let name = match &self.files[..] {
            [one] => one.name.clone(),
            files => format!("{} files", files.len()),
        };
        let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
        let turns = |c: char| matches!(c as u32, 0x061C | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F | 0xFEFF);
        last.chars().filter(|&c| !c.is_control() && !turns(c)).take(100).collect()
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Takes a form in. `most` is how many bytes its files may have together.
pub async fn receive(app: &AppState, form: &mut Multipart, most: u64) -> ApiResult<Upload> {
    let id = SubmissionId::random().map_err(ApiError::broke)?;
    let folder = super::incoming(&app.config).join(id.as_str());
    fs::create_dir_all(folder.join("bot")).await.map_err(ApiError::broke)?;
    let mut upload = Upload {
        id,
        name: None,
        role: None,
        class: None,
        files: Vec::new(),
        bytes: 0,
        hash: Digest([0; 32]),
        folder,
    };
    let mut hash = Sha256::new();
    let mut first = None;
    while let Some(field) = form.next_field().await.map_err(|error| unreadable(&error))? {
        let name = field.name().unwrap_or_default().to_owned();
        match name.as_str() {
            "file" => {
                let one = file(&mut upload, field, most).await?;
                hash.update(upload.files.last().map_or("", |file| &file.name));
                hash.update([0]);
                hash.update(one);
                first.get_or_insert(one);
            }
            "name" => upload.name = text("name", field).await?,
            "role" => upload.role = text("role", field).await?,
            "class" => upload.class = text("class", field).await?,
            other => {
                let what = format!("there is no field `{}`", other.chars().take(40).collect::<String>());
                return Err(ApiError::invalid("form", what).hint("name, role, class and file are known"));
            }
        }
    }
    upload.hash = match (upload.files.len(), first) {
        (0, _) => {
            return Err(
                ApiError::invalid("file", "no file came").hint("send the bot's file in the field `file`")
            );
        }
        (1, Some(one)) => Digest(one),
        _ => Digest(hash.finalize().into()),
    };
    Ok(upload)
}

/// A file, as it comes; its SHA-256.
async fn file(upload: &mut Upload, mut field: Field<'_>, most: u64) -> ApiResult<[u8; 32]> {
    let name = field.file_name().unwrap_or_default().to_owned();
    if name.len() > NAME {
        return Err(ApiError::invalid("file", format!("a name of more than {NAME} bytes")));
    }
    if upload.files.len() >= ENTRIES {
        return Err(ApiError::invalid("file", format!("more than {ENTRIES} files"))
            .hint("leave out what the bot does not need"));
    }
    let at = upload.folder.join(upload.files.len().to_string());
    let mut kept = File::create(&at).await.map_err(ApiError::broke)?;
    let mut hash = Sha256::new();
    while let Some(chunk) = field.chunk().await.map_err(|error| unreadable(&error))? {
        upload.bytes += chunk.len() as u64;
        if upload.bytes > most {
            return Err(ApiError::too_large(format!("the upload is larger than {most} bytes"))
                .hint("leave out what the bot does not need"));
        }
        hash.update(&chunk);
        kept.write_all(&chunk).await.map_err(ApiError::broke)?;
    }
    kept.sync_all().await.map_err(ApiError::broke)?;
    upload.files.push(Loose { name, at });
    Ok(hash.finalize().into())
}

/// A short text; nothing if it is empty.
async fn text(name: &str, mut field: Field<'_>) -> ApiResult<Option<String>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(|error| unreadable(&error))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > TEXT {
            return Err(ApiError::invalid(name, format!("{name}: it is longer than {TEXT} bytes")));
        }
    }
    let text =
        String::from_utf8(bytes).map_err(|_| ApiError::invalid(name, format!("{name}: not UTF-8 text")))?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

fn unreadable(error: &MultipartError) -> ApiError {
    if error.status() == axum::http::StatusCode::PAYLOAD_TOO_LARGE {
        return ApiError::too_large("the form is larger than an upload may be")
            .hint("leave out what the bot does not need");
    }
    ApiError::bad_request("form", format!("the form cannot be read: {}", error.body_text()))
        .hint("send it as multipart/form-data, whole")
}
