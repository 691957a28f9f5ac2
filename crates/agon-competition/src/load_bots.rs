//! Loads the bots of a competition: resolves them, isolates them, and starts each once.

use std::path::Path;

use agon_bots::prepare::{ExtraFile, PrepareError, isolate, try_load};
use agon_bots::source::archive::ArchiveLimits;
use agon_bots::source::published_name::check_published_name;
use agon_bots::source::source_check::check_source;
use agon_bots::{
    BotSource, Diagnostic, MessageSink, PrepareContext, PreparedBot, SandboxMode, prepare, require_cgroup,
};
use agon_core::PUBLISHED_HISTORY;
use agon_engine::any_game::MatchSetup;
use agon_engine::{AnyGame, PlayerSpec, ProgramSpec};
use agon_host::BotRejection;
use agon_league::config::{CompetitionConfig, EntrantSpec, MeterRule, SandboxRule};
use agon_runner::LoadedEntrant;

use crate::LoadedCompetition;

/// Loads the bots of a phase, by entrant. `history` is the published history of the earlier phases, for bots that may read it. `known`
/// contains the hashes of bots whose source was already checked.
pub fn load_bots(
    loaded: &LoadedCompetition,
    phase: u32,
    history: Option<&Path>,
    known: &[String],
    notify: MessageSink<'_>,
) -> Result<Vec<LoadedEntrant>, Diagnostic> {
    let LoadedCompetition { competition, assets, place, .. } = loaded;
    require_meter(competition)?;
    // Paths are relative to the folder of the competition file, and commands run there.
    let context = PrepareContext {
        game: competition.game,
        folder: &place.folder,
        sandbox: sandbox(competition),
        keep_data: false,
        extra_file: history.map(|path| ExtraFile { name: PUBLISHED_HISTORY, path }),
        settings: Some((&competition.phases[phase as usize].settings, assets)),
        archive_limits: competition.max_zip_mib.map_or_else(ArchiveLimits::default, |most| {
            ArchiveLimits::of_packed_bytes(u64::from(most) << 20)
        }),
    };
    let mut bots = Vec::new();
    for entrant in &competition.entrants {
        let prepared = BotSource::of_entrant(entrant, &place.folder)
            .and_then(|source| prepare(&source, &context, notify))
            .map_err(|error| entrant_failure(&entrant.name, error))?;
        if let Some(program) = prepared.program() {
            if history.is_none() {
                // Found before the first phase, not when the history is published.
                check_published_name(loaded.table.info(), &program.program.folder)
                    .map_err(|rejection| of_entrant(&entrant.name, rejection.of_bot(&program.spec)))?;
            }
            if !known.contains(&program.hash) {
                check_bot_source(&entrant.name, program)?;
            }
        }
        let (bot, commit) = (prepared.source.to_string(), prepared.commit.as_deref());
        tracing::debug!(entrant = entrant.name, bot, commit, "bot loaded");
        bots.push(prepared);
    }
    isolate(&mut bots, &context)?;
    for (bot, entrant) in bots.iter_mut().zip(&competition.entrants) {
        bot.rename(&entrant.name);
    }
    start_each(loaded, phase, &bots)?;
    let member = |(bot, entrant): (PreparedBot, &EntrantSpec)| LoadedEntrant {
        name: entrant.name.clone(),
        player: bot.player,
        commit: bot.commit,
        extra_file: history.map(Path::to_owned),
    };
    Ok(bots.into_iter().zip(&competition.entrants).map(member).collect())
}

/// The failure of an entrant's bot, with the name of the entrant.
fn entrant_failure(name: &str, error: PrepareError) -> Diagnostic {
    match error {
        PrepareError::Repository { .. } => error.into(),
        other => of_entrant(name, other.into()),
    }
}

/// Checks the source of a Python bot: forbidden words, missing imports, wrong signatures. Reports all problems at once.
fn check_bot_source(name: &str, program: &ProgramSpec) -> Result<(), Diagnostic> {
    if !program.isolates_calls {
        return Ok(());
    }
    let failed = |refusal: &BotRejection| of_entrant(name, refusal.of_bot(&program.spec));
    let survey = check_source(&program.program).map_err(|refusal| failed(&refusal))?;
    let bad = survey.findings.into_iter().filter(|one| one.bad).map(|one| failed(&one.into()));
    Diagnostic::several(bad).map_or(Ok(()), Err)
}

fn of_entrant(name: &str, failure: Diagnostic) -> Diagnostic {
    failure.about(format!("entrant {name}"))
}

/// Checks that bots can be measured as the competition requires. House bots are not processes.
fn require_meter(competition: &CompetitionConfig) -> Result<(), Diagnostic> {
    let has_programs = competition.entrants.iter().any(|one| one.bot.house_name().is_none());
    match (competition.meter, competition.sandbox) {
        (MeterRule::Cgroup, SandboxRule::Off) => Err(Diagnostic::wrong_use(
            "meter = \"cgroup\" needs the sandbox, and the file has sandbox = \"off\"",
            "remove one of the two",
        )),
        (MeterRule::Cgroup, SandboxRule::Required) if has_programs => require_cgroup(),
        _ => Ok(()),
    }
}

fn sandbox(competition: &CompetitionConfig) -> SandboxMode {
    match competition.sandbox {
        SandboxRule::Required => SandboxMode::On,
        SandboxRule::Off => SandboxMode::Off,
    }
}

/// Starts every program once, as many at a time as a game has seats, so that a bot that does not start is rejected before any game.
fn start_each(loaded: &LoadedCompetition, phase: u32, bots: &[PreparedBot]) -> Result<(), Diagnostic> {
    let info = loaded.table.info();
    let filler = |seat: usize| {
        let role = info.role(agon_core::Seat(seat as u8)).name;
        let house_bots = loaded.table.house_bots();
        let fitting = house_bots.iter().find(|bot| bot.roles.contains(&role));
        PlayerSpec::House(fitting.map_or_else(String::new, |bot| bot.name.to_owned()))
    };
    let fillers: Vec<PlayerSpec> = (0..info.seats.min).map(filler).collect();
    // In a game with roles, one at a time, at the seat of its role.
    let with_roles = info.roles.len() > 1;
    let programs: Vec<usize> = (0..bots.len()).filter(|&number| bots[number].program().is_some()).collect();
    for some in programs.chunks(if with_roles { 1 } else { info.seats.min }) {
        let mut plan = fillers.clone();
        for (place, &number) in some.iter().enumerate() {
            let role = loaded.competition.entrants[number].role;
            let seat = info.roles.iter().position(|known| Some(known.name) == role).filter(|_| with_roles);
            plan[seat.unwrap_or(place)] = bots[number].player.clone();
        }
        try_some(loaded.table.as_ref(), loaded, phase, &plan)?;
    }
    Ok(())
}

fn try_some(
    table: &dyn AnyGame,
    loaded: &LoadedCompetition,
    phase: u32,
    seats: &[PlayerSpec],
) -> Result<(), Diagnostic> {
    let settings = &loaded.competition.phases[phase as usize].settings;
    table.check_seats(seats).map_err(agon_engine::any_game::PlayError::from)?;
    try_load(table, &MatchSetup { settings, seed: 0, seats, assets: &loaded.assets })
}
