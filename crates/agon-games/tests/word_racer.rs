//! Word Racer: each rule, what must always hold, and whole games.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "tests fail by panicking")]

use std::fmt::Write as _;
use std::time::Duration;

use agon_core::assets::content_hash;
use agon_core::conformance::{self, Plan};
use agon_core::random::{bot_seeds, series_seed};
use agon_core::{
    Assets, ClockRule, Eye, Fault, Game, House, Outcome, QuickRng, Reply, Seat, SeatSet, Settings,
    SettingsError, View, WhenSpent,
};
use agon_games::word_racer::{
    Answer, Board, CELLS, CENTRE, Letter, POINTS, SIDE, State, TURNS, WordList, WordRacer, board_points,
    found_words, other,
};
use proptest::prelude::*;

fn settings(pairs: &[(&str, &str)]) -> Settings {
    Settings::parse(WordRacer::info().settings, pairs.iter().copied()).unwrap()
}

fn game(pairs: &[(&str, &str)]) -> WordRacer {
    WordRacer::new(&settings(pairs), 2, &Assets::none()).unwrap()
}

fn with_words(content: &[u8]) -> Result<WordRacer, SettingsError> {
    let mut assets = Assets::none();
    assets.insert("words", content.to_vec());
    WordRacer::new(&settings(&[("words", &content_hash(content))]), 2, &assets)
}

fn letter(character: char) -> Letter {
    Letter::read(character).unwrap()
}

fn call(character: char, position: u32) -> Answer {
    Answer::Call { letter: letter(character), position }
}

const fn place(position: u32) -> Answer {
    Answer::Place { position }
}

/// The seat to move.
fn mover(game: &WordRacer, state: &State) -> Seat {
    let mut seats = game.to_move(state);
    assert_eq!(seats.len(), 1);
    seats.next().unwrap()
}

fn play(game: &WordRacer, state: &mut State, answer: Answer) {
    assert_eq!(game.check(state, mover(game, state), answer), Ok(()));
    game.apply(state, &[Reply::Answer(answer)]);
}

/// Positions 0 to 48 without the centre.
fn outer() -> impl Iterator<Item = u32> {
    (0..CELLS as u32).filter(|&position| position != CENTRE as u32)
}

/// Plays a whole game in which both call these letters in turn; each seat writes them in its own order.
fn played_out(game: &WordRacer, letters: &str, orders: &[Vec<u32>; 2]) -> State {
    let mut state = game.start(1);
    for (turn, character) in letters.chars().enumerate() {
        let caller = mover(game, &state);
        play(game, &mut state, call(character, orders[caller.index()][turn]));
        play(game, &mut state, place(orders[other(caller).index()][turn]));
    }
    state
}

mod start {
    use super::*;

    #[test]
    fn both_boards_hold_the_first_letter_in_the_centre_and_nothing_else() {
        let game = game(&[("letter", "q")]);
        let state = game.start(5);
        for seat in [Seat(0), Seat(1)] {
            assert_eq!(state.board(seat).get(24), Some(letter('Q')));
            assert_eq!(state.board(seat).filled(), 1);
        }
    }

    #[test]
    fn the_first_letter_is_uniform_from_a_to_z() {
        let game = game(&[]);
        let mut seen = [0u32; 26];
        for seed in 0..26_000 {
            seen[game.start(seed).board(Seat(0)).get(CENTRE).unwrap().index()] += 1;
        }
        let chi: f64 = seen.iter().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi < 52.6, "chi-square with 25 degrees of freedom, 0.1 %: {chi}");
    }

    #[test]
    fn the_seat_set_as_first_calls_first() {
        for (first, seat) in [("0", Seat(0)), ("1", Seat(1))] {
            let game = game(&[("first", first)]);
            let state = game.start(1);
            assert_eq!(game.to_move(&state), SeatSet::one(seat));
            assert_eq!(game.request(&state, seat), 0);
            assert!(game.observe(&state, seat).first);
            assert!(!game.observe(&state, other(seat)).first);
        }
    }

    #[test]
    fn pairs_of_a_series_share_the_first_letter_and_swap_the_first_move() {
        for first in [0, 1] {
            let base = settings(&[("first", &first.to_string())]);
            for index in 0..20 {
                let (own, seed) = WordRacer::in_series(&base, 77, index);
                assert_eq!(seed, series_seed(77, index / 2));
                assert_eq!(own.int("first"), Some(first ^ i64::from(index % 2)));
            }
        }
        assert_eq!(WordRacer::in_series(&settings(&[]), 77, 0), (settings(&[]), 77));
    }

    #[test]
    fn the_clock_is_ten_seconds_for_all_answers_of_a_game() {
        let bank = |limit| ClockRule::Bank { limit, spent: WhenSpent::Timeout };
        assert_eq!(game(&[]).clock(), bank(Duration::from_secs(10)));
        assert_eq!(game(&[("seconds", "0.5")]).clock(), bank(Duration::from_millis(500)));
    }

    #[test]
    fn only_two_can_play() {
        for seats in [0, 1, 3] {
            assert!(WordRacer::new(&settings(&[]), seats, &Assets::none()).is_err());
        }
    }
}

mod turns {
    use super::*;

    #[test]
    fn the_caller_answers_letter_and_position_then_the_other_a_position() {
        let game = game(&[]);
        let mut state = game.start(1);
        play(&game, &mut state, call('Q', 17));
        assert_eq!(game.to_move(&state), SeatSet::one(Seat(1)));
        assert_eq!(game.request(&state, Seat(1)), 1);
        assert_eq!(game.observe(&state, Seat(1)).letter, Some(letter('Q')));
        play(&game, &mut state, place(3));
        assert_eq!(state.board(Seat(0)).get(17), Some(letter('Q')));
        assert_eq!(state.board(Seat(1)).get(3), Some(letter('Q')));
        assert_eq!(state.board(Seat(1)).get(17), None);
    }

    #[test]
    fn the_players_take_turns_in_calling() {
        let game = game(&[("first", "1")]);
        let mut state = game.start(1);
        let mut callers = Vec::new();
        for position in outer() {
            callers.push(mover(&game, &state).0);
            play(&game, &mut state, call('A', position));
            play(&game, &mut state, place(position));
        }
        assert_eq!(callers, [1, 0].repeat(24));
    }

    #[test]
    fn after_48_turns_both_boards_are_full_and_the_game_ends() {
        let game = game(&[]);
        let orders = [outer().collect(), outer().collect::<Vec<_>>()];
        let state = played_out(&game, &"E".repeat(TURNS), &orders);
        assert_eq!(TURNS, 48);
        assert!(game.to_move(&state).is_empty());
        assert_eq!([Seat(0), Seat(1)].map(|seat| state.board(seat).filled()), [49, 49]);
        assert!(game.outcome(&state).is_some());
    }

    #[test]
    fn a_seat_sees_its_own_board_and_the_letters_but_no_position_of_the_other() {
        let game = game(&[("letter", "E")]);
        let mut state = game.start(1);
        play(&game, &mut state, call('Q', 17));
        let seen = serde_json::to_value(game.observe(&state, Seat(1))).unwrap();
        let empty = format!("{}E{}", ".".repeat(24), ".".repeat(24));
        let wanted = serde_json::json!({
            "board": empty, "first": false, "turn": 1, "calls": ["Q"], "places": [], "letter": "Q"
        });
        assert_eq!(seen, wanted);
        let mut elsewhere = game.start(1);
        play(&game, &mut elsewhere, call('Q', 40));
        assert_eq!(seen, serde_json::to_value(game.observe(&elsewhere, Seat(1))).unwrap());
        assert!(!game.observe(&state, Seat(1)).called(0) && game.observe(&state, Seat(0)).called(0));
    }

    #[test]
    fn resampling_moves_only_the_letters_of_the_other_board() {
        let game = game(&[]);
        let mut state = game.start(1);
        for (i, position) in outer().take(10).enumerate() {
            play(&game, &mut state, call((b'A' + i as u8) as char, position));
            play(&game, &mut state, place(position));
        }
        let mut rng = QuickRng::new(3);
        let mut moved = 0;
        for _ in 0..50 {
            let drawn = game.resample(&state, Seat(0), &mut rng);
            assert_eq!(drawn.board(Seat(0)), state.board(Seat(0)));
            assert_eq!(drawn.board(Seat(1)).get(CENTRE), state.board(Seat(1)).get(CENTRE));
            let letters = |board: &Board| {
                let mut codes = board.codes().to_vec();
                codes.sort_unstable();
                codes
            };
            assert_eq!(letters(drawn.board(Seat(1))), letters(state.board(Seat(1))));
            moved += u32::from(drawn.board(Seat(1)) != state.board(Seat(1)));
        }
        assert!(moved > 45);
    }
}

mod faults {
    use super::*;

    fn reasons(state: &State, seat: u8, answer: Answer) -> Vec<String> {
        game(&[]).check(state, Seat(seat), answer).unwrap_err().reasons
    }

    #[test]
    fn a_position_off_the_board_or_on_a_letter_is_illegal() {
        let game = game(&[("letter", "E")]);
        let mut state = game.start(1);
        assert_eq!(reasons(&state, 0, call('Q', 99)), ["position 99 is not on the board (0 to 48)"]);
        assert_eq!(reasons(&state, 0, call('Q', 49)), ["position 49 is not on the board (0 to 48)"]);
        assert_eq!(reasons(&state, 0, call('Q', 24)), ["position 24 already holds E"]);
        assert_eq!(game.check(&state, Seat(0), call('Q', 48)), Ok(()));
        play(&game, &mut state, call('Q', 17));
        assert_eq!(reasons(&state, 1, place(24)), ["position 24 already holds E"]);
        // What the other board holds does not matter.
        assert_eq!(game.check(&state, Seat(1), place(17)), Ok(()));
    }

    #[test]
    fn the_wrong_kind_of_answer_is_illegal_and_all_reasons_are_given() {
        let game = game(&[("letter", "E")]);
        let mut state = game.start(1);
        let wants_call = "a letter is to be called: answer LETTER POSITION";
        assert_eq!(reasons(&state, 0, place(3)), [wants_call]);
        assert_eq!(reasons(&state, 0, place(24)), [wants_call, "position 24 already holds E"]);
        play(&game, &mut state, call('Q', 17));
        let wants_place = "Q was called and is to be placed: answer POSITION";
        assert_eq!(
            reasons(&state, 1, call('Q', 77)),
            [wants_place, "position 77 is not on the board (0 to 48)"]
        );
        assert_eq!(reasons(&state, 0, place(1)), ["seat 1 is to move, not seat 0"]);
    }

    fn outcome_after(fault: Reply<Answer>, answers: usize) -> Outcome {
        let game = game(&[("letter", "O")]);
        let mut state = game.start(1);
        for answer in [call('N', 25), place(25)].into_iter().take(answers) {
            play(&game, &mut state, answer);
        }
        game.apply(&mut state, &[fault]);
        let outcome = game.outcome(&state).expect("the game is over");
        assert!(game.to_move(&state).is_empty());
        assert!(game.check(&state, Seat(0), call('A', 0)).is_err());
        outcome
    }

    #[test]
    fn each_fault_loses_the_game_and_gives_the_other_three_points() {
        for fault in Fault::ALL {
            let outcome = outcome_after(Reply::Fault(fault), 0);
            assert_eq!(outcome.seats.iter().map(|s| s.score).collect::<Vec<_>>(), [0.0, 3.0]);
            assert_eq!(outcome.ended, format!("{fault} of seat 0"));
            assert_eq!(outcome.match_lost_by, None);
            let outcome = outcome_after(Reply::Fault(fault), 1);
            assert_eq!(outcome.seats.iter().map(|s| s.score).collect::<Vec<_>>(), [3.0, 0.0]);
            assert_eq!(outcome.ended, format!("{fault} of seat 1"));
        }
    }

    #[test]
    fn an_answer_that_is_refused_loses_the_game_as_illegal() {
        let outcome = outcome_after(Reply::Answer(place(99)), 1);
        assert_eq!(outcome.ended, "illegal of seat 1");
        assert_eq!(outcome_after(Reply::Answer(place(0)), 2).ended, "illegal of seat 1");
        assert_eq!(outcome_after(Reply::Answer(call('A', 24)), 0).ended, "illegal of seat 0");
    }

    #[test]
    fn word_points_are_reported_even_after_a_fault() {
        // ON across in both boards.
        let outcome = outcome_after(Reply::Fault(Fault::Timeout), 2);
        assert_eq!(outcome.seats.iter().map(|s| s.stats[0]).collect::<Vec<_>>(), [1.0, 1.0]);
    }

    #[test]
    fn a_missing_reply_is_a_crash() {
        let game = game(&[]);
        let mut state = game.start(1);
        game.apply(&mut state, &[]);
        assert_eq!(game.outcome(&state).unwrap().ended, "crash of seat 0");
    }
}

mod score {
    use super::*;

    #[test]
    fn words_of_2_to_7_letters_give_1_2_3_5_8_13() {
        let text = b"AB\nABC\nABCD\nABCDE\nABCDEF\nABCDEFG";
        let list = WordList::read("ladder", text).unwrap();
        for (length, points) in (2..=7).zip([1, 2, 3, 5, 8, 13]) {
            let row = &"ABCDEFG"[..length];
            let board = Board::read(&format!("{row}{}", ".".repeat(CELLS - length))).unwrap();
            assert_eq!(board_points(&list, &board), points);
        }
    }

    #[test]
    fn rows_and_columns_count_independently_and_words_may_repeat() {
        let list = WordList::read("t", b"ON\nNO").unwrap();
        let board = Board::read(&format!("ON.....NO.....{}", ".".repeat(35))).unwrap();
        assert_eq!(board_points(&list, &board), 4);
        let found: Vec<(String, usize, Vec<usize>)> =
            found_words(&list, &board).into_iter().map(|f| (f.word, f.line, f.cells)).collect();
        let word = |text: &str, line, cells: [usize; 2]| (text.to_owned(), line, cells.to_vec());
        assert_eq!(
            found,
            [word("ON", 0, [0, 1]), word("NO", 1, [7, 8]), word("ON", 7, [0, 7]), word("NO", 8, [1, 8])]
        );
    }

    #[test]
    fn words_read_left_to_right_and_top_to_bottom_only() {
        let list = WordList::read("t", b"CAT").unwrap();
        let row = |text: &str| Board::read(&format!("{text}{}", ".".repeat(CELLS - text.len()))).unwrap();
        assert_eq!(board_points(&list, &row("CAT")), 2);
        assert_eq!(board_points(&list, &row("TAC")), 0);
        assert_eq!(board_points(&list, &row("T......A......C")), 0);
        assert_eq!(board_points(&list, &row("C......A......T")), 2);
    }

    #[test]
    fn a_word_does_not_run_on_into_the_next_row() {
        let list = WordList::read("t", b"CAT").unwrap();
        let board = Board::read(&format!(".....CAT{}", ".".repeat(41))).unwrap();
        assert_eq!(board_points(&list, &board), 0);
    }

    #[test]
    fn of_overlapping_words_those_with_most_points_count_not_the_longest() {
        // Greedy would take BCDE for 3; ABC and DEF give 4.
        let list = WordList::read("t", b"ABC\nBCDE\nDEF").unwrap();
        let board = Board::read(&format!("ABCDEF{}", ".".repeat(43))).unwrap();
        assert_eq!(board_points(&list, &board), 4);
    }

    fn result(orders: &[Vec<u32>; 2]) -> Outcome {
        let game = with_words(b"ABCDEFG").unwrap();
        let letters = format!("ABCDEFG{}", "Z".repeat(41));
        game.outcome(&played_out(&game, &letters, orders)).unwrap()
    }

    #[test]
    fn a_win_gives_3_a_loss_0_and_a_draw_1() {
        let straight: Vec<u32> = outer().collect();
        let backwards: Vec<u32> = outer().collect::<Vec<_>>().into_iter().rev().collect();
        let figures = |outcome: Outcome| -> Vec<(f64, u8, f64)> {
            outcome.seats.iter().map(|s| (s.score, s.place, s.stats[0])).collect()
        };
        assert_eq!(figures(result(&[straight.clone(), backwards.clone()])), [(3.0, 1, 13.0), (0.0, 2, 0.0)]);
        assert_eq!(figures(result(&[backwards, straight.clone()])), [(0.0, 2, 0.0), (3.0, 1, 13.0)]);
        assert_eq!(figures(result(&[straight.clone(), straight])), [(1.0, 1, 13.0), (1.0, 1, 13.0)]);
    }

    /// The best of all ways to cut a line into words and left-over cells, one by one.
    fn exhaustive(list: &WordList, line: &str) -> u32 {
        let Some((first, _)) =
            line.char_indices().nth(1).or(Some((line.len(), ' '))).filter(|_| !line.is_empty())
        else {
            return 0;
        };
        let left_out = exhaustive(list, &line[first..]);
        let taken = (2..=line.len())
            .filter(|&end| list.contains(&line[..end]))
            .map(|end| u32::from(POINTS[end]) + exhaustive(list, &line[end..]));
        taken.max().unwrap_or(0).max(left_out)
    }

    fn exhaustive_board(list: &WordList, board: &Board) -> u32 {
        let text = board.to_string();
        let rows = (0..SIDE).map(|row| text[row * SIDE..][..SIDE].to_owned());
        let columns = (0..SIDE).map(|c| text.chars().skip(c).step_by(SIDE).collect());
        rows.chain(columns).map(|line: String| exhaustive(list, &line)).sum()
    }

    /// Boards with words of the list written across and down, other letters between them, some cells empty.
    fn boards() -> impl Strategy<Value = Board> {
        (any::<u64>(), 0..12u32, 0..40u32).prop_map(|(seed, words, holes)| {
            let text: Vec<&str> = WordList::built_in_text().lines().collect();
            let mut rng = QuickRng::new(seed);
            let mut codes: Vec<char> = (0..CELLS).map(|_| (b'A' + rng.below(26) as u8) as char).collect();
            for _ in 0..words {
                let word = text[rng.below(text.len() as u32) as usize];
                let line = rng.below(SIDE as u32) as usize;
                let start = rng.below((SIDE - word.len() + 1) as u32) as usize;
                let down = rng.below(2) == 0;
                for (i, c) in word.chars().enumerate() {
                    codes[if down { (start + i) * SIDE + line } else { line * SIDE + start + i }] = c;
                }
            }
            for _ in 0..holes {
                codes[rng.below(CELLS as u32) as usize] = '.';
            }
            Board::read(&codes.into_iter().collect::<String>()).unwrap()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn points_equal_an_exhaustive_search(board in boards()) {
            let list = WordList::built_in();
            prop_assert_eq!(board_points(&list, &board), exhaustive_board(&list, &board));
        }

        #[test]
        fn the_words_named_are_words_do_not_overlap_and_add_up(board in boards()) {
            let list = WordList::built_in();
            let found = found_words(&list, &board);
            let mut used = std::collections::HashSet::new();
            for f in &found {
                prop_assert!(list.contains(&f.word));
                prop_assert_eq!(f.points, POINTS[f.word.len()]);
                let step = if f.line < SIDE { 1 } else { SIDE };
                for (i, &cell) in f.cells.iter().enumerate() {
                    prop_assert_eq!(cell, f.start + i * step);
                    prop_assert_eq!(board.get(cell).map(Letter::to_char), f.word.chars().nth(i));
                    prop_assert!(used.insert((f.line < SIDE, cell)), "a cell counts once in each direction");
                }
            }
            let sum: u32 = found.iter().map(|f| u32::from(f.points)).sum();
            prop_assert_eq!(sum, board_points(&list, &board));
        }
    }
}

mod words {
    use super::*;

    #[test]
    fn an_organiser_can_give_another_list() {
        let game = with_words(b"zzz\r\n\r\n  qq \nZZZ\n").unwrap();
        assert_eq!(game.words().len(), 2);
        assert!(game.words().contains("QQ") && game.words().contains("zzz") && !game.words().contains("ON"));
        assert!(game.words().name().starts_with("sha256:"));
    }

    #[test]
    fn a_line_that_is_no_word_is_refused_by_its_number() {
        for (content, number) in [
            (&b"CAT\nDO6\n"[..], 2),
            (b"A\n", 1),
            (b"CAT\n\nABCDEFGH\n", 3),
            (b"CAT DOG\n", 1),
            (b"CAT\n\xff\xfe\n", 2),
        ] {
            let error = with_words(content).unwrap_err().to_string();
            assert!(error.contains(&format!("line {number} ")), "{error}");
            assert!(error.contains("2 to 7 letters"), "{error}");
        }
    }

    #[test]
    fn a_list_that_was_not_given_is_an_error() {
        let error = WordRacer::new(&settings(&[("words", "sha256:00")]), 2, &Assets::none()).unwrap_err();
        assert!(error.to_string().contains("sha256:00"));
    }
}

mod whole_games {
    use super::*;

    #[test]
    fn the_conformance_suite() {
        conformance::check::<WordRacer>(&Plan {
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

    /// Plays two house bots against each other, with every answer checked.
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
    fn house_bots_play_whole_games_without_an_illegal_answer() {
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
    fn house_bots_play_the_same_game_again() {
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
    fn the_golden_game() {
        let names = ["alice".to_owned(), "bob".to_owned()];
        let mut text = String::new();
        let mut number = 0;
        let strongest = WordRacer::bots().len() - 1;
        duel([strongest, 1], &[("letter", "E")], 2026, |game, state| {
            if [0, 1, 2, 33, 60, 96].contains(&number) {
                let _ = writeln!(text, "== after {number} answers");
                text += &game.picture(state, Eye::All, &names).plain();
            }
            if number == 61 {
                let _ = writeln!(text, "== what bob sees after {number} answers");
                text += &game.picture(state, Eye::Seat(Seat(1)), &names).plain();
            }
            number += 1;
        });
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/word_racer.txt");
        if std::env::var_os("AGON_BLESS").is_some() {
            std::fs::write(path, &text).unwrap();
        }
        let golden = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(text, golden, "AGON_BLESS=1 writes {path} anew");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn pictures_fit_the_terminal_and_frames_add_up(seed in any::<u64>()) {
            let game = game(&[]);
            let mut rng = QuickRng::new(seed);
            let mut state = game.start(seed);
            let names = ["a-name-that-is-much-too-long-to-be-shown".to_owned(), "b".to_owned()];
            loop {
                for eye in [Eye::All, Eye::Seat(Seat(0)), Eye::Seat(Seat(1))] {
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
}
