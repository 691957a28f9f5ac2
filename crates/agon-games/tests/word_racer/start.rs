//! Start of a game.

use super::*;

#[test]
fn both_boards_start_with_only_the_first_letter_in_the_centre() {
    let game = game(&[("letter", "q")]);
    let state = game.start(5);
    for seat in [Seat(0), Seat(1)] {
        assert_eq!(state.board(seat).get(24), Some(letter('Q')));
        assert_eq!(state.board(seat).filled(), 1);
    }
}

#[test]
fn first_letter_is_uniform_from_a_to_z() {
    let game = game(&[]);
    let mut seen = [0u32; 26];
    for seed in 0..26_000 {
        seen[game.start(seed).board(Seat(0)).get(CENTRE).unwrap().index()] += 1;
    }
    let chi: f64 = seen.iter().map(|&n| (f64::from(n) - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi < 52.6, "chi-square with 25 degrees of freedom, 0.1 %: {chi}");
}

#[test]
fn seat_of_the_setting_first_calls_first() {
    for (first, seat) in [("0", Seat(0)), ("1", Seat(1))] {
        let game = game(&[("first", first)]);
        let state = game.start(1);
        assert_eq!(game.to_move(&state), SeatSet::one(seat));
        assert_eq!(game.request(&state, seat), 0);
        assert!(game.observe(&state, seat).first);
        assert!(!game.observe(&state, other_seat(seat)).first);
    }
}

#[test]
fn pairs_of_a_series_share_the_first_letter_and_swap_the_first_call() {
    for first in [0, 1] {
        let base = settings(&[("first", &first.to_string())]);
        for index in 0..20 {
            let (own, seed) = WordRacer::series_game(&base, 77, index);
            assert_eq!(seed, series_seed(77, index / 2));
            assert_eq!(own.int("first"), Some(first ^ i64::from(index % 2)));
        }
    }
    assert_eq!(WordRacer::series_game(&settings(&[]), 77, 0), (settings(&[]), 77));
}

#[test]
fn clock_gives_ten_seconds_for_all_answers_of_a_game() {
    let bank = |limit| ClockRule::Bank { limit, when_empty: BankEmptyAction::Timeout };
    assert_eq!(game(&[]).clock(), bank(Duration::from_secs(10)));
    assert_eq!(game(&[("seconds", "0.5")]).clock(), bank(Duration::from_millis(500)));
}

#[test]
fn game_has_exactly_two_seats() {
    for seats in [0, 1, 3] {
        assert!(WordRacer::new(&settings(&[]), seats, &Assets::none()).is_err());
    }
}
