//! Engine part of the conformance suite for all games: the referee gives the same result as the rules, and a replay of the
//! record is bit-identical.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use std::time::Duration;

use agon_core::{Assets, Seat, Viewpoint, frame};
use agon_engine::Film as _;
use agon_engine::film::TypedFilm;
use agon_games::{GameVisitor, PlayableGame};
use common::{faults, record, referee, script};

const GAMES: u64 = 2_000;

struct RecordAndReplay;

impl GameVisitor for RecordAndReplay {
    type Output = ();

    fn visit<G: PlayableGame>(self) {
        for number in 0..GAMES {
            let script = script::<G>(number, [u32::MAX, 100, 10, 3][number as usize % 4]);
            let played = referee(&script, Duration::from_nanos(number));
            assert_eq!(played.outcome, script.outcome, "{} {number}: referee and rules differ", G::info().id);
            for seat in Seat::all(script.replies.len()) {
                let counted: u32 = played.seats[seat.index()].faults.iter().sum();
                assert_eq!(counted as usize, faults(&script, seat), "not every fault is counted");
            }
            let record = record(&played);
            assert_eq!(record.digest, played.record.as_ref().unwrap().1);
            assert_eq!(record.faults, played.faults, "fault messages change in the record");
            assert_eq!(record.outcome, script.outcome);
            assert!(record.times.iter().flatten().all(|t| t.wall == Duration::from_nanos(number)));
            let film = TypedFilm::<G>::new(record, &Assets::none()).unwrap();
            assert_eq!(film.len(), played.turns as usize + 1);
            if number % 50 == 0 {
                check_frames(&film);
            }
        }
    }
}

/// Checks that first frame and deltas give every frame, and that pictures do not depend on the order of access.
fn check_frames<G: PlayableGame>(film: &TypedFilm<G>) {
    let (mut shown, deltas) = film.frames();
    for (i, delta) in deltas.iter().enumerate() {
        frame::patch(&mut shown, delta);
        assert_eq!(shown, film.frame(i + 1));
    }
    let last = film.len() - 1;
    let end = film.picture(last, Viewpoint::All);
    film.picture(last / 2, Viewpoint::All);
    assert_eq!(film.picture(last, Viewpoint::All), end);
}

#[test]
fn every_game_replays_what_was_recorded() {
    std::thread::scope(|scope| {
        for info in agon_games::infos() {
            let replay = || agon_games::visit(info.id, RecordAndReplay).unwrap();
            std::thread::Builder::new().name(info.id.to_owned()).spawn_scoped(scope, replay).unwrap();
        }
    });
}
