//! Games that persons play in the browser: opening a session, taking a seat, answering, leaving.

use agon_core::settings::{SettingKind, SettingSpec};
use agon_core::{Assets, GameInfo, MAX_SEATS, Settings};
use agon_engine::AnyGame;
use agon_site_db::{AccountId, EntrantId};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path, Query};
use crate::middleware::ClientIp;
use crate::play::SessionOwner;
use crate::play::body::PlayBody;
use crate::play::opponents::{self, OpponentsBody};
use crate::play::setup::{MAX_NAME_CHARS, PlayClock, SeatPlan, SessionSetup};
use crate::state::AppState;

/// Maximum length of an answer in bytes.
const MAX_ANSWER_BYTES: usize = 256;
/// Name of a person who gives none.
const DEFAULT_NAME: &str = "Player";
/// Header with the key of a seat.
const SEAT_HEADER: &str = "x-agon-seat";

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list_opponents))
        .routes(routes!(open_session))
        .routes(routes!(session))
        .routes(routes!(take_seat, leave_seat))
        .routes(routes!(answer))
}

/// Path parameter of a session.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct SessionPath {
    pub(super) id: String,
}

/// Path parameters of a seat.
#[derive(Clone, Debug, Deserialize)]
struct SeatPath {
    id: String,
    seat: usize,
}

/// Query of the list of opponents.
#[derive(Clone, Debug, Deserialize)]
struct OpponentsQuery {
    game: String,
}

/// A session to open.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPlay {
    /// Id of the game.
    pub game: String,
    /// Who sits at each seat.
    pub seats: Vec<NewPlaySeat>,
    /// Whose clock persons play with; without it, persons have none.
    #[serde(default = "no_clock")]
    pub clock: PlayClock,
    /// Settings that differ from the defaults, by name; values as in `--set NAME=VALUE`, or as numbers.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    pub settings: Option<Map<String, Value>>,
    /// Seed of the game, if only one person plays; drawn at random without it.
    #[serde(default)]
    pub seed: Option<String>,
    /// Name of the caller in the game.
    #[serde(default)]
    pub name: Option<String>,
    /// Seat that the caller takes; without it, the first seat of a person.
    #[serde(default)]
    pub seat: Option<usize>,
}

const fn no_clock() -> PlayClock {
    PlayClock::None
}

/// Who sits at a seat: exactly one of the three.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPlaySeat {
    /// A person; always true.
    #[serde(default)]
    pub person: Option<bool>,
    /// A house bot, by name.
    #[serde(default)]
    pub house: Option<String>,
    /// A submitted bot, by the id of its page.
    #[serde(default)]
    pub bot: Option<i64>,
}

/// A seat that the caller has taken.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TakenSeat {
    /// Id of the session.
    pub id: String,
    /// Number of the seat.
    pub seat: usize,
    /// Secret of the seat: 32 hexadecimal digits. Send it as `X-Agon-Seat`, and as `key` of the event stream.
    pub key: String,
}

/// Who takes a seat.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TakeSeat {
    /// Name in the game.
    #[serde(default)]
    pub name: Option<String>,
}

/// An answer of a person.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlayAnswer {
    /// Turn of the request.
    pub turn: u32,
    /// The answer, in record form or as a person writes it.
    pub answer: String,
}

/// The key of a request's seat.
fn seat_key(headers: &HeaderMap) -> Option<&str> {
    headers.get(SEAT_HEADER).and_then(|value| value.to_str().ok())
}

/// The name of a person: the one given, else that of the account.
fn person_name(given: Option<&str>, caller: &Caller) -> ApiResult<String> {
    let account = caller.user().map(|me| me.name.as_str());
    let name = given.map(str::trim).filter(|name| !name.is_empty()).or(account).unwrap_or(DEFAULT_NAME);
    if name.chars().any(char::is_control) {
        return Err(ApiError::invalid("name", "the name contains control characters"));
    }
    if name.chars().count() > MAX_NAME_CHARS {
        return Err(ApiError::invalid(
            "name",
            format!("the name is longer than {MAX_NAME_CHARS} characters"),
        ));
    }
    Ok(name.to_owned())
}

fn account_of(caller: &Caller) -> Option<AccountId> {
    caller.user().map(crate::caller::CurrentUser::account)
}

fn find_game(id: &str) -> ApiResult<Box<dyn AnyGame>> {
    agon_engine::any_game(id).map_err(|_| {
        ApiError::invalid("game", "there is no game with this id").hint("GET /api/v1/games lists the games")
    })
}

/// Bots that a person can play against.
#[utoipa::path(
    get, path = "/play/opponents", tag = "play", operation_id = "play_opponents",
    params(("game" = String, Query, description = "Id of the game.")),
    responses((status = 200, description = "House bots, and bots whose authors allow it.", body = OpponentsBody)),
)]
async fn list_opponents(
    State(app): State<AppState>,
    caller: Caller,
    Query(query): Query<OpponentsQuery>,
) -> ApiResult<Json<OpponentsBody>> {
    let game = find_game(&query.game)?;
    Ok(Json(opponents::opponents(&app, &caller, game.as_ref()).await?))
}

/// Opens a session. The caller takes a seat; other persons take theirs by the link. The game starts when all seats of persons are taken and
/// their event streams were opened.
#[utoipa::path(
    post, path = "/play", tag = "play", operation_id = "open_play",
    request_body = NewPlay,
    responses(
        (status = 201, description = "The session is open, and the caller has a seat.", body = TakenSeat),
        (status = 403, description = "Playing is switched off, or the author of a bot does not allow it.", body = ErrorBody),
        (status = 404, description = "There is no such bot.", body = ErrorBody),
        (status = 409, description = "A bot has no accepted version.", body = ErrorBody),
        (status = 429, description = "Too many open sessions of this account or address.", body = ErrorBody),
    ),
)]
async fn open_session(
    State(app): State<AppState>,
    caller: Caller,
    ClientIp(address): ClientIp,
    Json(new): Json<NewPlay>,
) -> ApiResult<Response> {
    app.play.check_access(&caller)?;
    let name = person_name(new.name.as_deref(), &caller)?;
    let setup = read_setup(&app, &caller, &new).await?;
    let seat = match new.seat {
        None => setup.persons().next(),
        Some(seat) => setup.persons().find(|person| *person == seat),
    };
    let seat = seat.ok_or_else(|| {
        ApiError::invalid("seat", "this is no seat of a person").hint("make it `{\"person\": true}`")
    })?;
    let session = app.play.open(&app, setup, SessionOwner::of(&caller, address))?;
    let key = session.join(seat, &name, account_of(&caller))?;
    let taken = TakenSeat { id: session.id.clone(), seat, key };
    Ok((StatusCode::CREATED, Json(taken)).into_response())
}

/// Reads and checks a new session.
async fn read_setup(app: &AppState, caller: &Caller, new: &NewPlay) -> ApiResult<SessionSetup> {
    let game = find_game(&new.game)?;
    let info = game.info();
    if new.seats.len() > MAX_SEATS || !info.seats.allows(new.seats.len()) {
        let message = format!("{} needs {} seats, not {}", info.id, info.seats.describe(), new.seats.len());
        return Err(ApiError::invalid("seats", message));
    }
    let persons = new.seats.iter().filter(|seat| seat.person == Some(true)).count();
    let settings = read_settings(info, new.settings.as_ref(), persons)?;
    let seed = read_seed(new.seed.as_deref(), persons)?;
    let mut seats = Vec::with_capacity(new.seats.len());
    for (number, seat) in (0..).zip(&new.seats) {
        let role = info.role(agon_core::Seat(number)).name;
        seats.push(read_seat(app, caller, info, role, seat).await?);
    }
    let setup = SessionSetup { game, settings, assets: Assets::none(), seed, seats, clock: new.clock };
    setup.check().map_err(|error| {
        ApiError::from_diagnostic(StatusCode::UNPROCESSABLE_ENTITY, "invalid", &error).field("seats")
    })?;
    Ok(setup)
}

async fn read_seat(
    app: &AppState,
    caller: &Caller,
    info: &GameInfo,
    role: &str,
    seat: &NewPlaySeat,
) -> ApiResult<SeatPlan> {
    match (seat.person, &seat.house, seat.bot) {
        (Some(true), None, None) => Ok(SeatPlan::Person),
        (None, Some(house), None) => Ok(SeatPlan::House(house.clone())),
        (None, None, Some(bot)) => {
            let bot = opponents::submitted_bot(app, caller, info.id, role, EntrantId(bot)).await?;
            Ok(SeatPlan::Submitted(Box::new(bot)))
        }
        _ => Err(ApiError::invalid("seats", "a seat is not exactly one of person, house and bot")
            .hint("write {\"person\": true}, {\"house\": \"NAME\"} or {\"bot\": ID}")),
    }
}

/// Whoever knows the seed, or a setting that is drawn at random by default, knows what is hidden from the others.
fn only_alone(field: &str, what: &str) -> ApiError {
    ApiError::invalid(field, format!("{what} cannot be chosen when several persons play"))
        .hint("leave it out")
}

fn read_settings(info: &GameInfo, given: Option<&Map<String, Value>>, persons: usize) -> ApiResult<Settings> {
    let mut pairs: Vec<(&str, String)> = Vec::new();
    for (name, value) in given.into_iter().flatten() {
        let is_asset = |spec: &SettingSpec| spec.name == name && spec.kind == SettingKind::Asset;
        if info.settings.iter().any(is_asset) {
            return Err(ApiError::invalid("settings", format!("the setting {name} is a file"))
                .hint("games in the browser use the files that the game ships"));
        }
        if persons > 1 && SessionSetup::is_hidden_setting(info, name) {
            return Err(only_alone("settings", &format!("the setting {name}")));
        }
        pairs.push((name, setting_text(name, value)?));
    }
    Settings::parse(info.settings, pairs.iter().map(|(name, text)| (*name, text.as_str()))).map_err(|error| {
        ApiError::from_diagnostic(StatusCode::UNPROCESSABLE_ENTITY, "invalid", &error.into())
            .field("settings")
    })
}

/// A setting as it is written on the command line.
fn setting_text(name: &str, value: &Value) -> ApiResult<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Array(list) if list.iter().all(Value::is_number) => {
            Ok(list.iter().map(Value::to_string).collect::<Vec<_>>().join(","))
        }
        _ => Err(ApiError::invalid("settings", format!("the setting {name} is neither a text nor a number"))),
    }
}

fn read_seed(given: Option<&str>, persons: usize) -> ApiResult<u64> {
    let Some(text) = given else {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(ApiError::internal)?;
        return Ok(u64::from_be_bytes(bytes));
    };
    if persons > 1 {
        return Err(only_alone("seed", "the seed"));
    }
    text.trim().parse().map_err(|_| {
        ApiError::invalid("seed", "the seed is not a whole number from 0 to 18446744073709551615")
    })
}

/// A session, for everyone who has the link.
#[utoipa::path(
    get, path = "/play/{id}", tag = "play", operation_id = "play_session",
    params(
        ("id" = String, Path, description = "The session."),
        ("X-Agon-Seat" = Option<String>, Header, description = "Key of the caller's seat."),
    ),
    responses((status = 200, description = "The session.", body = PlayBody)),
)]
async fn session(
    State(app): State<AppState>,
    headers: HeaderMap,
    Path(path): Path<SessionPath>,
) -> ApiResult<Json<PlayBody>> {
    let session = app.play.find(&path.id)?;
    let seat = session.seat_of(seat_key(&headers)).ok();
    Ok(Json(session.body(seat)))
}

/// Takes a person's seat of a session that has not started.
#[utoipa::path(
    post, path = "/play/{id}/seats/{seat}", tag = "play", operation_id = "take_seat",
    params(("id" = String, Path, description = "The session."), ("seat" = usize, Path, description = "The seat, from 0.")),
    request_body = TakeSeat,
    responses(
        (status = 201, description = "The caller has the seat.", body = TakenSeat),
        (status = 403, description = "Playing is switched off.", body = ErrorBody),
        (status = 409, description = "The seat is taken, or the game has started.", body = ErrorBody),
    ),
)]
async fn take_seat(
    State(app): State<AppState>,
    caller: Caller,
    Path(path): Path<SeatPath>,
    Json(body): Json<TakeSeat>,
) -> ApiResult<Response> {
    app.play.check_access(&caller)?;
    let session = app.play.find(&path.id)?;
    let name = person_name(body.name.as_deref(), &caller)?;
    let key = session.join(path.seat, &name, account_of(&caller))?;
    let taken = TakenSeat { id: session.id.clone(), seat: path.seat, key };
    Ok((StatusCode::CREATED, Json(taken)).into_response())
}

/// Leaves a seat. Before the start it becomes free; afterwards it gives no more answers, and the game goes on by its rules.
#[utoipa::path(
    delete, path = "/play/{id}/seats/{seat}", tag = "play", operation_id = "leave_seat",
    params(
        ("id" = String, Path, description = "The session."),
        ("seat" = usize, Path, description = "The seat, from 0."),
        ("X-Agon-Seat" = String, Header, description = "Key of the seat."),
    ),
    responses(
        (status = 204, description = "The seat is left."),
        (status = 403, description = "The key is missing, or that of another seat (code `no_seat`).", body = ErrorBody),
    ),
)]
async fn leave_seat(
    State(app): State<AppState>,
    headers: HeaderMap,
    Path(path): Path<SeatPath>,
) -> ApiResult<StatusCode> {
    let session = app.play.find(&path.id)?;
    if session.seat_of(seat_key(&headers))? != path.seat {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "no_seat", "this key belongs to another seat"));
    }
    session.leave(path.seat);
    Ok(StatusCode::NO_CONTENT)
}

/// Answers a request. An answer that the rules reject costs nothing: the person is asked again.
#[utoipa::path(
    post, path = "/play/{id}/answers", tag = "play", operation_id = "play_answer",
    params(
        ("id" = String, Path, description = "The session."),
        ("X-Agon-Seat" = String, Header, description = "Key of the seat."),
    ),
    request_body = PlayAnswer,
    responses(
        (status = 204, description = "The answer counts."),
        (status = 403, description = "The key is missing or wrong (code `no_seat`).", body = ErrorBody),
        (status = 409, description = "The turn does not wait for this seat (code `other_turn`), or the game is over (code `over`).", body = ErrorBody),
        (status = 422, description = "The answer is illegal (code `illegal`); `details` has the reasons.", body = ErrorBody),
    ),
)]
async fn answer(
    State(app): State<AppState>,
    headers: HeaderMap,
    Path(path): Path<SessionPath>,
    Json(body): Json<PlayAnswer>,
) -> ApiResult<StatusCode> {
    let session = app.play.find(&path.id)?;
    let seat = session.seat_of(seat_key(&headers))?;
    if body.answer.len() > MAX_ANSWER_BYTES {
        return Err(ApiError::invalid(
            "answer",
            format!("the answer is longer than {MAX_ANSWER_BYTES} bytes"),
        ));
    }
    session.answer(seat, body.turn, body.answer).await?;
    Ok(StatusCode::NO_CONTENT)
}
