//! Access to a game that is known only by its id. All code that is generic over games uses [`crate::visit`].

use agon_core::settings::closest_name;
use agon_core::{Diagnostic, Game, HouseBots, View};

/// A game with rules, display and house bots.
pub trait PlayableGame: Game + View + HouseBots {}

impl<G: Game + View + HouseBots> PlayableGame for G {}

/// Generic code to run on a game that is known only by its id.
pub trait GameVisitor {
    /// Result of the visit.
    type Output;

    /// Called with the type of the game.
    fn visit<G: PlayableGame>(self) -> Self::Output;
}

/// Defines the list of games. Only `lib.rs` uses it.
macro_rules! games {
    ($($game:ty),* $(,)?) => {
        /// Descriptions of all games, in the order of the rule book.
        pub fn infos() -> Vec<&'static agon_core::GameInfo> {
            vec![$(<$game as agon_core::Game>::info()),*]
        }

        /// Description of the game with this id.
        pub fn game_info(id: &str) -> Result<&'static agon_core::GameInfo, $crate::UnknownGame> {
            infos().into_iter().find(|info| info.id == id).ok_or_else(|| $crate::UnknownGame::new(id))
        }

        /// Calls the visitor with the game of this id.
        pub fn visit<V: $crate::GameVisitor>(id: &str, visitor: V) -> Result<V::Output, $crate::UnknownGame> {
            $(if <$game as agon_core::Game>::info().id == id { return Ok(visitor.visit::<$game>()); })*
            Err($crate::UnknownGame::new(id))
        }
    };
}
pub(crate) use games;

/// No game has this id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownGame {
    /// The unknown id.
    pub id: String,
    /// Instruction how to fix it.
    pub hint: String,
}

impl UnknownGame {
    pub(crate) fn new(id: &str) -> Self {
        let ids: Vec<&str> = crate::infos().iter().map(|info| info.id).collect();
        let all = ids.join(", ");
        let hint = closest_name(id, ids).map_or_else(
            || format!("available games: {all}"),
            |near| format!("did you mean `{near}`? available games: {all}"),
        );
        Self { id: id.to_owned(), hint }
    }
}

impl From<UnknownGame> for Diagnostic {
    fn from(error: UnknownGame) -> Self {
        Self::wrong_use(format!("unknown game `{}`", error.id), error.hint)
    }
}

impl std::fmt::Display for UnknownGame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Diagnostic::from(self.clone()).fmt(f)
    }
}

impl std::error::Error for UnknownGame {}
