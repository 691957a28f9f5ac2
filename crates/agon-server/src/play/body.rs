//! Sessions as the API shows them.

use serde::Serialize;
use utoipa::ToSchema;

use super::setup::PlayClock;

/// A session: a game that persons play in the browser.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct PlayBody {
    /// Id of the session.
    pub id: String,
    /// Id of the game.
    pub game: String,
    /// `lobby`, `playing` or `over`.
    pub state: &'static str,
    /// Whose clock persons play with.
    pub clock: PlayClock,
    /// Players in seat order.
    pub seats: Vec<PlaySeatBody>,
    /// Names in seat order. A seat that nobody has taken has an empty name.
    pub names: Vec<String>,
    /// Id of the played game, once it is over and stored.
    pub played: Option<String>,
    /// Why the game could not be played or stored.
    pub error: Option<String>,
}

/// A seat of a session.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, ToSchema)]
pub struct PlaySeatBody {
    /// `person`, `house` or `bot`.
    pub kind: &'static str,
    /// Name of the player; empty if nobody has taken the seat.
    pub name: String,
    /// Role of the seat.
    pub role: &'static str,
    /// Whether a person has taken it; always true for bots.
    pub taken: bool,
    /// Whether it is the caller's seat.
    pub mine: bool,
    /// Whether its person has left.
    pub left: bool,
}
