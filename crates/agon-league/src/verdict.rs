//! What a finished match says about who goes on.

use agon_core::GameInfo;

use crate::format::MatchVerdict;
use crate::result::{Entrant, FixedPoint, GameResult, MatchResult};

/// Less than all games of a tie can make up for.
const FORFEIT: FixedPoint = FixedPoint::whole(-1_000_000_000_000);

impl MatchVerdict {
    /// Of a match of this game. Points are what the table gives; what breaks a tie is the game's own second figure: word points, games
    /// won minus lost, else the sum of scores.
    pub fn of(game: &GameInfo, result: &MatchResult) -> Self {
        let seats = result.entrants();
        let second = |seat: usize| result.games.iter().map(|one| second(game, one, seat)).sum();
        Self { points: result.table_points(), second: (0..seats.len()).map(second).collect(), seats }
    }

    /// Whoever is disqualified loses the tie that this match belongs to, whatever was played.
    pub fn forfeit(&mut self, by: Entrant) {
        for (seat, points) in self.seats.iter().zip(&mut self.points) {
            if *seat == by {
                *points = FORFEIT;
            }
        }
    }

    /// Whether an entrant has lost by [`MatchVerdict::forfeit`].
    pub fn is_forfeited(&self, by: Entrant) -> bool {
        self.seats.iter().zip(&self.points).any(|(seat, points)| *seat == by && *points == FORFEIT)
    }
}

fn second(game: &GameInfo, one: &GameResult, seat: usize) -> FixedPoint {
    let Some(own) = one.seats.get(seat) else { return FixedPoint::ZERO };
    match game.id {
        "word-racer" => own.stats[0],
        "connect-five" => {
            let winners = one.seats.iter().filter(|other| other.place == 1).count();
            match (own.place, winners) {
                (1, 1) => FixedPoint::whole(1),
                (1, _) => FixedPoint::ZERO,
                _ => FixedPoint::whole(-1),
            }
        }
        _ => own.score,
    }
}
