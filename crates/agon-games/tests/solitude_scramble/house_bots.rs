//! The house bots.

use agon_core::random::bot_seeds;
use agon_core::{Bot, Game, HouseBots, Reply, Seat};
use agon_games::solitude_scramble::SolitudeScramble;
use agon_games::solitude_scramble::board::Move::{self, Center, Left, Right};
use agon_games::solitude_scramble::board::Side::{East, North, South, West};
use agon_games::solitude_scramble::state::{State, Turn};

use crate::{deal, default_game, game_with, replies};

fn bot(name: &str) -> Box<dyn Bot<SolitudeScramble>> {
    (SolitudeScramble::bots().iter().find(|bot| bot.name == name).unwrap().make)()
}

fn play(game: &SolitudeScramble, players: &mut [Box<dyn Bot<SolitudeScramble>>], seed: u64) -> State {
    for (player, seed) in players.iter_mut().zip(bot_seeds(seed)) {
        player.begin(seed);
    }
    let mut state = game.start(seed);
    while !game.to_move(&state).is_empty() {
        let replies: Vec<Reply<Move>> = game
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

#[test]
fn house_bots_play_complete_and_repeatable_matches() {
    let bots = SolitudeScramble::bots();
    let game = game_with(&[("turns", "25")]);
    for a in 0..bots.len() {
        for b in 0..bots.len() {
            let table = [a, b, (a + b) % bots.len(), bots.len() - 1];
            let play_once = || {
                let mut players: Vec<_> = table.iter().map(|&i| (bots[i].make)()).collect();
                play(&game, &mut players, (a * 100 + b) as u64)
            };
            let (first, second) = (play_once(), play_once());
            assert_eq!(first.history(), second.history());
            assert!(first.history().iter().all(|turn| turn.moves.iter().all(Option::is_some)));
        }
    }
}

#[test]
fn house_bots_are_stateless() {
    let game = game_with(&[("turns", "30")]);
    let mut players: Vec<_> = ["random", "equilibrium", "greedy", "mastermind"].map(bot).into();
    let played = play(&game, &mut players, 9);
    for offered in SolitudeScramble::bots() {
        let mut lived = (offered.make)();
        lived.begin(77);
        let mut state = game.start(9);
        for turn in played.history() {
            let seen = game.observe(&state, Seat(2));
            let mut fresh = (offered.make)();
            fresh.begin(77);
            assert_eq!(lived.answer(&seen), fresh.answer(&seen), "{} remembers", offered.name);
            game.apply(&mut state, &replies(turn.moves));
        }
    }
}

#[test]
fn greedy_breaks_ties_like_the_example_of_the_rule_document() {
    let game = default_game();
    let mut greedy = bot("greedy");
    // Scores are CENTER NW NE SW SE. The bot stands on North: LEFT is NE, RIGHT is NW.
    for (scores, chosen) in [
        ([4, 4, 4, 1, 1], Center),
        ([4, 5, 5, 1, 1], Left),
        ([4, 6, 5, 1, 1], Right),
        ([5, 2, 5, 6, 6], Center),
        ([5, 2, 6, 6, 6], Left),
    ] {
        let mut state = game.start(0);
        state.set_deal(deal(scores, [North, East, South, West]));
        assert_eq!(greedy.answer(&game.observe(&state, Seat(0))), chosen, "{scores:?}");
    }
}

#[test]
fn modelling_bots_identify_predictable_opponents() {
    for reader in ["profiler", "mastermind"] {
        let game = game_with(&[("turns", "40")]);
        let mut players: Vec<_> = ["left", "greedy", reader, "centre"].map(bot).into();
        let state = play(&game, &mut players, 4);
        for turn in &state.history()[10..] {
            let best = Move::ALL.map(|chosen| {
                let mut moves = turn.moves;
                moves[2] = Some(chosen);
                Turn::score(1, turn.deal, moves).awards[2]
            });
            assert_eq!(
                Some(&turn.awards[2]),
                best.iter().max(),
                "{reader} predicts all opponents by turn {}",
                turn.number
            );
        }
    }
}
