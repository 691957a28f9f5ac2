//! Who takes part in a competition that is made on the desk, from the office into its file.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_store::Timestamp;
use agon_store::site_db::{AccountId, HostedCompetition, Entrant, SiteDbError, Origin};
use agon_venue::Sitting;

use super::competition_file::{self, EntrantLine};
use crate::read_model::reopen;
use crate::error::{ApiError, ApiResult};
use crate::state::AppState;

/// Up to which phase, from 0, an organiser has let a competition go.
pub async fn next_open_phase(app: &AppState, id: &str) -> Result<u32, SiteDbError> {
    let kept = app.office.setting(&format!("next.{id}")).await?;
    Ok(kept.and_then(|phase| phase.parse().ok()).unwrap_or_default())
}

/// Lets it go on to this phase.
pub async fn open_phase(app: &AppState, id: &str, phase: u32) -> Result<(), SiteDbError> {
    app.office.set_setting(&format!("next.{id}"), Some(&phase.to_string())).await
}

/// Those who take part in a phase, each with the bot it plays with.
async fn lines(app: &AppState, id: &str, entrants: &[Entrant], phase: u32) -> ApiResult<Vec<EntrantLine>> {
    let handed_in = app.office.accepted_for_phase(id, phase).await?;
    let mut names: BTreeMap<AccountId, String> = BTreeMap::new();
    let mut lines = Vec::new();
    for entrant in entrants {
        let bot = match &entrant.bot {
            Some(bot) => bot.clone(),
            None => match handed_in.iter().find(|one| one.entrant == entrant.id) {
                Some(one) => crate::uploads::bot_of(app, one)?,
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

/// Shows a competition that has not started as it would be now.
pub async fn rewrite_file(app: &AppState, competition: &HostedCompetition) -> ApiResult<()> {
    let id = &competition.id;
    let arena = app.arenas.get(id)?;
    let entrants: Vec<Entrant> =
        app.office.entrants(id).await?.into_iter().filter(|one| one.withdrawn.is_none()).collect();
    let lines = lines(app, id, &entrants, 0).await?;
    let (head, game) = (competition.preset.clone(), competition.game.clone());
    let place = competition_file::place(&app.config, id);
    let read = move || -> ApiResult<Sitting> {
        let provisional = competition_file::provisional(&head, &game, &lines)?;
        let text = competition_file::render(&head, &lines);
        Sitting::with(place, text, provisional).map_err(|failure| ApiError::invalid("file", failure.message))
    };
    let read = tokio::task::spawn_blocking(read).await.map_err(ApiError::broke)?;
    let sitting = read.inspect_err(|_| arena.replace(None, None))?;
    arena.replace(Some(Arc::new(sitting)), None);
    Ok(())
}

/// Gives everybody a number and writes the file with which it is started. If it cannot be played so, nothing has happened.
pub async fn seat(app: &AppState, competition: &HostedCompetition) -> ApiResult<()> {
    if competition.origin == Origin::File {
        return Ok(());
    }
    let id = &competition.id;
    let seated = app.office.assign_numbers(id, Timestamp::now()).await?;
    let written = async {
        let lines = lines(app, id, &seated, 0).await?;
        put(app, competition, lines).await
    };
    if let Err(error) = written.await {
        app.office.clear_numbers(id).await?;
        return Err(error);
    }
    Ok(())
}

/// Writes the file anew for a phase: with the bots that were handed in since.
pub async fn rewrite_for_phase(app: &AppState, competition: &HostedCompetition, phase: u32) -> ApiResult<()> {
    if competition.origin == Origin::File {
        return Ok(());
    }
    let id = &competition.id;
    let entrants = app.office.entrants(id).await?;
    let mut seated: Vec<Entrant> = entrants.into_iter().filter(|one| one.number.is_some()).collect();
    seated.sort_by_key(|one| one.number);
    let lines = lines(app, id, &seated, phase).await?;
    if lines.len() != seated.len() {
        return Err(ApiError::broke(format!("competition {id}: somebody who plays has no bot any more")));
    }
    put(app, competition, lines).await
}

async fn put(app: &AppState, competition: &HostedCompetition, lines: Vec<EntrantLine>) -> ApiResult<()> {
    let (head, path) = (competition.preset.clone(), std::path::PathBuf::from(&competition.file));
    let to = path.clone();
    let done = tokio::task::spawn_blocking(move || -> ApiResult<()> {
        let (text, _) = competition_file::checked(&head, &lines)?;
        competition_file::write(&to, &text).map_err(ApiError::broke)
    });
    done.await.map_err(ApiError::broke)??;
    let arena = app.arenas.get(&competition.id)?;
    reopen(&arena, &path).await.map_err(|words| ApiError::invalid("file", words))
}
