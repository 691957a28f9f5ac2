//! Scoreboard freeze: from a moment on, everybody but organisers sees a competition as it was then, until organisers lift the freeze.
//!
//! A reader gets another [`CompetitionHandle`], whose ledger is a [`LedgerAsOf`]. It has caches of its own and no live games. A route that
//! uses [`VisibleCompetition`](super::VisibleCompetition) can therefore not show a newer result.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use agon_competition::LoadedCompetition;
use agon_core::RwLockIgnoringPoison as _;
use agon_site_db::{CompetitionState, HostedCompetition, SiteDb, StandingsFreeze};
use agon_store::{Ledger, LedgerAsOf, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::overview::Overview;
use super::{CompetitionHandle, FeedEvent, VisibleCompetition};
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// The competition as it was at the freeze, with what it was made from.
pub(super) struct FrozenView {
    since: Timestamp,
    loaded: Arc<LoadedCompetition>,
    source: Arc<dyn Ledger>,
    handle: Arc<CompetitionHandle>,
}

/// A freeze of the standings that is in force.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FreezeBody {
    /// The last moment whose results everyone sees.
    pub since: i64,
    /// Whether this response shows the state of that moment. Organisers see the current one.
    pub hides: bool,
    /// Number of places that are revealed, from the last one upwards.
    pub revealed: u32,
    /// Number of places.
    pub places: u32,
    /// The revealed places, the last one first.
    pub rows: Vec<RevealedPlace>,
}

/// A place that is revealed while the standings are still frozen.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RevealedPlace {
    /// The place; null for a bot without one.
    pub place: Option<u64>,
    /// The entrant.
    pub entrant: u32,
    /// Id of the bot's page.
    pub bot: i64,
    /// The bot's name.
    pub name: String,
    /// The bot's role, in a game with a table for each role.
    pub role: Option<String>,
}

/// When the standings will be frozen, as the competition's file has it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PlannedFreeze {
    /// The moment, if the file names one.
    pub at: Option<i64>,
    /// The same as the file has it, with its time zone.
    pub text: Option<String>,
    /// Number of the first phase that freezes the standings when it starts.
    pub phase: Option<u32>,
}

impl CompetitionHandle {
    /// The latest freeze.
    pub fn freeze(&self) -> Option<StandingsFreeze> {
        *self.freeze.read_ignoring_poison()
    }

    /// Sets the latest freeze, which is stored in the site database too.
    pub fn set_freeze(&self, freeze: Option<StandingsFreeze>) {
        *self.freeze.write_ignoring_poison() = freeze;
        self.changed();
    }

    /// The moment of this view, if it shows a frozen competition.
    pub const fn as_of(&self) -> Option<Timestamp> {
        self.as_of
    }

    /// Since when the standings are frozen, if they are. A freeze that the file plans for a moment begins by itself, unless the
    /// competition was finished before.
    pub fn frozen_since(&self, state: CompetitionState) -> Option<Timestamp> {
        if let Some(freeze) = self.freeze() {
            return freeze.lifted.is_none().then_some(freeze.since);
        }
        let plays = matches!(
            state,
            CompetitionState::Running
                | CompetitionState::Paused
                | CompetitionState::Waiting
                | CompetitionState::Failed
        );
        let moment = self.loaded()?.competition.freeze.as_ref().map(|moment| Timestamp(moment.unix_ms))?;
        (plays && moment <= Timestamp::now() && self.ledger().is_some()).then_some(moment)
    }

    /// The competition as a caller sees it, with its row in the site database.
    pub fn as_seen_by(
        self: &Arc<Self>,
        row: &Arc<HostedCompetition>,
        is_organiser: bool,
    ) -> (Arc<Self>, Arc<HostedCompetition>) {
        let since = self.frozen_since(row.state).filter(|_| !is_organiser);
        let Some(frozen) = since.and_then(|since| self.frozen_at(since)) else {
            return (Arc::clone(self), Arc::clone(row));
        };
        if row.state != CompetitionState::Finished {
            return (frozen, Arc::clone(row));
        }
        // With the table of the freeze, the end of the competition would show the wrong winner.
        let running = HostedCompetition { state: CompetitionState::Running, ..HostedCompetition::clone(row) };
        (frozen, Arc::new(running))
    }

    /// The view of that moment; `None` before the start.
    fn frozen_at(&self, since: Timestamp) -> Option<Arc<Self>> {
        let (loaded, source) = (self.loaded()?, self.ledger()?);
        let is_current = |view: &&FrozenView| {
            view.since == since && Arc::ptr_eq(&view.loaded, &loaded) && Arc::ptr_eq(&view.source, &source)
        };
        if let Some(view) = self.frozen_view.read_ignoring_poison().as_ref().filter(is_current) {
            return Some(Arc::clone(&view.handle));
        }
        let mut slot = self.frozen_view.write_ignoring_poison();
        if let Some(view) = slot.as_ref().filter(is_current) {
            return Some(Arc::clone(&view.handle));
        }
        let mut handle = Self::new(self.id.clone(), self.game, self.ledgers.clone());
        handle.as_of = Some(since);
        handle.events = self.public_events.clone();
        handle.public_events = self.public_events.clone();
        let ledger: Arc<dyn Ledger> = Arc::new(LedgerAsOf::new(Arc::clone(&source), since));
        handle.replace(Some(Arc::clone(&loaded)), Some(ledger));
        let handle = Arc::new(handle);
        *slot = Some(FrozenView { since, loaded, source, handle: Arc::clone(&handle) });
        Some(handle)
    }

    /// Begins a freeze, unless there is one, or was one and it is not to begin `again`. Returns it if it must be stored.
    pub fn begin_freeze(&self, since: Timestamp, again: bool) -> Option<StandingsFreeze> {
        let freeze = StandingsFreeze { since, revealed: 0, lifted: None };
        {
            let mut current = self.freeze.write_ignoring_poison();
            if current.is_some_and(|freeze| freeze.lifted.is_none() || !again) {
                return None;
            }
            *current = Some(freeze);
        }
        self.publish_freeze();
        Some(freeze)
    }

    /// Tells all viewers that a freeze has begun or ended, or that places were revealed.
    pub fn publish_freeze(&self) {
        let freeze = self.freeze().filter(|freeze| freeze.lifted.is_none());
        self.freeze_published.store(freeze.is_some(), Ordering::Release);
        self.changed();
        self.publish(FeedEvent::Freeze {
            since: freeze.map(|freeze| freeze.since),
            revealed: freeze.map_or(0, |freeze| freeze.revealed),
        });
    }

    /// Reads the freeze of a competition when the server starts. A phase that freezes the standings may have started just before the
    /// server was killed.
    pub async fn restore_freeze(&self, site_db: &SiteDb) -> ApiResult<()> {
        if let Some(stored) = site_db.standings_freeze(&self.id).await? {
            self.set_freeze(Some(stored));
            return Ok(());
        }
        let (Some(loaded), Some(ledger)) = (self.loaded(), self.ledger()) else { return Ok(()) };
        if !loaded.competition.phases.iter().any(|phase| phase.freeze) {
            return Ok(());
        }
        let started = ledger.phases().await.map_err(ApiError::internal)?.into_iter().find_map(|status| {
            let phase = loaded.competition.phases.get(status.phase as usize)?;
            status.started.filter(|_| phase.freeze)
        });
        if let Some(freeze) = started.and_then(|since| self.begin_freeze(since, false)) {
            site_db.set_standings_freeze(&self.id, freeze).await?;
        }
        Ok(())
    }

    /// What the file plans, while nothing is or was frozen.
    pub fn planned_freeze(&self) -> Option<PlannedFreeze> {
        if self.freeze().is_some() || self.as_of.is_some() {
            return None;
        }
        let loaded = self.loaded()?;
        let competition = &loaded.competition;
        let phase = (1..).zip(&competition.phases).find(|(_, phase)| phase.freeze).map(|(number, _)| number);
        let moment = competition.freeze.as_ref();
        (moment.is_some() || phase.is_some()).then(|| PlannedFreeze {
            at: moment.map(|moment| moment.unix_ms),
            text: moment.map(|moment| moment.text.clone()),
            phase,
        })
    }
}

/// The freeze that is in force, with the places that are revealed.
pub async fn freeze_body(app: &AppState, visible: &VisibleCompetition) -> ApiResult<Option<FreezeBody>> {
    let handle = app.competitions.get(&visible.handle.id)?;
    let row = handle.site_row(&app.site_db).await?;
    let Some(since) = handle.frozen_since(row.state) else { return Ok(None) };
    let revealed = handle.freeze().map_or(0, |freeze| freeze.revealed);
    let all = final_places(app, &handle, row).await?;
    let places = all.iter().map(Vec::len).max().unwrap_or(0) as u32;
    let shown =
        |table: &Vec<RevealedPlace>| table.iter().rev().take(revealed as usize).cloned().collect::<Vec<_>>();
    Ok(Some(FreezeBody {
        since: since.0,
        hides: visible.handle.as_of().is_some(),
        revealed: revealed.min(places),
        places,
        rows: all.iter().flat_map(shown).collect(),
    }))
}

/// Places in the current official tables, the best one first. Shown only as far as organisers reveal them.
async fn final_places(
    app: &AppState,
    handle: &Arc<CompetitionHandle>,
    row: Arc<HostedCompetition>,
) -> ApiResult<Vec<Vec<RevealedPlace>>> {
    let visible = VisibleCompetition { handle: Arc::clone(handle), site_row: row };
    let overview = visible.overview(app).await?;
    let Some(phase) = overview.current_phase().filter(|phase| phase.matches > 0) else {
        return Ok(Vec::new());
    };
    let standings = visible.standings(app, phase.number).await?;
    let rows = standings.official_rows();
    let roles = rows.len() > 1;
    let place = |(entrant, place): (u32, Option<u64>)| revealed_place(&overview, entrant, place, roles);
    Ok(rows.into_iter().map(|table| table.into_iter().filter_map(place).collect()).collect())
}

fn revealed_place(
    overview: &Overview,
    entrant: u32,
    place: Option<u64>,
    roles: bool,
) -> Option<RevealedPlace> {
    let owner = overview.entrant_owner(entrant)?;
    Some(RevealedPlace {
        place,
        entrant,
        bot: owner.body.bot,
        name: owner.body.name.clone(),
        role: owner.body.role.clone().filter(|_| roles),
    })
}
