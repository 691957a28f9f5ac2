//! The games: rules, bot APIs, starters.

use std::collections::HashMap;
use std::io::{Cursor, Write as _};
use std::sync::{Mutex, PoisonError};

use agon_core::info::Better;
use agon_core::settings::Default as Fallback;
use agon_core::{Fault, GameInfo, HouseBot};
use agon_games::{Hosted, Visitor};
use agon_venue::starter;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use zip::write::SimpleFileOptions;

use crate::assets::has_it;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::paging::PageBody;
use crate::state::AppState;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(games)).routes(routes!(game)).routes(routes!(starter_zip))
}

/// What is written for authors, by game: rules, then how a bot is asked.
macro_rules! texts {
    ($($game:literal),* $(,)?) => {
        const TEXTS: &[(&str, &str, &str)] = &[$((
            $game,
            include_str!(concat!("../../texts/", $game, "/rules.md")),
            include_str!(concat!("../../texts/", $game, "/api.md")),
        )),*];
    };
}
texts!("solitude-scramble", "colour-battle", "connect-five", "hide-and-seek", "word-racer");

/// A game.
#[derive(Debug, Serialize, ToSchema)]
pub struct Game {
    /// Its id, such as `connect-five`.
    pub id: &'static str,
    /// Its name.
    pub title: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// How many play.
    pub seats: SeatRange,
    /// One for all seats, or one for each.
    pub roles: Vec<&'static str>,
    /// The clock, in one line.
    pub clock: &'static str,
    /// What faults cost, in one line.
    pub faults: String,
    /// What the score is.
    pub score: Score,
    /// What can be configured.
    pub settings: Vec<Setting>,
    /// Bots to play against, weakest first.
    pub house_bots: Vec<HouseBotItem>,
    /// The rules: markdown. Of a single game only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<&'static str>,
    /// How a bot is asked: markdown. Of a single game only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<&'static str>,
    /// Languages there is a starter in. Of a single game only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub languages: Option<Vec<&'static str>>,
}

/// How many play.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeatRange {
    /// At least.
    pub min: usize,
    /// At most.
    pub max: usize,
}

/// What a game's score is.
#[derive(Debug, Serialize, ToSchema)]
pub struct Score {
    /// What is counted.
    pub name: &'static str,
    /// `higher` or `lower`; where roles differ, the first role's.
    pub better: &'static str,
}

/// Something that can be configured.
#[derive(Debug, Serialize, ToSchema)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: String,
    /// What it is when nobody sets it.
    pub default: String,
}

/// A bot of the house.
#[derive(Debug, Serialize, ToSchema)]
pub struct HouseBotItem {
    /// Its name: `house:NAME` on the command line.
    pub name: &'static str,
    /// How it thinks, in one line.
    pub about: &'static str,
    /// The roles it plays; empty for all.
    pub roles: Vec<&'static str>,
}

struct Describe;

impl Visitor for Describe {
    type Output = Game;

    fn visit<G: Hosted>(self) -> Game {
        let info = G::info();
        Game {
            id: info.id,
            title: info.title,
            about: info.summary,
            seats: SeatRange { min: info.seats.min, max: info.seats.max },
            roles: info.roles.iter().map(|role| role.name).collect(),
            clock: info.clock,
            faults: faults(info),
            score: Score {
                name: info.score.name,
                better: match info.roles.first().map_or(Better::Higher, |role| role.better) {
                    Better::Higher => "higher",
                    Better::Lower => "lower",
                },
            },
            settings: settings(info),
            house_bots: G::bots().iter().map(house_bot).collect(),
            rules: None,
            api: None,
            languages: None,
        }
    }
}

fn house_bot<G: Hosted>(bot: &HouseBot<G>) -> HouseBotItem {
    HouseBotItem { name: bot.name, about: bot.thinks, roles: bot.roles.to_vec() }
}

fn settings(info: &GameInfo) -> Vec<Setting> {
    let shown = info.settings.iter().map(|spec| Setting {
        name: spec.name,
        about: format!("{} ({})", spec.help, spec.kind),
        default: match spec.default {
            Fallback::Drawn(how) => how.to_owned(),
            Fallback::Int(n) => n.to_string(),
            Fallback::Real(x) => x.to_string(),
            Fallback::Word(word) => word.to_owned(),
        },
    });
    shown.collect()
}

/// What faults cost: those that cost the same together.
fn faults(info: &GameInfo) -> String {
    let mut by_cost: Vec<(&str, Vec<String>)> = Vec::new();
    for fault in Fault::ALL {
        let words = info.cost(fault).words();
        match by_cost.iter_mut().find(|(cost, _)| *cost == words) {
            Some((_, faults)) => faults.push(fault.to_string()),
            None => by_cost.push((words, vec![fault.to_string()])),
        }
    }
    let parts: Vec<String> =
        by_cost.into_iter().map(|(cost, faults)| format!("{}: {cost}", faults.join(", "))).collect();
    parts.join("; ")
}

fn described(id: &str) -> ApiResult<Game> {
    agon_games::visit(id, Describe).map_err(|unknown| ApiError::not_found("game").hint(unknown.hint))
}

/// All games.
#[utoipa::path(
    get, path = "/games", tag = "games", operation_id = "games",
    responses((status = 200, description = "All of them.", body = PageBody<Game>)),
)]
async fn games() -> ApiResult<Json<PageBody<Game>>> {
    let items = agon_games::infos().iter().map(|info| described(info.id)).collect::<ApiResult<_>>()?;
    Ok(Json(PageBody { items, next: None }))
}

/// A game, with its rules and how a bot is asked.
#[utoipa::path(
    get, path = "/games/{game}", tag = "games", operation_id = "game",
    params(("game" = String, Path, description = "The game's id.")),
    responses(
        (status = 200, description = "The game.", body = Game),
        (status = 404, description = "There is no such game.", body = ErrorBody),
    ),
)]
async fn game(Path(id): Path<String>) -> ApiResult<Json<Game>> {
    let mut game = described(&id)?;
    if let Some((_, rules, api)) = TEXTS.iter().find(|(of, _, _)| *of == id) {
        (game.rules, game.api) = (Some(*rules), Some(*api));
    }
    game.languages = Some(starter::LANGUAGES.iter().map(|language| language.id).collect());
    Ok(Json(game))
}

/// A bot that plays legally already, to begin with: a zip.
#[utoipa::path(
    get, path = "/games/{game}/starter/{language}", tag = "games", operation_id = "starter_zip",
    params(
        ("game" = String, Path, description = "The game's id."),
        ("language" = String, Path, description = "One of the game's `languages`."),
    ),
    responses(
        (status = 200, description = "A folder with the bot in it.", body = Vec<u8>, content_type = "application/zip"),
        (status = 304, description = "The caller has it already (`If-None-Match`)."),
        (status = 404, description = "There is no such game or no starter in this language.", body = ErrorBody),
    ),
)]
async fn starter_zip(
    Path((game, language)): Path<(String, String)>,
    asked: HeaderMap,
) -> ApiResult<Response> {
    let id = described(&game)?.id;
    let language = starter::LANGUAGES.iter().map(|one| one.id).find(|one| *one == language);
    let language =
        language.ok_or_else(|| ApiError::not_found("starter").hint("the game's `languages` lists them"))?;
    let packed =
        tokio::task::spawn_blocking(move || packed(id, language)).await.map_err(ApiError::broke)??;
    let tag = format!("\"{id}-{language}-{}\"", env!("CARGO_PKG_VERSION"));
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::try_from(&tag) {
        headers.insert(header::ETAG, value);
    }
    if has_it(&asked, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/zip"));
    let name = format!("attachment; filename=\"{id}-{language}.zip\"");
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::try_from(name).map_err(ApiError::broke)?);
    Ok((headers, packed).into_response())
}

/// Those that were asked for already: there are no more than games times languages.
static PACKED: Mutex<Option<HashMap<(&str, &str), Bytes>>> = Mutex::new(None);

fn packed(game: &'static str, language: &'static str) -> ApiResult<Bytes> {
    let mut all = PACKED.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_default();
    if let Some(done) = all.get(&(game, language)) {
        return Ok(done.clone());
    }
    let files =
        starter::files(game, language, "my-bot").map_err(|failure| ApiError::broke(failure.message))?;
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content, program) in files {
        let mode = if program { 0o755 } else { 0o644 };
        let options = SimpleFileOptions::default().unix_permissions(mode);
        zip.start_file(format!("my-bot/{}", path.display()), options).map_err(ApiError::broke)?;
        zip.write_all(&content).map_err(ApiError::broke)?;
    }
    let done = Bytes::from(zip.finish().map_err(ApiError::broke)?.into_inner());
    all.insert((game, language), done.clone());
    Ok(done)
}
