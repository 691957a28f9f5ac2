//! From the office's rows, and from files, to arenas.

use std::path::Path;
use std::sync::Arc;

use agon_league::competition::Bot;
use agon_store::office::{
    Limits, NewCompetition, NewEntrant, Office, OfficeError, Origin, Page, Shown, State,
};
use agon_store::{Ledger as _, PhaseState, SqliteLedger, Time};
use agon_venue::Sitting;

use super::{Arena, Arenas};
use crate::config::Config;
use crate::error::StartError;

/// Every competition of the office. One whose file cannot be read is known all the same: its state says what is wrong.
pub async fn known(office: &Office, arenas: &Arenas) -> Result<(), StartError> {
    let mut page = Page { after: None, limit: 100 };
    loop {
        let listed = office.competitions(Shown::All, page).await?;
        for one in listed.items {
            let Ok(info) = agon_engine::table(&one.game).map(|table| table.info()) else { continue };
            let arena = arenas.add(&one.id, info.id);
            // A draft has no file yet, or one that is not whole: that is no failure.
            if let Err(words) = reopen(&arena, Path::new(&one.file)).await
                && !matches!(one.state, State::Draft | State::Open | State::Closed)
            {
                office.set_message(&one.id, Some(&words)).await?;
            }
        }
        match listed.next {
            Some(after) => page.after = Some(after),
            None => return Ok(()),
        }
    }
}

/// Reads an arena's file and opens its ledger, if there is one. In words what is wrong.
pub async fn reopen(arena: &Arena, file: &Path) -> Result<(), String> {
    let path = file.to_owned();
    let read = tokio::task::spawn_blocking(move || Sitting::read(&path)).await;
    let sitting = read.map_err(|error| error.to_string())?.map_err(|failure| failure.message)?;
    let ledger = if sitting.place.ledger.exists() {
        let ledger = SqliteLedger::open_to_read(&sitting.place.ledger).await;
        Some(Arc::new(ledger.map_err(|error| error.to_string())?))
    } else {
        None
    };
    arena.replace(Some(Arc::new(sitting)), ledger);
    Ok(())
}

/// The files the server was started with become rows of the office, entrants and all, if they are not yet.
pub async fn files(config: &Config, office: &Office) -> Result<(), StartError> {
    for file in &config.files {
        let whole = file.canonicalize().unwrap_or_else(|_| file.clone());
        let sitting = Sitting::read(&whole).map_err(|failure| StartError::Other(failure.message))?;
        if find(office, &whole).await?.is_some() {
            continue;
        }
        let id = free_id(office, &whole).await?;
        let competition = &sitting.competition;
        let new = NewCompetition {
            id: id.clone(),
            name: competition.name.clone(),
            game: competition.game.to_owned(),
            file: whole.display().to_string(),
            origin: Origin::File,
            state: state(&sitting).await?,
            public: true,
            limits: Limits::default(),
            preset: sitting.text.clone(),
            by: None,
            at: Time::now(),
        };
        office.create_competition(&new).await?;
        for entrant in &competition.entrants {
            let one = NewEntrant {
                competition: id.clone(),
                account: None,
                name: entrant.name.clone(),
                role: entrant.role.map(str::to_owned),
                bot: Some(spec(&entrant.bot)),
                at: Time::now(),
            };
            office.add_entrant(&one, State::ALL).await?;
        }
        office.seat_all(&id, Time::now()).await?;
    }
    Ok(())
}

/// As a row of the office has it.
fn spec(bot: &Bot) -> String {
    match bot {
        Bot::Given(bot) => bot.clone(),
        Bot::Git { repository, .. } => repository.clone(),
    }
}

/// How far a competition is that was run before, or not.
async fn state(sitting: &Sitting) -> Result<State, StartError> {
    if !sitting.place.ledger.exists() {
        return Ok(State::Closed);
    }
    let other = |error: agon_store::StoreError| StartError::Other(error.to_string());
    let ledger = SqliteLedger::open_to_read(&sitting.place.ledger).await.map_err(other)?;
    if ledger.competition().await.map_err(other)?.revealed.is_some() {
        return Ok(State::Over);
    }
    let begun = ledger.phases().await.map_err(other)?.iter().any(|phase| phase.state > PhaseState::Waiting);
    Ok(if begun { State::Paused } else { State::Closed })
}

async fn find(office: &Office, file: &Path) -> Result<Option<String>, StartError> {
    let mut page = Page { after: None, limit: 100 };
    loop {
        let listed = office.competitions(Shown::All, page).await?;
        if let Some(one) = listed.items.iter().find(|one| Path::new(&one.file) == file) {
            return Ok(Some(one.id.clone()));
        }
        match listed.next {
            Some(after) => page.after = Some(after),
            None => return Ok(None),
        }
    }
}

/// From the file's name; with a number behind it if another has that.
async fn free_id(office: &Office, file: &Path) -> Result<String, StartError> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let mut slug: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
    slug = slug.trim_matches('-').to_owned();
    if slug.is_empty() {
        "cup".clone_into(&mut slug);
    }
    for number in 1..10_000 {
        let id = if number == 1 { slug.clone() } else { format!("{slug}-{number}") };
        match office.competition(&id).await {
            Ok(_) => {}
            Err(OfficeError::NotFound { .. }) => return Ok(id),
            Err(error) => return Err(error.into()),
        }
    }
    Err(StartError::Other(format!("no id is free for {}", file.display())))
}
