//! Word lists.

use super::*;

#[test]
fn organiser_can_replace_the_word_list() {
    let game = with_words(b"zzz\r\n\r\n  qq \nZZZ\n").unwrap();
    assert_eq!(game.words().len(), 2);
    assert!(game.words().contains("QQ") && game.words().contains("zzz") && !game.words().contains("ON"));
    assert!(game.words().name().starts_with("sha256:"));
}

#[test]
fn invalid_line_is_rejected_with_its_number() {
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
fn missing_word_list_is_an_error() {
    let error = WordRacer::new(&settings(&[("words", "sha256:00")]), 2, &Assets::none()).unwrap_err();
    assert!(error.to_string().contains("sha256:00"));
}
