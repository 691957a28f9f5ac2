//! Records that are truncated, altered, or of a newer version are rejected with the reason.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::time::Duration;

use agon_core::record::{Record, RecordError, RecordHeader, Recorder, read_all};
use agon_core::{AnswerTimes, Assets, Outcome};
use agon_engine::film::TypedFilm;
use agon_games::connect_five::ConnectFive;
use agon_games::solitude_scramble::SolitudeScramble;
use agon_games::{GameVisitor, PlayableGame};
use common::{record, referee, script};
use proptest::prelude::*;

fn bytes<G: PlayableGame>(number: u64) -> Vec<u8> {
    referee(&script::<G>(number, 8), Duration::from_micros(3)).record.unwrap().0
}

#[test]
fn any_changed_byte_is_detected() {
    struct Flip;
    impl GameVisitor for Flip {
        type Output = ();
        fn visit<G: PlayableGame>(self) {
            let good = bytes::<G>(1);
            assert!(read_all(&good).is_ok());
            for i in 0..good.len() {
                for bit in [0, 3, 4, 7] {
                    let mut bad = good.clone();
                    bad[i] ^= 1 << bit;
                    assert!(read_all(&bad).is_err(), "{}: bit {bit} of byte {i}", G::info().id);
                }
            }
        }
    }
    for info in agon_games::infos() {
        agon_games::visit(info.id, Flip).unwrap();
    }
}

#[test]
fn truncated_record_is_reported_as_truncated() {
    let good = bytes::<ConnectFive>(2);
    for len in 5..good.len() {
        assert_eq!(
            read_all(&good[..len]),
            Err(RecordError::Truncated { game: 1 }),
            "{len} of {}",
            good.len()
        );
    }
    let two = [good.clone(), good[..good.len() / 2].to_vec()].concat();
    assert_eq!(read_all(&two), Err(RecordError::Truncated { game: 2 }));
}

#[test]
fn file_with_several_games_is_read_completely() {
    let file = [bytes::<ConnectFive>(1), bytes::<SolitudeScramble>(2), bytes::<ConnectFive>(3)].concat();
    let games: Vec<String> = read_all(&file).unwrap().into_iter().map(|r| r.header.game).collect();
    assert_eq!(games, ["connect-five", "solitude-scramble", "connect-five"]);
}

#[test]
fn other_files_are_not_records() {
    for other in [&b""[..], b"x", b"hello world", b"{\"agon\":\"record\"}"] {
        assert!(read_all(other).is_err(), "{other:?}");
    }
    assert_eq!(read_all(b"hello world"), Err(RecordError::NotARecord));
}

fn rewrite(record: &Record, change: impl FnOnce(&mut RecordHeader)) -> Vec<u8> {
    let mut header = record.header.clone();
    change(&mut header);
    let mut recorder = Recorder::new();
    recorder.begin(&header);
    recorder.end(&record.faults, record.expired, &record.outcome).unwrap().0
}

#[test]
fn record_of_a_newer_version_is_rejected_with_both_versions() {
    let record = record(&referee(&script::<ConnectFive>(1, 8), Duration::ZERO));
    let future = rewrite(&record, |header| header.version = 2);
    let error = read_all(&future).unwrap_err();
    assert_eq!(error, RecordError::FutureVersion { found: 2 });
    assert!(error.to_string().contains("version 2 is newer than this program's (1)"), "{error}");
}

#[test]
fn record_with_other_rules_is_not_replayed() {
    let record = record(&referee(&script::<ConnectFive>(1, 8), Duration::ZERO));
    let other = Record { header: RecordHeader { rules: 99, ..record.header.clone() }, ..record };
    let error = TypedFilm::<ConnectFive>::new(other, &Assets::none()).err().unwrap().to_string();
    assert!(error.contains("version 99 of the rules of connect-five"), "{error}");
}

#[test]
fn replay_rejects_a_forged_result_or_answer() {
    let honest = record(&referee(&script::<ConnectFive>(4, u32::MAX), Duration::ZERO));
    let replay =
        |record: Record| TypedFilm::<ConnectFive>::new(record, &Assets::none()).err().map(|e| e.to_string());
    assert_eq!(replay(honest.clone()), None);

    let mut swapped = honest.clone();
    swapped.outcome.seats.reverse();
    assert!(replay(swapped).unwrap().contains("the rules give"));

    let mut illegal = honest.clone();
    illegal.turns[3] = "9".into();
    let reason = replay(illegal).unwrap();
    assert!(reason.starts_with("turn 4: seat ") && reason.contains("`9` is not legal: "), "{reason}");

    let mut garbled = honest.clone();
    garbled.turns[0] = "?".into();
    let reason = replay(garbled).unwrap();
    assert!(reason.starts_with("turn 1: seat ") && reason.contains("`?`: "), "{reason}");

    let mut short = honest.clone();
    short.turns.pop();
    assert!(replay(short).unwrap().contains("ends before the game does"));

    let mut long = honest.clone();
    long.turns.push("0".into());
    assert!(replay(long).unwrap().contains("already over"));

    let mut other_seed = honest;
    other_seed.header.seats[0].name = "another name".into();
    assert!(replay(other_seed).unwrap().contains("another digest"));
}

#[test]
fn digest_covers_everything_but_the_times() {
    let script = script::<SolitudeScramble>(9, 8);
    let digest = |time| referee(&script, time).record.unwrap().1;
    assert_eq!(digest(Duration::from_nanos(5)), digest(Duration::from_millis(900)));
    let other = common::script::<SolitudeScramble>(10, 8);
    assert_ne!(digest(Duration::ZERO), referee(&other, Duration::ZERO).record.unwrap().1);
}

#[test]
fn times_round_trip_through_the_record() {
    let mut recorder = Recorder::new();
    let honest = record(&referee(&script::<ConnectFive>(1, u32::MAX), Duration::ZERO));
    recorder.begin(&honest.header);
    let times = |wall, cpu, wait| {
        let of = Duration::from_nanos;
        AnswerTimes { wall: of(wall), cpu: of(cpu), wait: of(wait) }
    };
    recorder.begin_turn();
    recorder.answer::<ConnectFive>(agon_core::Seat(0), ConnectFive::read("3"), times(10, 7, 3));
    recorder.begin_turn();
    recorder.answer::<ConnectFive>(agon_core::Seat(1), ConnectFive::read("3"), times(u64::MAX / 2, 0, 1));
    let (file, _) = recorder.end(&[], None, &Outcome::ranked(&[0.0, 1.0], "test")).unwrap();
    let read = read_all(&file).unwrap().remove(0);
    assert_eq!(read.times, [vec![times(10, 7, 3)], vec![times(u64::MAX / 2, 0, 1)]]);
}

trait Read: agon_core::Game {
    fn read(text: &str) -> Self::Answer {
        Self::read_answer(text).unwrap()
    }
}
impl<G: agon_core::Game> Read for G {}

proptest! {
    #[test]
    fn reader_does_not_panic_on_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = read_all(&bytes);
        let framed = [&[0x28, 0xB5, 0x2F, 0xFD][..], &bytes].concat();
        prop_assert!(read_all(&framed).is_err());
    }
}
