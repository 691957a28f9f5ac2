//! Practice ladders: one for each competition that accepts bots or waits between its phases.
//!
//! Players are the latest accepted versions of all bots, and the house bots of the game. Results are sums in the site database, and ratings are
//! fitted to all of them, so that a restart loses nothing and the order of the games does not matter. The house bots fix the scale: their
//! mean is 1500.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use agon_core::random::{Rng, RngStream};
use agon_core::{Diagnostic, LockIgnoringPoison as _};
use agon_league::rating::{LadderPair, LadderPlayer, ladder_ratings};
use agon_site_db::{
    CompetitionState, HostedCompetition, NewPracticePlayer, Origin, PracticePair, PracticePlayer,
    PracticeRating, PracticeScore,
};
use agon_store::Timestamp;
use tokio::runtime::Handle;

use super::ladder_games::{JobResult, LadderJob, play_job, store_games, store_sums, sums};
use super::lineup::{LadderTarget, Meetings, choose_lineup};
use super::{CORE_RETRY_INTERVAL, IDLE_INTERVAL, random_seed};
use crate::error::ApiResult;
use crate::read_model::all_competitions;
use crate::runs::core_pool::BackgroundWork;
use crate::state::AppState;

/// The list of competitions with a ladder is read again after this time.
const COMPETITIONS_REFRESH_INTERVAL: Duration = Duration::from_secs(5);
/// The players of a ladder are read again after this time, or at once when a version is accepted.
const PLAYERS_REFRESH_INTERVAL: Duration = Duration::from_secs(20);
/// Ratings are fitted again after this time at the earliest.
const RATING_INTERVAL: Duration = Duration::from_secs(2);
/// After an error, a ladder pauses for this time.
const ERROR_DELAY: Duration = Duration::from_secs(30);

/// Ladders by competition.
#[derive(Default)]
pub struct Ladders(Mutex<LadderList>);

#[derive(Default)]
struct LadderList {
    ladders: BTreeMap<String, Ladder>,
    /// Competition whose ladder played last. They take turns.
    last: String,
    refreshed: Option<Instant>,
}

/// A ladder in memory.
struct Ladder {
    competition: HostedCompetition,
    players: Vec<PracticePlayer>,
    pairs: BTreeMap<(i64, i64), PracticePair>,
    meetings: Meetings,
    refreshed: Instant,
    /// When the competition last accepted a version, as of `refreshed`.
    last_accepted: Option<Timestamp>,
    rated: Option<Instant>,
    has_unrated_games: bool,
    /// Number of lineups that play now.
    playing: usize,
    paused_until: Option<Instant>,
}

impl Ladders {
    /// Whether games of this ladder are being played.
    pub fn is_playing(&self, competition: &str) -> bool {
        self.0.lock_ignoring_poison().ladders.get(competition).is_some_and(|ladder| ladder.playing > 0)
    }

    /// Whether games of any ladder are being played.
    pub fn are_playing(&self) -> bool {
        self.0.lock_ignoring_poison().ladders.values().any(|ladder| ladder.playing > 0)
    }

    /// Reads everything again at the next opportunity.
    pub fn refresh(&self) {
        self.0.lock_ignoring_poison().refreshed = None;
    }
}

/// Body of a ladder thread.
pub fn ladder_loop(app: &AppState, handle: &Handle) {
    let mut arrivals = 0;
    while !app.is_stopping() {
        let max = app.config.practice.ladder_cores;
        let Some(loan) = app.runs.core_pool.borrow_core(BackgroundWork::Ladder, max) else {
            app.practice.wait(&mut arrivals, 5 * CORE_RETRY_INTERVAL);
            continue;
        };
        let job = next_job(app, handle);
        let found = matches!(job, Ok(Some(_)));
        match job {
            Ok(Some(job)) => {
                let is_stopped = || loan.stop.is_requested() || app.is_stopping();
                let played = play_job(app, handle, &job, &is_stopped);
                finish_job(app, handle, &job, played);
            }
            Ok(None) => {}
            Err(error) => tracing::error!(%error, "the practice ladders cannot be read"),
        }
        app.runs.core_pool.give_back(&loan);
        if !found {
            app.practice.wait(&mut arrivals, IDLE_INTERVAL);
        }
    }
}

/// Whether a competition has a ladder in this state: it accepts bots, or it waits between two phases.
pub fn has_ladder_now(competition: &HostedCompetition) -> bool {
    let is_open = matches!(
        competition.state,
        CompetitionState::Open | CompetitionState::Closed | CompetitionState::Waiting
    );
    is_open && competition.origin == Origin::Hosted
}

/// The next games of the next ladder that needs any.
fn next_job(app: &AppState, handle: &Handle) -> Result<Option<LadderJob>, Diagnostic> {
    let mut list = app.practice.ladders.0.lock_ignoring_poison();
    if list.refreshed.is_none_or(|at| at.elapsed() > COMPETITIONS_REFRESH_INTERVAL) {
        refresh_list(app, handle, &mut list)?;
    }
    let after: Vec<String> = list.ladders.keys().filter(|id| **id > list.last).cloned().collect();
    let before: Vec<String> = list.ladders.keys().filter(|id| **id <= list.last).cloned().collect();
    for id in after.into_iter().chain(before) {
        let Some(ladder) = list.ladders.get_mut(&id) else { continue };
        if ladder.paused_until.is_some_and(|until| Instant::now() < until) {
            continue;
        }
        if let Some(job) = ladder.next_job(app) {
            ladder.playing += 1;
            list.last = id;
            return Ok(Some(job));
        }
        if ladder.has_unrated_games {
            ladder.rate(app, handle)?;
        }
    }
    Ok(None)
}

fn refresh_list(app: &AppState, handle: &Handle, list: &mut LadderList) -> Result<(), Diagnostic> {
    let all =
        handle.block_on(all_competitions(&app.site_db)).map_err(|error| Diagnostic::internal(&error))?;
    let mut open = Vec::new();
    for one in all.into_iter().filter(has_ladder_now) {
        if handle.block_on(app.site_db.has_practice_ladder(&one.id))? {
            open.push(one);
        }
    }
    // Games that are being played store their results all the same.
    list.ladders.retain(|id, ladder| ladder.playing > 0 || open.iter().any(|one| one.id == *id));
    for competition in open {
        let last_accepted = handle.block_on(app.site_db.last_accepted(&competition.id))?;
        let known = list.ladders.get(&competition.id);
        let is_current = known.is_some_and(|ladder| {
            ladder.last_accepted == last_accepted && ladder.refreshed.elapsed() < PLAYERS_REFRESH_INTERVAL
        });
        if is_current {
            continue;
        }
        let (playing, rated) = known.map_or((0, None), |ladder| (ladder.playing, ladder.rated));
        let unrated = known.is_some_and(|ladder| ladder.has_unrated_games);
        let paused_until = known.and_then(|ladder| ladder.paused_until);
        let ladder = Ladder::read(app, handle, competition, last_accepted)?;
        let ladder = Ladder { playing, rated, has_unrated_games: unrated, paused_until, ..ladder };
        list.ladders.insert(ladder.competition.id.clone(), ladder);
    }
    list.refreshed = Some(Instant::now());
    Ok(())
}

impl Ladder {
    /// Reads a ladder from the site database, after the current versions and the house bots have joined it.
    fn read(
        app: &AppState,
        handle: &Handle,
        competition: HostedCompetition,
        last_accepted: Option<Timestamp>,
    ) -> Result<Self, Diagnostic> {
        let table = agon_engine::any_game(&competition.game)?;
        let has_roles = table.info().roles.len() > 1;
        let accepted = handle.block_on(app.site_db.accepted_for_phase(&competition.id, i32::MAX as u32))?;
        let mut joining = Vec::new();
        // House bots alone have nobody to be compared with.
        if !accepted.is_empty() {
            for bot in table.house_bots() {
                let roles: Vec<&str> = if has_roles { bot.roles.clone() } else { vec![""] };
                joining.extend(roles.into_iter().map(|role| NewPracticePlayer {
                    submission: None,
                    house: Some(bot.name.to_owned()),
                    role: role.to_owned(),
                }));
            }
        }
        for one in &accepted {
            let entrant = handle.block_on(app.site_db.entrant(one.entrant))?;
            let role = entrant.role.filter(|_| has_roles).unwrap_or_default();
            joining.push(NewPracticePlayer { submission: Some(one.id.clone()), house: None, role });
        }
        let players = handle.block_on(app.site_db.add_practice_players(&competition.id, &joining))?;
        let pairs = handle.block_on(app.site_db.practice_pairs(&competition.id))?;
        let pairs: BTreeMap<_, _> = pairs.into_iter().map(|pair| ((pair.a, pair.b), pair)).collect();
        Ok(Self {
            meetings: pairs.iter().map(|(key, pair)| (*key, pair.games)).collect(),
            competition,
            players,
            pairs,
            refreshed: Instant::now(),
            last_accepted,
            rated: None,
            has_unrated_games: false,
            playing: 0,
            paused_until: None,
        })
    }

    /// The next games, if a player needs any.
    fn next_job(&self, app: &AppState) -> Option<LadderJob> {
        let table = agon_engine::any_game(&self.competition.game).ok()?;
        let info = table.info();
        let has_roles = info.roles.len() > 1;
        let roles: Vec<&str> = (0..info.seats.min)
            .map(|seat| {
                let seat = agon_core::Seat(u8::try_from(seat).unwrap_or_default());
                if has_roles { info.role(seat).name } else { "" }
            })
            .collect();
        let practice = &app.config.practice;
        let target = LadderTarget { error: practice.target_error, games: practice.max_ladder_games };
        // Not a game: who meets is decided by chance, but no result depends on it.
        let mut rng = Rng::new(random_seed(), RngStream::Series);
        let lineup = choose_lineup(&self.players, &self.meetings, &roles, target, &mut rng)?;
        let players = lineup.iter().filter_map(|&index| self.players.get(index).cloned()).collect();
        Some(LadderJob { competition: self.competition.clone(), players, is_symmetric: !has_roles })
    }

    /// Adds the results of a job to the sums in memory.
    fn add(&mut self, scores: &[PracticeScore], pairs: &[PracticePair]) {
        for score in scores {
            let Some(player) = self.players.iter_mut().find(|one| one.id == score.player) else { continue };
            player.games += 1;
            player.faults += score.faults;
            player.beaten += score.beaten;
            player.beaten_squares += score.beaten * score.beaten;
            player.form.push(score.letter);
        }
        for pair in pairs {
            let sum =
                self.pairs.entry((pair.a, pair.b)).or_insert(PracticePair { games: 0, won: 0.0, ..*pair });
            sum.games += pair.games;
            sum.won += pair.won;
            *self.meetings.entry((pair.a, pair.b)).or_default() += pair.games;
        }
        self.has_unrated_games = true;
    }

    /// Fits the ratings of all players and stores them.
    fn rate(&mut self, app: &AppState, handle: &Handle) -> Result<(), Diagnostic> {
        let index: BTreeMap<i64, u32> = self.players.iter().map(|one| one.id).zip(0..).collect();
        let players: Vec<LadderPlayer> = self
            .players
            .iter()
            .map(|one| LadderPlayer {
                games: one.games,
                beaten: one.beaten,
                beaten_squares: one.beaten_squares,
                is_anchor: one.house.is_some(),
            })
            .collect();
        let pairs: Vec<LadderPair> = self
            .pairs
            .values()
            .filter_map(|pair| {
                let (a, b) = (*index.get(&pair.a)?, *index.get(&pair.b)?);
                Some(LadderPair { a, b, games: pair.games, won: pair.won })
            })
            .collect();
        let ratings = ladder_ratings(&players, &pairs);
        let mut changed = Vec::new();
        for (player, rating) in self.players.iter_mut().zip(&ratings).filter(|(player, _)| player.games > 0) {
            player.rating = Some(rating.rating);
            player.error = Some(rating.error);
            changed.push(PracticeRating { player: player.id, rating: rating.rating, error: rating.error });
        }
        self.rated = Some(Instant::now());
        self.has_unrated_games = false;
        handle.block_on(app.site_db.set_practice_ratings(&changed))?;
        Ok(())
    }
}

/// Stores what came of a job, and adds it to the ladder. The sums in memory and in the site database change under one lock, so that reading
/// the ladder again counts no game twice.
fn finish_job(app: &AppState, handle: &Handle, job: &LadderJob, result: JobResult) {
    let (scores, pairs) = sums(&job.players, &result);
    let mut errors = Vec::new();
    let mut list = app.practice.ladders.0.lock_ignoring_poison();
    let stored = store_sums(app, handle, job, &result, &scores, &pairs);
    if let Some(ladder) = list.ladders.get_mut(&job.competition.id) {
        ladder.playing = ladder.playing.saturating_sub(1);
        if let Some((player, reason)) = &result.unusable
            && let Some(player) = ladder.players.iter_mut().find(|one| one.id == *player)
        {
            player.failed = Some(reason.clone());
        }
        if stored.is_ok() && !scores.is_empty() {
            ladder.add(&scores, &pairs);
        }
        if ladder.has_unrated_games && ladder.rated.is_none_or(|at| at.elapsed() > RATING_INTERVAL) {
            errors.extend(ladder.rate(app, handle).err());
        }
    }
    drop(list);
    match stored {
        Ok(()) => errors.extend(store_games(app, handle, job, &result).err()),
        Err(error) => errors.push(error),
    }
    errors.extend(result.failure);
    for error in &errors {
        tracing::warn!(%error, competition = job.competition.id, "a practice game has no result");
    }
    if !errors.is_empty()
        && let Some(ladder) =
            app.practice.ladders.0.lock_ignoring_poison().ladders.get_mut(&job.competition.id)
    {
        ladder.paused_until = Instant::now().checked_add(ERROR_DELAY);
    }
}

/// Players of the ladder of a competition, for its page: current versions and house bots, the best first.
pub async fn standings(app: &AppState, competition: &str) -> ApiResult<Vec<PracticePlayer>> {
    let mut players = app.site_db.practice_players(competition).await?;
    players.retain(|player| !player.is_replaced);
    let rating = |player: &PracticePlayer| player.rating.unwrap_or(f64::NEG_INFINITY);
    players.sort_by(|a, b| a.role.cmp(&b.role).then(rating(b).total_cmp(&rating(a))).then(a.id.cmp(&b.id)));
    Ok(players)
}
