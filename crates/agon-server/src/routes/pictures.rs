//! Pictures of a competition's sponsors: small PNG and WebP files that organisers upload.

use agon_league::config::{MAX_SPONSORS, is_picture_name};
use agon_site_db::Origin;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::admin::{append_audit, find_hosted};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Path, whole_body};
use crate::read_model::VisibleCompetition;
use crate::runs::competition_file;
use crate::state::AppState;

/// Maximum size of a picture in bytes.
const MAX_PICTURE_BYTES: usize = 256 << 10;
/// Maximum width and height of a picture.
const MAX_PICTURE_PIXELS: u32 = 1024;
/// Folder of the pictures within the competition's folder.
const FOLDER: &str = "pictures";

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(put_picture))
        .routes(routes!(picture))
        .routes(routes!(delete_picture))
        .layer(DefaultBodyLimit::max(MAX_PICTURE_BYTES))
}

/// Path parameter of a picture.
#[derive(Debug, Deserialize)]
struct PicturePath {
    name: String,
}

/// Address of a picture.
pub fn picture_path(competition: &str, name: &str) -> String {
    format!("/api/v1/competitions/{competition}/pictures/{name}")
}

/// Stores a picture. The competition's file names it in `[[sponsor]]`. For organisers.
#[utoipa::path(
    put, path = "/competitions/{id}/pictures/{name}", tag = "desk", operation_id = "put_sponsor_picture",
    params(("id" = String, Path, description = "The competition."), ("name" = String, Path, description = "Lowercase letters, digits and hyphens, and `.png` or `.webp`.")),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses(
        (status = 204, description = "Stored."),
        (status = 409, description = "There are too many pictures (`too_many`).", body = ErrorBody),
        (status = 413, description = "The picture is larger than 256 KiB.", body = ErrorBody),
        (status = 422, description = "This is not a PNG or WebP picture of at most 1024 x 1024 pixels.", body = ErrorBody),
    ),
)]
async fn put_picture(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, name)): Path<(String, String)>,
    content: Result<Bytes, BytesRejection>,
) -> ApiResult<StatusCode> {
    let me = caller.organiser()?;
    let found = find_hosted(&app, &id).await?;
    let content = whole_body(content)?;
    check_name(&name)?;
    check_picture(&name, &content)?;
    let folder = competition_file::folder(&app.config, &id).join(FOLDER);
    let file_name = name.clone();
    let stored = tokio::task::spawn_blocking(move || -> ApiResult<()> {
        let path = folder.join(file_name);
        let count = std::fs::read_dir(&folder).map_or(0, Iterator::count);
        if count >= MAX_SPONSORS && !path.exists() {
            let what = format!("a competition has at most {MAX_SPONSORS} pictures");
            return Err(ApiError::conflict("too_many", what).hint("delete one first"));
        }
        competition_file::write_bytes(&path, &content).map_err(ApiError::internal)
    });
    stored.await.map_err(ApiError::internal)??;
    append_audit(&app, me, "competition.picture", &id, &found.name, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A picture of a sponsor.
#[utoipa::path(
    get, path = "/competitions/{id}/pictures/{name}", tag = "competitions", operation_id = "sponsor_picture",
    params(("id" = String, Path, description = "The competition."), ("name" = String, Path, description = "Name of the picture.")),
    responses((status = 200, description = "The picture.", content((Vec<u8> = "image/png"), (Vec<u8> = "image/webp")))),
)]
async fn picture(
    State(app): State<AppState>,
    visible: VisibleCompetition,
    Path(PicturePath { name }): Path<PicturePath>,
) -> ApiResult<Response> {
    let none = || ApiError::not_found("picture");
    if !is_picture_name(&name) {
        return Err(none());
    }
    // A competition of the command line has its pictures beside its file.
    let folder = match visible.site_row.origin {
        Origin::Hosted => competition_file::folder(&app.config, &visible.handle.id),
        Origin::File => std::path::Path::new(&visible.site_row.file).parent().ok_or_else(none)?.to_owned(),
    };
    let kind = if name.ends_with(".png") { "image/png" } else { "image/webp" };
    let path = folder.join(FOLDER).join(name);
    let read = tokio::task::spawn_blocking(move || std::fs::read(path)).await.map_err(ApiError::internal)?;
    let bytes = read.ok().filter(|bytes| bytes.len() <= MAX_PICTURE_BYTES).ok_or_else(none)?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=300")),
    ];
    Ok((headers, bytes).into_response())
}

/// Deletes a picture. For organisers.
#[utoipa::path(
    delete, path = "/competitions/{id}/pictures/{name}", tag = "desk", operation_id = "delete_sponsor_picture",
    params(("id" = String, Path, description = "The competition."), ("name" = String, Path, description = "Name of the picture.")),
    responses(
        (status = 204, description = "Deleted."),
        (status = 409, description = "The competition comes from a file on the command line (`state`).", body = ErrorBody),
        (status = 422, description = "This is not the name of a picture.", body = ErrorBody),
    ),
)]
async fn delete_picture(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, name)): Path<(String, String)>,
) -> ApiResult<StatusCode> {
    let me = caller.organiser()?;
    let found = find_hosted(&app, &id).await?;
    check_name(&name)?;
    let path = competition_file::folder(&app.config, &id).join(FOLDER).join(&name);
    let removed = tokio::task::spawn_blocking(move || std::fs::remove_file(path)).await;
    removed.map_err(ApiError::internal)?.map_err(|_| ApiError::not_found("picture"))?;
    append_audit(&app, me, "competition.picture", &id, &found.name, &format!("{name}: deleted")).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn check_name(name: &str) -> ApiResult<()> {
    if is_picture_name(name) {
        return Ok(());
    }
    Err(ApiError::invalid("name", "name: this is not the name of a picture")
        .hint("use lowercase letters, digits and hyphens, and .png or .webp"))
}

/// Checks that the content is a picture of the type that the name says, and not too large.
fn check_picture(name: &str, content: &[u8]) -> ApiResult<()> {
    let size = if name.ends_with(".png") { png_size(content) } else { webp_size(content) };
    let hint = "upload a PNG or WebP picture of at most 1024 x 1024 pixels and 256 KiB";
    match size {
        Some((width, height))
            if (1..=MAX_PICTURE_PIXELS).contains(&width.max(height)) && width.min(height) > 0 =>
        {
            Ok(())
        }
        Some((width, height)) => {
            Err(ApiError::invalid("file", format!("the picture has {width} x {height} pixels")).hint(hint))
        }
        None => {
            Err(ApiError::invalid("file", format!("this is not a picture of the type of {name}")).hint(hint))
        }
    }
}

/// Width and height of a PNG, from its header.
fn png_size(content: &[u8]) -> Option<(u32, u32)> {
    let rest = content.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    if rest.get(4..8)? != b"IHDR" {
        return None;
    }
    let number = |at: usize| Some(u32::from_be_bytes(rest.get(at..at + 4)?.try_into().ok()?));
    Some((number(8)?, number(12)?))
}

/// Width and height of a WebP, from its header. Its three kinds store them in different places.
fn webp_size(content: &[u8]) -> Option<(u32, u32)> {
    if content.get(..4)? != b"RIFF" || content.get(8..12)? != b"WEBP" {
        return None;
    }
    let body = content.get(20..)?;
    let byte = |at: usize| body.get(at).map(|byte| u32::from(*byte));
    match content.get(12..16)? {
        b"VP8X" => {
            let number = |at: usize| Some(byte(at)? + (byte(at + 1)? << 8) + (byte(at + 2)? << 16) + 1);
            Some((number(4)?, number(7)?))
        }
        b"VP8 " => {
            if body.get(3..6)? != [0x9d, 0x01, 0x2a] {
                return None;
            }
            let number = |at: usize| Some((byte(at)? + (byte(at + 1)? << 8)) & 0x3fff);
            Some((number(6)?, number(8)?))
        }
        b"VP8L" => {
            if byte(0)? != 0x2f {
                return None;
            }
            let bits = byte(1)? | (byte(2)? << 8) | (byte(3)? << 16) | (byte(4)? << 24);
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
        bytes.extend(width.to_be_bytes());
        bytes.extend(height.to_be_bytes());
        bytes
    }

    #[test]
    fn pictures_are_accepted_by_type_and_size() {
        assert!(check_picture("a.png", &png(300, 100)).is_ok());
        for (name, content) in [
            ("a.png", png(1025, 10)),
            ("a.png", png(0, 10)),
            ("a.webp", png(10, 10)),
            ("a.png", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>".to_vec()),
            ("a.png", Vec::new()),
            ("a.webp", b"RIFF....WEBPVP8X".to_vec()),
        ] {
            assert!(check_picture(name, &content).is_err(), "{name} {content:?}");
        }
        let mut webp = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec();
        webp.extend([99, 0, 0, 49, 0, 0]);
        assert_eq!(webp_size(&webp), Some((100, 50)));
        let mut lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f".to_vec();
        lossless.extend((99_u32 | (49 << 14)).to_le_bytes());
        assert_eq!(webp_size(&lossless), Some((100, 50)));
    }
}
