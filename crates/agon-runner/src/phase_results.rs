//! What the ledger says a phase has come to: for going on with it, for its table.

use agon_core::GameInfo;
use agon_league::config::{CompetitionConfig, PhaseConfig};
use agon_league::format::{PhaseField, Format, PhaseHistory, PhaseSchedule, MatchVerdict};
use agon_league::standings::{self, StandingsRequest, Ranking, RulingKind, Standings};
use agon_league::tally::Tally;
use agon_league::{Entrant, FormatError, MatchKey};
use agon_store::{Ledger, MatchFilter, PhaseStatus, PhaseProgress, Ranges, SecretSeed, StoreError};
use futures_util::StreamExt as _;

use crate::rulings::Rulings;
use crate::{RunError, seeds};

/// A phase as far as it was played.
pub struct PhaseResults {
    /// Everything the tables need.
    pub tally: Tally,
    /// For each stage, which matches.
    pub stages: Vec<Ranges>,
    /// Matches since the last snapshot.
    pub since: u64,
}

impl PhaseResults {
    /// How many matches.
    pub fn matches(&self) -> u64 {
        self.stages.iter().map(Ranges::len).sum()
    }
}

/// What counts of a phase: all that was played but void matches.
pub async fn played(ledger: &dyn Ledger, game: &GameInfo, phase: u32) -> Result<PhaseResults, RunError> {
    let rulings = Rulings::of(ledger).await?;
    played_under(ledger, game, phase, &rulings, &rulings.in_force()).await
}

/// The same, by the rulings of these numbers. Only with void matches all of the phase is read.
pub async fn played_under(
    ledger: &dyn Ledger,
    game: &GameInfo,
    phase: u32,
    rulings: &Rulings,
    under: &[u64],
) -> Result<PhaseResults, RunError> {
    let mut played = all_played(ledger, game, phase).await?;
    let voided = rulings.voided(phase, under);
    if !voided.is_empty() {
        played.tally = Tally::new(game);
        let mut matches = ledger.matches(phase, MatchFilter::default());
        while let Some(one) = matches.next().await {
            let one = one?.result;
            if !voided.contains(&one.key) {
                played.tally.add(&one);
            }
        }
    }
    Ok(played)
}

/// What was played of a phase, void matches too, without reading all of it.
pub async fn all_played(ledger: &dyn Ledger, game: &GameInfo, phase: u32) -> Result<PhaseResults, RunError> {
    let PhaseProgress { snapshot, after, stages } = ledger.progress(phase).await?;
    let mut tally = match &snapshot {
        Some(bytes) => Tally::from_bytes(bytes).map_err(|error| RunError::Snapshot { phase, error })?,
        None => Tally::new(game),
    };
    // It can be large.
    drop(snapshot);
    for result in &after {
        tally.add(result);
    }
    Ok(PhaseResults { tally, stages, since: after.len() as u64 })
}

/// The tally of the stages before this one, whatever was played since.
pub async fn tally_before(
    ledger: &dyn Ledger,
    game: &GameInfo,
    phase: u32,
    stage: u32,
) -> Result<Tally, RunError> {
    let mut tally = Tally::new(game);
    let mut matches = ledger.matches(phase, MatchFilter { stages: 0..stage, ..MatchFilter::default() });
    while let Some(one) = matches.next().await {
        tally.add(&one?.result);
    }
    Ok(tally)
}

/// The verdicts of a stage, in the order of its fixtures. `forfeits` are the matches that are lost whatever was played.
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

/// The verdicts of every stage that is finished, of so many that were begun.
pub async fn finished_stages(
    ledger: &dyn Ledger,
    game: &GameInfo,
    phase: u32,
    plan: &dyn PhaseSchedule,
    begun: u32,
) -> Result<Vec<Vec<MatchVerdict>>, RunError> {
    let mut stages = Vec::new();
    // Only brackets give places, and only there somebody disqualified loses what it plays.
    let is_bracket = plan.placing(&PhaseHistory::default()).is_some();
    let forfeits = if is_bracket { ledger.forfeits(phase).await? } else { Vec::new() };
    for stage in 0..begun {
        stages.push(verdicts(ledger, game, phase, stage, &forfeits).await?);
    }
    // A stage that is not finished says nothing yet.
    while let Some(last) = stages.len().checked_sub(1) {
        let past = PhaseHistory { stages: &stages[..last], ..PhaseHistory::default() };
        let whole = plan.stage(last as u32, &past).map_or(0, |stage| stage.len());
        if stages[last].len() as u64 >= whole {
            break;
        }
        stages.pop();
    }
    Ok(stages)
}

/// What a table of a phase is asked for, without rulings.
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
        ranking: Ranking::of(game),
        entrants: &competition.entrants,
        placing,
        rulings: &[],
    }
}

async fn status(ledger: &dyn Ledger, phase: u32) -> Result<PhaseStatus, RunError> {
    let mut all = ledger.phases().await?;
    let phases = all.len() as u32;
    if phase >= phases {
        return Err(StoreError::NoSuchPhase { phase, phases }.into());
    }
    Ok(all.swap_remove(phase as usize))
}

/// Who plays a phase, the best of the phase before first. Whoever was disqualified when it began does not.
pub async fn field(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    game: &'static GameInfo,
    number: u32,
) -> Result<PhaseField, RunError> {
    let rulings = Rulings::of(ledger).await?;
    let under = rulings.at_start(&status(ledger, number).await?);
    let out = rulings.disqualified(&under);
    let is_in = |entrant: &Entrant| !out.iter().any(|one| one.kind == RulingKind::Disqualify(*entrant));
    let all = || (0..competition.entrants.len() as u32).map(Entrant).filter(is_in);
    let mut entrants: Vec<Entrant> = match number.checked_sub(1) {
        None => all().collect(),
        Some(before) => {
            let tally = played_under(ledger, game, before, &rulings, &under).await?.tally;
            let phase = &competition.phases[before as usize];
            standings::order(&tally, &StandingsRequest { rulings: &out, ..standings_request(competition, game, phase, &[]) })
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
    let rounds_in_order = game.lifetime == agon_core::Lifetime::Match;
    Ok(PhaseField { entrants, roles, variants, rounds_in_order })
}

/// The plan of a phase.
pub async fn plan(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    game: &'static GameInfo,
    number: u32,
    seed: &SecretSeed,
) -> Result<Box<dyn PhaseSchedule>, RunError> {
    let field = field(ledger, competition, game, number).await?;
    let mut phase = competition.phases[number as usize].clone();
    if let Format::Gauntlet { challengers, .. } = &mut phase.format {
        // Named in the file, whatever was decided since.
        challengers.retain(|one| field.entrants.contains(one));
    }
    let plan = phase.plan(&field, seeds::schedule_seed(seed, number));
    plan.map_err(|error: FormatError| RunError::Format { phase: number, error })
}

/// The tables of a phase as it stands.
pub async fn standings_of(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    game: &'static GameInfo,
    number: u32,
) -> Result<Standings, RunError> {
    let rulings = Rulings::of(ledger).await?;
    let played = played_under(ledger, game, number, &rulings, &rulings.in_force()).await?;
    standings_from(ledger, competition, game, number, &played, &rulings).await
}

/// The same, of what was read before by the rulings in force.
pub async fn standings_from(
    ledger: &dyn Ledger,
    competition: &CompetitionConfig,
    game: &'static GameInfo,
    number: u32,
    played: &PhaseResults,
    rulings: &Rulings,
) -> Result<Standings, RunError> {
    let phase = &competition.phases[number as usize];
    let mut placing = Vec::new();
    if phase.format.is_bracket() && played.matches() > 0 {
        let seed = ledger.secret().await?;
        let plan = plan(ledger, competition, game, number, &seed).await?;
        let begun = played.stages.len() as u32;
        let stages = finished_stages(ledger, game, number, plan.as_ref(), begun).await?;
        placing = plan.placing(&PhaseHistory { stages: &stages, ..PhaseHistory::default() }).unwrap_or_default();
    }
    let ruled = rulings.ruled(ledger, &status(ledger, number).await?).await?;
    let asked = StandingsRequest { rulings: &ruled, ..standings_request(competition, game, phase, &placing) };
    Ok(standings::standings(&played.tally, &asked))
}
