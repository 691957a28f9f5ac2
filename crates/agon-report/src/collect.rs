//! Reads the content of a report from the ledger. The ledger is opened read-only, and a run may continue meanwhile. The figures of a
//! phase are those at the time of reading.

use std::collections::BTreeSet;

use agon_bots::error::Diagnostic;
use agon_competition::LoadedCompetition;
use agon_core::record::Digest;
use agon_league::config::EntrantSpec;
use agon_league::format::{PhaseHistory, stage_names};
use agon_league::{Entrant, MatchKey};
use agon_runner::phase_results;
use agon_runner::shown_entrants::shown_entrants;
use agon_store::{FaultFilter, Ledger, PhaseStatus, StoredFault, Timestamp};
use futures_util::StreamExt as _;

use crate::data::{FaultLine, FaultList, Participant, PhaseReport, Report, ThinkTimes, Version};
use crate::select_games::{self, GameSelection};
use crate::text_format;

/// Maximum number of faults listed per phase.
const MAX_FAULTS_PER_PHASE: u64 = 200;
/// Maximum number of faults listed per entrant.
const MAX_FAULTS_PER_ENTRANT: u64 = 60;

/// Collects the whole report.
pub async fn report(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    wanted: GameSelection,
) -> Result<Report, Diagnostic> {
    let kept = ledger.competition().await?;
    let revealed = kept.revealed.is_some();
    let mut phases = Vec::new();
    for status in ledger.phases().await? {
        phases.push(phase(loaded, ledger, &status, revealed, wanted).await?);
    }
    let shown = pages_of(&phases);
    for phase in &mut phases {
        mark_watchable(&mut phase.faults, &shown);
    }
    let mut entrants = participants(&shown_entrants(ledger, &loaded.competition, u32::MAX).await?);
    for version in ledger.bot_versions().await? {
        if let Some(one) = entrants.get_mut(version.entrant.index()) {
            one.versions.push(Version {
                number: version.version,
                hash: version.hash,
                commit: version.commit,
                from_phase: version.from_phase,
                at: version.at.0,
            });
        }
    }
    for (entrant, reason) in agon_runner::rulings::disqualified(ledger).await? {
        if let Some(one) = entrants.get_mut(entrant.index()) {
            one.marks.push(("disqualified".to_owned(), Some(reason)));
        }
    }
    let hidden: Vec<bool> = phases.iter().map(|phase| phase.games.hidden).collect();
    for (number, one) in entrants.iter_mut().enumerate() {
        let entrant = Entrant(number as u32);
        let count = |phase: &PhaseReport| phase.faults_of(entrant);
        let total: u64 = phases.iter().map(count).sum();
        if total > 0 {
            let filter = FaultFilter {
                entrant: Some(entrant),
                limit: Some(MAX_FAULTS_PER_ENTRANT),
                ..FaultFilter::default()
            };
            one.faults = faults(ledger, filter, total, &hidden).await?;
            mark_watchable(&mut one.faults, &shown);
        }
    }
    Ok(Report {
        name: kept.name,
        game: loaded.table.info(),
        engine: kept.engine,
        started: kept.config_versions.first().map(|edition| edition.at.0),
        written: Timestamp::now().0,
        commitment: kept.commitment.hex(),
        seed: kept.revealed.map(|(seed, at)| (seed.expose().to_owned(), at.0)),
        entrants,
        phases,
    })
}

fn participants(entrants: &[EntrantSpec]) -> Vec<Participant> {
    let one = |spec: &EntrantSpec| Participant {
        name: spec.name.clone(),
        contributor: spec.contributor.clone(),
        marks: spec.marks.iter().map(|mark| (mark.mark.clone(), mark.note.clone())).collect(),
        role: spec.role,
        versions: Vec::new(),
        faults: FaultList::default(),
    };
    entrants.iter().map(one).collect()
}

async fn phase(
    loaded: &LoadedCompetition,
    ledger: &dyn Ledger,
    status: &PhaseStatus,
    revealed: bool,
    wanted: GameSelection,
) -> Result<PhaseReport, Diagnostic> {
    let (competition, info, number) = (&loaded.competition, loaded.table.info(), status.phase);
    let Some(spec) = competition.phases.get(number as usize) else {
        return Ok(PhaseReport { number, state: status.state, ..PhaseReport::default() });
    };
    let mut report = PhaseReport {
        number,
        name: if spec.name.is_empty() { format!("Phase {}", number + 1) } else { spec.name.clone() },
        format: text_format::describe_format(&spec.format),
        state: status.state,
        started: status.started.map(|at| at.0),
        published: status.published.map(|at| at.0),
        table: status.table_hash.map(Digest::hex),
        ..PhaseReport::default()
    };
    let counts = ledger.counts(number).await?;
    (report.matches, report.games_played) = (counts.matches, counts.games);
    if counts.matches == 0 {
        return Ok(report);
    }
    let played = phase_results::counted_results(ledger, info, number).await?;
    let seed = ledger.secret_seed().await?;
    let plan = phase_results::schedule(ledger, competition, info, number, &seed).await?;
    let stages = if plan.depends_on_results() {
        phase_results::finished_stages(ledger, info, number, plan.as_ref(), played.stages.len() as u32)
            .await?
    } else {
        Vec::new()
    };
    let past = PhaseHistory { stages: &stages, ..PhaseHistory::default() };
    report.expected = Some(plan.expected_matches());
    report.balance = Some(plan.balance(&past));
    report.standings = Some(phase_results::shown_standings(ledger, competition, info, number).await?);
    let pace = |(entrant, sums): (Entrant, &agon_league::tally::EntrantTotals)| ThinkTimes {
        entrant,
        answers: sums.answers,
        mean: sums.mean_us() * 1000.0,
        longest: sums.longest_ns as f64,
    };
    report.think_times = played.tally.entrants().map(pace).collect();
    report.fault_counts =
        played.tally.entrants().map(|(entrant, sums)| (entrant, sums.faults.iter().sum())).collect();
    let hidden = !revealed && competition.is_phase_hidden(info, number);
    let mut held_back = vec![false; number as usize];
    held_back.push(hidden);
    let filter =
        FaultFilter { phase: Some(number), limit: Some(MAX_FAULTS_PER_PHASE), ..FaultFilter::default() };
    report.faults = faults(ledger, filter, counts.faults, &held_back).await?;
    let names = stage_names(plan.as_ref(), &stages, played.stages.len() as u32);
    report.games.total = counts.games;
    report.games.hidden = hidden;
    if !hidden {
        report.games = select_games::games(loaded, ledger, number, &names, wanted).await?;
        report.games.total = counts.games.max(report.games.shown.len() as u64);
    }
    if spec.format.is_bracket() {
        let field = phase_results::field(ledger, competition, info, number).await?;
        report.bracket =
            Some(phase_results::bracket(ledger, info, number, plan.as_ref(), &field, &stages).await?);
    }
    Ok(report)
}

/// Faults, newest first. Messages of bots that played with hidden seeds are omitted.
async fn faults(
    ledger: &dyn Ledger,
    filter: FaultFilter,
    total: u64,
    hidden: &[bool],
) -> Result<FaultList, Diagnostic> {
    let mut list = FaultList { total, ..FaultList::default() };
    let mut rows = ledger.faults(filter);
    while let Some(one) = rows.next().await {
        let StoredFault { key, fault, finished, .. } = one?;
        let hide = hidden.get(key.phase as usize).copied().unwrap_or(false);
        list.held_back |= hide;
        let keep = |text: String| if hide { String::new() } else { text };
        list.shown.push(FaultLine {
            at: finished.0,
            key,
            game: fault.game,
            turn: fault.turn,
            entrant: fault.entrant,
            fault: fault.report.fault,
            message: keep(fault.report.message),
            output: keep(fault.report.stderr),
            has_page: false,
        });
    }
    list.total = list.total.max(list.shown.len() as u64);
    Ok(list)
}

fn pages_of(phases: &[PhaseReport]) -> BTreeSet<(MatchKey, u32)> {
    let games = phases.iter().flat_map(|phase| &phase.games.shown).filter(|game| game.has_page);
    games.map(|game| (game.key, game.game)).collect()
}

/// Marks faults of games that have a replay page.
fn mark_watchable(list: &mut FaultList, shown: &BTreeSet<(MatchKey, u32)>) {
    for fault in &mut list.shown {
        fault.has_page = shown.contains(&(fault.key, fault.game));
    }
}
