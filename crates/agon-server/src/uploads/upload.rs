//! Receives an upload form and writes its files to disk while they arrive, up to the size limit.

use std::path::PathBuf;

use agon_bots::source::archive::{MAX_ENTRIES, UploadedFile};
use agon_core::record::Digest;
use agon_site_db::SubmissionId;
use axum::extract::Multipart;
use axum::extract::multipart::{Field, MultipartError};
use sha2::{Digest as _, Sha256};
use tokio::fs::{self, File};
use tokio::io::AsyncWriteExt as _;

use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Maximum length of a text field in bytes.
const MAX_TEXT_BYTES: usize = 400;
/// Maximum length of a file name in bytes.
const MAX_FILE_NAME_BYTES: usize = 4096;

/// A received form. Dropping it deletes its folder.
pub struct Upload {
    /// Id of the submission it becomes.
    pub id: SubmissionId,
    /// The bot's name.
    pub name: Option<String>,
    /// The bot's role.
    pub role: Option<String>,
    /// Name of the bot's class.
    pub class: Option<String>,
    /// The files with their names.
    pub files: Vec<UploadedFile>,
    /// Total size of the files.
    pub bytes: u64,
    /// SHA-256 of the file, or of all names and contents if there are several.
    pub hash: Digest,
    folder: PathBuf,
}

impl Upload {
    /// Folder in which the bot is put together.
    pub fn folder(&self) -> PathBuf {
        self.folder.join("bot")
    }

    /// Short name for display, without control characters and invisible characters.
    pub fn display_name(&self) -> String {
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

/// Receives a form. `max_bytes` is the maximum total size of its files in bytes.
pub async fn receive(app: &AppState, form: &mut Multipart, max_bytes: u64) -> ApiResult<Upload> {
    let id = SubmissionId::random().map_err(ApiError::internal)?;
    let folder = super::incoming_folder(&app.config).join(id.as_str());
    fs::create_dir_all(folder.join("bot")).await.map_err(ApiError::internal)?;
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
    while let Some(field) = form.next_field().await.map_err(|error| form_error(&error))? {
        let name = field.name().unwrap_or_default().to_owned();
        match name.as_str() {
            "file" => {
                let one = receive_file(&mut upload, field, max_bytes).await?;
                hash.update(upload.files.last().map_or("", |file| &file.name));
                hash.update([0]);
                hash.update(one);
                first.get_or_insert(one);
            }
            "name" => upload.name = read_text("name", field).await?,
            "role" => upload.role = read_text("role", field).await?,
            "class" => upload.class = read_text("class", field).await?,
            other => {
                let what = format!("unknown field `{}`", other.chars().take(40).collect::<String>());
                return Err(ApiError::invalid("form", what).hint("use only name, role, class and file"));
            }
        }
    }
    upload.hash = match (upload.files.len(), first) {
        (0, _) => {
            return Err(ApiError::invalid("file", "the form has no file")
                .hint("send the bot's file in the field `file`"));
        }
        (1, Some(one)) => Digest(one),
        _ => Digest(hash.finalize().into()),
    };
    Ok(upload)
}

/// Writes a file to disk while it arrives. Returns its SHA-256.
async fn receive_file(upload: &mut Upload, mut field: Field<'_>, max_bytes: u64) -> ApiResult<[u8; 32]> {
    let name = field.file_name().unwrap_or_default().to_owned();
    if name.len() > MAX_FILE_NAME_BYTES {
        return Err(ApiError::invalid(
            "file",
            format!("a file name has more than {MAX_FILE_NAME_BYTES} bytes"),
        ));
    }
    if upload.files.len() >= MAX_ENTRIES {
        return Err(ApiError::invalid("file", format!("more than {MAX_ENTRIES} files"))
            .hint("remove files that the bot does not need"));
    }
    let at = upload.folder.join(upload.files.len().to_string());
    let mut target = File::create(&at).await.map_err(ApiError::internal)?;
    let mut hash = Sha256::new();
    while let Some(chunk) = field.chunk().await.map_err(|error| form_error(&error))? {
        upload.bytes += chunk.len() as u64;
        if upload.bytes > max_bytes {
            return Err(ApiError::too_large(format!("the upload is larger than {max_bytes} bytes"))
                .hint("remove files that the bot does not need"));
        }
        hash.update(&chunk);
        target.write_all(&chunk).await.map_err(ApiError::internal)?;
    }
    target.sync_all().await.map_err(ApiError::internal)?;
    upload.files.push(UploadedFile { name, at });
    Ok(hash.finalize().into())
}

/// Reads a short text field; `None` if it is empty.
async fn read_text(name: &str, mut field: Field<'_>) -> ApiResult<Option<String>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = field.chunk().await.map_err(|error| form_error(&error))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_TEXT_BYTES {
            return Err(ApiError::invalid(name, format!("{name}: must have at most {MAX_TEXT_BYTES} bytes")));
        }
    }
    let text =
        String::from_utf8(bytes).map_err(|_| ApiError::invalid(name, format!("{name}: not UTF-8 text")))?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

fn form_error(error: &MultipartError) -> ApiError {
    if error.status() == axum::http::StatusCode::PAYLOAD_TOO_LARGE {
        return ApiError::too_large("the form exceeds the maximum upload size")
            .hint("remove files that the bot does not need");
    }
    ApiError::bad_request("form", format!("the form cannot be read: {}", error.body_text()))
        .hint("send the complete form as multipart/form-data")
}
