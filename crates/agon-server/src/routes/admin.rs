//! The organiser's desk: making competitions and carrying them out.

use agon_league::config::preset;
use agon_store::Timestamp;
use agon_store::site_db::{
    self, HostedCompetition, CompetitionPatch, UploadLimits, NewCompetition, NewEntrant, NewAuditEntry, Origin, CompetitionState as Is,
};
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::submissions::next_phase;
use crate::read_model::{self, FeedEvent};
use crate::caller::{Caller, CurrentUser};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::uploads;
use crate::paging::PageBody;
use crate::runs::competition_file::{self, EntrantLine};
use crate::runs::{self, entrants};
use crate::state::AppState;

/// Its routes.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(presets))
        .routes(routes!(make_competition))
        .routes(routes!(edit_file))
        .routes(routes!(delete_competition))
        .routes(routes!(run_action))
}

/// A game's own competition, to begin with.
#[derive(Debug, Serialize, ToSchema)]
pub struct Preset {
    /// The game's id.
    pub game: String,
    /// The game's name.
    pub title: String,
    /// The competition's file.
    pub file: String,
}

/// A competition, as its organisers handle it.
#[derive(Debug, Serialize, ToSchema)]
pub struct AdminCompetition {
    /// As in addresses.
    pub id: String,
    /// For people.
    pub name: String,
    /// The game's id.
    pub game: String,
    /// How far it is.
    pub state: String,
    /// Why it failed.
    pub message: Option<String>,
    /// Whether bots can be handed in just now.
    pub accepts: bool,
    /// Its file, without entrants.
    pub file: String,
    /// What may be handed in.
    pub limits: UploadLimitsBody,
    /// The house bots that take part, by name.
    pub house: Vec<String>,
}

/// What may be handed in.
#[derive(Debug, Serialize, ToSchema)]
pub struct UploadLimitsBody {
    /// Bots of one contributor.
    pub per_contributor: u32,
    /// Bytes of an upload.
    pub max_bytes: u64,
}

/// A competition that is to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CompetitionBody {
    /// The game's id.
    game: String,
    /// For people: 1 to 60 characters.
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    /// As in addresses: 1 to 48 of `a-z`, `0-9` and `-`; made from the name if it is left out.
    #[schema(pattern = "^[a-z0-9-]{1,48}$")]
    id: Option<String>,
    /// Its file; the game's own if it is left out.
    file: Option<String>,
    /// The house bots that take part; those of the file if it is left out.
    #[schema(max_items = 100)]
    house: Option<Vec<String>>,
    /// Bots of one contributor.
    #[schema(minimum = 1, maximum = 1000)]
    per_contributor: Option<u32>,
    /// Bytes of an upload.
    #[schema(minimum = 1024, maximum = 8_388_608)]
    max_bytes: Option<u64>,
}

/// A file.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FileBody {
    /// The whole text.
    file: String,
}

/// Something to do.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ActionBody {
    /// What.
    action: Action,
    /// Why, for the audit log.
    #[schema(max_length = 500)]
    reason: Option<String>,
}

/// What organisers do with a competition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Bots can be handed in.
    Open,
    /// No more.
    Close,
    /// Everybody gets a number, and it is played.
    Start,
    /// Stops after the games that are being played.
    Pause,
    /// Goes on.
    Resume,
    /// The next phase, where it waits for new versions.
    Next,
}

impl Action {
    const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Close => "close",
            Self::Start => "start",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Next => "next",
        }
    }
}

/// Each game's own competition.
#[utoipa::path(
    get, path = "/presets", tag = "desk", operation_id = "presets",
    responses((status = 200, description = "One for each game.", body = PageBody<Preset>), (status = 403, description = "It is for organisers.", body = ErrorBody)),
)]
async fn presets(caller: Caller) -> ApiResult<Json<PageBody<Preset>>> {
    caller.organiser()?;
    let preset = |info: &agon_core::GameInfo| {
        let file = preset(info.id)?.replace("agon run FILE", "agon run cup.toml");
        Some(Preset { game: info.id.to_owned(), title: info.title.to_owned(), file })
    };
    Ok(Json(PageBody { items: agon_games::infos().into_iter().filter_map(preset).collect(), next: None }))
}

/// Makes a competition: a draft, for organisers to see.
#[utoipa::path(
    post, path = "/competitions", tag = "desk", operation_id = "make_competition", request_body = CompetitionBody,
    responses(
        (status = 201, description = "Made.", body = AdminCompetition),
        (status = 409, description = "The id is taken (code `taken`).", body = ErrorBody),
    ),
)]
async fn make_competition(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<CompetitionBody>,
) -> ApiResult<(StatusCode, Json<AdminCompetition>)> {
    let me = caller.organiser()?;
    let table = agon_engine::table(&body.game).map_err(|_| {
        ApiError::invalid("game", "there is no such game").hint("GET /api/v1/games lists them")
    })?;
    let info = table.info();
    limits_fit(&body)?;
    if body.name.chars().count() > 60 || body.name.trim().is_empty() {
        return Err(ApiError::invalid("name", "name: 1 to 60 characters"));
    }
    let text = body.file.clone().or_else(|| preset(info.id).map(str::to_owned)).unwrap_or_default();
    let mut draft = competition_file::read(&text, info.id, Some(&body.name))?;
    if let Some(house) = &body.house {
        draft.house = chosen(table.as_ref(), house, &draft.house, preset(info.id))?;
    }
    let per_contributor = body.per_contributor.or(draft.per_contributor).unwrap_or(uploads::PER_CONTRIBUTOR);
    if draft.per_contributor.is_some_and(|own| own != per_contributor) {
        draft.head = competition_file::set(&draft.head, "bots_per_contributor", &per_contributor.to_string());
    }
    let id = match body.id.clone() {
        Some(id) => id,
        None => id_of(&app, &body.name).await?,
    };
    let limits = UploadLimits {
        per_contributor: Some(per_contributor),
        max_bytes: Some(body.max_bytes.unwrap_or(uploads::MOST_BYTES)),
    };
    let new = NewCompetition {
        file: competition_file::path(&app.config, &id).display().to_string(),
        id,
        name: body.name.clone(),
        game: info.id.to_owned(),
        origin: Origin::Hosted,
        state: Is::Draft,
        public: true,
        limits,
        preset: draft.head,
        by: Some(me.account()),
        at: Timestamp::now(),
    };
    let made = app.office.create_competition(&new).await?;
    app.arenas.add(&made.id, info.id);
    if let Err(error) = house_enters(&app, &made, &draft.house).await {
        let _ = app.office.delete_competition(&made.id).await;
        app.arenas.remove(&made.id);
        return Err(error);
    }
    note(&app, me, "competition.create", &made.id, &made.name, "").await?;
    entrants::rewrite_file(&app, &made).await?;
    Ok((StatusCode::CREATED, Json(desk(&app, &made).await?)))
}

fn limits_fit(body: &CompetitionBody) -> ApiResult<()> {
    if body.per_contributor.is_some_and(|most| !(1..=1000).contains(&most)) {
        return Err(ApiError::invalid("per_contributor", "per_contributor: 1 to 1000"));
    }
    if body.max_bytes.is_some_and(|most| !(1024..=uploads::MOST_BYTES).contains(&most)) {
        let what = format!("max_bytes: 1024 to {}", uploads::MOST_BYTES);
        return Err(ApiError::invalid("max_bytes", what));
    }
    if body.house.as_ref().is_some_and(|house| house.len() > 100) {
        return Err(ApiError::invalid("house", "house: at most 100"));
    }
    Ok(())
}

/// House bots by name; those the file, or the game's own file, has a better name for keep it.
fn chosen(
    table: &dyn agon_engine::Table,
    wanted: &[String],
    named: &[EntrantLine],
    own: Option<&str>,
) -> ApiResult<Vec<EntrantLine>> {
    let usual = own.and_then(|text| competition_file::read(text, table.info().id, None).ok()).map(|draft| draft.house);
    let mut lines: Vec<EntrantLine> = Vec::new();
    for name in wanted {
        let bot = format!("house:{}", name.trim_start_matches("house:"));
        let known = named.iter().chain(usual.iter().flatten()).find(|line| line.bot == bot);
        let line = match known {
            Some(line) => line.clone(),
            None => competition_file::line(table, name.trim_start_matches("house:"), None, None)?,
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Ok(lines)
}

async fn house_enters(app: &AppState, made: &HostedCompetition, house: &[EntrantLine]) -> ApiResult<()> {
    for line in house {
        let new = NewEntrant {
            competition: made.id.clone(),
            account: None,
            name: line.name.clone(),
            role: line.role.clone(),
            bot: Some(line.bot.clone()),
            at: Timestamp::now(),
        };
        app.office.add_entrant(&new, &[Is::Draft, Is::Open, Is::Closed]).await?;
    }
    Ok(())
}

/// From the name; with a number behind it if another has that.
async fn id_of(app: &AppState, name: &str) -> ApiResult<String> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let words: String = name.chars().map(plain).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(40).collect();
    let free = read_model::free_id(&app.office, slug.trim_end_matches('-'), 1000).await?;
    free.ok_or_else(|| {
        ApiError::conflict("taken", "too many competitions have this name").hint("choose another")
    })
}

/// A competition that was made on the desk.
async fn hosted(app: &AppState, id: &str) -> ApiResult<HostedCompetition> {
    let found = app.office.competition(id).await?;
    match found.origin {
        Origin::Hosted => Ok(found),
        Origin::File => {
            Err(ApiError::conflict("state", "this competition is a file the server was started with")
                .hint("change the file itself, and start the server again"))
        }
    }
}

/// Changes a competition's file before it is started. House bots that the new file names take the place of those there are.
#[utoipa::path(
    put, path = "/competitions/{id}/file", tag = "desk", operation_id = "edit_file", request_body = FileBody,
    params(("id" = String, Path, description = "The competition.")),
    responses(
        (status = 200, description = "Changed.", body = AdminCompetition),
        (status = 409, description = "It was started already (code `state`).", body = ErrorBody),
    ),
)]
async fn edit_file(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Json(body): Json<FileBody>,
) -> ApiResult<Json<AdminCompetition>> {
    let me = caller.organiser()?;
    let found = hosted(&app, &id).await?;
    let before = [Is::Draft, Is::Open, Is::Closed];
    if !before.contains(&found.state) {
        return Err(wrong_state(&found, "its file can be changed only before it is started"));
    }
    let draft = competition_file::read(&body.file, &found.game, None)?;
    let competition = competition_file::provisional(&draft.head, &found.game, &[])?;
    let limits =
        UploadLimits { per_contributor: draft.per_contributor.or(found.limits.per_contributor), ..found.limits };
    let edit = CompetitionPatch {
        name: Some(competition.name.clone()),
        preset: Some(draft.head),
        limits: Some(limits),
        ..CompetitionPatch::default()
    };
    let edited = app.office.edit_competition(&id, &before, &edit).await?;
    if !draft.house.is_empty() {
        for old in app.office.entrants(&id).await?.iter().filter(|one| one.bot.is_some()) {
            app.office.withdraw(old.id, Timestamp::now()).await?;
        }
        house_enters(&app, &edited, &draft.house).await?;
    }
    note(&app, me, "competition.file", &id, &edited.name, "").await?;
    entrants::rewrite_file(&app, &edited).await?;
    Ok(Json(desk(&app, &edited).await?))
}

/// Removes a draft for which nothing was handed in.
#[utoipa::path(
    delete, path = "/competitions/{id}", tag = "desk", operation_id = "delete_competition",
    params(("id" = String, Path, description = "The competition.")),
    responses(
        (status = 204, description = "Gone."),
        (status = 409, description = "It is no draft any more.", body = ErrorBody),
    ),
)]
async fn delete_competition(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    let me = caller.organiser()?;
    let found = hosted(&app, &id).await?;
    app.office.delete_competition(&id).await?;
    app.arenas.remove(&id);
    note(&app, me, "competition.delete", &id, &found.name, "").await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Does something with a competition. In a state where it makes no sense: 409 with the words why.
#[utoipa::path(
    post, path = "/competitions/{id}/actions", tag = "desk", operation_id = "act", request_body = ActionBody,
    params(("id" = String, Path, description = "The competition.")),
    responses(
        (status = 200, description = "Done.", body = AdminCompetition),
        (status = 409, description = "Not in this state (`state`), or bots are still being checked (`checking`).", body = ErrorBody),
    ),
)]
async fn run_action(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Json(body): Json<ActionBody>,
) -> ApiResult<Json<AdminCompetition>> {
    let me = caller.organiser()?;
    let found = app.office.competition(&id).await?;
    let reason = body.reason.unwrap_or_default();
    if reason.chars().count() > 500 {
        return Err(ApiError::invalid("reason", "reason: at most 500 characters"));
    }
    let done = match body.action {
        Action::Open => open(&app, &found).await,
        Action::Close => close(&app, &found).await,
        Action::Start => start(&app, &found).await,
        Action::Pause => pause(&app, &found).await,
        Action::Resume => resume(&app, &found).await,
        Action::Next => next(&app, &found).await,
    }?;
    note(&app, me, &format!("competition.{}", body.action.name()), &id, &found.name, &reason).await?;
    if let Ok(arena) = app.arenas.get(&id) {
        arena.changed();
        arena.publish(FeedEvent::State { state: done.state, message: done.message.clone() });
    }
    Ok(Json(desk(&app, &done).await?))
}

fn wrong_state(found: &HostedCompetition, what: &str) -> ApiError {
    ApiError::conflict("state", format!("{} is {}: {what}", found.name, found.state))
}

/// Moves it on, or says why not.
async fn moved(app: &AppState, found: &HostedCompetition, from: &[Is], to: Is, what: &str) -> ApiResult<HostedCompetition> {
    if !from.contains(&found.state) {
        return Err(wrong_state(found, what));
    }
    match app.office.set_state(&found.id, from, to, None).await {
        // Another organiser was quicker.
        Err(site_db::SiteDbError::Conflict { what }) => Err(ApiError::conflict("state", what)),
        other => Ok(other?),
    }
}

async fn open(app: &AppState, found: &HostedCompetition) -> ApiResult<HostedCompetition> {
    hosted(app, &found.id).await?;
    if found.state == Is::Waiting {
        app.office.set_setting(&format!("closed.{}", found.id), None).await?;
        return Ok(found.clone());
    }
    let what = "bots can be handed in before it is started, and between phases";
    moved(app, found, &[Is::Draft, Is::Closed], Is::Open, what).await
}

async fn close(app: &AppState, found: &HostedCompetition) -> ApiResult<HostedCompetition> {
    hosted(app, &found.id).await?;
    if found.state == Is::Waiting {
        app.office.set_setting(&format!("closed.{}", found.id), Some("yes")).await?;
        return Ok(found.clone());
    }
    moved(app, found, &[Is::Open], Is::Closed, "only an open one can be closed").await
}

/// No bot may be on its way to being checked: it would be left out.
async fn all_checked(app: &AppState, id: &str) -> ApiResult<()> {
    match app.office.count_pending(id).await? {
        0 => Ok(()),
        1 => {
            Err(ApiError::conflict("checking", "a bot is still being checked").hint("try again in a moment"))
        }
        n => Err(ApiError::conflict("checking", format!("{n} bots are still being checked"))
            .hint("try again in a moment")),
    }
}

async fn start(app: &AppState, found: &HostedCompetition) -> ApiResult<HostedCompetition> {
    let before = [Is::Draft, Is::Open, Is::Closed];
    // From here on nothing more comes in, so that what is counted stays so.
    moved(app, found, &before, Is::Closed, "it was started already").await?;
    let ready = async {
        all_checked(app, &found.id).await?;
        entrants::seat(app, found).await
    };
    if let Err(error) = ready.await {
        let _ = app.office.set_state(&found.id, &[Is::Closed], found.state, None).await;
        return Err(error);
    }
    let started =
        moved(app, &HostedCompetition { state: Is::Closed, ..found.clone() }, &[Is::Closed], Is::Running, "")
            .await?;
    runs::play(app, &found.id);
    Ok(started)
}

async fn pause(app: &AppState, found: &HostedCompetition) -> ApiResult<HostedCompetition> {
    let done = moved(app, found, &[Is::Running], Is::Paused, "only a running one can be paused").await?;
    app.running.stop(&found.id);
    Ok(done)
}

async fn resume(app: &AppState, found: &HostedCompetition) -> ApiResult<HostedCompetition> {
    let from = [Is::Paused, Is::Failed];
    let done =
        moved(app, found, &from, Is::Running, "only one that is paused or failed can be resumed").await?;
    runs::play(app, &found.id);
    Ok(done)
}

async fn next(app: &AppState, found: &HostedCompetition) -> ApiResult<HostedCompetition> {
    if found.state != Is::Waiting {
        return Err(wrong_state(found, "it does not wait between phases"));
    }
    let closed = format!("closed.{}", found.id);
    let was = app.office.setting(&closed).await?;
    app.office.set_setting(&closed, Some("yes")).await?;
    let ready = async {
        all_checked(app, &found.id).await?;
        let phase = next_phase(app, &found.id).await?;
        entrants::rewrite_for_phase(app, found, phase).await?;
        Ok(entrants::open_phase(app, &found.id, phase).await?)
    };
    let ready: ApiResult<()> = ready.await;
    app.office.set_setting(&closed, was.as_deref().filter(|_| ready.is_err())).await?;
    ready?;
    let done = moved(app, found, &[Is::Waiting], Is::Running, "").await?;
    runs::play(app, &found.id);
    Ok(done)
}

/// Writes down what somebody did in a competition.
pub async fn note(
    app: &AppState,
    me: &CurrentUser,
    action: &str,
    competition: &str,
    subject: &str,
    reason: &str,
) -> ApiResult<()> {
    let entry = NewAuditEntry {
        at: Timestamp::now(),
        account: Some(me.account()),
        action: action.to_owned(),
        competition: Some(competition.to_owned()),
        subject: subject.to_owned(),
        reason: reason.to_owned(),
        detail: "{}".to_owned(),
    };
    app.office.append_audit(&entry).await?;
    Ok(())
}

/// As organisers get it.
async fn desk(app: &AppState, one: &HostedCompetition) -> ApiResult<AdminCompetition> {
    let entrants = app.office.entrants(&one.id).await?;
    let house = entrants.iter().filter(|entrant| entrant.withdrawn.is_none());
    let house = house.filter_map(|entrant| entrant.bot.as_deref()?.strip_prefix("house:").map(str::to_owned));
    Ok(AdminCompetition {
        id: one.id.clone(),
        name: one.name.clone(),
        game: one.game.clone(),
        state: one.state.name().to_owned(),
        message: one.message.clone(),
        accepts: uploads::accepts(app, one).await,
        file: one.preset.clone(),
        limits: UploadLimitsBody {
            per_contributor: one.limits.per_contributor.unwrap_or(uploads::PER_CONTRIBUTOR),
            max_bytes: one.limits.max_bytes.unwrap_or(uploads::MOST_BYTES),
        },
        house: house.collect(),
    })
}
