//! Writes the entrants of the site database into the file of a competition created on the dashboard.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_competition::LoadedCompetition;
use agon_site_db::{AccountId, Entrant, HostedCompetition, Origin, SiteDbError};
use agon_store::Timestamp;

use super::competition_file::{self, EntrantLine};
use crate::error::{ApiError, ApiResult};
use crate::read_model::reopen;
use crate::state::AppState;

/// The last phase (from 0) that an organiser has allowed to start.
pub async fn next_open_phase(app: &AppState, id: &str) -> Result<u32, SiteDbError> {
    let kept = app.office.setting(&format!("next.{id}")).await?;
    Ok(kept.and_then(|phase| phase.parse().ok()).unwrap_or_default())
}

/// Allows this phase to start.
pub async fn open_phase(app: &AppState, id: &str, phase: u32) -> Result<(), SiteDbError> {
    app.office.set_setting(&format!("next.{id}"), Some(&phase.to_string())).await
}

/// The entrants of a phase, each with its bot.
async fn entrant_lines(
    app: &AppState,
    id: &str,
    entrants: &[Entrant],
    phase: u32,
) -> ApiResult<Vec<EntrantLine>> {
    let accepted = app.office.accepted_for_phase(id, phase).await?;
    let mut names: BTreeMap<AccountId, String> = BTreeMap::new();
    let mut lines = Vec::new();
    for entrant in entrants {
        let bot = match &entrant.bot {
            Some(bot) => bot.clone(),
            None => match accepted.iter().find(|one| one.entrant == entrant.id) {
                Some(one) => crate::uploads::bot_spec(app, one)?,
                None => continue,
            },
        };
        let mut contributor = None;
        if let Some(account) = entrant.account {
            contributor = Some(match names.get(&account) {
                Some(name) => name.clone(),
                None => names.entry(account).or_insert(app.office.account(account).await?.name).clone(),
            });
        }
        lines.push(EntrantLine { name: entrant.name.clone(), bot, role: entrant.role.clone(), contributor });
    }
    Ok(lines)
}

/// Updates a competition that has not started, so that it is shown with its current entrants.
pub async fn rewrite_file(app: &AppState, competition: &HostedCompetition) -> ApiResult<()> {
    let id = &competition.id;
    let competition_handle = app.arenas.get(id)?;
    let entrants: Vec<Entrant> =
        app.office.entrants(id).await?.into_iter().filter(|one| one.withdrawn.is_none()).collect();
    let lines = entrant_lines(app, id, &entrants, 0).await?;
    let (organiser_text, game) = (competition.preset.clone(), competition.game.clone());
    let paths = competition_file::paths(&app.config, id);
    let read = move || -> ApiResult<LoadedCompetition> {
        let provisional = competition_file::provisional(&organiser_text, &game, &lines)?;
        let text = competition_file::render(&organiser_text, &lines);
        LoadedCompetition::with(paths, text, provisional)
            .map_err(|failure| ApiError::invalid("file", failure.message))
    };
    let read = tokio::task::spawn_blocking(read).await.map_err(ApiError::internal)?;
    let loaded = read.inspect_err(|_| competition_handle.replace(None, None))?;
    competition_handle.replace(Some(Arc::new(loaded)), None);
    Ok(())
}

/// Assigns entrant numbers and writes the file for the start. If the file is invalid, the numbers are cleared again.
pub async fn assign_numbers(app: &AppState, competition: &HostedCompetition) -> ApiResult<()> {
    if competition.origin == Origin::File {
        return Ok(());
    }
    let id = &competition.id;
    let numbered = app.office.assign_numbers(id, Timestamp::now()).await?;
    let written = async {
        let lines = entrant_lines(app, id, &numbered, 0).await?;
        write_and_load(app, competition, lines).await
    };
    if let Err(error) = written.await {
        app.office.clear_numbers(id).await?;
        return Err(error);
    }
    Ok(())
}

/// Rewrites the file for a phase, with the bots submitted since.
pub async fn rewrite_for_phase(app: &AppState, competition: &HostedCompetition, phase: u32) -> ApiResult<()> {
    if competition.origin == Origin::File {
        return Ok(());
    }
    let id = &competition.id;
    let entrants = app.office.entrants(id).await?;
    let mut numbered: Vec<Entrant> = entrants.into_iter().filter(|one| one.number.is_some()).collect();
    numbered.sort_by_key(|one| one.number);
    let lines = entrant_lines(app, id, &numbered, phase).await?;
    if lines.len() != numbered.len() {
        return Err(ApiError::internal(format!("competition {id}: an entrant no longer has a bot")));
    }
    write_and_load(app, competition, lines).await
}

async fn write_and_load(
    app: &AppState,
    competition: &HostedCompetition,
    lines: Vec<EntrantLine>,
) -> ApiResult<()> {
    let (organiser_text, path) = (competition.preset.clone(), std::path::PathBuf::from(&competition.file));
    let to = path.clone();
    let done = tokio::task::spawn_blocking(move || -> ApiResult<()> {
        let (text, _) = competition_file::render_checked(&organiser_text, &lines)?;
        competition_file::write(&to, &text).map_err(ApiError::internal)
    });
    done.await.map_err(ApiError::internal)??;
    let competition_handle = app.arenas.get(&competition.id)?;
    reopen(&competition_handle, &path).await.map_err(|message| ApiError::invalid("file", message))
}
