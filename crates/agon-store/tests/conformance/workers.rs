//! Workers: bans, the matches they played, and revoking matches.

use agon_core::ErrorKind;
use agon_core::record::Digest;
use agon_league::{Entrant, MatchKey};
use agon_store::{
    AppendResult, BannedWorker, Counts, FaultFilter, FinishedMatch, Ledger, MatchFilter, MatchOrder,
    NewBotVersion, NewRuling, OutputWriter, PackedOutput, RulingKind, RulingLift, Snapshot, StoreError,
    Timestamp,
};
use futures_util::TryStreamExt as _;

use crate::TestStorage;
use crate::common::{SMALL, Shape, finished, folder, key};

/// A match played by this worker.
fn played_by(worker: &str, key: MatchKey) -> FinishedMatch {
    FinishedMatch { worker: Some(worker.to_owned()), ..finished(key, SMALL) }
}

/// The same match with another result.
fn with_other_digest(mut one: FinishedMatch) -> FinishedMatch {
    one.games[0].digest = Digest([0xcd; 32]);
    one
}

async fn started_ledger(storage: &impl TestStorage) -> Box<dyn Ledger> {
    let ledger = storage.create(2).await;
    for entrant in 0..SMALL.entrants {
        let bot = NewBotVersion {
            entrant: Entrant(entrant),
            hash: "sha256:1".to_owned(),
            spec: "house:left".to_owned(),
            commit: None,
            archive: None,
            from_phase: 0,
            at: Timestamp(1),
            says: agon_core::SelfDescription::default(),
        };
        ledger.add_bot_version(&bot).await.unwrap();
    }
    ledger.start_phase(0, Timestamp(2)).await.unwrap();
    ledger
}

fn counts(batch: &[&FinishedMatch]) -> Counts {
    Counts {
        matches: batch.len() as u64,
        games: batch.iter().map(|one| one.games.len() as u64).sum(),
        faults: batch.iter().map(|one| one.faults.len() as u64).sum(),
    }
}

async fn appended(ledger: &dyn Ledger) -> Vec<MatchKey> {
    let filter = MatchFilter { order: MatchOrder::Appended, ..MatchFilter::default() };
    ledger.matches(0, filter).map_ok(|stored| stored.result.key).try_collect().await.unwrap()
}

async fn is_whole(ledger: &dyn Ledger) {
    assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
}

pub async fn worker_is_banned_once_and_its_matches_are_listed(storage: &impl TestStorage) {
    let ledger = started_ledger(storage).await;
    ledger.start_phase(1, Timestamp(2)).await.unwrap();
    assert_eq!(ledger.banned_workers().await.unwrap(), []);
    ledger.ban_worker("w2", "its records are not true", Timestamp(20)).await.unwrap();
    ledger.ban_worker("w1", "outvoted twice", Timestamp(20)).await.unwrap();
    ledger.ban_worker("w0", "it \u{0} lies", Timestamp(10)).await.unwrap();
    ledger.ban_worker("w2", "once more", Timestamp(30)).await.unwrap();
    let banned = |worker: &str, reason: &str, at| BannedWorker {
        worker: worker.to_owned(),
        reason: reason.to_owned(),
        at: Timestamp(at),
    };
    let all = [
        banned("w0", "it \u{0} lies", 10),
        banned("w1", "outvoted twice", 20),
        banned("w2", "its records are not true", 20),
    ];
    assert_eq!(storage.open().await.banned_workers().await.unwrap(), all);

    let here = finished(key(0, 0, 9), SMALL);
    let batch = [
        played_by("w1", key(0, 1, 0)),
        played_by("w2", key(0, 0, 1)),
        played_by("w1", key(0, 0, 5)),
        played_by("w1", key(0, 0, 2)),
        played_by("w1", key(1, 0, 0)),
        here,
    ];
    ledger.append(&batch, None).await.unwrap();
    let of = |phase, worker| ledger.matches_played_by(phase, worker);
    assert_eq!(of(0, "w1").await.unwrap(), [key(0, 0, 2), key(0, 0, 5), key(0, 1, 0)]);
    assert_eq!(of(0, "w2").await.unwrap(), [key(0, 0, 1)]);
    assert_eq!(of(1, "w1").await.unwrap(), [key(1, 0, 0)]);
    assert_eq!(of(0, "w").await.unwrap(), []);
    let expected = [(1, "w2"), (2, "w1"), (5, "w1")].map(|(n, worker)| (key(0, 0, n), worker));
    let all = ledger.matches_with_workers(0).await.unwrap();
    let whose: Vec<_> = all.iter().map(|(key, worker, _)| (*key, worker.as_str())).collect();
    assert_eq!(whose, [&expected[..], &[(key(0, 1, 0), "w1")]].concat());
    assert_eq!(all[0].2, batch[1].digest());
    // The worker is not part of the digest; the first one stays.
    assert_eq!(
        ledger.append(&[played_by("w2", key(0, 0, 5))], None).await.unwrap(),
        AppendResult { new: 0, already_stored: 1 }
    );
    assert_eq!(of(0, "w2").await.unwrap(), [key(0, 0, 1)]);
}

pub async fn revoked_matches_are_removed_and_can_be_appended_with_another_result(storage: &impl TestStorage) {
    let ledger = started_ledger(storage).await;
    let mut writer = OutputWriter::default();
    writer.add(1, "I think");
    let output = writer.finish();
    let mut batch: Vec<FinishedMatch> =
        (0..12).map(|n| played_by(if n % 3 == 1 { "w1" } else { "w2" }, key(0, 0, n))).collect();
    for one in &mut batch {
        one.bot_outputs.extend(PackedOutput::new(0, 1, &output));
        one.data = vec![folder(1, &format!("after {}", one.result.key.number))];
    }
    let snapshot = Snapshot { phase: 0, bytes: vec![5] };
    ledger.append(&batch, Some(&snapshot)).await.unwrap();

    let revoked = ledger.matches_played_by(0, "w1").await.unwrap();
    assert_eq!(revoked, [1, 4, 7, 10].map(|n| key(0, 0, n)));
    let mut asked = revoked.clone();
    // A match that was never played, and one of another phase.
    asked.extend([key(0, 0, 99), key(1, 0, 0)]);
    assert_eq!(ledger.revoke_matches(0, &asked, "w1 lies", Timestamp(40)).await.unwrap(), 4);
    assert_eq!(
        ledger.revoke_matches(0, &revoked, "w1 lies", Timestamp(41)).await.unwrap(),
        0,
        "they are already revoked"
    );
    let rest: Vec<&FinishedMatch> = batch.iter().filter(|one| one.result.key.number % 3 != 1).collect();
    assert_eq!(ledger.counts(0).await.unwrap(), counts(&rest));
    let progress = ledger.progress(0).await.unwrap();
    assert_eq!(progress.snapshot, None, "it covered revoked matches");
    assert_eq!(
        progress.results_after_snapshot,
        rest.iter().map(|one| one.result.clone()).collect::<Vec<_>>()
    );
    assert_eq!(progress.played[0].gaps(12).flatten().collect::<Vec<_>>(), [1, 4, 7, 10]);
    for key in &revoked {
        assert_eq!(ledger.find(*key).await.unwrap(), None);
        assert_eq!(ledger.record(*key, 0).await.unwrap(), None);
        assert_eq!(ledger.bot_output(*key, 0, 1).await.unwrap(), None);
    }
    let faults: Vec<_> = ledger.faults(FaultFilter::default()).try_collect().await.unwrap();
    assert_eq!(faults.len() as u64, counts(&rest).faults);
    is_whole(&*ledger).await;

    // The next stage starts with the folder of the last match that was not revoked.
    let before = ledger.data_folder_before(Entrant(1), 0, 1).await.unwrap().unwrap();
    assert_eq!((before.0, before.1), (key(0, 0, 11), folder(1, "after 11")));
    assert_eq!(ledger.revoke_matches(0, &[key(0, 0, 11)], "depends on w1", Timestamp(42)).await.unwrap(), 1);
    assert_eq!(ledger.data_folder_before(Entrant(1), 0, 1).await.unwrap().unwrap().1, folder(1, "after 9"));
    is_whole(&*ledger).await;

    let again: Vec<FinishedMatch> = [1, 4]
        .map(|n| with_other_digest(played_by("w2", key(0, 0, n))))
        .into_iter()
        .chain([batch[7].clone()])
        .collect();
    assert_eq!(
        ledger.append(&again, Some(&snapshot)).await.unwrap(),
        AppendResult { new: 3, already_stored: 0 }
    );
    assert_eq!(ledger.find(key(0, 0, 4)).await.unwrap().unwrap().game_digests[0], Digest([0xcd; 32]));
    assert_eq!(ledger.progress(0).await.unwrap().snapshot, Some(vec![5]));
    assert!(matches!(ledger.append(&[batch[4].clone()], None).await, Err(StoreError::Conflict { .. })));
    is_whole(&*storage.open().await).await;
}

pub async fn revoking_fails_in_a_phase_that_is_not_running(storage: &impl TestStorage) {
    let ledger = started_ledger(storage).await;
    ledger.append(&[played_by("w1", key(0, 0, 0))], None).await.unwrap();
    ledger.publish_phase(0, Digest([1; 32]), &[], Timestamp(5)).await.unwrap();
    for phase in [0, 1] {
        let error =
            ledger.revoke_matches(phase, &[key(phase, 0, 0)], "w1 lies", Timestamp(6)).await.unwrap_err();
        assert!(
            error.kind() == ErrorKind::Usage && error.to_string().contains("its matches cannot be revoked"),
            "{error}"
        );
    }
    let error = ledger.revoke_matches(2, &[], "w1 lies", Timestamp(6)).await.unwrap_err();
    assert!(matches!(error, StoreError::NoSuchPhase { .. }), "{error}");
    assert_eq!(ledger.counts(0).await.unwrap().matches, 1);
}

pub async fn void_matches_are_not_revoked_and_ids_are_never_reused(storage: &impl TestStorage) {
    let ledger = started_ledger(storage).await;
    ledger.append(&[0, 1, 2].map(|n| played_by("w1", key(0, 0, n))), None).await.unwrap();
    let void = |n| NewRuling {
        kind: RulingKind::Void(key(0, 0, n)),
        reason: "the power was cut".to_owned(),
        by: "Ada".to_owned(),
        at: Timestamp(50),
    };
    ledger.add_ruling(&void(0)).await.unwrap();
    // A lifted ruling still refers to its match.
    let lifted = ledger.add_ruling(&void(1)).await.unwrap();
    let reason = RulingLift { reason: "it was not".to_owned(), by: "Ada".to_owned(), at: Timestamp(51) };
    ledger.lift_ruling(lifted, &reason).await.unwrap();
    let keys = [0, 1, 2].map(|n| key(0, 0, n));
    assert_eq!(ledger.revoke_matches(0, &keys, "w1 lies", Timestamp(60)).await.unwrap(), 1);
    assert_eq!(appended(&*ledger).await, keys[..2]);
    assert_eq!(ledger.rulings().await.unwrap().len(), 2);
    is_whole(&*ledger).await;
    // A reader that continues after a revoked match must still see the matches appended now.
    ledger.append(&[played_by("w2", key(0, 0, 3)), played_by("w2", key(0, 0, 2))], None).await.unwrap();
    assert_eq!(appended(&*ledger).await, [0, 1, 3, 2].map(|n| key(0, 0, n)));
    // The second time too: the first id of the match must not be reused either.
    assert_eq!(ledger.revoke_matches(0, &[keys[2]], "so does w2", Timestamp(61)).await.unwrap(), 1);
    ledger.append(&[played_by("w3", key(0, 0, 2))], None).await.unwrap();
    assert_eq!(ledger.revoke_matches(0, &[keys[2]], "so does w3", Timestamp(62)).await.unwrap(), 1);
    is_whole(&*ledger).await;
}

pub async fn rulings_apply_to_matches_that_are_played_again(storage: &impl TestStorage) {
    const ALL: Shape = Shape { seats: 9, ..SMALL };
    let ledger = started_ledger(storage).await;
    let ghost = |reason: &str| NewRuling {
        kind: RulingKind::Disqualify(Entrant(4)),
        reason: reason.to_owned(),
        by: "Ada".to_owned(),
        at: Timestamp(50),
    };
    let play = async |numbers: std::ops::Range<u64>| {
        let batch: Vec<_> = numbers.map(|n| finished(key(0, 0, n), ALL)).collect();
        ledger.append(&batch, None).await.unwrap();
    };
    play(0..2).await;
    let ruling = ledger.add_ruling(&ghost("it reads the others' files")).await.unwrap();
    play(2..4).await;
    // The last match before the lift is revoked, and appended again after the lift.
    ledger.revoke_matches(0, &[key(0, 0, 3)], "w1 lies", Timestamp(60)).await.unwrap();
    assert_eq!(ledger.forfeits(0).await.unwrap(), [(key(0, 0, 2), Entrant(4))]);
    let lifted = RulingLift { reason: "it does not".to_owned(), by: "Ada".to_owned(), at: Timestamp(61) };
    ledger.lift_ruling(ruling, &lifted).await.unwrap();
    play(3..5).await;
    assert_eq!(ledger.forfeits(0).await.unwrap(), [(key(0, 0, 2), Entrant(4))]);
    // The last match is revoked before a ruling: its replacement ends after the ruling.
    ledger.revoke_matches(0, &[key(0, 0, 4)], "w1 lies", Timestamp(62)).await.unwrap();
    ledger.add_ruling(&ghost("it does after all")).await.unwrap();
    play(4..5).await;
    assert_eq!(ledger.forfeits(0).await.unwrap(), [2, 4].map(|n| (key(0, 0, n), Entrant(4))));
    is_whole(&*ledger).await;
}
