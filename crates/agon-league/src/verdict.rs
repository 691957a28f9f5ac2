//! What a finished match means for later stages.

use agon_core::GameInfo;
use agon_core::standings_rules::TieBreak;

use crate::format::MatchVerdict;
use crate::result::{Entrant, FixedPoint, GameResult, MatchResult};

/// Points of a forfeited match: more than all games of a tie can make up for.
const FORFEIT_POINTS: FixedPoint = FixedPoint::from_int(-1_000_000_000_000);

impl MatchVerdict {
    /// Verdict of a match of this game. `points` are table points. `tie_break` is the game's second criterion
    /// ([`TieBreak`]).
    pub fn of(game: &GameInfo, result: &MatchResult) -> Self {
        let seats = result.entrants();
        let tie_break = |seat: usize| result.games.iter().map(|one| tie_break(game, one, seat)).sum();
        Self { points: result.table_points(), tie_break: (0..seats.len()).map(tie_break).collect(), seats }
    }

    /// Makes a disqualified entrant lose the tie of this match, whatever the result.
    pub fn forfeit(&mut self, by: Entrant) {
        for (seat, points) in self.seats.iter().zip(&mut self.points) {
            if *seat == by {
                *points = FORFEIT_POINTS;
            }
        }
    }

    /// Whether an entrant lost by [`MatchVerdict::forfeit`].
    pub fn is_forfeited(&self, by: Entrant) -> bool {
        self.seats.iter().zip(&self.points).any(|(seat, points)| *seat == by && *points == FORFEIT_POINTS)
    }
}

fn tie_break(game: &GameInfo, result: &GameResult, seat: usize) -> FixedPoint {
    let Some(own) = result.seats.get(seat) else { return FixedPoint::ZERO };
    match game.standings.tie_break {
        TieBreak::Stat(index) => own.stats.get(index).copied().unwrap_or_default(),
        TieBreak::GamesWonMinusLost => {
            let winners = result.seats.iter().filter(|other| other.place == 1).count();
            match (own.place, winners) {
                (1, 1) => FixedPoint::from_int(1),
                (1, _) => FixedPoint::ZERO,
                _ => FixedPoint::from_int(-1),
            }
        }
        TieBreak::Score => own.score,
    }
}
