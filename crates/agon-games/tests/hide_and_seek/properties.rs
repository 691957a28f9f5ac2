//! Properties and the conformance suite.

use agon_core::conformance::{ConformanceConfig, check};
use agon_core::{FastRng, Game, Reply};
use agon_games::hide_and_seek::{
    Answer, Cell, CellSet, GameStart, HIDER, HideAndSeek, Map, SEEKER, State, enemy, field_of_view,
    see_each_other,
};
use proptest::prelude::*;

use super::{S, cell, game, go, mover, play};

fn any_state() -> impl Strategy<Value = (HideAndSeek, State)> {
    (any::<u32>(), any::<u64>(), 0..120usize).prop_map(|(seed, walk, turns)| {
        let game = game(&[]);
        let mut state = game.start(u64::from(seed));
        let mut rng = FastRng::new(walk);
        for _ in 0..turns {
            let Some(answer) = mover(&game, &state).and_then(|seat| game.sample(&state, seat, &mut rng))
            else {
                break;
            };
            game.apply(&mut state, &[Reply::Answer(answer)]);
        }
        (game, state)
    })
}

fn distance(map: &Map, from: Cell, to: Cell) -> u32 {
    let mut reach = CellSet::one(from);
    let mut steps = 0;
    while !reach.contains(to) && steps < 400 {
        reach = reach.grown(map.empty());
        steps += 1;
    }
    steps
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_map_is_connected_with_a_quarter_of_walls(seed in any::<u32>()) {
        let start = GameStart::generate(None, seed);
        let walls = start.map.walls().len();
        prop_assert!((100..=108).contains(&walls), "{walls}");
        prop_assert!(start.map.is_connected());
    }

    #[test]
    fn spawn_cells_are_empty_in_opposite_quadrants_and_at_least_three_apart(seed in any::<u32>()) {
        let GameStart { map, spawns: [seeker, hider], .. } = GameStart::generate(Some(seed), seed);
        prop_assert!(map.is_empty(seeker) && map.is_empty(hider));
        prop_assert!(seeker.manhattan(hider) >= 3);
        prop_assert!((seeker.x() < 10) != (hider.x() < 10) && (seeker.y() < 10) != (hider.y() < 10));
    }

    #[test]
    fn vision_is_mutual_and_blocked_by_walls((_, state) in any_state(), a in 0..400usize, b in 0..400usize) {
        let (a, b, map) = (Cell::from_index(a), Cell::from_index(b), state.map());
        prop_assert_eq!(see_each_other(map, a, b), see_each_other(map, b, a));
        if !map.is_empty(a) || !map.is_empty(b) {
            prop_assert!(!see_each_other(map, a, b), "a wall cell sees nothing");
        }
    }

    #[test]
    fn players_stand_on_empty_cells_and_move_at_most_one_step((game, state) in any_state(), x in -2..22, y in -2..22) {
        prop_assert!(state.map().is_empty(state.cell(SEEKER)) && state.map().is_empty(state.cell(HIDER)));
        if let Some(seat) = mover(&game, &state) {
            let answer = Answer::To { x, y };
            let legal = Cell::new(x, y)
                .is_some_and(|to| state.map().is_empty(to) && state.cell(seat).manhattan(to) <= 1);
            prop_assert_eq!(game.check(&state, seat, answer).is_ok(), legal);
            let mut next = state.clone();
            game.apply(&mut next, &[Reply::Answer(answer)]);
            prop_assert_eq!(next.cell(seat), if legal { cell(x, y) } else { state.cell(seat) });
        }
    }

    #[test]
    fn adjacent_hider_is_always_caught_by_an_approaching_seeker(
        (game, state) in any_state(), steps in any::<[u8; 8]>()
    ) {
        prop_assume!(mover(&game, &state) == Some(SEEKER));
        let map = *state.map();
        let around = map.empty().iter().find(|&c| distance(&map, state.cell(HIDER), c) == 2);
        prop_assume!(around.is_some());
        // The same map with the seeker two steps away, at an odd step or (after one stay) at an even one.
        for even in [false, true] {
            let mut near = State::new(GameStart { map_seed: 0, game_seed: 0, map, spawns: [around.unwrap(), state.cell(HIDER)] });
            if even {
                go(&game, &mut near, S);
            }
            for &step in &steps {
                let Some(seat) = mover(&game, &near) else { break };
                let from = near.cell(seat);
                let to = if seat == SEEKER {
                    map.steps(from).min_by_key(|&c| distance(&map, c, near.cell(HIDER))).unwrap()
                } else {
                    let choices: Vec<Cell> = map.steps(from).collect();
                    choices[step as usize % choices.len()]
                };
                game.apply(&mut near, &[Reply::Answer(Answer::to(to))]);
            }
            let caught = game.outcome(&near).expect("caught");
            let latest = if even { 4.0 } else { 2.0 };
            prop_assert!(caught.seats[0].score <= latest);
        }
    }

    #[test]
    fn resampling_moves_only_an_invisible_enemy_to_an_invisible_cell(
        (game, state) in any_state(), seed in any::<u64>()
    ) {
        let Some(seat) = mover(&game, &state) else { return Ok(()) };
        let other = game.resample(&state, seat, &mut FastRng::new(seed));
        let theirs = enemy(seat);
        if game.observe(&state, seat).enemy_is_visible {
            prop_assert_eq!(other.cell(theirs), state.cell(theirs));
            prop_assert_eq!(game.observe(&state, seat).enemy_pos, state.cell(theirs));
        } else {
            prop_assert!(!field_of_view(state.map(), state.cell(seat)).contains(other.cell(theirs)));
        }
        prop_assert_eq!(other.cell(seat), state.cell(seat));
    }
}

#[test]
fn invisible_enemy_is_drawn_again_by_resampling() {
    let game = game(&[]);
    let mut state = (0..1000).map(|seed| game.start(seed)).find(|s| !s.see_each_other()).unwrap();
    play(&game, &mut state, &[S; 60]);
    let mut rng = FastRng::new(1);
    let places: CellSet = (0..200).map(|_| game.resample(&state, SEEKER, &mut rng).cell(HIDER)).collect();
    assert!(places.len() > 50, "{}", places.len());
}

#[test]
fn conformance_suite_passes() {
    check::<HideAndSeek>(&ConformanceConfig {
        games: 2500,
        settings: |rng| {
            let mut pairs = vec![("steps", (1 + rng.below(60)).to_string())];
            for name in ["map_seed", "game_seed"] {
                if rng.below(3) == 0 {
                    pairs.push((name, rng.below(1000).to_string()));
                }
            }
            (pairs, 2)
        },
        max_turns: 100,
    });
}
