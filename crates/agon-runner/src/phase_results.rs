//! Results of a phase, read from the ledger: to resume the phase and to compute its tables.

use agon_core::GameInfo;
use agon_league::bracket::{self, Bracket};
use agon_league::config::{CompetitionConfig, PhaseConfig};
use agon_league::format::{Format, MatchVerdict, PhaseField, PhaseHistory, PhaseSchedule};
use agon_league::standings::{self, RulingKind, Standings, StandingsRequest};
use agon_league::tally::{Tally, TallyDecodeError};
use agon_league::{Entrant, FormatError, MatchKey};
use agon_store::{
    Ledger, MatchFilter, PhaseProgress, PhaseState, PhaseStatus, Ranges, SecretSeed, StoreError,
};
use futures_util::StreamExt as _;

use crate::rulings::Rulings;
use crate::shown_entrants::shown_entrants;
use crate::{RunError, seeds};

/// Results of a phase so far.
pub struct PhaseResults {
    /// Sums from which tables are computed.
    pub tally: Tally,
    /// Played matches of each stage.
    pub stages: Vec<Ranges>,
    /// Number of matches since the last snapshot.
    pub since_snapshot: u64,
}

impl PhaseResults {
    /// Number of played matches.
    pub fn match_count(&self) -> u64 {
        self.stages.iter().map(Ranges::len).sum()
    }
}

/// Results that count: all played matches of a phase except void ones.
pub async fn counted_results(
    ledger: &dyn Ledger,
    game: &GameInfo,
    phase: u32,
) -> Result<PhaseResults, RunError> {
    let rulings = Rulings::load(ledger).await?;
    results_under_rulings(ledger, game, phase, &rulings, &rulings.in_force()).await
}

/// Results of a phase under the given rulings. Reads the whole phase only if some matches are void.
pub async fn results_under_rulings(
    ledger: &dyn Ledger,
    game: &GameInfo,
    phase: u32,
    rulings: &Rulings,
    ruling_ids: &[u64],
) -> Result<PhaseResults, RunError> {
    let mut results = all_results(ledger, game, phase).await?;
    let voided = rulings.voided_matches(phase, ruling_ids);
    if !voided.is_empty() {
        results.tally = Tally::new(game);
        let mut matches = ledger.matches(phase, MatchFilter::default());
        while let Some(one) = matches.next().await {
            let one = one?.result;
            if !voided.contains(&one.key) {
                results.tally.add(&one);
            }
        }
    }
    Ok(results)
}

/// All played matches of a phase, including void ones. Starts from the latest snapshot instead of reading the whole phase.
pub async fn all_results(ledger: &dyn Ledger, game: &GameInfo, phase: u32) -> Result<PhaseResults, RunError> {
    let PhaseProgress { snapshot, results_after_snapshot: after, played: stages } =
        ledger.progress(phase).await?;
    let mut tally = match snapshot.as_deref().map(Tally::from_bytes) {
        Some(Ok(tally)) => tally,
        // Written by another version of Agon: the results give the same sums.
        Some(Err(TallyDecodeError::Version(_))) => {
            let tally = tally_of_matches(ledger, game, phase, MatchFilter::default()).await?;
            let since_snapshot = tally.matches;
            return Ok(PhaseResults { tally, stages, since_snapshot });
        }
        Some(Err(error)) => return Err(RunError::Snapshot { phase, error }),
        None => Tally::new(game),
    };
    // Free the memory early: a snapshot can be large.
    drop(snapshot);
    for result in &after {
        tally.add(result);
    }
    Ok(PhaseResults { tally, stages, since_snapshot: after.len() as u64 })
}

/// Tally of the stages before `stage`.
pub async fn tally_before_stage(
    ledger: &dyn Ledger,
    game: &GameInfo,
    phase: u32,
    stage: u32,
) -> Result<Tally, RunError> {
    tally_of_matches(ledger, game, phase, MatchFilter { stages: 0..stage, ..MatchFilter::default() }).await
}

/// Tally of stored matches.
async fn tally_of_matches(
    ledger: &dyn Ledger,
    game: &GameInfo,
    phase: u32,
    filter: MatchFilter,
) -> Result<Tally, RunError> {
    let mut tally = Tally::new(game);
    let mut matches = ledger.matches(phase, filter);
    while let Some(one) = matches.next().await {
        tally.add(&one?.result);
    }
    Ok(tally)
}

/// Verdicts of a stage, in the order of its fixtures. `forfeits` lists matches that an entrant loses regardless of the result.
pub async fn verdicts(
    ledger: &dyn Ledger,
    game: &GameInfo,
    phase: u32,
    stage: u32,
    forfeits: &[(MatchKey, Entrant)],
) -> Result<Vec<MatchVerdict>, RunError> {
    let mut verdicts = Vec::new();
    let filter = MatchFilter { stages: stage..stage + 1, ..MatchFilter::default() };
    let mut matches = ledger.matches(phase, filter);
    while let Some(one) = matches.next().await {
        let one = one?.result;
        let mut verdict = MatchVerdict::of(game, &one);
        forfeits.iter().filter(|(key, _)| *key == one.key).for_each(|(_, by)| verdict.forfeit(*by));
        verdicts.push(verdict);
    }
    Ok(verdicts)
}

/// Verdicts of all finished stages, among the first `started_stages`.
pub async fn finished_stages(
    ledger: &dyn Ledger,
    game: &GameInfo,
    phase: u32,
    schedule: &dyn PhaseSchedule,
    started_stages: u32,
) -> Result<Vec<Vec<MatchVerdict>>, RunError> {
    let mut stages = Vec::new();
    // Only brackets have placings, and only in brackets a disqualified entrant forfeits its matches.
    let is_bracket = schedule.placing(&PhaseHistory::default()).is_some();
    let forfeits = if is_bracket { ledger.forfeits(phase).await? } else { Vec::new() };
    for stage in 0..started_stages {
        stages.push(verdicts(ledger, game, phase, stage, &forfeits).await?);
    }
    // A stage that is not finished gives no verdicts yet.
    while let Some(last) = stages.len().checked_sub(1) {
        let past = PhaseHistory { stages: &stages[..last], ..PhaseHistory::default() };
        let whole = schedule.stage(last as u32, &past).map_or(0, |stage| stage.len());
        if stages[last].len() as u64 >= whole {
            break;
        }
        stages.pop();
    }
    Ok(stages)
}

/// Bracket of an elimination, up to the stage that is being played. `stages` are the verdicts of finished stages.
pub async fn bracket(
    ledger: &dyn Ledger,
    game: &GameInfo,
    phase: u32,
    schedule: &dyn PhaseSchedule,
    field: &PhaseField,
    stages: &[Vec<MatchVerdict>],
) -> Result<Bracket, RunError> {
    let mut results = Vec::new();
    let filter = MatchFilter { stages: 0..stages.len() as u32 + 1, ..MatchFilter::default() };
    let mut matches = ledger.matches(phase, filter);
    while let Some(one) = matches.next().await {
        let one = one?.result;
        results.push((one.key, MatchVerdict::of(game, &one)));
    }
    Ok(bracket::build(game, schedule, field, stages, &results))
}

/// The request for the standings of a phase, without rulings.
pub fn standings_request<'a>(
    competition: &'a CompetitionConfig,
    game: &'static GameInfo,
    phase: &'a PhaseConfig,
    placing: &'a [Vec<Entrant>],
) -> StandingsRequest<'a> {
    StandingsRequest {
        competition: &competition.name,
        phase: &phase.name,
        game,
        entrants: &competition.entrants,
        placing,
        rulings: &[],
    }
}

/// Status of a phase.
pub async fn phase_status(ledger: &dyn Ledger, phase: u32) -> Result<PhaseStatus, RunError> {
    let mut all = ledger.phases().await?;
    let phases = all.len() as u32;
    if phase >= phases {
        return Err(StoreError::NoSuchPhase { phase, phases }.into());
    }
    Ok(all.swap_remove(phase as usize))
}

/// Entrants of a phase, ranked by the phase before. Entrants that were disqualified when the phase started are left out.
pub async fn field(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    game: &'static GameInfo,
    number: u32,
) -> Result<PhaseField, RunError> {
    let rulings = Rulings::load(ledger).await?;
    let ruling_ids = rulings.at_phase_start(&phase_status(ledger, number).await?);
    let out = rulings.disqualified(&ruling_ids);
    let is_in = |entrant: &Entrant| !out.iter().any(|one| one.kind == RulingKind::Disqualify(*entrant));
    let all = || (0..competition.entrants.len() as u32).map(Entrant).filter(is_in);
    let mut entrants: Vec<Entrant> = match number.checked_sub(1) {
        None => all().collect(),
        Some(before) => {
            let tally = results_under_rulings(ledger, game, before, &rulings, &ruling_ids).await?.tally;
            let phase = &competition.phases[before as usize];
            standings::official_order(
                &tally,
                &StandingsRequest { rulings: &out, ..standings_request(competition, game, phase, &[]) },
            )
        }
    };
    let missing: Vec<Entrant> = all().filter(|one| !entrants.contains(one)).collect();
    entrants.extend(missing);
    let role = |one: &Entrant| {
        let role = competition.entrants[one.index()].role;
        game.roles.iter().position(|known| Some(known.name) == role).unwrap_or(0) as u8
    };
    let roles = if game.roles.len() > 1 { entrants.iter().map(role).collect() } else { Vec::new() };
    let variants = competition.phases[number as usize].variants.len() as u32;
    let rounds_in_order = game.lifetime == agon_core::BotLifetime::Match;
    Ok(PhaseField { entrants, roles, variants, rounds_in_order })
}

/// Schedule of a phase.
pub async fn schedule(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    game: &'static GameInfo,
    number: u32,
    seed: &SecretSeed,
) -> Result<Box<dyn PhaseSchedule>, RunError> {
    let field = field(ledger, competition, game, number).await?;
    let mut phase = competition.phases[number as usize].clone();
    if let Format::Gauntlet { challengers, .. } = &mut phase.format {
        // The file may name challengers that were disqualified since.
        challengers.retain(|one| field.entrants.contains(one));
    }
    let schedule = phase.schedule(&field, seeds::schedule_seed(seed, number));
    schedule.map_err(|error: FormatError| RunError::Format { phase: number, error })
}

/// Current standings of a phase.
pub async fn phase_standings(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    game: &'static GameInfo,
    number: u32,
) -> Result<Standings, RunError> {
    let rulings = Rulings::load(ledger).await?;
    let results = results_under_rulings(ledger, game, number, &rulings, &rulings.in_force()).await?;
    standings_from(ledger, competition, game, number, &results, &rulings).await
}

/// Current standings of a phase, as people read them: until the table is published without medals, and with all entrants of the phase.
pub async fn shown_standings(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    game: &'static GameInfo,
    number: u32,
) -> Result<Standings, RunError> {
    let mut standings = phase_standings(ledger, competition, game, number).await?;
    if phase_status(ledger, number).await?.state == PhaseState::Running {
        standings.remove_medals();
        add_entrants_without_games(ledger, competition, game, number, &mut standings).await?;
    }
    Ok(standings)
}

/// Adds the entrants of a phase that have not played yet. Returns them.
pub async fn add_entrants_without_games(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    game: &'static GameInfo,
    number: u32,
    standings: &mut Standings,
) -> Result<Vec<Entrant>, RunError> {
    if standings.entrants.len() >= competition.entrants.len() {
        return Ok(Vec::new());
    }
    let field = field(ledger, competition, game, number).await?;
    let entrants = shown_entrants(ledger, competition, number).await?;
    let participants = competition.phases[number as usize].format.participants(&field);
    Ok(standings.add_entrants_without_games(game, &entrants, participants))
}

/// Standings of a phase from results that were read under the rulings in force.
pub async fn standings_from(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    game: &'static GameInfo,
    number: u32,
    results: &PhaseResults,
    rulings: &Rulings,
) -> Result<Standings, RunError> {
    let phase = &competition.phases[number as usize];
    let mut placing = Vec::new();
    if phase.format.is_bracket() && results.match_count() > 0 {
        let seed = ledger.secret_seed().await?;
        let schedule = schedule(ledger, competition, game, number, &seed).await?;
        let started_stages = results.stages.len() as u32;
        let stages = finished_stages(ledger, game, number, schedule.as_ref(), started_stages).await?;
        placing = schedule
            .placing(&PhaseHistory { stages: &stages, ..PhaseHistory::default() })
            .unwrap_or_default();
    }
    let notes = rulings.notes_for_phase(ledger, &phase_status(ledger, number).await?).await?;
    let entrants = shown_entrants(ledger, competition, number).await?;
    let request = StandingsRequest {
        entrants: &entrants,
        rulings: &notes,
        ..standings_request(competition, game, phase, &placing)
    };
    Ok(standings::standings(&results.tally, &request))
}
