//! Properties, the conformance suite, and hidden information.

use std::collections::HashSet;

use agon_core::conformance::{self, ConformanceConfig};
use agon_core::{FastRng, Fault, Game, Reply, Seat, View, Viewpoint};
use agon_games::colour_battle::{ColourBattle, Move, Painter, side_for};
use proptest::prelude::*;

use super::game;

/// Slow reference implementation of the rule book.
fn by_the_book(side: usize, ids: &[u8], starts: &[(u8, u8)], rounds: &[Vec<usize>]) -> Vec<Vec<u8>> {
    let mut grid = vec![vec![0; side]; side];
    let mut at: Vec<(i32, i32)> = starts.iter().map(|&(x, y)| (x.into(), y.into())).collect();
    for round in rounds {
        for (place, &step) in at.iter_mut().zip(round) {
            let (dx, dy) = [(0, 1), (0, -1), (-1, 0), (1, 0), (0, 0)][step];
            let to = (place.0 + dx, place.1 + dy);
            if [to.0, to.1].iter().all(|c| (0..side as i32).contains(c)) {
                *place = to;
            }
        }
        let before = grid.clone();
        for (&(x, y), &own) in at.iter().zip(ids) {
            let (x, y) = (x as usize, y as usize);
            let floor: u8 = before[y][x];
            grid[y][x] = if at.iter().filter(|&&p| p == (x as i32, y as i32)).count() > 1 {
                0
            } else if floor == 0 {
                own
            } else {
                [floor, 0, own][(i32::from(own) - i32::from(floor)).rem_euclid(3) as usize]
            };
        }
    }
    grid
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rules_equal_the_reference_implementation(
        seats in 2usize..12,
        seed: u64,
        moves in prop::collection::vec(prop::collection::vec(0usize..5, 12), 1..80),
    ) {
        let game = game(seats, moves.len() as u32);
        let mut state = game.start(seed);
        let bots: Vec<Painter> = Seat::all(seats).map(|seat| state.painter(seat)).collect();
        let ids: Vec<u8> = bots.iter().map(|bot| bot.id).collect();
        let starts: Vec<(u8, u8)> = bots.iter().map(|bot| (bot.position.x, bot.position.y)).collect();
        for round in &moves {
            let replies: Vec<_> = round[..seats].iter().map(|&i| Reply::Answer(Move::ALL[i])).collect();
            game.apply(&mut state, &replies);
        }
        let wanted = by_the_book(side_for(seats), &ids, &starts, &moves);
        prop_assert_eq!(state.grid().rows().map(<[u8]>::to_vec).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn tile_and_bot_counts_stay_consistent_for_any_replies(seats in 2usize..=64, seed: u64, rounds in 1u32..40) {
        let game = game(seats, rounds);
        let mut state = game.start(seed);
        let mut rng = FastRng::new(seed);
        while !game.to_move(&state).is_empty() {
            let before = state.grid().counts_by_id();
            let replies: Vec<_> = (0..rng.below(seats as u32 + 3))
                .map(|_| match rng.below(8) {
                    5..8 => Reply::Fault(Fault::ALL[rng.below(4) as usize]),
                    step => Reply::Answer(Move::ALL[step as usize]),
                })
                .collect();
            game.apply(&mut state, &replies);
            let counts = state.grid().counts_by_id();
            prop_assert_eq!(counts.iter().sum::<u32>() as usize, side_for(seats).pow(2));
            let side = game.side();
            prop_assert!(state.painters().iter().all(|b| b.position.x < side && b.position.y < side));
            for bot in state.painters() {
                let count = state.painters().iter().filter(|b| b.position == bot.position).count();
                prop_assert_eq!(usize::from(state.bots_on(bot.position)), count);
                let id = usize::from(bot.id);
                prop_assert!(counts[id] <= before[id] + 1, "more than one new tile in a round");
                if count > 1 {
                    prop_assert_eq!(state.grid().at(bot.position), 0);
                }
            }
        }
        let outcome = game.outcome(&state).unwrap();
        let share: f64 = outcome.seats.iter().map(|seat| seat.score).sum();
        prop_assert!(share <= 100.0 + 1e-9);
    }
}

#[test]
fn conformance_suite_passes() {
    conformance::check::<ColourBattle>(&ConformanceConfig {
        games: 2000,
        settings: |rng| {
            let (seats, rounds) = match rng.below(100) {
                0 => (64, 4),
                1..3 => (20, 12),
                _ => (2 + rng.below(6) as usize, 24),
            };
            (vec![("rounds", (1 + rng.below(rounds)).to_string())], seats)
        },
        max_turns: 24,
    });
}

#[test]
fn resampling_hides_which_bot_has_which_id() {
    let game = game(6, 50);
    let mut rng = FastRng::new(3);
    let state = game.start(11);
    let mut deals = HashSet::new();
    for _ in 0..200 {
        let other = game.resample(&state, Seat(2), &mut rng);
        assert_eq!(other.painter(Seat(2)), state.painter(Seat(2)));
        deals.insert(Seat::all(6).map(|seat| other.painter(seat).id).collect::<Vec<_>>());
    }
    assert!(deals.len() > 60, "only {} of 120 deals of five ids were drawn", deals.len());
    let names: Vec<String> = (0..6).map(|i| format!("secret{i}")).collect();
    assert!(!game.picture(&state, Viewpoint::Seat(Seat(2)), &names).plain().contains("secret"));
    assert!(game.picture(&state, Viewpoint::All, &names).plain().contains("secret0"));
}
