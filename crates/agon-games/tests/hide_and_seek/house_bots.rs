//! House bots and display.

use agon_core::random::bot_seeds;
use agon_core::{Bot, Game, HouseBots, Reply, View, Viewpoint};
use agon_games::hide_and_seek::{HIDER, HideAndSeek, SEEKER, State};

use super::{S, game, mover, play};

// ---- house bots ----

fn players(seeker: usize, hider: usize) -> [Box<dyn Bot<HideAndSeek>>; 2] {
    let of =
        |role: &str, i: usize| HideAndSeek::bots().iter().filter(|b| b.roles.contains(&role)).nth(i).unwrap();
    [(of("seeker", seeker).make)(), (of("hider", hider).make)()]
}

fn count(role: &str) -> usize {
    HideAndSeek::bots().iter().filter(|b| b.roles.contains(&role)).count()
}

/// Plays a game, checks every answer, and returns all states.
fn watch(game: &HideAndSeek, mut table: [Box<dyn Bot<HideAndSeek>>; 2], seed: u64) -> Vec<State> {
    for (player, seed) in table.iter_mut().zip(bot_seeds(seed)) {
        player.begin(seed);
    }
    let mut states = vec![game.start(seed)];
    while let Some(seat) = mover(game, states.last().unwrap()) {
        let mut state = states.last().unwrap().clone();
        let answer = table[seat.index()].answer(&game.observe(&state, seat));
        assert_eq!(game.check(&state, seat, answer), Ok(()));
        game.apply(&mut state, &[Reply::Answer(answer)]);
        states.push(state);
    }
    states
}

#[test]
fn house_bots_play_legal_and_repeatable_games() {
    let game = game(&[("steps", "300")]);
    for seeker in 0..count("seeker") {
        for hider in 0..count("hider") {
            let seed = (seeker * 7 + hider) as u64;
            let last = |states: Vec<State>| game.frame(states.last().unwrap());
            let once = last(watch(&game, players(seeker, hider), seed));
            assert_eq!(once, last(watch(&game, players(seeker, hider), seed)));
        }
    }
}

#[test]
fn house_bots_answer_legally_in_any_position() {
    let game = game(&[]);
    for bot in HideAndSeek::bots() {
        let seat = if bot.plays(SEEKER) { SEEKER } else { HIDER };
        let mut player = (bot.make)();
        for seed in 0..12 {
            // No `begin`, and another map each time: a bot's stored data may be wrong, but its answer must be legal.
            let mut state = game.start(seed);
            play(&game, &mut state, &[S; 5][..if seat == SEEKER { 3 } else { 2 }]);
            let answer = player.answer(&game.observe(&state, seat));
            assert_eq!(game.check(&state, seat, answer), Ok(()), "{}", bot.name);
        }
    }
}

// ---- display ----

fn names() -> Vec<String> {
    ["first", "second"].map(String::from).to_vec()
}

#[test]
fn picture_fits_the_terminal_and_hides_an_invisible_enemy() {
    let game = game(&[]);
    let mut state = (0..1000).map(|seed| game.start(seed)).find(|s| !s.see_each_other()).unwrap();
    play(&game, &mut state, &[S, S, S, S]);
    for eye in [Viewpoint::All, Viewpoint::Seat(SEEKER), Viewpoint::Seat(HIDER)] {
        let text = game.picture(&state, eye, &names()).plain();
        assert!(text.lines().count() <= 40 && text.lines().all(|l| l.chars().count() <= 100), "{text}");
    }
    let seeker = game.picture(&state, Viewpoint::Seat(SEEKER), &names()).plain();
    let rows: Vec<&str> = seeker.lines().skip(2).map(|l| l.get(..30).unwrap_or(l)).collect();
    assert!(!rows.concat().contains('H') && seeker.contains("h "), "{seeker}");
}

#[test]
fn pictures_equal_the_golden_game() {
    let game = game(&[("map_seed", "42"), ("game_seed", "42"), ("steps", "12")]);
    let states = watch(&game, players(count("seeker") - 1, count("hider") - 1), 42);
    let mut text = String::new();
    for state in &states {
        text += &game.picture(state, Viewpoint::All, &names()).plain();
        text.push('\n');
    }
    for seat in [SEEKER, HIDER] {
        text += &game.picture(&states[states.len() / 2], Viewpoint::Seat(seat), &names()).plain();
        text.push('\n');
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/hide_and_seek.txt");
    if std::env::var_os("AGON_BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(text, golden, "run with AGON_BLESS=1 to accept the new pictures");
}
