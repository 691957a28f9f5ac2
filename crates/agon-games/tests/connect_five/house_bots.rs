//! The house bots.

use agon_core::random::bot_seeds;
use agon_core::{Assets, Bot, Game, HouseBots, Outcome, Reply};
use agon_games::connect_five::ConnectFive;

use super::{outcome, settings};

fn play_match(names: [usize; 2], seed: u64, games: u32) -> Vec<Outcome> {
    let bots = ConnectFive::bots();
    let mut players: Vec<Box<dyn Bot<ConnectFive>>> = names.iter().map(|&i| (bots[i].make)()).collect();
    (0..games)
        .map(|index| {
            let (settings, seed) = ConnectFive::series_game(&settings(&[]), seed, index);
            let game = ConnectFive::new(&settings, 2, &Assets::none()).unwrap();
            players.iter_mut().zip(bot_seeds(seed)).for_each(|(player, seed)| player.begin(seed));
            let mut state = game.start(seed);
            while let Some(seat) = game.to_move(&state).next() {
                let answer = players[seat.index()].answer(&game.observe(&state, seat));
                assert_eq!(game.check(&state, seat, answer), Ok(()), "{}", bots[names[seat.index()]].name);
                game.apply(&mut state, &[Reply::Answer(answer)]);
            }
            for player in &mut players {
                player.game_over();
            }
            outcome(&game, &state)
        })
        .collect()
}

#[test]
fn house_bots_play_legal_and_repeatable_games_against_each_other() {
    let bots = ConnectFive::bots().len();
    assert!(bots >= 6);
    for a in 0..bots {
        for b in a..bots {
            // Two games: each bot moves first once, and uses in the second game what it learnt in the first.
            let seed = (a * bots + b) as u64;
            let games = play_match([a, b], seed, 2);
            if (a + b) % 3 == 0 {
                assert_eq!(games, play_match([a, b], seed, 2), "the same seed gives other games");
            }
        }
    }
}
