//! Bots that a person can play against: house bots, and submitted bots whose authors allow it.

use agon_engine::AnyGame;
use agon_site_db::{EntrantId, PlayedSeat};
use serde::Serialize;
use utoipa::ToSchema;

use super::setup::SubmittedBot;
use crate::caller::{Caller, CurrentUser};
use crate::error::{ApiError, ApiResult};
use crate::read_model::is_public;
use crate::state::AppState;
use crate::uploads;

/// Maximum number of submitted bots in the list.
const MAX_LISTED_BOTS: u32 = 500;

/// Bots that a person can play against.
#[derive(Debug, Serialize, ToSchema)]
pub struct OpponentsBody {
    /// House bots, weakest first.
    pub house: Vec<HouseOpponent>,
    /// Submitted bots whose authors allow it, and the caller's own, by name.
    pub bots: Vec<BotOpponent>,
}

/// A house bot.
#[derive(Debug, Serialize, ToSchema)]
pub struct HouseOpponent {
    /// Name without `house:`.
    pub name: String,
    /// How it plays, in one line.
    pub about: String,
    /// Roles it plays.
    pub roles: Vec<String>,
}

/// A submitted bot. Its newest accepted version plays.
#[derive(Debug, Serialize, ToSchema)]
pub struct BotOpponent {
    /// Id of the bot's page.
    pub bot: i64,
    /// The bot's name.
    pub name: String,
    /// The bot's author.
    pub contributor: Option<String>,
    /// Id of its competition.
    pub competition: String,
    /// Name of its competition.
    pub competition_name: String,
    /// The role it plays, in a game with roles.
    pub role: Option<String>,
}

/// All bots that the caller may play against in a game.
pub async fn opponents(app: &AppState, caller: &Caller, game: &dyn AnyGame) -> ApiResult<OpponentsBody> {
    let house = game.house_bots().into_iter().map(|bot| HouseOpponent {
        name: bot.name.to_owned(),
        about: bot.strategy.to_owned(),
        roles: bot.roles.iter().map(|role| (*role).to_owned()).collect(),
    });
    let own = caller.user().map(CurrentUser::account);
    let bots = app.site_db.practice_bots(Some(game.info().id), own, MAX_LISTED_BOTS).await?;
    let bots = bots.into_iter().map(|bot| BotOpponent {
        bot: bot.entrant.id.0,
        name: bot.entrant.name,
        contributor: bot.contributor,
        competition: bot.entrant.competition,
        competition_name: bot.competition_name,
        role: bot.entrant.role,
    });
    Ok(OpponentsBody { house: house.collect(), bots: bots.collect() })
}

/// The newest accepted version of a bot, if the caller may play against it at this seat.
pub async fn submitted_bot(
    app: &AppState,
    caller: &Caller,
    game: &str,
    role: &str,
    id: EntrantId,
) -> ApiResult<SubmittedBot> {
    let missing = || ApiError::not_found("bot").hint("GET /play/opponents lists the bots");
    let entrant = app.site_db.entrant(id).await.map_err(|_| missing())?;
    let competition = app.site_db.competition(&entrant.competition).await?;
    let is_own = match caller.user() {
        Some(me) => app.site_db.manages(&entrant, me.account()).await?,
        None => false,
    };
    let is_shown = is_own || caller.is_organiser() || is_public(&competition);
    if entrant.withdrawn.is_some() || !is_shown {
        return Err(missing());
    }
    if !is_own && !entrant.practice {
        return Err(ApiError::forbidden(format!(
            "the author of {} does not let others play against it",
            entrant.name
        ))
        .hint("choose another bot, or ask its author"));
    }
    if competition.game != game {
        return Err(ApiError::invalid(
            "seats",
            format!("{} plays {}, not {game}", entrant.name, competition.game),
        ));
    }
    if let Some(own) = entrant.role.as_deref().filter(|own| *own != role) {
        return Err(ApiError::invalid("seats", format!("{} plays the {own}, not the {role}", entrant.name))
            .hint("give it the seat of its role"));
    }
    let version = app.site_db.latest_version(id).await?.ok_or_else(|| {
        ApiError::conflict("no_version", format!("{} has no accepted version", entrant.name))
    })?;
    let spec = uploads::bot_spec(&app.config, &version)?;
    let data = app.config.data.canonicalize().map_err(ApiError::internal)?;
    Ok(SubmittedBot {
        spec,
        folder: data.join("competitions").join(&competition.id),
        seat: PlayedSeat {
            name: entrant.name,
            account: entrant.account,
            entrant: Some(id),
            submission: Some(version.id),
            house: None,
        },
    })
}
