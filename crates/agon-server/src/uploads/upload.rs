//! Receives an upload: writes the body to disk while it arrives, then reads the form from there. A form can need as much memory as it is
//! long, because a part may have an endless head. So forms are read one at a time, and not at the speed of a client.

use std::path::PathBuf;
use std::time::Duration;

use agon_bots::source::archive::{MAX_ENTRIES, UploadedFile};
use agon_core::record::Digest;
use agon_site_db::{MAX_MARKS, SubmissionId};
use axum::body::Body;
use axum::extract::multipart::{Field, MultipartError};
use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use bytes::BytesMut;
use futures_util::StreamExt as _;
use http_body_util::{LengthLimitError, Limited};
use sha2::{Digest as _, Sha256};
use tokio::fs::{self, File};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Instant;

use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Slowest client that may hold a place for uploads.
const MIN_BYTES_PER_SECOND: u64 = 32 * 1024;
/// Timeout for a client that sends nothing.
const STALL_TIMEOUT: Duration = Duration::from_secs(20);
/// Time that every client has in addition.
const SLOW_CLIENT_DELAY: Duration = Duration::from_secs(30);
/// Size of the pieces in which a form is read from disk. With each piece the end of a part's head is searched for from its beginning.
const READ_CHUNK_BYTES: usize = 1024 * 1024;
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
    /// The bot's name if it does not give itself one.
    pub default_name: Option<String>,
    /// The bot's role.
    pub role: Option<String>,
    /// Id of the team that the bot plays for.
    pub team: Option<String>,
    /// Name of the bot's class.
    pub class: Option<String>,
    /// The marks, as sent: `AI`, or `AI=note`.
    pub marks: Vec<String>,
    /// The files with their names.
    pub files: Vec<UploadedFile>,
    /// Total size of the files.
    pub bytes: u64,
    /// Its maximum.
    pub max_bytes: u64,
    /// SHA-256 of the file, or of all names and contents if there are several.
    pub hash: Digest,
    folder: PathBuf,
    /// Deletes the folder.
    _spooled: SpooledForm,
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

/// The form of an upload on disk, as it was sent. Dropping it deletes its folder.
pub struct SpooledForm {
    id: SubmissionId,
    folder: PathBuf,
}

impl Drop for SpooledForm {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl SpooledForm {
    fn path(&self) -> PathBuf {
        self.folder.join("form")
    }

    /// Writes the body of an upload to disk as it arrives, up to `max_body_bytes`. This needs little memory, however slow the client is.
    /// A client that is slower than [`MIN_BYTES_PER_SECOND`], or sends nothing for [`STALL_TIMEOUT`], is rejected.
    pub async fn receive(app: &AppState, body: Body, max_body_bytes: usize) -> ApiResult<Self> {
        let id = SubmissionId::random().map_err(ApiError::internal)?;
        let folder = super::incoming_folder(&app.config).join(id.as_str());
        fs::create_dir_all(&folder).await.map_err(ApiError::internal)?;
        let form = Self { id, folder };
        let mut target = File::create(form.path()).await.map_err(ApiError::internal)?;
        let mut chunks = Body::new(Limited::new(body, max_body_bytes)).into_data_stream();
        let (start, mut received) = (Instant::now(), 0);
        loop {
            let until = start + SLOW_CLIENT_DELAY + Duration::from_secs(received / MIN_BYTES_PER_SECOND);
            let until = until.min(Instant::now() + STALL_TIMEOUT);
            let chunk = match tokio::time::timeout_at(until, chunks.next()).await {
                Err(_) => return Err(slow_client()),
                Ok(None) => break,
                Ok(Some(chunk)) => chunk.map_err(|error| body_error(&error))?,
            };
            received += chunk.len() as u64;
            target.write_all(&chunk).await.map_err(ApiError::internal)?;
        }
        target.flush().await.map_err(ApiError::internal)?;
        Ok(form)
    }

    /// Reads the form. `head` is the head of the request, `max_bytes` the maximum total size of the files in bytes.
    pub async fn read(self, mut head: Parts, max_bytes: u64) -> ApiResult<Upload> {
        let file = File::open(self.path()).await.map_err(ApiError::internal)?;
        let chunks = futures_util::stream::try_unfold(file, async |mut file| {
            let mut chunk = BytesMut::with_capacity(READ_CHUNK_BYTES);
            let read = file.read_buf(&mut chunk).await?;
            Ok::<_, std::io::Error>((read > 0).then(|| (chunk.freeze(), file)))
        });
        // The declared length was that of the connection.
        head.headers.remove(header::TRANSFER_ENCODING);
        let request = Request::from_parts(head, Body::from_stream(chunks));
        let mut form = Multipart::from_request(request, &()).await.map_err(|rejection| {
            ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "form", rejection.body_text())
                .hint("send a form as multipart/form-data")
        })?;
        read_form(self, &mut form, max_bytes).await
    }
}

fn slow_client() -> ApiError {
    ApiError::new(StatusCode::REQUEST_TIMEOUT, "slow", "the upload arrives too slowly")
        .hint(format!("send at least {} KiB per second", MIN_BYTES_PER_SECOND >> 10))
}

/// The error of a body that ends too early or is too long.
fn body_error(error: &axum::Error) -> ApiError {
    let mut source = std::error::Error::source(error);
    while let Some(one) = source {
        if one.is::<LengthLimitError>() {
            return too_large_form();
        }
        source = one.source();
    }
    ApiError::bad_request("form", "the form cannot be read: it is incomplete")
        .hint("send the complete form as multipart/form-data")
}

/// The error of an upload with too large files.
pub fn too_large_upload(max_bytes: u64) -> ApiError {
    let limit = if max_bytes.is_multiple_of(1 << 20) {
        format!("{} MiB ({max_bytes} bytes)", max_bytes >> 20)
    } else {
        format!("{max_bytes} bytes")
    };
    ApiError::too_large(format!("the upload is larger than {limit}, the limit of this competition"))
        .hint("remove files that the bot does not need")
}

fn too_large_form() -> ApiError {
    ApiError::too_large("the form is larger than the maximum upload size")
        .hint("remove files that the bot does not need")
}

async fn read_form(spooled: SpooledForm, form: &mut Multipart, max_bytes: u64) -> ApiResult<Upload> {
    let (id, folder) = (spooled.id.clone(), spooled.folder.clone());
    fs::create_dir_all(folder.join("bot")).await.map_err(ApiError::internal)?;
    let mut upload = Upload {
        id,
        name: None,
        default_name: None,
        role: None,
        team: None,
        class: None,
        marks: Vec::new(),
        files: Vec::new(),
        bytes: 0,
        max_bytes,
        hash: Digest([0; 32]),
        folder,
        _spooled: spooled,
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
            "default_name" => upload.default_name = read_text("default_name", field).await?,
            "role" => upload.role = read_text("role", field).await?,
            "team" => upload.team = read_text("team", field).await?,
            "class" => upload.class = read_text("class", field).await?,
            "mark" if upload.marks.len() < MAX_MARKS => upload.marks.extend(read_text("mark", field).await?),
            "mark" => return Err(ApiError::invalid("mark", format!("more than {MAX_MARKS} marks"))),
            other => {
                let what = format!("unknown field `{}`", other.chars().take(40).collect::<String>());
                return Err(ApiError::invalid("form", what)
                    .hint("use only name, default_name, role, team, class, mark and file"));
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
            return Err(too_large_upload(max_bytes));
        }
        hash.update(&chunk);
        target.write_all(&chunk).await.map_err(ApiError::internal)?;
    }
    target.flush().await.map_err(ApiError::internal)?;
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
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return too_large_form();
    }
    ApiError::bad_request("form", format!("the form cannot be read: {}", error.body_text()))
        .hint("send the complete form as multipart/form-data")
}
