//! __TITLE__: the conformance suite and each rule.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

use agon_core::conformance::{self, ConformanceConfig};
use agon_games::__MODULE__::__TYPE__;

#[test]
fn random_games_conform() {
    conformance::check::<__TYPE__>(&ConformanceConfig {
        games: 2_000,
        // FILL IN: settings that keep games short, and the number of seats.
        settings: |_| (Vec::new(), 2),
        max_turns: 10_000,
    });
}

// FILL IN: a test for each rule, a property test for what must always hold, a golden game.
