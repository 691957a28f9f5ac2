//! A game of Connect Five allocates almost nothing, because league phases play millions of moves.
#![allow(clippy::unwrap_used, missing_docs)]

use agon_core::{Assets, FastRng, Game, Reply, Settings};
use agon_games::connect_five::ConnectFive;

#[test]
fn whole_game_allocates_only_for_the_outcome() {
    let game =
        ConnectFive::new(&Settings::defaults(ConnectFive::info().settings), 2, &Assets::none()).unwrap();
    for seed in 0..200 {
        let mut rng = FastRng::new(seed);
        let mut state = game.start(seed);
        let moves = allocation_counter::measure(|| {
            state = game.start(seed);
            while let Some(seat) = game.to_move(&state).next() {
                let answer = game.sample(&state, seat, &mut rng).unwrap();
                assert_eq!(game.check(&state, seat, answer), Ok(()));
                assert_eq!(game.observe(&state, seat).played, 0);
                game.apply(&mut state, &[Reply::Answer(answer)]);
            }
        });
        assert_eq!(moves.count_total, 0, "start, moves and drift allocate");
        let result = allocation_counter::measure(|| drop(game.outcome(&state)));
        assert!(result.count_total <= 3, "allocations of the outcome: {}", result.count_total);
    }
}
