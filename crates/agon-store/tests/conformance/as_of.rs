//! A ledger as it was at an earlier moment.

use std::sync::Arc;

use agon_core::record::Digest;
use agon_league::Entrant;
use agon_store::{
    FaultFilter, FinishedMatch, Ledger, LedgerAsOf, MatchFilter, MatchOrder, NewRuling, PhaseState,
    RulingKind, RulingLift, StoreError, Timestamp,
};
use futures_util::TryStreamExt as _;

use crate::TestStorage;
use crate::common::{SMALL, finished, key};

/// Matches of a phase that finish one after the other, from `first` on.
fn at_times(phase: u32, numbers: std::ops::Range<u64>, first: i64) -> Vec<FinishedMatch> {
    let one = |number: u64| FinishedMatch {
        finished: Timestamp(first + number as i64),
        ..finished(key(phase, 0, number), SMALL)
    };
    numbers.map(one).collect()
}

pub async fn earlier_state_shows_nothing_newer(storage: &impl TestStorage) {
    let ledger = storage.create(3).await;
    ledger.start_phase(0, Timestamp(10)).await.unwrap();
    ledger.append(&at_times(0, 0..20, 100), None).await.unwrap();
    ledger.publish_phase(0, Digest([1; 32]), &[], Timestamp(200)).await.unwrap();
    ledger.close_phase(0, Timestamp(1_000)).await.unwrap();
    ledger.start_phase(1, Timestamp(1_000)).await.unwrap();
    // The order of appending is not that of finishing.
    let mut batch = at_times(1, 0..20, 2_000);
    batch.reverse();
    ledger.append(&batch, None).await.unwrap();
    let early = NewRuling {
        kind: RulingKind::Void(key(1, 0, 3)),
        reason: "early".to_owned(),
        by: "Olga".to_owned(),
        at: Timestamp(2_004),
    };
    let ruling = ledger.add_ruling(&early).await.unwrap();
    let late = NewRuling { kind: RulingKind::Void(key(1, 0, 15)), at: Timestamp(2_100), ..early };
    let late_id = ledger.add_ruling(&late).await.unwrap();
    let lift = RulingLift { reason: "no".to_owned(), by: "Olga".to_owned(), at: Timestamp(2_200) };
    ledger.lift_ruling(ruling, &lift).await.unwrap();
    ledger.publish_phase(1, Digest([2; 32]), &[late_id], Timestamp(3_000)).await.unwrap();
    ledger.close_phase(1, Timestamp(3_001)).await.unwrap();
    ledger.start_phase(2, Timestamp(4_000)).await.unwrap();
    ledger.reveal_seed(Timestamp(5_000)).await.unwrap();

    let now: Arc<dyn Ledger> = Arc::from(storage.open().await);
    let then = LedgerAsOf::new(Arc::clone(&now), Timestamp(2_009));
    assert_eq!(then.competition().await.unwrap().revealed, None);
    let phases = then.phases().await.unwrap();
    let states: Vec<PhaseState> = phases.iter().map(|phase| phase.state).collect();
    assert_eq!(states, [PhaseState::Closed, PhaseState::Running, PhaseState::Waiting]);
    assert_eq!((phases[1].table_hash, phases[1].published, phases[2].started), (None, None, None));
    // A phase that was published by then is as it is.
    assert_eq!(then.counts(0).await.unwrap(), now.counts(0).await.unwrap());
    assert_eq!(then.progress(0).await.unwrap(), now.progress(0).await.unwrap());
    let counts = then.counts(1).await.unwrap();
    assert_eq!((counts.matches, counts.games), (10, 20));
    let progress = then.progress(1).await.unwrap();
    assert_eq!((progress.played[0].len(), progress.results_after_snapshot.len()), (10, 10));
    assert!(then.find(key(1, 0, 9)).await.unwrap().is_some());
    assert!(then.find(key(1, 0, 10)).await.unwrap().is_none());
    assert!(then.record(key(1, 0, 9), 0).await.unwrap().is_some());
    assert!(then.record(key(1, 0, 10), 0).await.unwrap().is_none());
    for order in [MatchOrder::Schedule, MatchOrder::Appended, MatchOrder::NewestFirst] {
        // The limit counts what is shown.
        let filter = MatchFilter { order, limit: Some(4), ..MatchFilter::default() };
        let listed: Vec<_> = then.matches(1, filter).try_collect().await.unwrap();
        assert_eq!(listed.len(), 4, "{order:?}");
        assert!(listed.iter().all(|one| one.finished <= Timestamp(2_009)), "{order:?}");
    }
    let records: Vec<_> = then.records(1, MatchFilter::default()).try_collect().await.unwrap();
    assert_eq!(records.len(), 20);
    let faults: Vec<_> = then.faults(FaultFilter::default()).try_collect().await.unwrap();
    let all: Vec<_> = now.faults(FaultFilter::default()).try_collect().await.unwrap();
    assert!(faults.len() < all.len() && faults.iter().all(|one| one.finished <= Timestamp(2_009)));
    let rulings = then.rulings().await.unwrap();
    assert_eq!((rulings.len(), rulings[0].reason.as_str(), &rulings[0].lifted), (1, "early", &None));
    assert_eq!(then.forfeits(1).await.unwrap(), []);
    assert_eq!(then.bot_output(key(1, 0, 10), 0, 0).await.unwrap(), None);
    // Nobody can write through it.
    let refused = then.start_phase(2, Timestamp(6_000)).await.unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly { .. }), "{refused}");
    assert!(then.append(&[], None).await.is_err() && then.add_ruling(&late).await.is_err());
    assert!(then.data_folder_before(Entrant(0), 1, 1).await.unwrap().is_none());
}
