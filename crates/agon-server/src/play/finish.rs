//! Stores finished games of persons with the other played games.

use agon_engine::PlayedGame;
use agon_site_db::{AccountId, PlayedKind, PlayedSeat};
use agon_store::Timestamp;
use serde_json::{Map, Value as Json, json};

use super::SessionOwner;
use super::session::Session;
use crate::error::ApiError;
use crate::played_games::NewPlayedGame;
use crate::state::AppState;

/// Stores the game of a session. Returns its id, or what the players are told if that fails.
pub async fn store(
    app: &AppState,
    session: &Session,
    played: &PlayedGame,
    names: &[String],
    started: Timestamp,
) -> Result<String, String> {
    let Some((record, _)) = &played.record else { return Err("the game was not recorded".to_owned()) };
    let accounts = session.persons().into_iter().map(|(_, account)| account);
    let seats = session.setup.seats.iter().zip(names).zip(accounts);
    let seats: Vec<PlayedSeat> = seats
        .map(|((plan, name), account)| {
            let seat = plan.played_seat();
            PlayedSeat { name: name.clone(), account: seat.account.or(account), ..seat }
        })
        .collect();
    let settings: Map<String, Json> =
        session.setup.settings.iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
    let new = NewPlayedGame {
        game: session.setup.info().id.to_owned(),
        kind: PlayedKind::Person,
        seats,
        settings: Json::Object(settings),
        seed: played.seed,
        outcome: json!(played.outcome),
        record: record.clone(),
        started,
        ended: Timestamp::now(),
        owner: match session.owner {
            SessionOwner::Account(account) => Some(AccountId(account)),
            SessionOwner::Address(_) | SessionOwner::ThisMachine => None,
        },
    };
    let stored = app.played_games.store(new).await;
    stored.map(|id| id.to_string()).map_err(|error| {
        drop(ApiError::internal(format!("played game: {error}")));
        "the game could not be stored; the server's log has the details".to_owned()
    })
}
