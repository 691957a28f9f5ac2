//! Loads competitions from the site database, which is their only source: the competition's row, its entrants and their submissions.
//!
//! The file in the competition's folder is a copy for the command line (`agon table`, `agon report`). The server writes it, but never reads
//! it. Only a competition that was given to the server as a file is read from that file.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use agon_competition::LoadedCompetition;
use agon_core::{Diagnostic, ErrorKind};
use agon_site_db::{
    AccountId, CompetitionPatch, CompetitionState, Entrant, HostedCompetition, Origin, SiteDb,
};
use agon_store::Timestamp;

use super::competition_file::{self, EntrantLine};
use crate::config::Config;
use crate::error::{ApiError, ApiResult};
use crate::read_model::{CompetitionHandle, load};
use crate::state::AppState;

/// The entrants with their bots, as of the last phase that may start. Those without an accepted bot are left out.
async fn entrant_lines(
    config: &Config,
    site_db: &SiteDb,
    competition: &HostedCompetition,
    entrants: &[Entrant],
) -> ApiResult<Vec<EntrantLine>> {
    let accepted = site_db.accepted_for_phase(&competition.id, competition.allowed_phase).await?;
    let marks = site_db.marks(&competition.id).await?;
    let mut names: BTreeMap<AccountId, String> = BTreeMap::new();
    let mut lines = Vec::new();
    for entrant in entrants {
        let bot = match &entrant.bot {
            Some(bot) => bot.clone(),
            None => match accepted.iter().find(|one| one.entrant == entrant.id) {
                Some(one) => crate::uploads::bot_spec(config, one)?,
                None => continue,
            },
        };
        let mut contributor = None;
        if let Some(account) = entrant.account {
            contributor = Some(match (entrant.team, names.get(&account)) {
                (Some(team), _) => site_db.team(team).await?.name,
                (None, Some(name)) => name.clone(),
                (None, None) => names.entry(account).or_insert(site_db.account(account).await?.name).clone(),
            });
        }
        let own = marks.iter().filter(|(marked, _)| *marked == entrant.id);
        lines.push(EntrantLine {
            name: entrant.name.clone(),
            bot,
            role: entrant.role.clone(),
            contributor,
            marks: own.map(|(_, mark)| (mark.mark.clone(), mark.note.clone())).collect(),
        });
    }
    Ok(lines)
}

/// The competition as the site database describes it: before its start with the current entrants (there may be too few to play), from then
/// on with those that have a number.
pub async fn load_competition(
    config: &Config,
    site_db: &SiteDb,
    competition: &HostedCompetition,
) -> ApiResult<LoadedCompetition> {
    if competition.origin == Origin::File {
        let file = Path::new(&competition.file).to_owned();
        let read = tokio::task::spawn_blocking(move || LoadedCompetition::read(&file)).await;
        return read.map_err(ApiError::internal)?.map_err(invalid_file);
    }
    let is_started = competition.numbers_assigned.is_some();
    let mut entrants = site_db.entrants(&competition.id).await?;
    entrants.retain(|one| if is_started { one.number.is_some() } else { one.withdrawn.is_none() });
    entrants.sort_by_key(|one| (one.number, one.id));
    let lines = entrant_lines(config, site_db, competition, &entrants).await?;
    if is_started && lines.len() != entrants.len() {
        let lacks_bot = |one: &&Entrant| !lines.iter().any(|line| line.name == one.name);
        let name = entrants.iter().find(lacks_bot).map_or("", |one| &one.name);
        return Err(ApiError::conflict(
            "files_missing",
            format!("{name} has no accepted bot for this phase"),
        )
        .hint("restore the server's data folder from a backup"));
    }
    let paths = competition_file::paths(config, &competition.id).map_err(ApiError::internal)?;
    let (organiser_text, game) = (competition.preset.clone(), competition.game.clone());
    let read = move || -> ApiResult<LoadedCompetition> {
        let (text, parsed) = if is_started {
            competition_file::render_checked(&organiser_text, &lines, Some(&paths.folder))?
        } else {
            let provisional = competition_file::provisional(&organiser_text, &game, &lines)?;
            (competition_file::render(&organiser_text, &lines), provisional)
        };
        LoadedCompetition::with(paths, text, parsed).map_err(invalid_file)
    };
    tokio::task::spawn_blocking(read).await.map_err(ApiError::internal)?
}

/// Loads a competition and opens its ledger, if there is one. Without a valid competition its page is shown without phases.
pub async fn reload(
    config: &Config,
    site_db: &SiteDb,
    competition_handle: &CompetitionHandle,
    competition: &HostedCompetition,
) -> ApiResult<()> {
    let loaded = load_competition(config, site_db, competition).await;
    let loaded = Arc::new(loaded.inspect_err(|_| competition_handle.replace(None, None))?);
    if competition.numbers_assigned.is_none() {
        // There is no ledger before the start, so none is looked for.
        competition_handle.replace(Some(loaded), None);
        return Ok(());
    }
    load(competition_handle, loaded).await.map_err(invalid_file)
}

/// The competition cannot be loaded with its file, for whatever reason.
fn invalid_file(error: Diagnostic) -> ApiError {
    ApiError::from(error.of_kind(ErrorKind::Usage)).field("file")
}

/// Shows a competition that has not started with its current entrants.
pub async fn refresh(app: &AppState, competition: &HostedCompetition) -> ApiResult<()> {
    let competition_handle = app.competitions.get(&competition.id)?;
    reload(&app.config, &app.site_db, &competition_handle, competition).await
}

/// Shows a competition with the current marks of its entrants. They change no result, so they can change at any time.
pub async fn show_marks(app: &AppState, competition: &HostedCompetition) -> ApiResult<()> {
    if competition.numbers_assigned.is_none() {
        return refresh(app, competition).await;
    }
    let loaded = load_competition(&app.config, &app.site_db, competition).await?;
    show_and_copy(app, competition, loaded).await
}

/// Assigns entrant numbers for the start. If the competition is not valid with these entrants, the numbers are cleared again.
pub async fn assign_numbers(app: &AppState, competition: &HostedCompetition) -> ApiResult<()> {
    if competition.origin == Origin::File {
        return Ok(());
    }
    let id = &competition.id;
    app.site_db.assign_numbers(id, Timestamp::now()).await?;
    let ready = async {
        let numbered = app.site_db.competition(id).await?;
        let loaded = load_competition(&app.config, &app.site_db, &numbered).await?;
        show_and_copy(app, &numbered, loaded).await
    };
    if let Err(error) = ready.await {
        app.site_db.clear_numbers(id).await?;
        return Err(error);
    }
    Ok(())
}

/// Allows a phase to start, with the bots submitted since the phase before. The site database has the phase before it is shown. Nothing
/// changes if the competition is not valid with these bots.
pub async fn start_phase(app: &AppState, competition: &HostedCompetition, phase: u32) -> ApiResult<()> {
    let next = HostedCompetition { allowed_phase: phase, ..competition.clone() };
    let loaded = load_competition(&app.config, &app.site_db, &next).await?;
    allow_phase(app, &competition.id, phase).await?;
    if let Err(error) = show_and_copy(app, &next, loaded).await {
        allow_phase(app, &competition.id, competition.allowed_phase).await?;
        return Err(error);
    }
    let edit = CompetitionPatch { closed_between_phases: Some(false), ..CompetitionPatch::default() };
    app.site_db.edit_competition(&competition.id, &[CompetitionState::Waiting], &edit).await?;
    Ok(())
}

/// Stores the last phase that may start.
async fn allow_phase(app: &AppState, id: &str, phase: u32) -> ApiResult<()> {
    let edit = CompetitionPatch { allowed_phase: Some(phase), ..CompetitionPatch::default() };
    app.site_db.edit_competition(id, &[CompetitionState::Waiting], &edit).await?;
    Ok(())
}

/// Shows the loaded competition, and writes its file for the command line.
async fn show_and_copy(
    app: &AppState,
    competition: &HostedCompetition,
    loaded: LoadedCompetition,
) -> ApiResult<()> {
    let loaded = Arc::new(loaded);
    if competition.origin == Origin::Hosted {
        let (path, copy) = (Path::new(&competition.file).to_owned(), Arc::clone(&loaded));
        let written = tokio::task::spawn_blocking(move || competition_file::write(&path, &copy.text));
        written.await.map_err(ApiError::internal)?.map_err(ApiError::internal)?;
    }
    let competition_handle = app.competitions.get(&competition.id)?;
    load(&competition_handle, loaded).await.map_err(invalid_file)
}
