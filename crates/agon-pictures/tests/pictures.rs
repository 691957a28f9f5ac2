//! Pictures of games of house bots. The same games give the same bytes; `tests/golden/pictures.txt` has their hashes.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::fmt::Write as _;
use std::path::Path;

use agon_pictures::clip::{ClipLimits, ClipOptions, turn_time};
use agon_pictures::{GamePictures, PictureError, Theme};
use sha2::{Digest as _, Sha256};

/// Compares with a golden file. `AGON_BLESS=1` writes it again: look at the pictures first (`examples/all_pictures.rs`).
#[test]
fn pictures_of_all_games_are_those_that_were_looked_at() {
    let mut text = String::new();
    let games = agon_games::infos().into_iter().flat_map(|info| common::pictures(info.id));
    for (name, bytes) in games.chain(common::cards()) {
        // The compression of PNG may change with a library; the pixels do not.
        let is_png = bytes.starts_with(b"\x89PNG");
        let content = if is_png { tiny_skia::Pixmap::decode_png(&bytes).unwrap().take() } else { bytes };
        let hash = u64::from_be_bytes(Sha256::digest(&content)[..8].try_into().unwrap());
        writeln!(text, "{name} {hash:016x}").unwrap();
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/pictures.txt");
    if std::env::var_os("AGON_BLESS").is_some() {
        std::fs::create_dir_all(golden.parent().unwrap()).unwrap();
        std::fs::write(&golden, text).unwrap();
        return;
    }
    let known = std::fs::read_to_string(&golden).unwrap_or_default();
    assert_eq!(
        text, known,
        "look at the pictures of `cargo run -p agon-pictures --example all_pictures`, then `make golden`"
    );
}

#[test]
fn a_player_does_not_see_the_scores_of_the_game() {
    for info in agon_games::infos() {
        let (info, film) = common::film(info.id);
        let seat = agon_core::Viewpoint::Seat(agon_core::Seat(0));
        let pictures = GamePictures::new(film.as_ref(), info).seen_from(seat);
        let scene = pictures.scene(pictures.last_turn() / 2);
        assert!(scene.players.iter().all(|player| player.score.is_none()), "{}", info.id);
    }
}

#[test]
fn the_end_names_the_result() {
    for info in agon_games::infos() {
        let (info, film) = common::film(info.id);
        let pictures = GamePictures::new(film.as_ref(), info);
        let end = pictures.scene(usize::MAX);
        assert!(
            end.players.iter().all(|player| player.score.is_some() && player.place.is_some()),
            "{}",
            info.id
        );
        assert!((end.progress - 1.0).abs() < 1e-6);
        assert_eq!(end.players.len(), film.record().header.seats.len());
    }
}

#[test]
fn a_long_clip_skips_turns_and_has_a_maximum_size_and_time() {
    let (info, film) = common::film("colour-battle");
    let pictures = GamePictures::new(film.as_ref(), info);
    let options = |limits| ClipOptions {
        from: 0,
        to: usize::MAX,
        turn_time: turn_time(10.0),
        width: 300,
        theme: Theme::Dark,
        limits,
    };
    let limits = ClipLimits { frames: 5, ..ClipLimits::default() };
    let gif = pictures.gif(&options(limits)).unwrap();
    // A graphic control extension belongs to each frame.
    let frames = gif.windows(4).filter(|bytes| bytes == b"\x21\xf9\x04\x05").count();
    assert_eq!(frames, 5);
    let small = ClipLimits { bytes: 500, ..limits };
    assert!(matches!(pictures.gif(&options(small)), Err(PictureError::TooLarge { most: 500 })));
    let short = ClipLimits { time: Some(std::time::Duration::ZERO), ..limits };
    assert!(matches!(pictures.gif(&options(short)), Err(PictureError::TooSlow)));
}

#[test]
fn a_picture_has_a_width_within_limits() {
    let (info, film) = common::film("connect-five");
    let pictures = GamePictures::new(film.as_ref(), info);
    assert_eq!(pictures.picture(0, 1, Theme::Dark).unwrap().width(), agon_pictures::scene::MIN_WIDTH);
    assert_eq!(pictures.picture(0, 99_999, Theme::Dark).unwrap().width(), agon_pictures::scene::MAX_WIDTH);
}
