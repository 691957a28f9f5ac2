//! Bots that look ahead: one that takes every column for an ordinary one, and one that finds out.

use agon_core::{Bot, QuickRng};

use super::belief::{Belief, new_piece, sensible};
use super::position::Position;
use super::search::Search;
use crate::connect_five::{Column, ConnectFive, Seen};

/// Nearly equal moves are told apart by chance, so that two games differ.
fn noise(rng: &mut QuickRng) -> impl FnMut() -> i32 {
    || rng.below(12) as i32
}

/// Alpha-beta search that knows nothing of drift.
pub(super) struct AlphaBeta {
    search: Search,
    rng: QuickRng,
}

impl AlphaBeta {
    pub(super) fn new(positions: u32) -> Self {
        Self { search: Search::new(positions), rng: QuickRng::new(0) }
    }
}

impl Bot<ConnectFive> for AlphaBeta {
    fn begin(&mut self, seed: u64) {
        self.rng = QuickRng::new(seed);
    }

    fn answer(&mut self, seen: &Seen) -> Column {
        let column = self.search.best(Position::seen(seen), noise(&mut self.rng));
        Column(column as i64)
    }
}

/// The same search over chances, with what the match so far has taught about the special columns.
pub(super) struct Learner {
    search: Search,
    rng: QuickRng,
    belief: Belief,
    /// What it saw last in this game, and what it answered.
    last: Option<(Position, usize)>,
}

impl Learner {
    pub(super) fn new(positions: u32) -> Self {
        Self { search: Search::new(positions), rng: QuickRng::new(0), belief: Belief::new(), last: None }
    }

    /// Learns from the pieces that have come to lie since the last answer.
    fn learn(&mut self, now: Position) {
        let mut before = Position { own: 0, other: 0 };
        if let Some((seen, named)) = self.last {
            let Some(landed) = new_piece(seen.own, now.own) else { return };
            self.belief.own_drop(seen, named, landed);
            before = Position { own: seen.other, other: now.own };
        }
        if let Some(landed) = new_piece(before.own, now.other) {
            self.belief.other_drop(before, &sensible(before), landed);
        }
    }
}

impl Bot<ConnectFive> for Learner {
    fn begin(&mut self, seed: u64) {
        self.rng = QuickRng::new(seed);
        self.last = None;
    }

    fn answer(&mut self, seen: &Seen) -> Column {
        let position = Position::seen(seen);
        self.learn(position);
        self.search.believe(self.belief.drift());
        let column = self.search.best(position, noise(&mut self.rng));
        self.last = Some((position, column));
        Column(column as i64)
    }

    fn match_over(&mut self) {
        self.belief = Belief::new();
    }
}

#[cfg(test)]
mod tests {
    use agon_core::{Assets, Game, Reply, Settings};

    use super::*;

    #[test]
    fn the_learner_knows_the_special_columns_after_a_few_games_and_forgets_them_with_the_match() {
        let pairs = [("special", "3,6"), ("p", "0.2"), ("q", "0.6")];
        let settings = Settings::parse(ConnectFive::info().settings, pairs).unwrap();
        let mut learner = Learner::new(300);
        for index in 0..4 {
            let (settings, seed) = ConnectFive::in_series(&settings, 5, index);
            let game = ConnectFive::new(&settings, 2, &Assets::none()).unwrap();
            let mut state = game.start(seed);
            let mut rng = QuickRng::new(seed);
            learner.begin(seed);
            while let Some(seat) = game.to_move(&state).next() {
                let answer = match seat.0 {
                    0 => Some(learner.answer(&game.observe(&state, seat))),
                    _ => game.sample(&state, seat, &mut rng),
                };
                game.apply(&mut state, &[Reply::Answer(answer.unwrap())]);
            }
            learner.game_over();
        }
        let sure = |learner: &Learner| learner.belief.special(3) + learner.belief.special(6);
        assert!(sure(&learner) > 1.9, "{}", sure(&learner));
        learner.match_over();
        assert!((sure(&learner) - 4.0 / 9.0).abs() < 1e-3);
    }
}
