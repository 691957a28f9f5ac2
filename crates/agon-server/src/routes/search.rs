//! Search over people, teams, bots, competitions and games.

use agon_site_db::{MAX_QUERY_CHARS, SearchHit, SearchKind, name_key};
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Query};
use crate::middleware::ClientIp;
use crate::middleware::rate_limit::{LimitKey, LimitedAction};
use crate::state::AppState;

/// Maximum number of results of each kind if all kinds are searched.
const MAX_PER_KIND: u32 = 8;
/// The same if only one kind is searched.
const MAX_OF_ONE_KIND: u32 = 50;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(search))
}

/// What to search.
#[derive(Clone, Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct SearchQuery {
    /// Words. A name is found if its words begin with all of them.
    #[param(max_length = 100)]
    q: String,
    /// Only one kind: `person`, `team`, `bot`, `competition` or `game`.
    kind: Option<String>,
}

/// Something that was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchItem {
    /// `person`, `team`, `bot`, `competition` or `game`.
    pub kind: &'static str,
    /// Its name.
    pub name: String,
    /// Its page.
    pub link: String,
    /// Name of the competition, of a bot.
    pub competition: Option<String>,
    /// Id of the game, of a bot, a competition or a game.
    pub game: Option<String>,
}

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchBody {
    /// Results, kind by kind, newest first.
    pub items: Vec<SearchItem>,
}

/// Finds people, teams, bots, competitions and games by their names. Finds only what the caller may see.
#[utoipa::path(
    get, path = "/search", tag = "people", operation_id = "search", params(SearchQuery),
    responses(
        (status = 200, description = "What was found: at most 8 of each kind, or 50 of one kind.", body = SearchBody),
        (status = 422, description = "The query is too long, or the kind does not exist.", body = ErrorBody),
        (status = 429, description = "Too many searches.", body = ErrorBody),
    ),
)]
async fn search(
    State(app): State<AppState>,
    caller: Caller,
    ClientIp(address): ClientIp,
    Query(query): Query<SearchQuery>,
) -> ApiResult<Json<SearchBody>> {
    if query.q.chars().count() > MAX_QUERY_CHARS {
        return Err(ApiError::invalid("q", format!("q: it is longer than {MAX_QUERY_CHARS} characters")));
    }
    app.limiter.take(LimitedAction::Search, LimitKey::address(address))?;
    let wanted = query.kind.as_deref();
    let (kinds, games) = match wanted {
        None => (SearchKind::ALL.to_vec(), true),
        Some("game") => (Vec::new(), true),
        Some(kind) => match SearchKind::by_name(kind) {
            Some(kind) => (vec![kind], false),
            None => return Err(ApiError::invalid("kind", format!("kind: there is no kind `{kind}`"))),
        },
    };
    let limit = if wanted.is_some() { MAX_OF_ONE_KIND } else { MAX_PER_KIND };
    let mut items = if games { find_games(&query.q) } else { Vec::new() };
    for kind in kinds {
        let found = app.site_db.search(&query.q, kind, caller.is_organiser(), limit).await?;
        items.extend(found.into_iter().map(item));
    }
    Ok(Json(SearchBody { items }))
}

fn item(hit: SearchHit) -> SearchItem {
    let competition = hit.competition.as_deref().unwrap_or_default();
    let link = match hit.kind {
        SearchKind::Person => format!("/u/{}", path_part(&hit.name)),
        SearchKind::Team => format!("/t/{}", hit.id),
        SearchKind::Bot => format!("/c/{competition}/bots/{}", hit.id),
        SearchKind::Competition => format!("/c/{competition}"),
    };
    SearchItem {
        kind: hit.kind.name(),
        link,
        name: hit.name,
        competition: hit.competition_name,
        game: hit.game,
    }
}

/// Games whose titles have words that begin with all words of the query.
fn find_games(query: &str) -> Vec<SearchItem> {
    let query = name_key(query);
    let words: Vec<&str> =
        query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let matches = |title: &str| {
        let title = name_key(title);
        words.iter().all(|word| title.split(|c: char| !c.is_alphanumeric()).any(|own| own.starts_with(word)))
    };
    agon_games::infos()
        .iter()
        .filter(|info| matches(info.title))
        .map(|info| SearchItem {
            kind: "game",
            name: info.title.to_owned(),
            link: format!("/games/{}", info.id),
            competition: None,
            game: Some(info.id.to_owned()),
        })
        .collect()
}

/// A part of a path, with everything escaped that is not a letter, a digit or one of `-._~`.
pub fn path_part(text: &str) -> String {
    let mut part = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                part.push(char::from(byte))
            }
            _ => part += &format!("%{byte:02X}"),
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_part_escapes_everything_that_has_a_meaning() {
        assert_eq!(path_part("Zoë a/b?c"), "Zo%C3%AB%20a%2Fb%3Fc");
    }
}
