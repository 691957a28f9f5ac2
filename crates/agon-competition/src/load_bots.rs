//! Loads the bots of a competition: resolves them, isolates them, and starts each once.

use std::path::Path;

use agon_bots::prepare::{ExtraFile, PrepareError, isolate, try_load};
use agon_bots::source::archive::ArchiveLimits;
use agon_bots::source::published_name::check_published_name;
use agon_bots::source::source_check::check_source;
use agon_bots::{
    BotSource, Diagnostic, MessageSink, PrepareContext, PreparedBot, SandboxMode, prepare, require_cgroup,
};
use agon_core::{PUBLISHED_HISTORY, SelfDescription};
use agon_engine::any_game::MatchSetup;
use agon_engine::{AnyGame, PlayerSpec, ProgramSpec};
use agon_host::BotRejection;
use agon_league::config::{CompetitionConfig, EntrantSpec, MeterRule, SandboxRule, self_descriptions};
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
            // Libraries may have been forbidden since the source was checked.
            let forbidden = &competition.forbidden_libraries;
            if !known.contains(&program.hash) || !forbidden.is_empty() {
                check_bot_source(&entrant.name, program, forbidden)?;
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
    let says = start_each(loaded, phase, &bots)?;
    compare_with_file(competition, &says, notify)?;
    let member = |((bot, entrant), says): ((PreparedBot, &EntrantSpec), SelfDescription)| LoadedEntrant {
        name: entrant.name.clone(),
        player: bot.player,
        commit: bot.commit,
        extra_file: history.map(Path::to_owned),
        says,
    };
    Ok(bots.into_iter().zip(&competition.entrants).zip(says).map(member).collect())
}

/// Reports contradictions between the file and what bots say about themselves, and counts the bots of each contributor that tables
/// show.
fn compare_with_file(
    competition: &CompetitionConfig,
    says: &[SelfDescription],
    notify: MessageSink<'_>,
) -> Result<(), Diagnostic> {
    for contradiction in self_descriptions::contradictions(&competition.entrants, says) {
        tracing::info!("{contradiction}");
        notify(&contradiction);
    }
    let Some(most) = competition.max_bots_per_contributor else { return Ok(()) };
    let shown = self_descriptions::shown_entrants(&competition.entrants, says);
    let over = self_descriptions::contributors_over_limit(&shown, most).into_iter().map(|what| {
        let hint = "remove some of these entrants, raise the limit, or set `contributor` in the file if a bot names the wrong one";
        Diagnostic::wrong_use(what, hint)
    });
    Diagnostic::several(over).map_or(Ok(()), Err)
}

/// The failure of an entrant's bot, with the name of the entrant.
fn entrant_failure(name: &str, error: PrepareError) -> Diagnostic {
    match error {
        PrepareError::Repository { .. } => error.into(),
        other => of_entrant(name, other.into()),
    }
}

/// Checks the source of a Python bot: forbidden words and libraries, missing imports, wrong signatures. Reports all problems at
/// once.
fn check_bot_source(
    name: &str,
    program: &ProgramSpec,
    forbidden_libraries: &[String],
) -> Result<(), Diagnostic> {
    if !program.isolates_calls {
        return Ok(());
    }
    let failed = |refusal: &BotRejection| of_entrant(name, refusal.of_bot(&program.spec));
    let survey = check_source(&program.program, forbidden_libraries).map_err(|refusal| failed(&refusal))?;
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
/// Returns what each bot says about itself.
fn start_each(
    loaded: &LoadedCompetition,
    phase: u32,
    bots: &[PreparedBot],
) -> Result<Vec<SelfDescription>, Diagnostic> {
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
    let mut says = vec![SelfDescription::default(); bots.len()];
    for some in programs.chunks(if with_roles { 1 } else { info.seats.min }) {
        let mut plan = fillers.clone();
        let seat_of = |place: usize, number: usize| {
            let role = loaded.competition.entrants[number].role;
            let seat = info.roles.iter().position(|known| Some(known.name) == role).filter(|_| with_roles);
            seat.unwrap_or(place)
        };
        for (place, &number) in some.iter().enumerate() {
            plan[seat_of(place, number)] = bots[number].player.clone();
        }
        let by_seat = try_some(loaded.table.as_ref(), loaded, phase, &plan)?;
        for (place, &number) in some.iter().enumerate() {
            says[number] = by_seat.get(seat_of(place, number)).cloned().unwrap_or_default();
        }
    }
    Ok(says)
}

fn try_some(
    table: &dyn AnyGame,
    loaded: &LoadedCompetition,
    phase: u32,
    seats: &[PlayerSpec],
) -> Result<Vec<SelfDescription>, Diagnostic> {
    let settings = &loaded.competition.phases[phase as usize].settings;
    table.check_seats(seats).map_err(agon_engine::any_game::PlayError::from)?;
    try_load(table, &MatchSetup { settings, seed: 0, seats, assets: &loaded.assets })
}
