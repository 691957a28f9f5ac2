//! How the ratings of a phase came about: what they were after each thirtieth of it, in the order matches were finished.

use std::collections::HashSet;

use agon_league::MatchKey;
use agon_league::standings;
use agon_league::tally::Tally;
use agon_runner::phase_results;
use agon_store::{Ledger, MatchFilter, Order, RulingKind};
use agon_venue::Sitting;
use futures_util::StreamExt as _;
use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::VisibleCompetition;
use super::encoded_json::EncodedJson;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// At so many places.
const POINTS: u64 = 30;

/// How ratings came about.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatingHistory {
    /// The first first.
    pub points: Vec<RatingPoint>,
}

/// What ratings were at some time.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatingPoint {
    /// After so many matches.
    pub matches: u64,
    /// Of everybody who had played.
    pub ratings: Vec<RatingThen>,
}

/// What a rating was.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatingThen {
    /// Whose.
    pub entrant: u32,
    /// On the scale of Elo.
    pub rating: f64,
}

impl VisibleCompetition {
    /// Of a phase, from 1.
    pub async fn ratings(&self, app: &AppState, number: u32) -> ApiResult<EncodedJson> {
        let (sitting, ledger, phase) = self.arena.phase(number)?;
        let make = || {
            app.arenas.work(move |handle: &Handle| {
                let history = handle.block_on(history(&sitting, &*ledger, phase))?;
                EncodedJson::json(&history)
            })
        };
        let kept = self.arena.histories.get(phase, self.arena.revision(), self.is_running(), make).await?;
        Ok((*kept.value).clone())
    }
}

async fn history(sitting: &Sitting, ledger: &dyn Ledger, phase: u32) -> ApiResult<RatingHistory> {
    let (competition, info) = (&sitting.competition, sitting.table.info());
    let asked = phase_results::standings_request(competition, info, &competition.phases[phase as usize], &[]);
    let void: HashSet<MatchKey> = ledger
        .rulings()
        .await
        .map_err(ApiError::broke)?
        .into_iter()
        .filter_map(|one| match one.kind {
            RulingKind::Void(key) if key.phase == phase && one.lifted.is_none() => Some(key),
            _ => None,
        })
        .collect();
    let played = ledger.counts(phase).await.map_err(ApiError::broke)?.matches;
    let total = played.saturating_sub(void.len() as u64);
    let (mut tally, mut points) = (Tally::new(info), Vec::new());
    let mut matches = ledger.matches(phase, MatchFilter { order: Order::Appended, ..MatchFilter::default() });
    while let Some(one) = matches.next().await {
        let one = one.map_err(ApiError::broke)?.result;
        if void.contains(&one.key) {
            continue;
        }
        tally.add(&one);
        // Each thirtieth; each match where there are fewer.
        if tally.matches * POINTS / total.max(1) > (tally.matches - 1) * POINTS / total.max(1) {
            let ratings = standings::ratings(&tally, &asked);
            let then = |one: &agon_league::rating::Rating| RatingThen {
                entrant: one.entrant.0,
                rating: (one.rating * 10.0).round() / 10.0,
            };
            let ratings = ratings.iter().filter(|one| one.rating.is_finite()).map(then).collect();
            points.push(RatingPoint { matches: tally.matches, ratings });
        }
    }
    Ok(RatingHistory { points })
}
