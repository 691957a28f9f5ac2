//! Ratings of a phase over time: at about 30 points, in the order in which matches finished.

use std::collections::HashSet;

use agon_competition::LoadedCompetition;
use agon_league::MatchKey;
use agon_league::standings;
use agon_league::tally::Tally;
use agon_report::scale;
use agon_runner::phase_results;
use agon_store::{Ledger, MatchFilter, MatchOrder, RulingKind};
use futures_util::StreamExt as _;
use serde::Serialize;
use tokio::runtime::Handle;
use utoipa::ToSchema;

use super::VisibleCompetition;
use super::chart_scales::AxisScaleBody;
use super::encoded_json::EncodedJson;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Maximum number of points.
const MAX_POINTS: u64 = 30;

/// Ratings over time.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatingHistory {
    /// Points, oldest first.
    pub points: Vec<RatingPoint>,
    /// Scale of the ratings; null if there are none.
    pub rating_scale: Option<AxisScaleBody>,
    /// Scale of the number of matches.
    pub match_scale: AxisScaleBody,
}

/// Ratings at one point in time.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatingPoint {
    /// Number of matches played by then.
    pub matches: u64,
    /// Ratings of all entrants that had played.
    pub ratings: Vec<PastRating>,
}

/// Rating of an entrant at one point in time.
#[derive(Debug, Serialize, ToSchema)]
pub struct PastRating {
    /// The entrant.
    pub entrant: u32,
    /// Rating on the Elo scale.
    pub rating: f64,
}

impl VisibleCompetition {
    /// Ratings of a phase (from 1) over time.
    pub async fn ratings(&self, app: &AppState, number: u32) -> ApiResult<EncodedJson> {
        let (loaded, ledger, phase) = self.handle.phase(number)?;
        let make = || {
            app.competitions.compute(move |handle: &Handle| {
                let history = handle.block_on(compute(&loaded, &*ledger, phase))?;
                EncodedJson::from_value(&history)
            })
        };
        let cached =
            self.handle.histories.get(phase, self.handle.revision(), self.is_running(), make).await?;
        Ok((*cached.value).clone())
    }
}

async fn compute(loaded: &LoadedCompetition, ledger: &dyn Ledger, phase: u32) -> ApiResult<RatingHistory> {
    let (competition, info) = (&loaded.competition, loaded.table.info());
    let request =
        phase_results::standings_request(competition, info, &competition.phases[phase as usize], &[]);
    let void: HashSet<MatchKey> = ledger
        .rulings()
        .await
        .map_err(ApiError::internal)?
        .into_iter()
        .filter_map(|one| match one.kind {
            RulingKind::Void(key) if key.phase == phase && one.lifted.is_none() => Some(key),
            _ => None,
        })
        .collect();
    let played = ledger.counts(phase).await.map_err(ApiError::internal)?.matches;
    let total = played.saturating_sub(void.len() as u64);
    let (mut tally, mut points) = (Tally::new(info), Vec::<RatingPoint>::new());
    let mut matches =
        ledger.matches(phase, MatchFilter { order: MatchOrder::Appended, ..MatchFilter::default() });
    while let Some(one) = matches.next().await {
        let one = one.map_err(ApiError::internal)?.result;
        if void.contains(&one.key) {
            continue;
        }
        tally.add(&one);
        // A point after each thirtieth of the matches, or after each match if there are fewer.
        if tally.matches * MAX_POINTS / total.max(1) > (tally.matches - 1) * MAX_POINTS / total.max(1) {
            let ratings = standings::ratings(&tally, &request);
            let then = |one: &agon_league::rating::Rating| PastRating {
                entrant: one.entrant.0,
                rating: (one.rating * 10.0).round() / 10.0,
            };
            let ratings = ratings.iter().filter(|one| one.rating.is_finite()).map(then).collect();
            points.push(RatingPoint { matches: tally.matches, ratings });
        }
    }
    let all = points.iter().flat_map(|point| point.ratings.iter().map(|one| one.rating));
    let last = points.last().map_or(0, |point| point.matches);
    Ok(RatingHistory {
        rating_scale: scale::rating_history(all).map(Into::into),
        match_scale: scale::counts(last).into(),
        points,
    })
}
