//! Properties and the conformance suite.

use agon_core::conformance::{self, ConformanceConfig};
use agon_core::{FastRng, Game, Seat};
use agon_games::solitude_scramble::SolitudeScramble;
use agon_games::solitude_scramble::board::Move::{self, Center, Left, Right};
use agon_games::solitude_scramble::board::{Platform, Side};
use agon_games::solitude_scramble::state::{Deal, Turn};
use proptest::prelude::*;

use crate::{game_with, replies};

#[test]
fn conformance_suite_passes() {
    conformance::check::<SolitudeScramble>(&ConformanceConfig {
        games: 2400,
        settings: |rng: &mut FastRng| (vec![("turns", (1 + rng.below(14)).to_string())], 4),
        max_turns: 14,
    });
}

fn any_move() -> impl Strategy<Value = Option<Move>> {
    prop_oneof![Just(None), Just(Some(Left)), Just(Some(Right)), Just(Some(Center))]
}

fn any_turn() -> impl Strategy<Value = Turn> {
    (0..Deal::COUNT, prop::array::uniform4(any_move()))
        .prop_map(|(number, moves)| Turn::score(1, Deal::from_number(number), moves))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The scoring rule, formulated for platforms.
    #[test]
    fn each_platform_pays_its_score_once_to_its_only_visitor(turn in any_turn()) {
        let mut paid = [0u8; 4];
        for platform in Platform::ALL {
            let visitors: Vec<Seat> = turn.visitors(platform).collect();
            if let [alone] = visitors.as_slice() {
                paid[alone.index()] += turn.deal.scores().of(platform);
            }
        }
        prop_assert_eq!(paid, turn.awards);
    }

    /// Rotating the board and all bots by a quarter changes no points.
    #[test]
    fn rotation_of_the_board_keeps_all_points(turn in any_turn()) {
        let turned = |side: Side| Side::ALL[(side as usize + 1) % 4];
        let [center, nw, ne, sw, se] = turn.deal.scores().0;
        let deal = Deal::new([center, sw, nw, se, ne], turn.deal.sides().map(turned)).unwrap();
        prop_assert_eq!(Turn::score(1, deal, turn.moves).awards, turn.awards);
    }

    #[test]
    fn totals_are_the_sum_of_awards(seed: u64, turns in 1u16..30, moves in prop::collection::vec(any_move(), 120)) {
        let game = game_with(&[("turns", &turns.to_string())]);
        let mut state = game.start(seed);
        for four in moves.chunks_exact(4) {
            game.apply(&mut state, &replies([four[0], four[1], four[2], four[3]]));
        }
        let mut sums = [0u16; 4];
        for turn in state.history() {
            sums.iter_mut().zip(turn.awards).for_each(|(sum, award)| *sum += u16::from(award));
        }
        prop_assert_eq!(state.history().len(), usize::from(turns));
        prop_assert_eq!(&sums, state.totals());
    }
}
