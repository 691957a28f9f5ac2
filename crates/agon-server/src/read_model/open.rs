//! From the office's rows, and from files, to arenas.

use std::path::Path;
use std::sync::Arc;

use agon_league::config::BotSource;
use agon_store::site_db::{
    HostedCompetition, UploadLimits, NewCompetition, NewEntrant, SiteDb, SiteDbError, Origin, PageRequest, CompetitionFilter, CompetitionState,
};
use agon_store::{PhaseState, Timestamp};
use agon_venue::competing::Where;
use agon_venue::{Failure, Sitting};

use super::{CompetitionHandle, CompetitionRegistry};
use crate::config::Config;
use crate::error::StartError;

/// Every competition of the office.
async fn every(office: &SiteDb) -> Result<Vec<HostedCompetition>, StartError> {
    let (mut all, mut page) = (Vec::new(), PageRequest { after: None, limit: 100 });
    loop {
        let listed = office.competitions(CompetitionFilter::All, page).await?;
        all.extend(listed.items);
        match listed.next {
            Some(after) => page.after = Some(after),
            None => return Ok(all),
        }
    }
}

/// Opens them all. One whose file cannot be read is known all the same: its state says what is wrong.
pub async fn known(office: &SiteDb, arenas: &CompetitionRegistry) -> Result<(), StartError> {
    for one in every(office).await? {
        let Ok(info) = agon_engine::table(&one.game).map(|table| table.info()) else { continue };
        let arena = arenas.add(&one.id, info.id);
        // A draft has no file yet, or one that is not whole: that is no failure.
        if let Err(words) = reopen(&arena, Path::new(&one.file)).await
            && !matches!(one.state, CompetitionState::Draft | CompetitionState::Open | CompetitionState::Closed)
        {
            office.set_message(&one.id, Some(&words)).await?;
        }
    }
    Ok(())
}

/// Reads an arena's file and opens its ledger, if there is one. In words what is wrong.
pub async fn reopen(arena: &CompetitionHandle, file: &Path) -> Result<(), String> {
    let path = file.to_owned();
    let read = tokio::task::spawn_blocking(move || Sitting::read(&path)).await;
    let sitting = read.map_err(|error| error.to_string())?.map_err(|failure| failure.message)?;
    show(arena, Arc::new(sitting)).await
}

/// The same, of a file that was read.
pub async fn show(arena: &CompetitionHandle, sitting: Arc<Sitting>) -> Result<(), String> {
    let words = |failure: Failure| failure.message;
    let ledger = if sitting.is_begun_at(&arena.ledgers).await.map_err(words)? {
        Some(sitting.ledger_to_read_at(&arena.ledgers).await.map_err(words)?)
    } else {
        None
    };
    arena.replace(Some(sitting), ledger);
    Ok(())
}

/// The files the server was started with become rows of the office, entrants and all, if they are not yet.
pub async fn files(config: &Config, office: &SiteDb) -> Result<(), StartError> {
    let mut known = if config.files.is_empty() { Vec::new() } else { every(office).await? };
    for file in &config.files {
        let whole = file.canonicalize().unwrap_or_else(|_| file.clone());
        let sitting = Sitting::read(&whole).map_err(|failure| StartError::Other(failure.message))?;
        if known.iter().any(|one| Path::new(&one.file) == whole) {
            continue;
        }
        let id = id_of(office, &whole).await?;
        let competition = &sitting.competition;
        let new = NewCompetition {
            id: id.clone(),
            name: competition.name.clone(),
            game: competition.game.to_owned(),
            file: whole.display().to_string(),
            origin: Origin::File,
            state: state(&sitting, &config.ledgers).await?,
            public: true,
            limits: UploadLimits::default(),
            preset: sitting.text.clone(),
            by: None,
            at: Timestamp::now(),
        };
        known.push(office.create_competition(&new).await?);
        for entrant in &competition.entrants {
            let one = NewEntrant {
                competition: id.clone(),
                account: None,
                name: entrant.name.clone(),
                role: entrant.role.map(str::to_owned),
                bot: Some(spec(&entrant.bot)),
                at: Timestamp::now(),
            };
            office.add_entrant(&one, CompetitionState::ALL).await?;
        }
        office.assign_numbers(&id, Timestamp::now()).await?;
    }
    Ok(())
}

/// As a row of the office has it.
fn spec(bot: &BotSource) -> String {
    match bot {
        BotSource::Given(bot) => bot.clone(),
        BotSource::Git { repository, .. } => repository.clone(),
    }
}

/// How far a competition is that was run before, or not.
async fn state(sitting: &Sitting, ledgers: &Where) -> Result<CompetitionState, StartError> {
    let failed = |failure: Failure| StartError::Other(failure.message);
    if !sitting.is_begun_at(ledgers).await.map_err(failed)? {
        return Ok(CompetitionState::Closed);
    }
    let other = |error: agon_store::StoreError| StartError::Other(error.to_string());
    let ledger = sitting.ledger_to_read_at(ledgers).await.map_err(failed)?;
    if ledger.competition().await.map_err(other)?.revealed.is_some() {
        return Ok(CompetitionState::Over);
    }
    let begun = ledger.phases().await.map_err(other)?.iter().any(|phase| phase.state > PhaseState::Waiting);
    Ok(if begun { CompetitionState::Paused } else { CompetitionState::Closed })
}

/// From the file's name; with a number behind it if another has that.
async fn id_of(office: &SiteDb, file: &Path) -> Result<String, StartError> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let slug: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    let free = free_id(office, slug.trim_matches('-'), 10_000).await?;
    free.ok_or_else(|| StartError::Other(format!("no id is free for {}", file.display())))
}

/// The first that is free of `slug`, `slug-2`, ... before `slug-end`; `cup` in place of nothing.
pub async fn free_id(office: &SiteDb, slug: &str, end: u32) -> Result<Option<String>, SiteDbError> {
    let slug = if slug.is_empty() { "cup" } else { slug };
    for number in 1..end {
        let id = if number == 1 { slug.to_owned() } else { format!("{slug}-{number}") };
        match office.competition(&id).await {
            Ok(_) => {}
            Err(SiteDbError::NotFound { .. }) => return Ok(Some(id)),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}
