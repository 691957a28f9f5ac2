//! The games: rules, bot APIs, starters.

use std::collections::HashMap;
use std::io::{Cursor, Write as _};
use std::sync::Mutex;

use agon_bots::starter;
use agon_core::LockIgnoringPoison as _;
use agon_core::info::ScoreDirection;
use agon_core::settings::{SettingDefault as Fallback, SettingKind, SettingSpec};
use agon_core::{Fault, GameInfo, HouseBot, PythonApi};
use agon_games::{GameVisitor, PlayableGame};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use zip::write::SimpleFileOptions;

use crate::assets::etag_matches;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::paging::PageBody;
use crate::state::AppState;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(games)).routes(routes!(game)).routes(routes!(starter_zip))
}

/// A game.
#[derive(Debug, Serialize, ToSchema)]
pub struct Game {
    /// Id of the game: lower-case words with dashes.
    pub id: &'static str,
    /// The game's name.
    pub title: &'static str,
    /// Summary in one line.
    pub about: &'static str,
    /// Number of players.
    pub seats: SeatRange,
    /// Roles: one for all seats, or one per seat.
    pub roles: Vec<&'static str>,
    /// The clock, in one line.
    pub clock: &'static str,
    /// Penalties of faults, in one line.
    pub faults: String,
    /// The score.
    pub score: GameScore,
    /// Settings of the game.
    pub settings: Vec<GameSetting>,
    /// House bots, weakest first.
    pub house_bots: Vec<HouseBotItem>,
    /// What a Python bot is: `function`, `class` or `class-per-role`. `null` if the game has no Python API.
    pub python_api: Option<&'static str>,
    /// Requirements for a submission, as Markdown lines. Only in the response for a single game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requirements: Option<Vec<&'static str>>,
    /// The rules as Markdown. Only in the response for a single game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<&'static str>,
    /// The bot API as Markdown. Only in the response for a single game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<&'static str>,
    /// Languages of the starters. Only in the response for a single game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub languages: Option<Vec<&'static str>>,
}

/// Number of players.
#[derive(Debug, Serialize, ToSchema)]
pub struct SeatRange {
    /// Minimum.
    pub min: usize,
    /// Maximum.
    pub max: usize,
}

/// Score of a game.
#[derive(Debug, Serialize, ToSchema)]
pub struct GameScore {
    /// Name of the score.
    pub name: &'static str,
    /// `higher` or `lower`. If roles differ, that of the first role.
    pub better: &'static str,
}

/// A setting of a game.
#[derive(Debug, Serialize, ToSchema)]
pub struct GameSetting {
    /// The setting's name.
    pub name: &'static str,
    /// Description of the setting.
    pub about: String,
    /// Default value.
    pub default: String,
    /// Whether it names a file, which an organiser can upload for a competition.
    pub file: bool,
    /// What values it takes, for forms.
    pub values: SettingValues,
}

/// Values that a setting takes.
#[derive(Debug, Serialize, ToSchema)]
pub struct SettingValues {
    /// `whole`, `real`, `choice`, `list` (whole numbers, written `2,6`) or `file`.
    #[schema(pattern = "^(whole|real|choice|list|file)$")]
    pub kind: &'static str,
    /// The smallest number.
    pub min: Option<f64>,
    /// The largest number.
    pub max: Option<f64>,
    /// The words of a choice.
    pub words: Vec<&'static str>,
    /// Whether the value is drawn from the seed unless it is given.
    pub drawn: bool,
}

/// A house bot.
#[derive(Debug, Serialize, ToSchema)]
pub struct HouseBotItem {
    /// Name of the bot: `house:NAME` on the command line.
    pub name: &'static str,
    /// Its strategy, in one line.
    pub about: &'static str,
    /// Roles it can play; empty means all.
    pub roles: Vec<&'static str>,
}

struct DescribeGame;

impl GameVisitor for DescribeGame {
    type Output = Game;

    fn visit<G: PlayableGame>(self) -> Game {
        let info = G::info();
        Game {
            id: info.id,
            title: info.title,
            about: info.summary,
            seats: SeatRange { min: info.seats.min, max: info.seats.max },
            roles: info.roles.iter().map(|role| role.name).collect(),
            clock: info.clock,
            faults: faults(info),
            score: GameScore {
                name: info.score.name,
                better: match info.roles.first().map_or(ScoreDirection::Higher, |role| role.better) {
                    ScoreDirection::Higher => "higher",
                    ScoreDirection::Lower => "lower",
                },
            },
            settings: settings(info),
            house_bots: G::bots().iter().map(house_bot).collect(),
            python_api: info.bots.python.map(|api| match api {
                PythonApi::Function => "function",
                PythonApi::Class => "class",
                PythonApi::ClassPerRole => "class-per-role",
            }),
            requirements: None,
            rules: None,
            api: None,
            languages: None,
        }
    }
}

fn house_bot<G: PlayableGame>(bot: &HouseBot<G>) -> HouseBotItem {
    HouseBotItem { name: bot.name, about: bot.strategy, roles: bot.roles.to_vec() }
}

fn setting_values(spec: &SettingSpec) -> SettingValues {
    let (kind, min, max, words) = match spec.kind {
        SettingKind::Int { min, max } => ("whole", Some(min as f64), Some(max as f64), &[][..]),
        SettingKind::Real { min, max } => ("real", Some(min), Some(max), &[][..]),
        SettingKind::Choice(words) => ("choice", None, None, words),
        SettingKind::List { min, max, .. } => ("list", Some(min as f64), Some(max as f64), &[][..]),
        SettingKind::Asset => ("file", None, None, &[][..]),
    };
    let drawn = matches!(spec.default, Fallback::Drawn(_));
    SettingValues { kind, min, max, words: words.to_vec(), drawn }
}

fn settings(info: &GameInfo) -> Vec<GameSetting> {
    let shown = info.settings.iter().map(|spec| GameSetting {
        name: spec.name,
        about: format!("{} ({})", spec.help, spec.kind),
        default: match spec.default {
            Fallback::Drawn(how) => how.to_owned(),
            Fallback::Int(n) => n.to_string(),
            Fallback::Real(x) => x.to_string(),
            Fallback::Word(word) => word.to_owned(),
        },
        file: spec.kind == SettingKind::Asset,
        values: setting_values(spec),
    });
    shown.collect()
}

/// Penalties of faults. Faults with the same penalty are listed together.
fn faults(info: &GameInfo) -> String {
    let mut by_cost: Vec<(&str, Vec<String>)> = Vec::new();
    for fault in Fault::ALL {
        let words = info.penalty(fault).describe();
        match by_cost.iter_mut().find(|(cost, _)| *cost == words) {
            Some((_, faults)) => faults.push(fault.to_string()),
            None => by_cost.push((words, vec![fault.to_string()])),
        }
    }
    let parts: Vec<String> =
        by_cost.into_iter().map(|(cost, faults)| format!("{}: {cost}", faults.join(", "))).collect();
    parts.join("; ")
}

fn game_body(id: &str) -> ApiResult<Game> {
    agon_games::visit(id, DescribeGame).map_err(|unknown| ApiError::not_found("game").hint(unknown.hint))
}

/// All games.
#[utoipa::path(
    get, path = "/games", tag = "games", operation_id = "games",
    responses((status = 200, description = "All games.", body = PageBody<Game>)),
)]
async fn games() -> ApiResult<Json<PageBody<Game>>> {
    let items = agon_games::infos().iter().map(|info| game_body(info.id)).collect::<ApiResult<_>>()?;
    Ok(Json(PageBody { items, next: None }))
}

/// A game, with its rules and the bot API.
#[utoipa::path(
    get, path = "/games/{game}", tag = "games", operation_id = "game",
    params(("game" = String, Path, description = "The game's id.")),
    responses(
        (status = 200, description = "The game.", body = Game),
        (status = 404, description = "There is no such game.", body = ErrorBody),
    ),
)]
async fn game(Path(id): Path<String>) -> ApiResult<Json<Game>> {
    let mut game = game_body(&id)?;
    let info = agon_games::game_info(&id).map_err(ApiError::internal)?;
    (game.rules, game.api) = (Some(info.texts.rules), Some(info.texts.api));
    game.requirements = Some(info.bots.requirements.to_vec());
    let mut languages: Vec<&str> = info.starters.bots.iter().map(|bot| bot.language).collect();
    // A language may have several files, one after the other.
    languages.dedup();
    game.languages = Some(languages);
    Ok(Json(game))
}

/// A starter: a zip with a bot that already plays legal moves.
#[utoipa::path(
    get, path = "/games/{game}/starter/{language}", tag = "games", operation_id = "starter_zip",
    params(
        ("game" = String, Path, description = "The game's id."),
        ("language" = String, Path, description = "One of the game's `languages`."),
    ),
    responses(
        (status = 200, description = "A zip with the bot's folder.", body = Vec<u8>, content_type = "application/zip"),
        (status = 304, description = "The client already has it (`If-None-Match`)."),
        (status = 404, description = "There is no such game or no starter in this language.", body = ErrorBody),
    ),
)]
async fn starter_zip(
    Path((game, language)): Path<(String, String)>,
    request_headers: HeaderMap,
) -> ApiResult<Response> {
    let info =
        agon_games::game_info(&game).map_err(|unknown| ApiError::not_found("game").hint(unknown.hint))?;
    let id = info.id;
    let language = info.starters.bots.iter().map(|bot| bot.language).find(|one| *one == language);
    let language =
        language.ok_or_else(|| ApiError::not_found("starter").hint("see the game's `languages`"))?;
    let packed = tokio::task::spawn_blocking(move || build_starter_zip(id, language))
        .await
        .map_err(ApiError::internal)??;
    let tag = format!("\"{id}-{language}-{}\"", env!("CARGO_PKG_VERSION"));
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::try_from(&tag) {
        headers.insert(header::ETAG, value);
    }
    if etag_matches(&request_headers, &tag) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/zip"));
    let name = format!("attachment; filename=\"{id}-{language}.zip\"");
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::try_from(name).map_err(ApiError::internal)?);
    Ok((headers, packed).into_response())
}

/// Cached starter zips by game and language.
static STARTER_ZIPS: Mutex<Option<HashMap<(&str, &str), Bytes>>> = Mutex::new(None);

fn build_starter_zip(game: &'static str, language: &'static str) -> ApiResult<Bytes> {
    let mut all = STARTER_ZIPS.lock_ignoring_poison();
    let all = all.get_or_insert_default();
    if let Some(done) = all.get(&(game, language)) {
        return Ok(done.clone());
    }
    let files = starter::files(game, language, "my-bot").map_err(ApiError::internal)?;
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content, program) in files {
        let mode = if program { 0o755 } else { 0o644 };
        let options = SimpleFileOptions::default().unix_permissions(mode);
        zip.start_file(format!("my-bot/{}", path.display()), options).map_err(ApiError::internal)?;
        zip.write_all(&content).map_err(ApiError::internal)?;
    }
    let done = Bytes::from(zip.finish().map_err(ApiError::internal)?.into_inner());
    all.insert((game, language), done.clone());
    Ok(done)
}
