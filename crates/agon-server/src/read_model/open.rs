//! Opens competitions from rows of the site database and from files.

use std::path::Path;
use std::sync::Arc;

use agon_competition::LedgerLocation;
use agon_competition::LoadedCompetition;
use agon_core::{Diagnostic, ErrorKind};
use agon_league::config::EntrantBot;
use agon_site_db::{
    CompetitionFilter, CompetitionState, HostedCompetition, NewCompetition, NewEntrant, Origin, PageRequest,
    SiteDb, SiteDbError, UploadLimits,
};
use agon_store::{PhaseState, Timestamp};

use super::{CompetitionHandle, CompetitionRegistry};
use crate::config::Config;
use crate::error::StartError;
use crate::runs::entrants;

/// All competitions of the site database.
pub async fn all_competitions(site_db: &SiteDb) -> Result<Vec<HostedCompetition>, StartError> {
    let (mut all, mut page) = (Vec::new(), PageRequest { after: None, limit: 100 });
    loop {
        let listed = site_db.competitions(CompetitionFilter::All, page).await?;
        all.extend(listed.items);
        match listed.next {
            Some(after) => page.after = Some(after),
            None => return Ok(all),
        }
    }
}

/// Opens all competitions. One whose file cannot be read is opened too: its message says what is wrong.
pub async fn open_all(
    config: &Config,
    site_db: &SiteDb,
    registry: &CompetitionRegistry,
) -> Result<(), StartError> {
    for one in all_competitions(site_db).await? {
        let Ok(info) = agon_engine::any_game(&one.game).map(|any_game| any_game.info()) else { continue };
        let competition_handle = registry.add(&one.id, info.id);
        // A draft may be incomplete. That is not an error.
        if let Err(error) = entrants::reload(config, site_db, &competition_handle, &one).await
            && !matches!(
                one.state,
                CompetitionState::Draft | CompetitionState::Open | CompetitionState::Closed
            )
        {
            site_db.set_message(&one.id, Some(&error.describe())).await?;
        }
        if let Err(error) = competition_handle.restore_freeze(site_db).await {
            return Err(StartError::other(error.describe()));
        }
    }
    Ok(())
}

/// Shows a loaded competition and opens its ledger, if there is one.
pub async fn load(
    competition_handle: &CompetitionHandle,
    loaded: Arc<LoadedCompetition>,
) -> Result<(), Diagnostic> {
    let ledger = if loaded.is_begun_at(&competition_handle.ledgers).await? {
        Some(loaded.ledger_to_read_at(&competition_handle.ledgers).await?)
    } else {
        None
    };
    competition_handle.replace(Some(loaded), ledger);
    Ok(())
}

/// Adds the competition files of the command line to the site database, with their entrants, unless they are there already.
pub async fn register_files(config: &Config, site_db: &SiteDb) -> Result<(), StartError> {
    let mut registered = if config.files.is_empty() { Vec::new() } else { all_competitions(site_db).await? };
    for file in &config.files {
        let path = file.canonicalize().unwrap_or_else(|_| file.clone());
        let loaded = LoadedCompetition::read(&path).map_err(start_error)?;
        if registered.iter().any(|one| Path::new(&one.file) == path) {
            continue;
        }
        let id = unused_id(site_db, &path).await?;
        let competition = &loaded.competition;
        let new = NewCompetition {
            id: id.clone(),
            name: competition.name.clone(),
            game: competition.game.to_owned(),
            file: path.display().to_string(),
            origin: Origin::File,
            state: initial_state(&loaded, &config.ledgers).await?,
            public: true,
            limits: UploadLimits::default(),
            preset: loaded.text.clone(),
            by: None,
            at: Timestamp::now(),
        };
        registered.push(site_db.create_competition(&new).await?);
        for entrant in &competition.entrants {
            let one = NewEntrant {
                competition: id.clone(),
                account: None,
                name: entrant.name.clone(),
                role: entrant.role.map(str::to_owned),
                bot: Some(bot_spec(&entrant.bot)),
                at: Timestamp::now(),
            };
            site_db.add_entrant(&one, CompetitionState::ALL).await?;
        }
        site_db.assign_numbers(&id, Timestamp::now()).await?;
    }
    Ok(())
}

/// The bot as stored in the site database.
fn bot_spec(bot: &EntrantBot) -> String {
    match bot {
        EntrantBot::Spec(bot) => bot.clone(),
        EntrantBot::Git { repository, .. } => repository.clone(),
    }
}

/// A competition of the command line cannot be opened, so the server does not start.
fn start_error(error: impl Into<Diagnostic>) -> StartError {
    StartError::Other(error.into().of_kind(ErrorKind::Internal))
}

/// State of a competition when its file is added: it may have been run before.
async fn initial_state(
    loaded: &LoadedCompetition,
    ledgers: &LedgerLocation,
) -> Result<CompetitionState, StartError> {
    if !loaded.is_begun_at(ledgers).await.map_err(start_error)? {
        return Ok(CompetitionState::Closed);
    }
    let ledger = loaded.ledger_to_read_at(ledgers).await.map_err(start_error)?;
    if ledger.competition().await.map_err(start_error)?.revealed.is_some() {
        return Ok(CompetitionState::Finished);
    }
    let begun =
        ledger.phases().await.map_err(start_error)?.iter().any(|phase| phase.state > PhaseState::Waiting);
    Ok(if begun { CompetitionState::Paused } else { CompetitionState::Closed })
}

/// An unused id from the file's name, with a number appended if needed.
async fn unused_id(site_db: &SiteDb, file: &Path) -> Result<String, StartError> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let slug: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let free = free_id(site_db, slug.trim_matches('-'), 10_000).await?;
    free.ok_or_else(|| StartError::other(format!("no unused id for {}", file.display())))
}

/// The first unused id of `slug`, `slug-2`, ... before `slug-end`. An empty slug becomes `cup`.
pub async fn free_id(site_db: &SiteDb, slug: &str, end: u32) -> Result<Option<String>, SiteDbError> {
    let slug = if slug.is_empty() { "cup" } else { slug };
    for number in 1..end {
        let id = if number == 1 { slug.to_owned() } else { format!("{slug}-{number}") };
        match site_db.competition(&id).await {
            Ok(_) => {}
            Err(SiteDbError::NotFound { .. }) => return Ok(Some(id)),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
