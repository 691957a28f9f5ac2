//! Checks the request of a challenge: which bots play, and with which settings. Nothing is stored.

use std::collections::BTreeSet;

use agon_engine::AnyGame;
use agon_site_db::{Entrant, EntrantId, SiteDbError};
use agon_store::Timestamp;
use serde::Deserialize;
use serde_json::{Value as JsonValue, json};
use utoipa::ToSchema;

use super::submissions::find_visible;
use crate::caller::{Caller, CurrentUser};
use crate::error::{ApiError, ApiResult};
use crate::practice::challenges::{ChallengeBot, settings_from_json};
use crate::practice::ladder_games::{phase_settings, settings_json};
use crate::state::AppState;

/// A bot of a new challenge: `bot` or `house`.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChallengeBotChoice {
    /// Id of a bot: one of the caller's, or one whose author allows it. Its latest accepted version plays.
    bot: Option<i64>,
    /// Name of a house bot.
    house: Option<String>,
}

/// A new challenge.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewChallengeBody {
    /// Id of the game. Needed without `competition`.
    game: Option<String>,
    /// Competition whose settings are used.
    competition: Option<String>,
    /// The bots, in seat order. In games with one role they change seats from game to game.
    #[schema(min_items = 1, max_items = 64)]
    bots: Vec<ChallengeBotChoice>,
    /// Number of games.
    #[schema(minimum = 1, maximum = 100)]
    pub(super) games: u32,
    /// Settings that differ from those of the competition or the game.
    #[schema(value_type = Option<Object>)]
    settings: Option<JsonValue>,
}

/// Game, settings and bots of a request that was checked.
pub(super) struct CheckedChallenge {
    pub(super) game: String,
    pub(super) competition: Option<String>,
    pub(super) settings: JsonValue,
    pub(super) bots: Vec<ChallengeBot>,
}

/// Checks a request. Nothing of it is stored yet.
pub(super) async fn check_request(
    app: &AppState,
    caller: &Caller,
    me: &CurrentUser,
    body: &NewChallengeBody,
) -> ApiResult<CheckedChallenge> {
    let max = app.config.practice.max_games;
    if body.games == 0 || body.games > max {
        return Err(ApiError::invalid("games", format!("games: must be 1 to {max}")));
    }
    let competition = match &body.competition {
        Some(id) => Some(find_visible(app, caller, id).await?),
        None => None,
    };
    let game = match (&competition, &body.game) {
        (Some(found), Some(game)) if found.game != *game => {
            let what = format!("game: the competition plays {}", found.game);
            return Err(ApiError::invalid("game", what));
        }
        (Some(found), _) => found.game.clone(),
        (None, Some(game)) => game.clone(),
        (None, None) => {
            return Err(ApiError::invalid("game", "game: is missing").hint("send `game` or `competition`"));
        }
    };
    let table = agon_engine::any_game(&game)
        .map_err(|error| ApiError::from(agon_core::Diagnostic::from(error)).field("game"))?;
    if !table.info().seats.allows(body.bots.len()) {
        let seats = table.info().seats.describe();
        return Err(ApiError::invalid("bots", format!("bots: {} needs {seats}", table.info().title)));
    }
    let id = competition.as_ref().map(|one| one.id.clone());
    let mut bots = Vec::with_capacity(body.bots.len());
    for (seat, choice) in body.bots.iter().enumerate() {
        bots.push(check_bot(app, caller, me, table.as_ref(), (seat, choice)).await?);
    }
    let distinct: BTreeSet<i64> = bots.iter().filter_map(|one| one.bot).collect();
    if distinct.len() < bots.iter().filter(|one| one.bot.is_some()).count() {
        return Err(ApiError::invalid("bots", "bots: a bot cannot play against itself")
            .hint("choose another opponent, such as a house bot"));
    }
    let allowed_phase = competition.as_ref().map_or(0, |one| one.allowed_phase);
    let settings = check_settings(app, table.as_ref(), (id.as_deref(), allowed_phase), body)?;
    Ok(CheckedChallenge { game, competition: id, settings, bots })
}

/// Checks one bot of a request: it exists, plays the game and the role of its seat, and the caller may challenge it.
async fn check_bot(
    app: &AppState,
    caller: &Caller,
    me: &CurrentUser,
    table: &dyn AnyGame,
    (seat, choice): (usize, &ChallengeBotChoice),
) -> ApiResult<ChallengeBot> {
    let info = table.info();
    let role = info.role(agon_core::Seat(u8::try_from(seat).unwrap_or(u8::MAX))).name;
    let has_roles = info.roles.len() > 1;
    let entrant = match (choice.bot, &choice.house) {
        (Some(bot), None) => find_bot(app, caller, me, bot).await?,
        (None, Some(house)) => return house_bot(table, house, role),
        _ => {
            let what = format!("bots: number {} needs either `bot` or `house`", seat + 1);
            return Err(ApiError::invalid("bots", what));
        }
    };
    let competition = app.site_db.competition(&entrant.competition).await?;
    if competition.game != info.id {
        let what = format!("bots: {} plays {}, not {}", entrant.name, competition.game, info.id);
        return Err(ApiError::invalid("bots", what));
    }
    if has_roles && entrant.role.as_deref().is_some_and(|own| own != role) {
        let what = format!("bots: {} cannot play the {role}, the role of seat {}", entrant.name, seat + 1);
        return Err(ApiError::invalid("bots", what).hint("change the order of the bots"));
    }
    if let Some(house) = entrant.bot.as_deref().and_then(|bot| bot.strip_prefix("house:")) {
        return house_bot(table, house, role);
    }
    let Some(version) = app.site_db.latest_version(entrant.id).await? else {
        let what = format!("{} has no accepted version", entrant.name);
        return Err(ApiError::conflict("no_version", what));
    };
    Ok(ChallengeBot {
        name: entrant.name,
        submission: Some(version.id.to_string()),
        bot: Some(entrant.id.0),
        version: version.version,
        house: None,
    })
}

/// A house bot that plays this role.
fn house_bot(table: &dyn AnyGame, house: &str, role: &str) -> ApiResult<ChallengeBot> {
    let fits = |one: &agon_engine::HouseBotInfo| one.roles.contains(&role);
    let all = table.house_bots();
    if !all.iter().any(|one| one.name == house && fits(one)) {
        let names: Vec<&str> = all.iter().filter(|one| fits(one)).map(|one| one.name).collect();
        let what = format!("bots: {} has no house bot `{house}` for the {role}", table.info().title);
        return Err(ApiError::invalid("bots", what).hint(format!("choose one of {}", names.join(", "))));
    }
    Ok(ChallengeBot {
        name: house.to_owned(),
        submission: None,
        bot: None,
        version: None,
        house: Some(house.to_owned()),
    })
}

/// A bot that the caller may challenge.
async fn find_bot(app: &AppState, caller: &Caller, me: &CurrentUser, bot: i64) -> ApiResult<Entrant> {
    let entrant = match app.site_db.entrant(EntrantId(bot)).await {
        Ok(entrant) => entrant,
        Err(SiteDbError::NotFound { .. }) => return Err(ApiError::not_found("bot").field("bots")),
        Err(error) => return Err(error.into()),
    };
    if caller.is_organiser() || app.site_db.manages(&entrant, me.account()).await? {
        return Ok(entrant);
    }
    // Bots of competitions that the caller cannot see do not exist for the caller.
    find_visible(app, caller, &entrant.competition).await.map_err(|_| ApiError::not_found("bot"))?;
    if entrant.practice || entrant.bot.is_some() {
        return Ok(entrant);
    }
    let what = format!("the author of {} does not allow challenges", entrant.name);
    Err(ApiError::forbidden(what).field("bots").hint("choose another bot, or ask its author"))
}

/// Settings of the games: those of the competition's phase or the game's defaults, with the changes of the request.
fn check_settings(
    app: &AppState,
    table: &dyn AnyGame,
    (competition, allowed_phase): (Option<&str>, u32),
    body: &NewChallengeBody,
) -> ApiResult<JsonValue> {
    let info = table.info();
    let loaded = match competition {
        Some(id) => Some(app.competitions.get(id)?.loaded().ok_or_else(|| {
            ApiError::conflict("no_file", "the file of the competition is not complete")
                .hint("send `game` instead of `competition`")
        })?),
        None => None,
    };
    let mut merged = match &loaded {
        Some(loaded) => {
            let seed = u64::try_from(Timestamp::now().0).unwrap_or_default();
            let mut rng = agon_core::Rng::new(seed, agon_core::RngStream::Matches);
            settings_json(&phase_settings(loaded, allowed_phase, &mut rng).map_err(ApiError::internal)?)
        }
        None => json!({}),
    };
    if let Some(changes) = &body.settings {
        let Some(changes) = changes.as_object() else {
            return Err(
                ApiError::invalid("settings", "settings: must be an object").hint("write {\"name\": value}")
            );
        };
        for (name, value) in changes {
            let is_file = |spec: &agon_core::SettingSpec| {
                spec.name == name && spec.kind == agon_core::SettingKind::Asset
            };
            if info.settings.iter().any(is_file) {
                let what = format!("settings: `{name}` names a file, which a challenge cannot change");
                return Err(ApiError::invalid("settings", what));
            }
            merged[name.as_str()] = value.clone();
        }
    }
    let wrong = |error: agon_core::Diagnostic| ApiError::from(error).field("settings");
    let settings = settings_from_json(info.settings, &merged).map_err(wrong)?;
    let none = agon_core::Assets::none();
    let assets = loaded.as_ref().map_or(&none, |loaded| &loaded.assets);
    table.check_settings(&settings, body.bots.len(), assets).map_err(|error| wrong(error.into()))?;
    Ok(settings_json(&settings))
}
