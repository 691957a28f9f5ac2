//! Plays the games of a ladder, and stores their results.

use std::sync::atomic::Ordering;

use agon_competition::LoadedCompetition;
use agon_core::random::{Rng, RngStream};
use agon_core::{Assets, Diagnostic, Settings};
use agon_engine::AnyGame;
use agon_runner::phase_context::PhaseContext;
use agon_site_db::{HostedCompetition, PlayedKind, PracticePair, PracticePlayer, PracticeScore};
use agon_store::SecretSeed;
use serde_json::Value as Json;
use tokio::runtime::Handle;

use super::bots::{BotOrigin, PracticeBotSpec, hide_data_path, prepare_lineup};
use super::lineup::pair_key;
use super::play::{FinishedPracticeGame, GameAborted, GameToPlay, play_game};
use super::random_seed;
use crate::played_games::{NewPlayedGame, PlayedContext};
use crate::state::AppState;

/// All of the first games of a version are kept, and one of so many later ones.
const FIRST_KEPT_GAMES: u32 = 20;
const KEPT_GAME_INTERVAL: u32 = 10;

/// The games that a lineup plays next.
pub(super) struct LadderJob {
    pub(super) competition: HostedCompetition,
    /// Players in seat order.
    pub(super) players: Vec<PracticePlayer>,
    /// Whether the second game has the seats swapped.
    pub(super) is_symmetric: bool,
}

/// What came of a job.
pub(super) struct JobResult {
    pub(super) games: Vec<FinishedPracticeGame>,
    /// For each game, the index in the job's players of each seat.
    pub(super) seats: Vec<Vec<usize>>,
    /// Settings of the games, for the record.
    pub(super) settings: Settings,
    /// Player that must leave the ladder, with the reason.
    pub(super) unusable: Option<(i64, String)>,
    /// A failure that is not a bot's fault.
    pub(super) failure: Option<Diagnostic>,
}

/// Settings of a random match of the phase that comes next, with its files.
pub fn phase_settings(loaded: &LoadedCompetition, phase: u32, rng: &mut Rng) -> Result<Settings, Diagnostic> {
    let phases = &loaded.competition.phases;
    let number = (phase as usize).min(phases.len().saturating_sub(1));
    let Some(phase) = phases.get(number) else { return Ok(loaded.competition.settings.clone()) };
    let secret = SecretSeed::new("practice");
    let context = PhaseContext::new(
        loaded.table.as_ref(),
        &loaded.assets,
        u32::try_from(number).unwrap_or_default(),
        phase,
        &[],
        &secret,
    )?;
    let mut pick = |count: usize| rng.below(u32::try_from(count).unwrap_or(u32::MAX)) as usize;
    let variants = context.variants();
    let variant = variants.get(pick(variants.len()));
    let part = variant.and_then(|parts| parts.get(pick(parts.len())));
    Ok(part.map_or_else(|| phase.settings.clone(), |part| part.settings.clone()))
}

/// Plays two games of a lineup on one seed, with the seats swapped in games with one role.
pub(super) fn play_job(
    app: &AppState,
    handle: &Handle,
    job: &LadderJob,
    is_stopped: &dyn Fn() -> bool,
) -> JobResult {
    let mut result = JobResult {
        games: Vec::new(),
        seats: Vec::new(),
        settings: Settings::defaults(&[]),
        unusable: None,
        failure: None,
    };
    if let Err(error) = play_games(app, handle, job, is_stopped, &mut result) {
        result.failure = Some(error);
    }
    result
}

fn play_games(
    app: &AppState,
    handle: &Handle,
    job: &LadderJob,
    is_stopped: &dyn Fn() -> bool,
    result: &mut JobResult,
) -> Result<(), Diagnostic> {
    let competition = &job.competition;
    let loaded = app.competitions.get(&competition.id).ok().and_then(|one| one.loaded());
    let loaded = loaded.ok_or_else(|| Diagnostic::internal("the competition is not loaded"))?;
    let table: &dyn AnyGame = loaded.table.as_ref();
    let assets: &Assets = &loaded.assets;
    let seed = random_seed();
    let settings =
        phase_settings(&loaded, competition.allowed_phase, &mut Rng::new(seed, RngStream::Matches))?;
    let mut bots = Vec::with_capacity(job.players.len());
    for player in &job.players {
        let origin = match (&player.house, &player.submission) {
            (Some(house), _) => BotOrigin::House(house.clone()),
            (None, Some(id)) => BotOrigin::Uploaded(Box::new(handle.block_on(app.site_db.submission(id))?)),
            (None, None) => return Err(Diagnostic::internal("a player without a bot")),
        };
        bots.push(PracticeBotSpec { name: player.name.clone(), origin });
    }
    let lineup = match prepare_lineup(&app.config, &competition.game, (&settings, assets), &bots) {
        Ok(lineup) => lineup,
        Err(error) => {
            let player = job.players.get(error.index).filter(|player| player.house.is_none());
            let Some(player) = player else { return Err(error.error) };
            let reason = hide_data_path(&app.config, &error.error.text_without_hints());
            result.unusable = Some((player.id, reason));
            return Ok(());
        }
    };
    result.settings = settings.clone();
    let count = job.players.len();
    for game in 0..2_usize {
        // The second game has the seats moved by one, so that two players have swapped them.
        let shift = if job.is_symmetric { game } else { 0 };
        let seats: Vec<usize> = (0..count).map(|seat| (seat + shift) % count).collect();
        let players: Vec<_> = seats.iter().filter_map(|&index| lineup.get(index).cloned()).collect();
        let to_play = GameToPlay {
            game: table,
            settings: &settings,
            assets,
            seats: &players,
            seed: if job.is_symmetric { seed } else { seed.wrapping_add(game as u64) },
            timeout: app.config.practice.game_timeout,
        };
        match play_game(to_play, is_stopped) {
            Ok(finished) => {
                result.games.push(finished);
                result.seats.push(seats);
            }
            Err(GameAborted::Stopped) => {
                app.practice.count_recalled();
                return Ok(());
            }
            Err(GameAborted::TooLong(seat)) => {
                let slowest = seats.get(seat.index()).and_then(|&index| job.players.get(index));
                if let Some(player) = slowest.filter(|player| player.house.is_none()) {
                    let seconds = app.config.practice.game_timeout.as_secs();
                    let reason = format!("a practice game took longer than {seconds} s");
                    result.unusable = Some((player.id, reason));
                }
                return Ok(());
            }
            Err(GameAborted::Failed(error)) => return Err(error),
        }
    }
    Ok(())
}

/// Results of the games of a job, by player and by pair.
pub(super) fn sums(
    players: &[PracticePlayer],
    result: &JobResult,
) -> (Vec<PracticeScore>, Vec<PracticePair>) {
    let (mut scores, mut pairs) = (Vec::new(), Vec::new());
    for (game, seats) in result.games.iter().zip(&result.seats) {
        let id = |seat: usize| seats.get(seat).and_then(|&index| players.get(index)).map(|one| one.id);
        let opponents = seats.len().saturating_sub(1) as f64;
        for seat in 0..seats.len() {
            let Some(player) = id(seat) else { continue };
            let beaten = game.beaten(seat);
            let letter = match (2.0 * beaten).total_cmp(&opponents) {
                std::cmp::Ordering::Greater => 'W',
                std::cmp::Ordering::Equal => 'D',
                std::cmp::Ordering::Less => 'L',
            };
            let faults = game.faults.get(seat).copied().unwrap_or_default();
            scores.push(PracticeScore { player, beaten, faults, letter });
            for other in seat + 1..seats.len() {
                let Some(opponent) = id(other) else { continue };
                let (a, b) = pair_key(player, opponent);
                let won = game.won(seat, other);
                let won = if a == player { won } else { 1.0 - won };
                pairs.push(PracticePair { a, b, games: 1, won });
            }
        }
    }
    (scores, pairs)
}

/// Stores the sums of a job, and a bot that leaves the ladder.
pub(super) fn store_sums(
    app: &AppState,
    handle: &Handle,
    job: &LadderJob,
    result: &JobResult,
    scores: &[PracticeScore],
    pairs: &[PracticePair],
) -> Result<(), Diagnostic> {
    if let Some((player, reason)) = &result.unusable {
        handle.block_on(app.site_db.set_practice_failed(*player, Some(reason)))?;
        tracing::info!(player, reason, competition = job.competition.id, "a bot leaves the practice ladder");
    }
    if scores.is_empty() {
        return Ok(());
    }
    handle.block_on(app.site_db.add_practice_results(scores, pairs))?;
    app.practice.ladder_games.fetch_add(result.games.len() as u64, Ordering::Relaxed);
    Ok(())
}

/// Stores the games of a job whose records are kept.
pub(super) fn store_games(
    app: &AppState,
    handle: &Handle,
    job: &LadderJob,
    result: &JobResult,
) -> Result<(), Diagnostic> {
    for (number, (game, seats)) in result.games.iter().zip(&result.seats).enumerate() {
        if is_kept(&job.players, number, game) {
            handle.block_on(store_game(app, job, result, game, seats))?;
        }
    }
    Ok(())
}

/// Whether the record of a game is kept: the first games of each version, one of some later ones, and games with faults of uploaded bots
/// while these are rare.
fn is_kept(players: &[PracticePlayer], number: usize, game: &FinishedPracticeGame) -> bool {
    let uploaded = || players.iter().filter(|player| player.house.is_none());
    let played = |player: &PracticePlayer| player.games + u32::try_from(number).unwrap_or_default();
    let has_fault = game.faults.iter().any(|count| *count > 0);
    uploaded().any(|player| played(player) < FIRST_KEPT_GAMES || played(player) % KEPT_GAME_INTERVAL == 0)
        || (has_fault && uploaded().any(|player| player.faults < FIRST_KEPT_GAMES))
}

async fn store_game(
    app: &AppState,
    job: &LadderJob,
    result: &JobResult,
    game: &FinishedPracticeGame,
    seats: &[usize],
) -> Result<(), Diagnostic> {
    let seat = |index: &usize| {
        job.players.get(*index).map(|player| agon_site_db::PlayedSeat {
            name: player.name.clone(),
            account: player.account,
            entrant: player.entrant,
            submission: player.submission.clone(),
            house: player.house.clone(),
        })
    };
    let new = NewPlayedGame {
        game: job.competition.game.clone(),
        kind: PlayedKind::Practice,
        seats: seats.iter().filter_map(seat).collect(),
        settings: settings_json(&result.settings),
        seed: game.seed,
        outcome: serde_json::to_value(&game.outcome).map_err(Diagnostic::internal)?,
        record: game.record.clone(),
        started: game.started,
        ended: game.ended,
        owner: None,
    };
    let context = PlayedContext {
        competition: Some(job.competition.id.clone()),
        output: game.output.clone(),
        ..PlayedContext::default()
    };
    app.played_games.store_with(new, context).await.map(drop)
}

/// Settings as JSON, by name.
pub fn settings_json(settings: &Settings) -> Json {
    serde_json::to_value(settings).unwrap_or_default()
}
