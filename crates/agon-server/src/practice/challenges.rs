//! Challenges: some bots play a number of games for an account, and it gets the result and the replays.
//!
//! A challenge plays at most [`CHALLENGE_TURN_GAMES`] games before others have their turn. Its games are in the store of played games, so a
//! server that was killed continues after the last stored game.

use std::sync::atomic::Ordering;
use std::time::Instant;

use agon_core::{Assets, Diagnostic, Settings};
use agon_site_db::{
    CHALLENGE_TURN_GAMES, Challenge, ChallengeState, NotificationKind, PlayedGameRow, PlayedKind, PlayedSeat,
    SubmissionId,
};
use agon_store::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio::runtime::Handle;

use super::bots::{BotOrigin, PracticeBotSpec, hide_data_path, prepare_lineup};
use super::ladder_games::settings_json;
use super::play::{FinishedPracticeGame, GameAborted, GameToPlay, play_game};
use super::{CORE_RETRY_INTERVAL, IDLE_INTERVAL, random_seed};
use crate::notify::{self, Notice};
use crate::played_games::{NewPlayedGame, PlayedContext};
use crate::runs::core_pool::{BackgroundWork, CoreLoan};
use crate::state::AppState;

/// A bot of a challenge, as it is stored. The version is that of the time of the request.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ChallengeBot {
    /// Name in the games.
    pub name: String,
    /// Id of the version, for an uploaded bot.
    pub submission: Option<String>,
    /// Id of the bot, for an uploaded bot.
    pub bot: Option<i64>,
    /// Number of the version, for an uploaded bot.
    pub version: Option<u32>,
    /// Name of the house bot.
    pub house: Option<String>,
}

/// The bots of a stored challenge.
pub fn bots_of(challenge: &Challenge) -> Vec<ChallengeBot> {
    serde_json::from_str(&challenge.bots).unwrap_or_default()
}

/// Which bot sits at a seat of game `number`. In a game with one role the bots move on by one seat from game to game.
pub fn bot_at(seat: usize, number: u32, seats: usize, has_roles: bool) -> usize {
    if has_roles || seats == 0 {
        return seat;
    }
    (seat + number as usize) % seats
}

/// Permission to play: a core that no competition holds, or the guest budget beside competitions.
enum PlayingCore {
    Lent(CoreLoan),
    Guest,
}

impl PlayingCore {
    /// Whether the game that is played must end.
    fn is_recalled(&self, app: &AppState) -> bool {
        match self {
            Self::Lent(loan) => loan.stop.is_requested(),
            Self::Guest => app.practice.guests.is_used_up(Instant::now()),
        }
    }

    fn give_back(self, app: &AppState) {
        match self {
            Self::Lent(loan) => app.runs.core_pool.give_back(&loan),
            Self::Guest => app.practice.guests.end(Instant::now()),
        }
    }
}

/// Body of a challenge thread.
pub fn challenge_loop(app: &AppState, handle: &Handle) {
    let mut arrivals = 0;
    while !app.is_stopping() {
        match handle.block_on(app.site_db.count_queued_challenges()) {
            Ok(0) => app.practice.wait(&mut arrivals, IDLE_INTERVAL),
            Ok(_) => match take_core(app) {
                Some(core) => {
                    let claimed = claim_and_play(app, handle, &core);
                    core.give_back(app);
                    if !claimed {
                        app.practice.wait(&mut arrivals, CORE_RETRY_INTERVAL);
                    }
                }
                None => app.practice.wait(&mut arrivals, CORE_RETRY_INTERVAL),
            },
            Err(error) => {
                tracing::error!(%error, "the queue of challenges cannot be read");
                app.practice.wait(&mut arrivals, IDLE_INTERVAL);
            }
        }
    }
}

fn take_core(app: &AppState) -> Option<PlayingCore> {
    let pool = &app.runs.core_pool;
    let max = app.config.practice.challenge_cores;
    if let Some(loan) = pool.borrow_core(BackgroundWork::Challenge, max) {
        return Some(PlayingCore::Lent(loan));
    }
    let is_guest = pool.is_full() && app.practice.guests.try_begin(Instant::now());
    is_guest.then_some(PlayingCore::Guest)
}

/// Plays the next challenge of the queue for one turn. Returns whether there was one.
fn claim_and_play(app: &AppState, handle: &Handle, core: &PlayingCore) -> bool {
    let challenge = match handle.block_on(app.site_db.claim_next_challenge(Timestamp::now())) {
        Ok(Some(challenge)) => challenge,
        Ok(None) => return false,
        Err(error) => {
            tracing::error!(%error, "a challenge cannot be claimed");
            return false;
        }
    };
    let span = tracing::error_span!("challenge", id = %challenge.id, account = %challenge.account);
    let _in_challenge = span.entered();
    let cancelled = app.practice.begin(&challenge.id);
    app.practice.changed();
    let is_stopped = || core.is_recalled(app) || cancelled.is_requested() || app.is_stopping();
    let played = play_turn(app, handle, &challenge, &is_stopped);
    app.practice.end(&challenge.id);
    let end = |state: ChallengeState, error: Option<&str>| {
        tracing::info!(state = state.name(), error, "challenge finished");
        let ended = app.site_db.end_challenge(&challenge.id, state, error, Timestamp::now());
        let ended = handle.block_on(ended).map(drop);
        handle.block_on(notify_ended(app, &challenge, state));
        ended
    };
    let stored = match played {
        Ok(true) => end(ChallengeState::Done, None),
        // One that was cancelled stays so.
        Ok(false) => handle.block_on(app.site_db.requeue_challenge(&challenge.id)),
        Err(error) => {
            let message = hide_data_path(&app.config, &error.text_without_hints());
            end(ChallengeState::Failed, Some(&message))
        }
    };
    if let Err(error) = stored {
        tracing::error!(%error, "the state of a challenge cannot be stored");
    }
    app.practice.changed();
    true
}

/// Tells the account that its challenge is finished.
async fn notify_ended(app: &AppState, challenge: &Challenge, state: ChallengeState) {
    let games = challenge.games;
    let text = match state {
        ChallengeState::Failed => "Your challenge failed: its page says why.".to_owned(),
        _ => format!("Your challenge of {games} {} is finished.", if games == 1 { "game" } else { "games" }),
    };
    let notice = Notice {
        kind: NotificationKind::ChallengeDone,
        topic: format!("challenge/{}", challenge.id),
        link: format!("/challenges/{}", challenge.id),
        text,
    };
    notify::send(app, challenge.account, &notice).await;
}

/// What the games of a challenge share.
struct ChallengeGames {
    table: Box<dyn agon_engine::AnyGame>,
    settings: Settings,
    assets: Assets,
    bots: Vec<PracticeBotSpec>,
    has_roles: bool,
}

/// Plays the next games of a challenge. Returns whether all are played.
fn play_turn(
    app: &AppState,
    handle: &Handle,
    challenge: &Challenge,
    is_stopped: &dyn Fn() -> bool,
) -> Result<bool, Diagnostic> {
    let before = handle.block_on(app.site_db.challenge_games(&challenge.id))?.len();
    let first = u32::try_from(before).unwrap_or(u32::MAX);
    if first >= challenge.games {
        return Ok(true);
    }
    let games = load_games(app, handle, challenge)?;
    let files = (&games.settings, &games.assets);
    let lineup = prepare_lineup(&app.config, &challenge.game, files, &games.bots);
    let lineup = lineup.map_err(|unusable| {
        let name = games.bots.get(unusable.index).map_or("", |bot| &bot.name);
        unusable.error.about(name)
    })?;
    for number in first..challenge.games.min(first.saturating_add(CHALLENGE_TURN_GAMES)) {
        let seats: Vec<usize> =
            (0..lineup.len()).map(|seat| bot_at(seat, number, lineup.len(), games.has_roles)).collect();
        let players: Vec<_> = seats.iter().filter_map(|&index| lineup.get(index).cloned()).collect();
        let to_play = GameToPlay {
            game: games.table.as_ref(),
            settings: &games.settings,
            assets: &games.assets,
            seats: &players,
            seed: random_seed(),
            timeout: app.config.practice.game_timeout,
        };
        let finished = match play_game(to_play, is_stopped) {
            Ok(finished) => finished,
            Err(GameAborted::Stopped) => {
                app.practice.count_recalled();
                return Ok(false);
            }
            Err(GameAborted::TooLong(_)) => {
                let seconds = app.config.practice.game_timeout.as_secs();
                let what = format!("a game took longer than {seconds} s");
                return Err(Diagnostic::wrong_use(what, "challenge with settings for shorter games"));
            }
            Err(GameAborted::Failed(error)) => return Err(error),
        };
        let seats = seats.iter().filter_map(|&index| games.bots.get(index)).map(PracticeBotSpec::seat);
        handle.block_on(store_game(app, challenge, number, &games.settings, finished, seats.collect()))?;
        app.practice.challenge_games.fetch_add(1, Ordering::Relaxed);
        app.practice.changed();
    }
    Ok(first.saturating_add(CHALLENGE_TURN_GAMES) >= challenge.games)
}

fn load_games(app: &AppState, handle: &Handle, challenge: &Challenge) -> Result<ChallengeGames, Diagnostic> {
    let table = agon_engine::any_game(&challenge.game)?;
    let info = table.info();
    let stored: Json = serde_json::from_str(&challenge.settings).unwrap_or_default();
    let settings = settings_from_json(info.settings, &stored)?;
    let competition = challenge.competition.as_ref().and_then(|id| app.competitions.get(id).ok());
    let assets = competition
        .and_then(|competition| competition.loaded())
        .map_or_else(Assets::none, |loaded| loaded.assets.clone());
    let mut bots = Vec::new();
    for bot in bots_of(challenge) {
        let origin = match (bot.house, bot.submission.as_deref().and_then(SubmissionId::parse)) {
            (Some(house), _) => BotOrigin::House(house),
            (None, Some(id)) => BotOrigin::Uploaded(Box::new(handle.block_on(app.site_db.submission(&id))?)),
            (None, None) => return Err(Diagnostic::internal("a challenge without a bot")),
        };
        bots.push(PracticeBotSpec { name: bot.name, origin });
    }
    let has_roles = info.roles.len() > 1;
    Ok(ChallengeGames { table, settings, assets, bots, has_roles })
}

/// Settings from `{name: value}`, where a value is a number, a word or a list. Settings that are not named have their defaults.
pub fn settings_from_json(
    specs: &'static [agon_core::SettingSpec],
    json: &Json,
) -> Result<Settings, Diagnostic> {
    let empty = serde_json::Map::new();
    Ok(Settings::from_json(specs, json.as_object().unwrap_or(&empty))?)
}

async fn store_game(
    app: &AppState,
    challenge: &Challenge,
    number: u32,
    settings: &Settings,
    game: FinishedPracticeGame,
    seats: Vec<PlayedSeat>,
) -> Result<(), Diagnostic> {
    let new = NewPlayedGame {
        game: challenge.game.clone(),
        kind: PlayedKind::Challenge,
        seats,
        settings: settings_json(settings),
        seed: game.seed,
        outcome: serde_json::to_value(&game.outcome).map_err(Diagnostic::internal)?,
        record: game.record,
        started: game.started,
        ended: game.ended,
        owner: Some(challenge.account),
    };
    let context = PlayedContext {
        competition: challenge.competition.clone(),
        challenge: Some(challenge.id.clone()),
        number,
        output: game.output,
    };
    app.played_games.store_with(new, context).await.map(drop)
}

/// Sums of one bot over the games of a challenge.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BotSums {
    /// Games won; a shared first place counts its share.
    pub wins: f64,
    /// Sum of the scores.
    pub score: f64,
    /// Sum of the places.
    pub places: u32,
}

/// Sums of each bot over these games.
pub fn bot_sums(games: &[PlayedGameRow], bots: usize, has_roles: bool) -> Vec<BotSums> {
    let mut sums = vec![BotSums::default(); bots];
    for game in games {
        let outcome: Option<agon_core::Outcome> = serde_json::from_str(&game.outcome).ok();
        let Some(outcome) = outcome else { continue };
        for (seat, result) in agon_core::Seat::all(outcome.seats.len()).zip(&outcome.seats) {
            let index = bot_at(seat.index(), game.number, bots, has_roles);
            let Some(sum) = sums.get_mut(index) else { continue };
            sum.wins += outcome.win_share(seat);
            sum.score += result.score;
            sum.places += u32::from(result.place);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bots_take_turns_at_the_seats_unless_seats_have_roles() {
        let seats = |number, has_roles| [0, 1, 2].map(|seat| bot_at(seat, number, 3, has_roles));
        assert_eq!(seats(0, false), [0, 1, 2]);
        assert_eq!(seats(1, false), [1, 2, 0]);
        assert_eq!(seats(3, false), [0, 1, 2]);
        assert_eq!(seats(1, true), [0, 1, 2]);
    }

    #[test]
    fn settings_of_json_are_checked_and_read_again() {
        let table = agon_engine::any_game("connect-five").unwrap();
        let specs = table.info().settings;
        let settings = settings_from_json(specs, &serde_json::json!({})).unwrap();
        let again = settings_from_json(specs, &settings_json(&settings)).unwrap();
        assert_eq!(settings_json(&settings), settings_json(&again));
        assert!(settings_from_json(specs, &serde_json::json!({"no such setting": 1})).is_err());
    }
}
