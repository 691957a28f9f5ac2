//! Rejected answers and penalties for faults.

use super::*;

fn reasons(state: &State, seat: u8, answer: Answer) -> Vec<String> {
    game(&[]).check(state, Seat(seat), answer).unwrap_err().reasons
}

#[test]
fn position_off_the_board_or_on_a_letter_is_illegal() {
    let game = game(&[("letter", "E")]);
    let mut state = game.start(1);
    assert_eq!(reasons(&state, 0, call('Q', 99)), ["position 99 is not on the board (0 to 48)"]);
    assert_eq!(reasons(&state, 0, call('Q', 49)), ["position 49 is not on the board (0 to 48)"]);
    assert_eq!(reasons(&state, 0, call('Q', 24)), ["position 24 already holds E"]);
    assert_eq!(game.check(&state, Seat(0), call('Q', 48)), Ok(()));
    play(&game, &mut state, call('Q', 17));
    assert_eq!(reasons(&state, 1, place(24)), ["position 24 already holds E"]);
    // The other board does not matter.
    assert_eq!(game.check(&state, Seat(1), place(17)), Ok(()));
}

#[test]
fn wrong_kind_of_answer_is_illegal_with_all_reasons() {
    let game = game(&[("letter", "E")]);
    let mut state = game.start(1);
    let wants_call = "a call is expected: answer LETTER POSITION";
    assert_eq!(reasons(&state, 0, place(3)), [wants_call]);
    assert_eq!(reasons(&state, 0, place(24)), [wants_call, "position 24 already holds E"]);
    play(&game, &mut state, call('Q', 17));
    let wants_place = "Q was called and must be placed: answer POSITION";
    assert_eq!(reasons(&state, 1, call('Q', 77)), [wants_place, "position 77 is not on the board (0 to 48)"]);
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
fn each_fault_loses_the_game_and_gives_the_other_player_three_points() {
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
fn rejected_answer_loses_the_game_as_illegal() {
    let outcome = outcome_after(Reply::Answer(place(99)), 1);
    assert_eq!(outcome.ended, "illegal of seat 1");
    assert_eq!(outcome_after(Reply::Answer(place(0)), 2).ended, "illegal of seat 1");
    assert_eq!(outcome_after(Reply::Answer(call('A', 24)), 0).ended, "illegal of seat 0");
}

#[test]
fn word_points_are_reported_even_after_a_fault() {
    // ON across on both boards.
    let outcome = outcome_after(Reply::Fault(Fault::Timeout), 2);
    assert_eq!(outcome.seats.iter().map(|s| s.stats[0]).collect::<Vec<_>>(), [1.0, 1.0]);
}

#[test]
fn missing_reply_is_a_crash() {
    let game = game(&[]);
    let mut state = game.start(1);
    game.apply(&mut state, &[]);
    assert_eq!(game.outcome(&state).unwrap().ended, "crash of seat 0");
}
