//! Organiser API: creating, editing and deleting competitions.

use agon_league::config::{ChangeImpact, CompetitionConfig, compare_configs};
use agon_league::presets::preset;
use agon_site_db::{
    CompetitionPatch, CompetitionState, HostedCompetition, NewAuditEntry, NewCompetition, NewEntrant, Origin,
    StoredMark, UploadLimits,
};
use agon_store::Timestamp;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::caller::{Caller, CurrentUser};
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::paging::PageBody;
use crate::read_model::{self, overview};
use crate::runs::competition_file::{self, EntrantLine};
use crate::runs::entrants;
use crate::state::AppState;
use crate::uploads;

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(presets))
        .routes(routes!(make_competition))
        .routes(routes!(edit_file))
        .routes(routes!(delete_competition))
}

/// Default competition file of a game.
#[derive(Debug, Serialize, ToSchema)]
pub struct Preset {
    /// The game's id.
    pub game: String,
    /// The game's name.
    pub title: String,
    /// The competition file.
    pub file: String,
}

/// A competition, as sent to organisers.
#[derive(Debug, Serialize, ToSchema)]
pub struct AdminCompetition {
    /// Id, as in URLs.
    pub id: String,
    /// Display name.
    pub name: String,
    /// The game's id.
    pub game: String,
    /// State of the competition.
    pub state: String,
    /// Why it failed.
    pub message: Option<String>,
    /// Whether it accepts bots now.
    pub accepts: bool,
    /// The competition file without entrants.
    pub file: String,
    /// Upload limits.
    pub limits: UploadLimitsBody,
    /// Names of the house bots that take part.
    pub house: Vec<String>,
}

/// Upload limits.
#[derive(Debug, Serialize, ToSchema)]
pub struct UploadLimitsBody {
    /// Maximum number of bots per contributor.
    pub per_contributor: u32,
    /// Maximum size of an upload in bytes.
    pub max_bytes: u64,
}

/// A competition to be created.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CompetitionBody {
    /// The game's id.
    game: String,
    /// Display name: 1 to 60 characters.
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    /// Id, as in URLs: 1 to 48 of `a-z`, `0-9` and `-`. By default it is made from the name.
    #[schema(pattern = "^[a-z0-9-]{1,48}$")]
    id: Option<String>,
    /// The competition file. By default the game's preset.
    file: Option<String>,
    /// Names of the house bots that take part. By default those of the file.
    #[schema(max_items = 100)]
    house: Option<Vec<String>>,
    /// Maximum number of bots per contributor.
    #[schema(minimum = 1, maximum = 1000)]
    per_contributor: Option<u32>,
    /// Maximum size of an upload in bytes.
    #[schema(minimum = 1024, maximum = 8_388_608)]
    max_bytes: Option<u64>,
}

/// A competition file.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CompetitionFileBody {
    /// The complete text.
    file: String,
}

/// Default competition files of all games.
#[utoipa::path(
    get, path = "/presets", tag = "desk", operation_id = "presets",
    responses((status = 200, description = "One preset per game.", body = PageBody<Preset>), (status = 403, description = "Only for organisers.", body = ErrorBody)),
)]
async fn presets(caller: Caller) -> ApiResult<Json<PageBody<Preset>>> {
    caller.organiser()?;
    let preset = |info: &agon_core::GameInfo| {
        let file = preset(info.id)?.replace("agon run FILE", "agon run cup.toml");
        Some(Preset { game: info.id.to_owned(), title: info.title.to_owned(), file })
    };
    Ok(Json(PageBody { items: agon_games::infos().into_iter().filter_map(preset).collect(), next: None }))
}

/// Creates a competition as a draft, which only organisers can see.
#[utoipa::path(
    post, path = "/competitions", tag = "desk", operation_id = "make_competition", request_body = CompetitionBody,
    responses(
        (status = 201, description = "Created.", body = AdminCompetition),
        (status = 409, description = "The id is taken (code `taken`).", body = ErrorBody),
    ),
)]
async fn make_competition(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<CompetitionBody>,
) -> ApiResult<(StatusCode, Json<AdminCompetition>)> {
    let me = caller.organiser()?;
    let any_game = agon_engine::any_game(&body.game)
        .map_err(|_| ApiError::invalid("game", "there is no such game").hint("see GET /api/v1/games"))?;
    let info = any_game.info();
    check_limits(&body)?;
    if body.name.chars().count() > 60 || body.name.trim().is_empty() {
        return Err(ApiError::invalid("name", "name: must have 1 to 60 characters"));
    }
    let text = body.file.clone().or_else(|| preset(info.id).map(str::to_owned)).unwrap_or_default();
    let mut parsed = competition_file::parse(&text, info.id, Some(&body.name), None)?;
    if let Some(house) = &body.house {
        parsed.house_bots = select_house_bots(any_game.as_ref(), house, &parsed.house_bots, preset(info.id))?;
    }
    let per_contributor =
        body.per_contributor.or(parsed.per_contributor).unwrap_or(uploads::DEFAULT_BOTS_PER_CONTRIBUTOR);
    if parsed.per_contributor.is_some_and(|own| own != per_contributor) {
        parsed.organiser_text = competition_file::set_top_level_key(
            &parsed.organiser_text,
            "bots_per_contributor",
            i64::from(per_contributor),
        );
    }
    let id = match body.id.clone() {
        Some(id) => id,
        None => unused_id(&app, &body.name).await?,
    };
    let limits = UploadLimits {
        per_contributor: Some(per_contributor),
        // Without a value the competition's file decides.
        max_bytes: body.max_bytes,
    };
    let new = NewCompetition {
        file: competition_file::path(&app.config, &id).display().to_string(),
        id,
        name: body.name.clone(),
        game: info.id.to_owned(),
        origin: Origin::Hosted,
        state: CompetitionState::Draft,
        public: true,
        limits,
        preset: parsed.organiser_text,
        by: Some(me.account()),
        at: Timestamp::now(),
    };
    let created = app.site_db.create_competition(&new).await?;
    app.competitions.add(&created.id, info.id);
    if let Err(error) = add_house_bots(&app, &created, &parsed.house_bots).await {
        let _ = app.site_db.delete_competition(&created.id).await;
        app.competitions.remove(&created.id);
        return Err(error);
    }
    append_audit(&app, me, "competition.create", &created.id, &created.name, "").await?;
    entrants::refresh(&app, &created).await?;
    Ok((StatusCode::CREATED, Json(admin_body(&app, &created).await?)))
}

fn check_limits(body: &CompetitionBody) -> ApiResult<()> {
    if body.per_contributor.is_some_and(|most| !(1..=1000).contains(&most)) {
        return Err(ApiError::invalid("per_contributor", "per_contributor: must be 1 to 1000"));
    }
    if body.max_bytes.is_some_and(|most| !(1024..=uploads::MAX_UPLOAD_BYTES).contains(&most)) {
        let what = format!("max_bytes: must be 1024 to {}", uploads::MAX_UPLOAD_BYTES);
        return Err(ApiError::invalid("max_bytes", what));
    }
    if body.house.as_ref().is_some_and(|house| house.len() > 100) {
        return Err(ApiError::invalid("house", "house: at most 100 house bots"));
    }
    Ok(())
}

/// House bots by name. Those that the file or the game's preset lists keep their names from there.
fn select_house_bots(
    any_game: &dyn agon_engine::AnyGame,
    wanted: &[String],
    named: &[EntrantLine],
    preset_text: Option<&str>,
) -> ApiResult<Vec<EntrantLine>> {
    let preset_bots = preset_text
        .and_then(|text| competition_file::parse(text, any_game.info().id, None, None).ok())
        .map(|parsed| parsed.house_bots);
    let mut lines: Vec<EntrantLine> = Vec::new();
    for name in wanted {
        let bot = format!("house:{}", name.trim_start_matches("house:"));
        let known = named.iter().chain(preset_bots.iter().flatten()).find(|line| line.bot == bot);
        let line = match known {
            Some(line) => line.clone(),
            None => {
                competition_file::house_bot_line(any_game, name.trim_start_matches("house:"), None, None)?
            }
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Ok(lines)
}

async fn add_house_bots(app: &AppState, created: &HostedCompetition, house: &[EntrantLine]) -> ApiResult<()> {
    for line in house {
        let new = NewEntrant {
            competition: created.id.clone(),
            account: None,
            name: line.name.clone(),
            role: line.role.clone(),
            bot: Some(line.bot.clone()),
            at: Timestamp::now(),
        };
        let added = app
            .site_db
            .add_entrant(&new, &[CompetitionState::Draft, CompetitionState::Open, CompetitionState::Closed])
            .await?;
        let mark = |(mark, note): &(String, Option<String>)| StoredMark {
            mark: mark.clone(),
            note: note.clone(),
            by_organiser: true,
        };
        let marks: Vec<StoredMark> = line.marks.iter().map(mark).collect();
        app.site_db.set_marks(added.id, &marks).await?;
    }
    Ok(())
}

/// An unused id from the name, with a number appended if needed.
async fn unused_id(app: &AppState, name: &str) -> ApiResult<String> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let words: String = name.chars().map(plain).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    let slug: String = words.join("-").chars().take(40).collect();
    let free = read_model::free_id(&app.site_db, slug.trim_end_matches('-'), 1000).await?;
    free.ok_or_else(|| {
        ApiError::conflict("taken", "too many competitions have this name").hint("choose another")
    })
}

/// A competition that was created on the dashboard, or 409.
pub(super) async fn find_hosted(app: &AppState, id: &str) -> ApiResult<HostedCompetition> {
    let found = app.site_db.competition(id).await?;
    match found.origin {
        Origin::Hosted => Ok(found),
        Origin::File => {
            Err(ApiError::conflict("state", "this competition comes from a file on the command line")
                .hint("edit the file and restart the server"))
        }
    }
}

/// Replaces a competition's file. If the new file names house bots, they replace the current ones. After the start only what changes no
/// result can change: the name, the presentation, the freeze, deadlines, limits.
#[utoipa::path(
    put, path = "/competitions/{id}/file", tag = "desk", operation_id = "edit_file", request_body = CompetitionFileBody,
    params(("id" = String, Path, description = "The competition.")),
    responses(
        (status = 200, description = "Changed.", body = AdminCompetition),
        (status = 409, description = "It has already started, and a change would make results incomparable (code `state`); `details` has the changes.", body = ErrorBody),
    ),
)]
async fn edit_file(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
    Json(body): Json<CompetitionFileBody>,
) -> ApiResult<Json<AdminCompetition>> {
    let me = caller.organiser()?;
    let found = find_hosted(&app, &id).await?;
    let before = [CompetitionState::Draft, CompetitionState::Open, CompetitionState::Closed];
    let is_started = !before.contains(&found.state);
    let folder = competition_file::folder(&app.config, &id);
    let parsed = competition_file::parse(&body.file, &found.game, None, Some(&folder))?;
    let competition = competition_file::provisional(&parsed.organiser_text, &found.game, &[])?;
    if is_started {
        check_keeps_results(&found, &parsed, &competition)?;
    }
    let limits = UploadLimits {
        per_contributor: parsed.per_contributor.or(found.limits.per_contributor),
        ..found.limits
    };
    let edit = CompetitionPatch {
        name: Some(competition.name.clone()),
        preset: Some(parsed.organiser_text),
        limits: Some(limits),
        ..CompetitionPatch::default()
    };
    let states = if is_started { CompetitionState::ALL } else { &before[..] };
    let edited = app.site_db.edit_competition(&id, states, &edit).await?;
    if !parsed.house_bots.is_empty() {
        for old in app.site_db.entrants(&id).await?.iter().filter(|one| one.bot.is_some()) {
            app.site_db.withdraw(old.id, Timestamp::now()).await?;
        }
        add_house_bots(&app, &edited, &parsed.house_bots).await?;
    }
    append_audit(&app, me, "competition.file", &id, &edited.name, "").await?;
    if is_started {
        entrants::show_marks(&app, &edited).await?;
    } else {
        entrants::refresh(&app, &edited).await?;
    }
    Ok(Json(admin_body(&app, &edited).await?))
}

/// Refuses a file of a started competition that would make earlier and later results incomparable.
fn check_keeps_results(
    found: &HostedCompetition,
    parsed: &competition_file::ParsedFile,
    new: &CompetitionConfig,
) -> ApiResult<()> {
    if !parsed.house_bots.is_empty() {
        return Err(wrong_state(found, "its house bots can be changed only before the start"));
    }
    let old = competition_file::provisional(&found.preset, &found.game, &[])?;
    let changes = compare_configs(&old.normalised(), &new.normalised());
    let refused: Vec<String> = changes
        .iter()
        .filter(|change| change.impact != ChangeImpact::Never)
        .map(ToString::to_string)
        .collect();
    if refused.is_empty() {
        return Ok(());
    }
    Err(wrong_state(found, "this change would make its results incomparable")
        .details(refused)
        .hint("change only the name, the presentation, the freeze, deadlines and limits"))
}

/// Deletes a draft without submissions.
#[utoipa::path(
    delete, path = "/competitions/{id}", tag = "desk", operation_id = "delete_competition",
    params(("id" = String, Path, description = "The competition.")),
    responses(
        (status = 204, description = "Deleted."),
        (status = 409, description = "It is no longer a draft.", body = ErrorBody),
    ),
)]
async fn delete_competition(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<String>,
) -> ApiResult<StatusCode> {
    let me = caller.organiser()?;
    let found = find_hosted(&app, &id).await?;
    app.site_db.delete_competition(&id).await?;
    app.competitions.remove(&id);
    append_audit(&app, me, "competition.delete", &id, &found.name, "").await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The error for an action that the competition's state does not allow.
pub(super) fn wrong_state(found: &HostedCompetition, what: &str) -> ApiError {
    ApiError::conflict("state", format!("{} is {}: {what}", found.name, found.state))
}

/// Adds an entry about a competition to the audit log.
pub async fn append_audit(
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
    app.site_db.append_audit(&entry).await?;
    Ok(())
}

/// The competition, as sent to organisers.
pub(super) async fn admin_body(app: &AppState, one: &HostedCompetition) -> ApiResult<AdminCompetition> {
    let entrants = app.site_db.entrants(&one.id).await?;
    let house = entrants.iter().filter(|entrant| entrant.withdrawn.is_none());
    let house = house.filter_map(|entrant| entrant.bot.as_deref()?.strip_prefix("house:").map(str::to_owned));
    Ok(AdminCompetition {
        id: one.id.clone(),
        name: one.name.clone(),
        game: one.game.clone(),
        state: one.state.name().to_owned(),
        message: one.message.clone(),
        accepts: uploads::accepts_bots(one),
        file: one.preset.clone(),
        limits: UploadLimitsBody {
            per_contributor: one.limits.per_contributor.unwrap_or(uploads::DEFAULT_BOTS_PER_CONTRIBUTOR),
            max_bytes: overview::upload_limits(one, app.competitions.get(&one.id)?.loaded().as_deref()).1,
        },
        house: house.collect(),
    })
}
