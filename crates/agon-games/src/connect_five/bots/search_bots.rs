//! Bots that search: one ignores drift, the other learns the special columns.

use agon_core::{Bot, FastRng};

use super::belief::{DriftBelief, likely_choices, new_piece};
use super::position::Position;
use super::search::Search;
use crate::connect_five::{Column, ConnectFive, Observation};

/// Random noise that decides between nearly equal moves, so that games differ.
fn noise(rng: &mut FastRng) -> impl FnMut() -> i32 {
    || rng.below(12) as i32
}

/// Alpha-beta search that ignores drift.
pub(super) struct AlphaBeta {
    search: Search,
    rng: FastRng,
}

impl AlphaBeta {
    pub(super) fn new(positions: u32) -> Self {
        Self { search: Search::new(positions), rng: FastRng::new(0) }
    }
}

impl Bot<ConnectFive> for AlphaBeta {
    fn begin(&mut self, seed: u64) {
        self.rng = FastRng::new(seed);
    }

    fn answer(&mut self, seen: &Observation) -> Column {
        let column = self.search.best(Position::from_observation(seen), noise(&mut self.rng));
        Column(column as i64)
    }
}

/// The same search with chance nodes, using what the match so far revealed about the special columns.
pub(super) struct Learner {
    search: Search,
    rng: FastRng,
    belief: DriftBelief,
    /// Last position and answer in this game.
    last: Option<(Position, usize)>,
}

impl Learner {
    pub(super) fn new(positions: u32) -> Self {
        Self { search: Search::new(positions), rng: FastRng::new(0), belief: DriftBelief::new(), last: None }
    }

    /// Learns from the pieces added since the last answer.
    fn learn(&mut self, now: Position) {
        let mut before = Position { own: 0, other: 0 };
        if let Some((seen, named)) = self.last {
            let Some(landed) = new_piece(seen.own, now.own) else { return };
            self.belief.observe_own_drop(seen, named, landed);
            before = Position { own: seen.other, other: now.own };
        }
        if let Some(landed) = new_piece(before.own, now.other) {
            self.belief.observe_opponent_drop(before, &likely_choices(before), landed);
        }
    }
}

impl Bot<ConnectFive> for Learner {
    fn begin(&mut self, seed: u64) {
        self.rng = FastRng::new(seed);
        self.last = None;
    }

    fn answer(&mut self, seen: &Observation) -> Column {
        let position = Position::from_observation(seen);
        self.learn(position);
        self.search.set_drift(self.belief.drift());
        let column = self.search.best(position, noise(&mut self.rng));
        self.last = Some((position, column));
        Column(column as i64)
    }

    fn match_over(&mut self) {
        self.belief = DriftBelief::new();
    }
}

#[cfg(test)]
mod tests {
    use agon_core::{Assets, Game, Reply, Settings};

    use super::*;

    #[test]
    fn learner_finds_the_special_columns_in_a_few_games_and_forgets_them_after_the_match() {
        let pairs = [("special", "3,6"), ("p", "0.2"), ("q", "0.6")];
        let settings = Settings::parse(ConnectFive::info().settings, pairs).unwrap();
        let mut learner = Learner::new(300);
        for index in 0..4 {
            let (settings, seed) = ConnectFive::series_game(&settings, 5, index);
            let game = ConnectFive::new(&settings, 2, &Assets::none()).unwrap();
            let mut state = game.start(seed);
            let mut rng = FastRng::new(seed);
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
        let certainty =
            |learner: &Learner| learner.belief.special_probability(3) + learner.belief.special_probability(6);
        assert!(certainty(&learner) > 1.9, "{}", certainty(&learner));
        learner.match_over();
        assert!((certainty(&learner) - 4.0 / 9.0).abs() < 1e-3);
    }
}
