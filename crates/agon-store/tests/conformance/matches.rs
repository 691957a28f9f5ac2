//! Matches with their records, faults, data folders and bot output.

use std::collections::BTreeSet;

use agon_core::Fault;
use agon_core::record::Digest;
use agon_league::{Entrant, FixedPoint, MatchKey};
use agon_store::{
    AppendResult, BotOutput, Counts, FaultFilter, FinishedMatch, Ledger, MatchFilter, MatchOrder,
    OutputWriter, PackedOutput, Snapshot, StoreError, StoredMatch, Timestamp,
};
use futures_util::TryStreamExt as _;

use crate::TestStorage;
use crate::common::{SMALL, Shape, finished, folder, key, shuffled};

fn numbered(phase: u32, stage: u32, numbers: impl IntoIterator<Item = u64>) -> Vec<FinishedMatch> {
    numbers.into_iter().map(|number| finished(key(phase, stage, number), SMALL)).collect()
}

async fn all(ledger: &dyn Ledger, phase: u32, filter: MatchFilter) -> Vec<StoredMatch> {
    ledger.matches(phase, filter).try_collect().await.unwrap()
}

fn keys(matches: &[StoredMatch]) -> Vec<MatchKey> {
    matches.iter().map(|stored| stored.result.key).collect()
}

/// The stored form of a match.
fn stored(finished: &FinishedMatch) -> StoredMatch {
    StoredMatch {
        result: finished.result.clone(),
        game_digests: finished.games.iter().map(|game| game.digest).collect(),
        faults: finished.faults.len() as u32,
        finished: finished.finished,
    }
}

pub async fn appended_matches_are_returned_unchanged(storage: &impl TestStorage) {
    let ledger = storage.create(1).await;
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    // Needs insert statements of every size.
    let mut batch = numbered(0, 0, 0..151);
    // Unusual matches: no game, many games with other entrants, extreme values.
    batch[3].result.games.clear();
    batch[3].games.clear();
    batch[3].faults.clear();
    batch[4] = finished(key(0, 0, 4), Shape { seats: 2, games: 90, ..SMALL });
    batch[5].result.points = vec![FixedPoint(i64::MIN), FixedPoint(i64::MAX)];
    batch[6].result.games[0].seed = u64::MAX;
    "\u{0}'); DROP TABLE match; --".clone_into(&mut batch[6].result.games[1].ended);
    let appended = ledger.append(&batch, None).await.unwrap();
    assert_eq!(appended, AppendResult { new: 151, already_stored: 0 });

    let ledger = storage.open().await;
    for expected in &batch {
        assert_eq!(ledger.find(expected.result.key).await.unwrap(), Some(stored(expected)));
        for (game, wanted_game) in expected.games.iter().enumerate() {
            assert_eq!(ledger.record(expected.result.key, game as u32).await.unwrap(), wanted_game.record);
        }
    }
    assert_eq!(all(&*ledger, 0, MatchFilter::default()).await, batch.iter().map(stored).collect::<Vec<_>>());
    for missing in [key(0, 0, 151), key(0, 1, 0), key(1, 0, 0)] {
        assert_eq!(ledger.find(missing).await.unwrap(), None);
    }
    assert_eq!(ledger.record(key(0, 0, 0), 2).await.unwrap(), None);
    let games = batch.iter().map(|one| one.games.len() as u64).sum();
    let faults = batch.iter().map(|one| one.faults.len() as u64).sum();
    assert_eq!(ledger.counts(0).await.unwrap(), Counts { matches: 151, games, faults });
    assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
}

pub async fn appending_stored_matches_changes_nothing(storage: &impl TestStorage) {
    let ledger = storage.create(2).await;
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    ledger.start_phase(1, Timestamp(0)).await.unwrap();
    let mut first = numbered(0, 0, 0..20);
    first[0].data = vec![folder(1, "one")];
    ledger.append(&first, None).await.unwrap();
    let before =
        all(&*ledger, 0, MatchFilter { order: MatchOrder::Appended, ..MatchFilter::default() }).await;

    assert_eq!(ledger.append(&first, None).await.unwrap(), AppendResult { new: 0, already_stored: 20 });
    assert_eq!(ledger.append(&[], None).await.unwrap(), AppendResult { new: 0, already_stored: 0 });
    // Times are not part of the digest; the stored times stay.
    let mut later = first[2].clone();
    later.finished = Timestamp(99);
    later.result.games[0].seats[0].thought_ns += 5;
    assert_eq!(ledger.append(&[later], None).await.unwrap(), AppendResult { new: 0, already_stored: 1 });
    assert_eq!(
        all(&*ledger, 0, MatchFilter { order: MatchOrder::Appended, ..MatchFilter::default() }).await,
        before
    );

    // Stored and new matches, one match twice, two phases.
    let mut mixed = numbered(0, 0, [19, 20, 5, 21, 20]);
    mixed.extend(numbered(1, 0, [0, 0, 1]));
    assert_eq!(ledger.append(&mixed, None).await.unwrap(), AppendResult { new: 4, already_stored: 4 });
    let of = |one: &FinishedMatch| (one.games.len() as u64, one.faults.len() as u64);
    for (phase, numbers) in [(0, 22), (1, 2)] {
        let expected = numbered(phase, 0, 0..numbers);
        let (games, faults) = expected.iter().map(of).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert_eq!(ledger.counts(phase).await.unwrap(), Counts { matches: numbers, games, faults });
        let found = all(&*ledger, phase, MatchFilter::default()).await;
        assert_eq!(found, expected.iter().map(stored).collect::<Vec<_>>());
    }
    assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
}

pub async fn different_result_is_a_conflict_and_nothing_is_stored(storage: &impl TestStorage) {
    let ledger = storage.create(1).await;
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    let first = numbered(0, 0, 0..3);
    ledger.append(&first, None).await.unwrap();

    let mut other = numbered(0, 0, 1..9);
    other[1].games[1].digest = Digest([0xab; 32]);
    let snapshot = Snapshot { phase: 0, bytes: vec![1] };
    let conflict = ledger.append(&other, Some(&snapshot)).await.unwrap_err();
    let StoreError::Conflict { key: which, stored, given } = &conflict else { panic!("{conflict}") };
    assert_eq!((*which, *stored, *given), (key(0, 0, 2), first[2].digest(), other[1].digest()));
    let text = conflict.to_string();
    assert!(text.starts_with("match 1.1.3 was played again with a different result\n"), "{text}");
    assert!(text.contains(&stored.to_string()) && text.contains(&given.to_string()), "{text}");
    assert_eq!(ledger.counts(0).await.unwrap().matches, 3);
    assert_eq!(ledger.progress(0).await.unwrap().snapshot, None);

    // Different points are a different result too.
    let mut other = first[0].clone();
    other.result.points[0] = FixedPoint(5);
    assert!(matches!(ledger.append(&[other], None).await, Err(StoreError::Conflict { .. })));
    // The ledger still accepts matches afterwards.
    assert_eq!(
        ledger.append(&numbered(0, 0, 1..9), None).await.unwrap(),
        AppendResult { new: 6, already_stored: 2 }
    );
}

pub async fn published_phase_rejects_new_matches(storage: &impl TestStorage) {
    let ledger = storage.create(1).await;
    let error = ledger.append(&numbered(0, 0, 0..1), None).await.unwrap_err();
    assert!(error.to_string().starts_with("phase 1 is waiting: it accepts no matches\nhint: "), "{error}");
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    let first = numbered(0, 0, 0..5);
    ledger.append(&first, None).await.unwrap();
    ledger.publish_phase(0, Digest([1; 32]), &[], Timestamp(5)).await.unwrap();
    for state in ["published", "closed"] {
        let error = ledger.append(&numbered(0, 0, 4..6), None).await.unwrap_err();
        assert!(
            error.to_string().starts_with(&format!("phase 1 is {state}: it accepts no matches\n")),
            "{error}"
        );
        // Appending stored matches again is allowed, but not with another result.
        assert_eq!(
            ledger.append(&first[1..3], None).await.unwrap(),
            AppendResult { new: 0, already_stored: 2 }
        );
        let mut other = first[0].clone();
        other.games[0].digest = Digest([0; 32]);
        assert!(matches!(ledger.append(&[other], None).await, Err(StoreError::Conflict { .. })));
        ledger.close_phase(0, Timestamp(6)).await.unwrap();
    }
    assert_eq!(ledger.counts(0).await.unwrap().matches, 5);
}

pub async fn malformed_matches_are_rejected(storage: &impl TestStorage) {
    let ledger = storage.create(1).await;
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    let mut fewer = finished(key(0, 0, 1), SMALL);
    fewer.games.pop();
    let mut beyond = finished(key(0, 0, 1), SMALL);
    beyond.faults[0].game = 2;
    let mut twice = finished(key(0, 0, 1), SMALL);
    twice.data = vec![folder(1, "one"), folder(1, "other")];
    let large = finished(key(0, 0, u64::MAX), SMALL);
    for bad in [fewer, beyond, twice, large] {
        let batch = [finished(key(0, 0, 0), SMALL), bad];
        let error = ledger.append(&batch, None).await.unwrap_err();
        assert!(matches!(error, StoreError::MalformedMatch { .. }), "{error}");
    }
    assert_eq!(ledger.counts(0).await.unwrap(), Counts::default());
}

pub async fn progress_is_the_snapshot_and_later_results(storage: &impl TestStorage) {
    let ledger = storage.create(2).await;
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    ledger.start_phase(1, Timestamp(0)).await.unwrap();
    assert_eq!(ledger.progress(0).await.unwrap(), agon_store::PhaseProgress::default());

    // Chunks of two stages, out of order, mixed with matches of another phase.
    let mut numbers: Vec<MatchKey> = (0..300).map(|number| key(0, 0, number)).collect();
    numbers.extend((0..100).map(|number| key(0, 2, number)));
    let numbers = shuffled(numbers, 5);
    let (mut covered, mut after, mut other) = (None, Vec::new(), 0);
    for (turn, chunk) in numbers[..380].chunks(19).enumerate() {
        let mut batch: Vec<FinishedMatch> = chunk.iter().map(|key| finished(*key, SMALL)).collect();
        after.extend(batch.iter().map(|one| one.result.clone()));
        batch.extend(numbered(1, 0, other..other + 3));
        other += 3;
        let snapshot = (turn % 4 == 2).then(|| Snapshot { phase: 0, bytes: vec![turn as u8; 3] });
        ledger.append(&batch, snapshot.as_ref()).await.unwrap();
        if let Some(snapshot) = snapshot {
            covered = Some(snapshot.bytes);
            after.clear();
        }
        let progress = ledger.progress(0).await.unwrap();
        assert_eq!(progress.snapshot, covered);
        assert_eq!(progress.results_after_snapshot, after);
        let done: BTreeSet<(u32, u64)> = (0..)
            .zip(&progress.played)
            .flat_map(|(stage, ranges)| ranges.iter().flatten().map(move |number| (stage, number)))
            .collect();
        let expected =
            numbers[..(turn * 19) + chunk.len()].iter().map(|key| (key.stage, key.number)).collect();
        assert_eq!(done, expected);
        assert!(progress.played.len() <= 3);
    }
    let elsewhere = storage.open().await;
    assert_eq!(elsewhere.progress(0).await.unwrap(), ledger.progress(0).await.unwrap());
    assert_eq!(elsewhere.progress(1).await.unwrap().results_after_snapshot.len() as u64, other);
    // A snapshot without matches, also of a published phase.
    ledger.publish_phase(0, Digest([1; 32]), &[], Timestamp(1)).await.unwrap();
    ledger.append(&[], Some(&Snapshot { phase: 0, bytes: vec![9] })).await.unwrap();
    let progress = elsewhere.progress(0).await.unwrap();
    assert_eq!((progress.snapshot, progress.results_after_snapshot.len()), (Some(vec![9]), 0));
    assert_eq!(progress.played.iter().map(agon_store::Ranges::len).sum::<u64>(), 380);
    assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
}

pub async fn matches_respect_every_filter_order_and_page(storage: &impl TestStorage) {
    let ledger = storage.create(2).await;
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    ledger.start_phase(1, Timestamp(0)).await.unwrap();
    let mut order: Vec<MatchKey> = (0..700).map(|i| key(0, (i % 3) as u32, i / 3)).collect();
    order.extend((0..60).map(|number| key(1, 0, number)));
    let order = shuffled(order, 11);
    let model: Vec<FinishedMatch> = order.iter().map(|key| finished(*key, SMALL)).collect();
    for batch in model.chunks(100) {
        ledger.append(batch, None).await.unwrap();
    }
    for phase in [0, 1] {
        for entrant in [None, Some(Entrant(4)), Some(Entrant(77))] {
            for faulty in [false, true] {
                for stages in [0..u32::MAX, 1..2, 0..2, 2..2] {
                    for sorting in [MatchOrder::Schedule, MatchOrder::Appended, MatchOrder::NewestFirst] {
                        let mut expected: Vec<&FinishedMatch> = model.iter().collect();
                        expected.retain(|one| {
                            one.result.key.phase == phase && stages.contains(&one.result.key.stage)
                        });
                        expected.retain(|one| !faulty || !one.faults.is_empty());
                        expected.retain(|one| {
                            entrant.is_none_or(|entrant| one.result.entrants().contains(&entrant))
                        });
                        match sorting {
                            MatchOrder::Schedule => expected.sort_by_key(|one| one.result.key),
                            MatchOrder::Appended => {}
                            MatchOrder::NewestFirst => expected.reverse(),
                        }
                        let expected: Vec<MatchKey> = expected.iter().map(|one| one.result.key).collect();
                        let filter = MatchFilter {
                            stages: stages.clone(),
                            entrant,
                            faulty,
                            order: sorting,
                            after: None,
                            limit: None,
                        };
                        let found = keys(&all(&*ledger, phase, filter.clone()).await);
                        assert_eq!(found, expected, "{filter:?}");
                        // A page, and the next page.
                        let page = keys(
                            &all(&*ledger, phase, MatchFilter { limit: Some(7), ..filter.clone() }).await,
                        );
                        assert_eq!(page, expected[..expected.len().min(7)], "{filter:?}");
                        if let Some(&after) = page.last() {
                            let next = MatchFilter { limit: Some(300), after: Some(after), ..filter };
                            let next = keys(&all(&*ledger, phase, next).await);
                            assert_eq!(next, expected[page.len()..expected.len().min(page.len() + 300)]);
                        }
                    }
                }
            }
        }
    }
}

pub async fn records_are_returned_in_order(storage: &impl TestStorage) {
    let ledger = storage.create(1).await;
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    let mut batch = shuffled(numbered(0, 0, 0..50), 3);
    batch.extend(numbered(0, 1, 0..2));
    batch[0].games[1].record = None;
    batch[1].games[0].record = None;
    ledger.append(&batch, None).await.unwrap();
    let mut expected = Vec::new();
    batch.sort_by_key(|one| one.result.key);
    for one in &batch {
        for (game, stored) in one.games.iter().enumerate() {
            expected.extend(stored.record.clone().map(|bytes| (one.result.key, game as u32, bytes)));
        }
    }
    let read = async |filter| -> Vec<_> {
        let records: Vec<_> = ledger.records(0, filter).try_collect().await.unwrap();
        records.into_iter().map(|one: agon_store::StoredRecord| (one.key, one.game, one.bytes)).collect()
    };
    assert_eq!(read(MatchFilter::default()).await, expected);
    // The records that bots of Connect Five may read before the second stage.
    expected.retain(|(key, ..)| key.stage < 1);
    assert_eq!(read(MatchFilter { stages: 0..1, ..MatchFilter::default() }).await, expected);
    expected.retain(|(key, ..)| key.number < 20);
    assert_eq!(read(MatchFilter { limit: Some(20), ..MatchFilter::default() }).await, expected);
}

pub async fn faults_are_listed_newest_first(storage: &impl TestStorage) {
    let ledger = storage.create(2).await;
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    ledger.start_phase(1, Timestamp(0)).await.unwrap();
    let mut model: Vec<FinishedMatch> = numbered(0, 0, 0..1_500);
    model.extend(numbered(1, 3, 0..20));
    let model = shuffled(model, 8);
    for batch in model.chunks(333) {
        ledger.append(batch, None).await.unwrap();
    }
    let newest: Vec<_> = model
        .iter()
        .flat_map(|one| one.faults.iter().map(|fault| (one.result.key, one.finished, fault.clone())))
        .rev()
        .collect();
    assert!(newest.len() > 600, "more than two pages");
    for (phase, entrant, fault) in [
        (None, None, None),
        (Some(0), None, None),
        (Some(1), Some(Entrant(2)), None),
        (None, Some(Entrant(2)), Some(Fault::Crash)),
        (None, None, Some(Fault::Timeout)),
    ] {
        let expected: Vec<_> = newest
            .iter()
            .filter(|(key, ..)| phase.is_none_or(|phase| key.phase == phase))
            .filter(|(.., one)| entrant.is_none_or(|entrant| one.entrant == entrant))
            .filter(|(.., one)| fault.is_none_or(|fault| one.report.fault == fault))
            .cloned()
            .collect();
        let filter = FaultFilter { phase, entrant, fault, before: None, limit: None };
        let found: Vec<_> = ledger.faults(filter.clone()).try_collect().await.unwrap();
        let listed: Vec<_> = found.iter().map(|one| (one.key, one.finished, one.fault.clone())).collect();
        assert_eq!(listed, expected, "{filter:?}");
        if let Some(fourth) = found.get(3) {
            let next = FaultFilter { before: Some(fourth.id), limit: Some(2), ..filter };
            let next: Vec<_> = ledger.faults(next).try_collect().await.unwrap();
            assert_eq!(next, found[4..6.min(found.len())]);
        }
    }
}

pub async fn data_folder_before_returns_the_state_at_stage_start(storage: &impl TestStorage) {
    let ledger = storage.create(2).await;
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    ledger.start_phase(1, Timestamp(0)).await.unwrap();
    let with = |key, data| FinishedMatch { data, ..finished(key, SMALL) };
    let batch = [
        with(key(0, 1, 5), vec![folder(1, "after five"), folder(2, "same")]),
        with(key(0, 1, 3), vec![folder(1, "after three")]),
        with(key(0, 0, 9), vec![folder(1, "same"), folder(2, "same")]),
        with(key(1, 0, 0), vec![folder(1, "second phase")]),
    ];
    ledger.append(&batch, None).await.unwrap();
    let ledger = storage.open().await;
    let before = async |entrant, phase, stage| {
        let found = ledger.data_folder_before(Entrant(entrant), phase, stage).await.unwrap();
        found.map(|(key, found)| {
            let content = String::from_utf8(found.bytes.clone()).unwrap();
            assert_eq!(found, folder(entrant, &content));
            (key, content)
        })
    };
    assert_eq!(before(1, 0, 0).await, None);
    assert_eq!(before(1, 0, 1).await, Some((key(0, 0, 9), "same".to_owned())));
    assert_eq!(before(1, 0, 2).await, Some((key(0, 1, 5), "after five".to_owned())));
    assert_eq!(before(2, 0, 7).await, Some((key(0, 1, 5), "same".to_owned())));
    assert_eq!(before(1, 1, 0).await, Some((key(0, 1, 5), "after five".to_owned())));
    assert_eq!(before(1, 1, 1).await, Some((key(1, 0, 0), "second phase".to_owned())));
    assert_eq!(before(3, 1, 1).await, None);
}

fn bot_output(text: &[(u32, &str)]) -> BotOutput {
    let mut writer = OutputWriter::default();
    for (turn, text) in text {
        writer.add(*turn, text);
    }
    writer.finish()
}

pub async fn bot_output_is_stored_with_its_match_and_is_not_part_of_the_digest(storage: &impl TestStorage) {
    let ledger = storage.create(1).await;
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    let silent = finished(key(0, 0, 0), SMALL);
    let printed = [(0, "loading\n"), (3, "thïnk\n"), (4, "\u{0}'); DROP TABLE log; --")];
    let outputs = vec![
        PackedOutput::new(0, 2, &bot_output(&printed)).unwrap(),
        PackedOutput::new(1, 2, &bot_output(&printed[..1])).unwrap(),
        PackedOutput::new(1, 0, &bot_output(&printed[1..])).unwrap(),
    ];
    let spoken = FinishedMatch { bot_outputs: outputs, ..silent.clone() };
    assert_eq!(silent.digest(), spoken.digest());
    ledger.append(std::slice::from_ref(&spoken), None).await.unwrap();
    // The same match without output is already stored, and the stored output stays.
    assert_eq!(ledger.append(&[silent], None).await.unwrap(), AppendResult { new: 0, already_stored: 1 });
    let ledger = storage.open().await;
    let of = |game, seat| ledger.bot_output(key(0, 0, 0), game, seat);
    assert_eq!(of(0, 2).await.unwrap(), Some(bot_output(&printed)));
    assert_eq!(of(1, 2).await.unwrap(), Some(bot_output(&printed[..1])));
    assert_eq!(of(1, 0).await.unwrap(), Some(bot_output(&printed[1..])));
    for (game, seat) in [(0, 0), (2, 2), (0, 9)] {
        assert_eq!(of(game, seat).await.unwrap(), None);
    }
    assert_eq!(ledger.bot_output(key(0, 0, 1), 0, 2).await.unwrap(), None);
    assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
    for (game, seats) in [(2, [0, 1]), (0, [1, 1])] {
        let outputs =
            seats.iter().filter_map(|&seat| PackedOutput::new(game, seat, &bot_output(&printed))).collect();
        let wrong = FinishedMatch { bot_outputs: outputs, ..finished(key(0, 0, 1), SMALL) };
        let error = ledger.append(&[wrong], None).await.unwrap_err();
        assert!(matches!(error, StoreError::MalformedMatch { .. }), "{error}");
    }
}

pub async fn oldest_bot_output_is_dropped_when_the_limit_is_exceeded(storage: &impl TestStorage) {
    let ledger = storage.create(1).await;
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    // Noise does not compress: about 12 KiB per output, 90 outputs per match, a bit more than 1 MiB.
    let mut state = 7_u64;
    let mut noise = || {
        let letters = (0..16_000).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'0' + (state >> 58) as u8)
        });
        letters.collect::<String>()
    };
    let one = bot_output(&[(1, &noise())]);
    let shape = Shape { seats: 2, games: 90, record: 0, faulty: 0, ..SMALL };
    for number in 0..70 {
        let outputs = (0..90).filter_map(|game| PackedOutput::new(game, 0, &one)).collect();
        let batch = [FinishedMatch { bot_outputs: outputs, ..finished(key(0, 0, number), shape) }];
        ledger.append(&batch, None).await.unwrap();
    }
    let mut stored = Vec::new();
    for number in 0..70 {
        for game in 0..90 {
            stored.push(ledger.bot_output(key(0, 0, number), game, 0).await.unwrap().is_some());
        }
    }
    let first = stored.iter().position(|stored| *stored).unwrap();
    assert!(stored[first..].iter().all(|stored| *stored), "only the oldest are dropped");
    assert!(first > 0 && (4_500..6_300).contains(&(stored.len() - first)), "{first} of {}", stored.len());
    assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
    assert_eq!(ledger.counts(0).await.unwrap().games, 6_300);
}

pub async fn readers_see_committed_matches_while_others_write(storage: &impl TestStorage) {
    let ledger = storage.create(1).await;
    let reader = storage.open().await;
    ledger.start_phase(0, Timestamp(0)).await.unwrap();
    ledger.append(&numbered(0, 0, 0..600), None).await.unwrap();
    // A list that is being read includes matches that are appended meanwhile.
    let filter = MatchFilter { order: MatchOrder::Appended, ..MatchFilter::default() };
    let mut list = reader.matches(0, filter);
    assert_eq!(list.try_next().await.unwrap().unwrap().result.key, key(0, 0, 0));
    ledger.append(&numbered(0, 0, 600..650), None).await.unwrap();
    assert_eq!(reader.counts(0).await.unwrap().matches, 650);
    let rest: Vec<StoredMatch> = list.try_collect().await.unwrap();
    assert_eq!(keys(&rest), (1..650).map(|number| key(0, 0, number)).collect::<Vec<_>>());
}
