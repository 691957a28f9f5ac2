//! The one list of all games. Everything that is generic over games goes through [`visit`].

use agon_core::settings::nearest;
use agon_core::{Game, GameInfo, House, View};

/// A game that can be played, looked at, and has bots of its own.
pub trait Hosted: Game + View + House {}

impl<G: Game + View + House> Hosted for G {}

/// Something to be done with a game whose type is known only by its id.
pub trait Visitor {
    /// What comes back.
    type Output;

    /// Does it.
    fn visit<G: Hosted>(self) -> Self::Output;
}

macro_rules! games {
    ($($game:ty),* $(,)?) => {
        /// What each game is, in the order of the rule book.
        pub fn infos() -> Vec<&'static GameInfo> {
            vec![$(<$game as Game>::info()),*]
        }

        /// Does something with the game of this id.
        pub fn visit<V: Visitor>(id: &str, visitor: V) -> Result<V::Output, UnknownGame> {
            $(if <$game as Game>::info().id == id { return Ok(visitor.visit::<$game>()); })*
            Err(UnknownGame::new(id))
        }
    };
}

games! {
    crate::solitude_scramble::SolitudeScramble,
    crate::colour_battle::ColourBattle,
    crate::connect_five::ConnectFive,
    crate::hide_and_seek::HideAndSeek,
    crate::word_racer::WordRacer,
}

/// No game has this id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownGame {
    /// The id that was asked for.
    pub id: String,
    /// What to do.
    pub hint: String,
}

impl UnknownGame {
    fn new(id: &str) -> Self {
        let ids: Vec<&str> = infos().iter().map(|info| info.id).collect();
        let all = ids.join(", ");
        let hint = nearest(id, ids).map_or_else(
            || format!("the games are {all}"),
            |near| format!("did you mean `{near}`? the games are {all}"),
        );
        Self { id: id.to_owned(), hint }
    }
}

impl std::fmt::Display for UnknownGame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "unknown game `{}`\nhint: {}", self.id, self.hint)
    }
}

impl std::error::Error for UnknownGame {}
