//! The house bots.

use agon_core::random::bot_seeds;
use agon_core::{Bot, Game, HouseBots, Reply, Seat};
use agon_games::colour_battle::{ColourBattle, State};

use super::{game, play};

#[test]
fn each_house_bot_plays_whole_games_with_all_others() {
    for (seed, copies) in [(1, 1), (2, 1), (3, 3)] {
        let makes: Vec<_> = (0..copies).flat_map(|_| ColourBattle::bots()).collect();
        let game = game(makes.len(), 150);
        let mut players: Vec<Box<dyn Bot<ColourBattle>>> = makes.iter().map(|bot| (bot.make)()).collect();
        let first = whole_game(&game, &mut players, seed);
        let mut again: Vec<Box<dyn Bot<ColourBattle>>> = makes.iter().map(|bot| (bot.make)()).collect();
        assert_eq!(first, whole_game(&game, &mut again, seed), "the same seed and bots give another game");
    }
    for bot in ColourBattle::bots() {
        let game = game(2, 200);
        let mut players = vec![(bot.make)(), (ColourBattle::bots()[0].make)()];
        assert!(
            whole_game(&game, &mut players, 5).painters().len() == 2,
            "{} in the smallest arena",
            bot.name
        );
    }
}

#[test]
fn house_bots_accept_unusual_observations() {
    // A seat that does not exist, and the round after the last.
    let game = game(3, 1);
    let mut state = game.start(1);
    for seat in [Seat(0), Seat(3), Seat(200)] {
        for bot in ColourBattle::bots() {
            (bot.make)().answer(&game.observe(&state, seat));
        }
    }
    play(&game, &mut state, "SSS");
    for bot in ColourBattle::bots() {
        (bot.make)().answer(&game.observe(&state, Seat(1)));
    }
}

fn whole_game(game: &ColourBattle, players: &mut [Box<dyn Bot<ColourBattle>>], seed: u64) -> State {
    for (player, seed) in players.iter_mut().zip(bot_seeds(seed)) {
        player.begin(seed);
    }
    let mut state = game.start(seed);
    while !game.to_move(&state).is_empty() {
        let replies: Vec<_> = game
            .to_move(&state)
            .map(|seat| {
                let answer = players[seat.index()].answer(&game.observe(&state, seat));
                assert_eq!(game.check(&state, seat, answer), Ok(()));
                Reply::Answer(answer)
            })
            .collect();
        game.apply(&mut state, &replies);
    }
    state
}
