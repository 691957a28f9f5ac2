//! Watches running competitions and tells authors what happened to their bots: overtaken, faults, a phase begins.
//!
//! It reads the tables that everyone sees, so a frozen table tells nothing.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agon_core::Fault;
use agon_site_db::{CompetitionState, EntrantId, NotificationKind};

use super::{Notice, send, send_to_managers, tell_competition};
use crate::error::ApiResult;
use crate::read_model::{VisibleCompetition, is_public};
use crate::state::AppState;

/// Interval between two looks at all competitions.
const WATCH_INTERVAL: Duration = Duration::from_secs(20);

/// What was seen of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PhaseSeen {
    /// Rank and number of faults of each entrant.
    entrants: BTreeMap<u32, (Option<u64>, [u64; 4])>,
}

/// What was seen of all competitions: by id and number of the phase.
#[derive(Debug, Default)]
pub struct CompetitionWatch {
    seen: BTreeMap<(String, u32), PhaseSeen>,
    /// Whether a first look has been taken. What happened before the server started is not news.
    is_ready: bool,
}

/// Watches until the server stops.
pub async fn run(app: AppState) {
    let mut watch = CompetitionWatch::default();
    while !app.is_stopping() {
        watch.look(&app).await;
        tokio::select! {
            () = tokio::time::sleep(WATCH_INTERVAL) => {}
            () = app.wait_for_stop() => return,
        }
    }
}

impl CompetitionWatch {
    /// Looks at all competitions that are being played, or were at the last look.
    pub async fn look(&mut self, app: &AppState) {
        let Ok(all) = crate::read_model::all_competitions(&app.site_db).await else { return };
        for row in all.into_iter().filter(is_public) {
            let is_known = self.seen.keys().any(|(id, _)| *id == row.id);
            let is_played = row.state == CompetitionState::Running;
            let may_end = matches!(row.state, CompetitionState::Finished | CompetitionState::Waiting);
            if !is_played && !(may_end && is_known) {
                continue;
            }
            let id = row.id.clone();
            if let Err(error) = self.look_at(app, Arc::new(row)).await {
                tracing::warn!(id, error = error.message(), "a competition cannot be watched");
            }
            if !is_played {
                // Its last results were told. A waiting competition is seen again with its next phase.
                self.seen.retain(|(seen, _), _| *seen != id);
            }
        }
        self.is_ready = true;
    }

    async fn look_at(&mut self, app: &AppState, row: Arc<agon_site_db::HostedCompetition>) -> ApiResult<()> {
        let Ok(handle) = app.competitions.get(&row.id) else { return Ok(()) };
        let visible = VisibleCompetition::of(&handle, &row, false);
        let overview = visible.overview(app).await?;
        let Some(phase) = overview.current_phase().filter(|phase| phase.started.is_some()) else {
            return Ok(());
        };
        let standings = visible.standings(app, phase.number).await?;
        let mut now = PhaseSeen::default();
        for (entrant, stats) in &standings.stats {
            now.entrants.insert(*entrant, (standings.rank_of(*entrant).0, stats.faults));
        }
        let before = self.seen.insert((row.id.clone(), phase.number), now.clone());
        if !self.is_ready {
            return Ok(());
        }
        let place = WatchedPhase { id: &row.id, name: &row.name, phase: &phase.name };
        if before.is_none() {
            tell_phase_begins(app, &place).await?;
        }
        let before = before.unwrap_or_default();
        for (number, (rank, faults)) in &now.entrants {
            let Some(owner) = overview.entrant_owner(*number).filter(|owner| owner.account.is_some()) else {
                continue;
            };
            let (old_rank, old_faults) = before.entrants.get(number).copied().unwrap_or_default();
            let notices = [
                overtaken(&place, &owner.body.name, owner.body.bot, old_rank, *rank),
                crashed(&place, &owner.body.name, owner.body.bot, old_faults, *faults),
            ];
            if notices.iter().all(Option::is_none) {
                continue;
            }
            let entrant = app.site_db.entrant(EntrantId(owner.body.bot)).await?;
            for notice in notices.into_iter().flatten() {
                send_to_managers(app, &entrant, &notice).await;
            }
        }
        Ok(())
    }
}

/// A phase of a competition.
struct WatchedPhase<'p> {
    id: &'p str,
    name: &'p str,
    phase: &'p str,
}

async fn tell_phase_begins(app: &AppState, place: &WatchedPhase<'_>) -> ApiResult<()> {
    let notice = Notice {
        kind: NotificationKind::PhaseBegins,
        topic: format!("competition/{}", place.id),
        link: format!("/c/{}", place.id),
        text: format!("{}: {} begins.", place.name, place.phase),
    };
    for account in app.site_db.people_of_competition(place.id).await? {
        send(app, account, &notice).await;
    }
    tell_competition(app, place.id, &notice).await;
    Ok(())
}

fn overtaken(
    place: &WatchedPhase<'_>,
    name: &str,
    bot: i64,
    old: Option<u64>,
    new: Option<u64>,
) -> Option<Notice> {
    let (old, new) = (old?, new?);
    (new > old).then(|| Notice {
        kind: NotificationKind::Overtaken,
        topic: format!("bot/{bot}"),
        link: format!("/c/{}/bots/{bot}", place.id),
        text: format!("{name} was overtaken in {}: from rank {old} to rank {new}.", place.name),
    })
}

fn crashed(place: &WatchedPhase<'_>, name: &str, bot: i64, old: [u64; 4], new: [u64; 4]) -> Option<Notice> {
    let more = |fault: Fault| {
        let at = fault.index();
        let count = new.get(at).zip(old.get(at)).map_or(0, |(new, old)| new.saturating_sub(*old));
        (fault, count)
    };
    let counts = [Fault::Timeout, Fault::Crash, Fault::Illegal, Fault::Garbled].map(more);
    let total: u64 = counts.iter().map(|(_, count)| count).sum();
    let kinds: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(fault, count)| format!("{count} {}", fault_name(*fault)))
        .collect();
    (total > 0).then(|| Notice {
        kind: NotificationKind::Crashed,
        topic: format!("bot/{bot}"),
        link: format!("/c/{}/bots/{bot}", place.id),
        text: format!("{name} had faults in {}: {}.", place.name, kinds.join(", ")),
    })
}

const fn fault_name(fault: Fault) -> &'static str {
    match fault {
        Fault::Timeout => "timeout",
        Fault::Crash => "crash",
        Fault::Illegal => "illegal answer",
        Fault::Garbled => "unreadable answer",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CUP: WatchedPhase<'_> = WatchedPhase { id: "cup", name: "Cup", phase: "Final" };

    #[test]
    fn only_a_lower_place_is_overtaken() {
        let told = |old, new| overtaken(&CUP, "Mine", 7, old, new).map(|notice| notice.text);
        assert_eq!(
            told(Some(2), Some(4)).as_deref(),
            Some("Mine was overtaken in Cup: from rank 2 to rank 4.")
        );
        for quiet in [(Some(2), Some(2)), (Some(4), Some(2)), (None, Some(1)), (Some(1), None)] {
            assert_eq!(told(quiet.0, quiet.1), None);
        }
    }

    #[test]
    fn new_faults_are_summed_up() {
        let told = |old, new| crashed(&CUP, "Mine", 7, old, new).map(|notice| notice.text);
        assert_eq!(told([0; 4], [0; 4]), None);
        assert_eq!(told([1, 2, 0, 0], [1, 2, 0, 0]), None);
        let text = told([0; 4], [1, 2, 0, 0]).unwrap();
        assert!(
            text.starts_with("Mine had faults in Cup: ") && text.contains("2 ") && text.contains(", "),
            "{text}"
        );
    }
}
