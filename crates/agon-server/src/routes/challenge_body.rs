//! A challenge and its result, as the API sends them.

use agon_engine::stats::{Estimate, share_estimate};
use agon_site_db::{Challenge, ChallengeState, EntrantId, PlayedGameRow};
use serde::Serialize;
use serde_json::Value as JsonValue;
use utoipa::ToSchema;

use super::played::{NameCache, PlayedGameBody, played_body};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult};
use crate::practice::challenges::{BotSums, ChallengeBot, bot_at, bot_sums, bots_of};
use crate::state::AppState;

/// A challenge and its result so far.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChallengeBody {
    /// Id of the challenge.
    pub id: String,
    /// `queued`, `playing`, `done`, `failed` or `cancelled`.
    pub state: &'static str,
    /// Why it failed.
    pub error: Option<String>,
    /// Id of the game.
    pub game: String,
    /// Competition whose settings are used.
    pub competition: Option<String>,
    /// Name of the account that wanted it.
    pub by: String,
    /// Whether the caller wanted it.
    pub mine: bool,
    /// Settings of the games.
    #[schema(value_type = Object)]
    pub settings: JsonValue,
    /// Number of games.
    pub games: u32,
    /// Number of games played.
    pub played: u32,
    /// Number of challenges before it in the queue.
    pub waiting: u64,
    /// When it was requested.
    pub created: i64,
    /// When its first game started.
    pub started: Option<i64>,
    /// When it ended.
    pub finished: Option<i64>,
    /// The bots with their results, in the order of the request.
    pub bots: Vec<ChallengeResult>,
    /// Its games in the order in which they were played. Empty in lists.
    pub items: Vec<ChallengeGame>,
}

/// A bot of a challenge.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChallengeResult {
    /// Name in the games.
    pub name: String,
    /// Id of the bot; null for a house bot.
    pub bot: Option<i64>,
    /// The competition of the bot.
    pub competition: Option<String>,
    /// Number of the version that plays.
    pub version: Option<u32>,
    /// Name of the house bot.
    pub house: Option<String>,
    /// Its role, in a game with roles.
    pub role: Option<&'static str>,
    /// Games won; a shared first place counts its share.
    pub wins: f64,
    /// Share of wins with its 95 % interval; null before the first game.
    pub win_share: Option<ShareBody>,
    /// Mean score; null before the first game.
    pub score: Option<f64>,
    /// Mean place; null before the first game.
    pub place: Option<f64>,
}

/// A share with its interval.
#[derive(Debug, Serialize, ToSchema)]
pub struct ShareBody {
    /// The share, 0 to 1.
    pub mean: f64,
    /// Lower bound of the 95 % interval.
    pub low: f64,
    /// Upper bound of the 95 % interval.
    pub high: f64,
}

/// A game of a challenge.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChallengeGame {
    /// Index of the bot at each seat, from 0.
    pub bots: Vec<usize>,
    /// The game.
    pub game: PlayedGameBody,
}

impl From<Estimate> for ShareBody {
    fn from(estimate: Estimate) -> Self {
        Self { mean: estimate.mean, low: estimate.low, high: estimate.high }
    }
}

/// Whether a body has the games of its challenge.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Items {
    All,
    None,
}

/// The body of a challenge.
pub(super) async fn challenge_body(
    app: &AppState,
    caller: &Caller,
    one: &Challenge,
    items: Items,
) -> ApiResult<ChallengeBody> {
    let table = agon_engine::any_game(&one.game).map_err(ApiError::internal)?;
    let has_roles = table.info().roles.len() > 1;
    let games = app.site_db.challenge_games(&one.id).await?;
    let bots = bots_of(one);
    let sums = bot_sums(&games, bots.len(), has_roles);
    let mut names = NameCache::default();
    let mut results = Vec::with_capacity(bots.len());
    for ((seat, bot), sums) in bots.into_iter().enumerate().zip(sums) {
        let competition = names.competition(app, bot.bot.map(EntrantId)).await?;
        let role = table.info().role(agon_core::Seat(u8::try_from(seat).unwrap_or(u8::MAX))).name;
        results.push(result_body(bot, sums, games.len(), competition, has_roles.then_some(role)));
    }
    let mut shown = Vec::new();
    if items == Items::All {
        for game in &games {
            shown.push(game_body(app, caller, game, has_roles, &mut names).await?);
        }
    }
    let waiting = match one.state {
        ChallengeState::Queued => app.site_db.count_challenges_before(one).await?,
        _ => 0,
    };
    Ok(ChallengeBody {
        id: one.id.to_string(),
        state: one.state.name(),
        error: one.error.clone(),
        game: one.game.clone(),
        competition: one.competition.clone(),
        by: names.account(app, Some(one.account)).await?.unwrap_or_default(),
        mine: caller.is_account(Some(one.account.0)),
        settings: serde_json::from_str(&one.settings).unwrap_or_default(),
        games: one.games,
        played: u32::try_from(games.len()).unwrap_or(u32::MAX),
        waiting,
        created: one.created.0,
        started: one.started.map(|at| at.0),
        finished: one.finished.map(|at| at.0),
        bots: results,
        items: shown,
    })
}

fn result_body(
    bot: ChallengeBot,
    sums: BotSums,
    games: usize,
    competition: Option<String>,
    role: Option<&'static str>,
) -> ChallengeResult {
    let mean = |sum: f64| (games > 0).then(|| sum / games as f64);
    ChallengeResult {
        name: bot.name,
        bot: bot.bot,
        competition,
        version: bot.version,
        house: bot.house,
        role,
        wins: sums.wins,
        win_share: (games > 0).then(|| share_estimate(sums.wins, games as u64).into()),
        score: mean(sums.score),
        place: mean(f64::from(sums.places)),
    }
}

async fn game_body(
    app: &AppState,
    caller: &Caller,
    game: &PlayedGameRow,
    has_roles: bool,
    names: &mut NameCache,
) -> ApiResult<ChallengeGame> {
    let seats = game.seats.len();
    let bots = (0..seats).map(|seat| bot_at(seat, game.number, seats, has_roles)).collect();
    Ok(ChallengeGame { bots, game: played_body(app, caller, game, names).await? })
}
