//! oEmbed: how another site embeds the replay of a game, from the address of its page (<https://oembed.com>).

use agon_core::text_format::html_escape;
use agon_pictures::card;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Query};
use crate::sharing::page_html::base_url;
use crate::sharing::page_tags::SharedPage;
use crate::state::AppState;

/// Size of an embedded replay if the other site does not limit it.
const DEFAULT_WIDTH: u32 = 900;
const DEFAULT_HEIGHT: u32 = 760;
/// Smallest size in which a replay is usable.
const MIN_WIDTH: u32 = 320;
const MIN_HEIGHT: u32 = 400;
/// Maximum number of characters of an address.
const MAX_URL_CHARS: usize = 2_000;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(oembed))
}

/// Query parameters of oEmbed.
#[derive(Clone, Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
struct OembedQuery {
    /// Address of the page of a game.
    url: String,
    /// Maximum width in pixels.
    maxwidth: Option<u32>,
    /// Maximum height in pixels.
    maxheight: Option<u32>,
    /// `json`, which is the only format.
    format: Option<String>,
}

/// How another site embeds a replay.
#[derive(Debug, Serialize, ToSchema)]
pub struct OembedBody {
    /// Version of oEmbed.
    version: &'static str,
    /// Kind of content: HTML.
    #[serde(rename = "type")]
    kind: &'static str,
    /// Title of the game.
    title: String,
    /// Name of this site.
    provider_name: String,
    /// Address of this site.
    provider_url: String,
    /// The element to insert.
    html: String,
    /// Width in pixels.
    width: u32,
    /// Height in pixels.
    height: u32,
    /// Address of a picture of the game.
    thumbnail_url: String,
    /// Width of this picture.
    thumbnail_width: u32,
    /// Height of this picture.
    thumbnail_height: u32,
}

/// Path and turn of an address of this site.
fn page_of(url: &str, base: &str) -> Option<(SharedPage, Option<usize>)> {
    let path = url.strip_prefix(base).filter(|path| path.starts_with('/'))?;
    let path = path.split('#').next().unwrap_or_default();
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let turn = query.split('&').find_map(|pair| pair.strip_prefix("t=")).and_then(|turn| turn.parse().ok());
    Some((SharedPage::of_path(path)?, turn))
}

/// How another site embeds the replay of a game.
#[utoipa::path(
    get, path = "/oembed", tag = "sharing", operation_id = "oembed", params(OembedQuery),
    responses(
        (status = 200, description = "How to embed the replay.", body = OembedBody),
        (status = 404, description = "The address is not the page of a game of this site.", body = ErrorBody),
        (status = 501, description = "Another format than JSON.", body = ErrorBody),
    ),
)]
async fn oembed(
    State(app): State<AppState>,
    Query(query): Query<OembedQuery>,
    headers: HeaderMap,
) -> ApiResult<Json<OembedBody>> {
    if query.format.as_deref().is_some_and(|format| format != "json") {
        return Err(ApiError::new(
            StatusCode::NOT_IMPLEMENTED,
            "format",
            "only the format `json` is supported",
        ));
    }
    if query.url.len() > MAX_URL_CHARS {
        return Err(ApiError::invalid(
            "url",
            format!("`url` must not be longer than {MAX_URL_CHARS} characters"),
        ));
    }
    let missing = || ApiError::not_found("page").hint("use the address of the page of a game on this site");
    let base = base_url(&app.config, &headers);
    let (page, turn) = page_of(&query.url, &base).ok_or_else(missing)?;
    // A game that was not played yet, or must not be seen, cannot be embedded.
    let found = page.tags(&app, turn).await;
    let found = found.map_err(|error| if error.status().is_server_error() { error } else { missing() })?;
    let tags = found.ok_or_else(missing)?;
    let embed = tags.embed.ok_or_else(missing)?;
    let width = query.maxwidth.unwrap_or(DEFAULT_WIDTH).clamp(MIN_WIDTH, DEFAULT_WIDTH);
    let height = query.maxheight.unwrap_or(DEFAULT_HEIGHT).clamp(MIN_HEIGHT, DEFAULT_HEIGHT);
    let html = format!(
        "<iframe src=\"{}\" title=\"{}\" width=\"{width}\" height=\"{height}\" loading=\"lazy\" allow=\"fullscreen\"></iframe>",
        html_escape(&format!("{base}{embed}")),
        html_escape(&tags.title),
    );
    Ok(Json(OembedBody {
        version: "1.0",
        kind: "rich",
        title: tags.title,
        provider_name: app.config.name.clone(),
        html,
        width,
        height,
        thumbnail_url: format!("{base}{}", tags.card),
        thumbnail_width: card::WIDTH,
        thumbnail_height: card::HEIGHT,
        provider_url: base,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_this_site_are_found() {
        let base = "https://agon.test";
        let (page, turn) = page_of("https://agon.test/c/cup/p/1/m/2-15/g/3?t=7#x", base).unwrap();
        assert_eq!(page.page_path(), "/c/cup/p/1/m/2-15/g/3");
        assert_eq!(turn, Some(7));
        for wrong in
            ["https://other.test/c/cup", "https://agon.test.evil/c/cup", "/c/cup", "https://agon.test", ""]
        {
            assert!(page_of(wrong, base).is_none(), "{wrong}");
        }
    }
}
