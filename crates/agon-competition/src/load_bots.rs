//! Loads the bots of a competition: resolves them, isolates them, and starts each once.

use std::path::Path;

use agon_bots::error::Diagnostic;
use agon_bots::resolve::{BotRequest, ExtraFile, SandboxMode, install_game_files, resolve_bot, try_load};
use agon_bots::source::git::Repository;
use agon_bots::source::source_check::check_source;
use agon_bots::{MessageSink, isolation};
use agon_engine::any_game::MatchSetup;
use agon_engine::{AnyGame, PlayerSpec, ProgramSpec};
use agon_host::BotRejection;
use agon_league::config::{BotSource, CompetitionConfig, EntrantSpec, SandboxRule};
use agon_runner::LoadedEntrant;

use crate::{CompetitionPaths, LoadedCompetition};

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
    let mut seats = Vec::new();
    let mut commits = Vec::new();
    for entrant in &competition.entrants {
        let (bot, commit) = bot_spec(place, &entrant.name, &entrant.bot)?;
        let beside = history.map(|path| ExtraFile { name: "history.json", path });
        // Paths are relative to the folder of the competition file, and commands run there.
        let request = BotRequest {
            game: competition.game,
            bot: &bot,
            sandbox: sandbox(competition),
            keep: false,
            beside,
            folder: &place.folder,
        };
        let seat = resolve_bot(&request, notify)
            .map_err(|trouble| trouble.of(&bot))
            .map_err(|failure| of_entrant(&entrant.name, failure))?;
        if let PlayerSpec::Program(program) = &seat
            && !known.contains(&program.hash)
        {
            check_bot_source(&entrant.name, &bot, program)?;
        }
        tracing::debug!(entrant = entrant.name, bot, commit, "bot loaded");
        seats.push(seat);
        commits.push(commit);
    }
    for (seat, entrant) in seats.iter_mut().zip(&competition.entrants) {
        if let PlayerSpec::Program(program) = seat {
            program.name.clone_from(&entrant.name);
        }
    }
    isolation::hide_other_bots(&mut seats)?;
    let settings = &competition.phases[phase as usize].settings;
    install_game_files(competition.game, &mut seats, settings, assets, &place.folder)?;
    start_each(loaded, phase, &seats)?;
    let members = seats.into_iter().zip(commits).zip(&competition.entrants);
    let member = |((seating, commit), one): ((PlayerSpec, Option<String>), &EntrantSpec)| LoadedEntrant {
        name: one.name.clone(),
        player: seating,
        commit,
        extra_file: history.map(Path::to_owned),
    };
    Ok(members.map(member).collect())
}

/// Bot spec of an entrant, and its git commit.
fn bot_spec(
    place: &CompetitionPaths,
    name: &str,
    bot: &BotSource,
) -> Result<(String, Option<String>), Diagnostic> {
    match bot {
        BotSource::Spec(bot) => Ok((bot.clone(), None)),
        BotSource::Git { repository, branch, path } => {
            let repository = Repository::new(&place.folder, name, repository, branch.as_deref());
            let found = repository.checkout().map_err(|refusal| refusal.of_bot(name))?;
            Ok((found.bot(path.as_deref()), Some(found.commit)))
        }
    }
}

/// Checks the source of a Python bot: forbidden words, missing imports, wrong signatures. Reports all problems at once.
fn check_bot_source(name: &str, bot: &str, program: &ProgramSpec) -> Result<(), Diagnostic> {
    if !program.isolates_calls {
        return Ok(());
    }
    let failed = |refusal: &BotRejection| of_entrant(name, refusal.of_bot(bot));
    let survey = check_source(&program.program).map_err(|refusal| failed(&refusal))?;
    let bad = survey.findings.into_iter().filter(|one| one.bad).map(|one| failed(&one.into()));
    Diagnostic::several(bad).map_or(Ok(()), Err)
}

fn of_entrant(name: &str, failure: Diagnostic) -> Diagnostic {
    failure.about(format!("entrant {name}"))
}

fn sandbox(competition: &CompetitionConfig) -> SandboxMode {
    match competition.sandbox {
        SandboxRule::Required => SandboxMode::On,
        SandboxRule::Off => SandboxMode::Off,
    }
}

/// Starts every program once, as many at a time as a game has seats, so that a bot that does not start is rejected before any game.
fn start_each(loaded: &LoadedCompetition, phase: u32, seats: &[PlayerSpec]) -> Result<(), Diagnostic> {
    let info = loaded.table.info();
    let filler = |seat: usize| {
        let role = info.role(agon_core::Seat(seat as u8)).name;
        let bots = loaded.table.house_bots();
        let fitting = bots.iter().find(|bot| bot.roles.contains(&role));
        PlayerSpec::House(fitting.map_or_else(String::new, |bot| bot.name.to_owned()))
    };
    let fillers: Vec<PlayerSpec> = (0..info.seats.min).map(filler).collect();
    // In a game with roles, one at a time, at the seat of its role.
    let with_roles = info.roles.len() > 1;
    let programs: Vec<usize> =
        (0..seats.len()).filter(|&number| matches!(seats[number], PlayerSpec::Program(_))).collect();
    for some in programs.chunks(if with_roles { 1 } else { info.seats.min }) {
        let mut plan = fillers.clone();
        for (place, &number) in some.iter().enumerate() {
            let role = loaded.competition.entrants[number].role;
            let seat = info.roles.iter().position(|known| Some(known.name) == role).filter(|_| with_roles);
            plan[seat.unwrap_or(place)] = seats[number].clone();
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
