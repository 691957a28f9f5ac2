//! Complete games: the conformance suite, house bots, the golden game, the display.

use super::*;

#[test]
fn conformance_suite_passes() {
    conformance::check::<WordRacer>(&ConformanceConfig {
        games: 2400,
        settings: |rng| {
            let mut pairs = vec![("first", rng.below(2).to_string())];
            if rng.below(2) == 0 {
                pairs.push(("letter", ((b'A' + rng.below(26) as u8) as char).to_string()));
            }
            (pairs, 2)
        },
        max_turns: 96,
    });
}

/// Plays two house bots against each other and checks every answer.
fn duel(
    bots: [usize; 2],
    pairs: &[(&str, &str)],
    seed: u64,
    mut look: impl FnMut(&WordRacer, &State),
) -> Outcome {
    let game = game(pairs);
    let mut players = bots.map(|bot| (WordRacer::bots()[bot].make)());
    for (player, seed) in players.iter_mut().zip(bot_seeds(seed)) {
        player.begin(seed);
    }
    let mut state = game.start(seed);
    look(&game, &state);
    while !game.to_move(&state).is_empty() {
        let seat = mover(&game, &state);
        let answer = players[seat.index()].answer(&game.observe(&state, seat));
        assert_eq!(
            game.check(&state, seat, answer),
            Ok(()),
            "{}",
            WordRacer::bots()[bots[seat.index()]].name
        );
        game.apply(&mut state, &[Reply::Answer(answer)]);
        look(&game, &state);
    }
    game.outcome(&state).unwrap()
}

#[test]
fn house_bots_play_complete_games_without_an_illegal_answer() {
    let count = WordRacer::bots().len();
    for a in 0..count {
        for b in 0..count {
            let first = ["0", "1"][(a + b) % 2];
            let outcome = duel([a, b], &[("first", first)], (a * 31 + b) as u64, |_, _| {});
            assert!(outcome.ended.starts_with("boards full"));
        }
    }
}

#[test]
fn house_bots_play_with_any_word_list() {
    for content in [&b""[..], b"ZZ", b"QQQQQQQ\nXYZ"] {
        let game = with_words(content).unwrap();
        for bot in WordRacer::bots() {
            let mut players = [(bot.make)(), (bot.make)()];
            let mut state = game.start(3);
            while !game.to_move(&state).is_empty() {
                let seat = mover(&game, &state);
                let answer = players[seat.index()].answer(&game.observe(&state, seat));
                play(&game, &mut state, answer);
            }
        }
    }
}

#[test]
fn house_bots_repeat_a_game_with_the_same_seed() {
    let strongest = WordRacer::bots().len() - 1;
    let mut games = Vec::new();
    for _ in 0..2 {
        let mut boards = Vec::new();
        duel([strongest, strongest - 1], &[], 11, |_, state| boards.push(*state.board(Seat(0))));
        games.push(boards);
    }
    assert_eq!(games[0], games[1]);
}

#[test]
fn frames_name_the_best_places_for_the_last_letter() {
    let strongest = WordRacer::bots().len() - 1;
    let mut before: Option<serde_json::Value> = None;
    let (mut written, mut best_written) = (0, 0);
    duel([strongest, 0], &[], 5, |game, state| {
        let frame = game.frame(state);
        let Some(last) = before.replace(frame.clone()) else {
            assert!(frame["best"].is_null(), "no letter was called: {frame}");
            return;
        };
        for seat in 0..2 {
            let places = frame["places"][seat].as_array().unwrap();
            if places.len() == last["places"][seat].as_array().unwrap().len() {
                continue;
            }
            let points = |frame: &serde_json::Value| frame["points"][seat].as_u64().unwrap();
            let (gained, best) = (points(&frame) - points(&last), &frame["best"][seat]);
            let is_best = best["cells"].as_array().unwrap().contains(places.last().unwrap());
            assert!(gained <= best["points"].as_u64().unwrap(), "{frame}");
            assert_eq!(is_best, gained > 0 && best["points"] == gained, "{frame}");
            written += 1;
            best_written += u32::from(is_best);
        }
    });
    assert!(written == 96 && best_written > 0, "{best_written} of {written}");
}

#[test]
fn pictures_equal_the_golden_game() {
    let names = ["alice".to_owned(), "bob".to_owned()];
    let mut text = String::new();
    let mut number = 0;
    let strongest = WordRacer::bots().len() - 1;
    duel([strongest, 1], &[("letter", "E")], 2026, |game, state| {
        if [0, 1, 2, 33, 60, 96].contains(&number) {
            let _ = writeln!(text, "== after {number} answers");
            text += &game.picture(state, Viewpoint::All, &names).plain();
        }
        if number == 61 {
            let _ = writeln!(text, "== view of bob after {number} answers");
            text += &game.picture(state, Viewpoint::Seat(Seat(1)), &names).plain();
        }
        number += 1;
    });
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/word_racer.txt");
    if std::env::var_os("AGON_BLESS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let golden = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(text, golden, "run with AGON_BLESS=1 to write {path}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn pictures_fit_the_terminal_and_deltas_give_each_frame(seed in any::<u64>()) {
        let game = game(&[]);
        let mut rng = FastRng::new(seed);
        let mut state = game.start(seed);
        let names = ["a-name-that-is-much-too-long-to-be-shown".to_owned(), "b".to_owned()];
        loop {
            for eye in [Viewpoint::All, Viewpoint::Seat(Seat(0)), Viewpoint::Seat(Seat(1))] {
                let plain = game.picture(&state, eye, &names).plain();
                prop_assert!(plain.lines().count() <= 40);
                prop_assert!(plain.lines().all(|line| line.chars().count() <= 100), "{}", plain);
            }
            let frame = game.frame(&state);
            for seat in 0..2 {
                let sum: u64 = frame["words"][seat].as_array().unwrap().iter()
                    .map(|word| word["points"].as_u64().unwrap()).sum();
                prop_assert_eq!(frame["points"][seat].as_u64(), Some(sum));
            }
            if game.to_move(&state).is_empty() {
                break;
            }
            let seat = mover(&game, &state);
            let answer = game.sample(&state, seat, &mut rng).unwrap();
            play(&game, &mut state, answer);
        }
    }
}
