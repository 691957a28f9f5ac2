//! Points of a board.

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
fn word_does_not_continue_in_the_next_row() {
    let list = WordList::read("t", b"CAT").unwrap();
    let board = Board::read(&format!(".....CAT{}", ".".repeat(41))).unwrap();
    assert_eq!(board_points(&list, &board), 0);
}

#[test]
fn overlapping_words_count_for_most_points_not_greatest_length() {
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
fn win_gives_3_loss_0_and_draw_1() {
    let straight: Vec<u32> = outer().collect();
    let backwards: Vec<u32> = outer().collect::<Vec<_>>().into_iter().rev().collect();
    let figures = |outcome: Outcome| -> Vec<(f64, u8, f64)> {
        outcome.seats.iter().map(|s| (s.score, s.place, s.stats[0])).collect()
    };
    assert_eq!(figures(result(&[straight.clone(), backwards.clone()])), [(3.0, 1, 13.0), (0.0, 2, 0.0)]);
    assert_eq!(figures(result(&[backwards, straight.clone()])), [(0.0, 2, 0.0), (3.0, 1, 13.0)]);
    assert_eq!(figures(result(&[straight.clone(), straight])), [(1.0, 1, 13.0), (1.0, 1, 13.0)]);
}

/// Maximum over all ways to split a line into words and unused cells.
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

/// Boards with words of the list across and down, other letters between them, and some empty cells.
fn boards() -> impl Strategy<Value = Board> {
    (any::<u64>(), 0..12u32, 0..40u32).prop_map(|(seed, words, holes)| {
        let text: Vec<&str> = WordList::built_in_text().lines().collect();
        let mut rng = FastRng::new(seed);
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
    fn found_words_are_in_the_list_do_not_overlap_and_add_up(board in boards()) {
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
                prop_assert!(used.insert((f.line < SIDE, cell)), "a cell counts only once in each direction");
            }
        }
        let sum: u32 = found.iter().map(|f| u32::from(f.points)).sum();
        prop_assert_eq!(sum, board_points(&list, &board));
    }
}
