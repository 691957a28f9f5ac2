//! Rulings of the organiser.

use agon_core::ErrorKind;
use agon_core::record::Digest;
use agon_league::Entrant;
use agon_store::{
    Ledger, NewBotVersion, NewRuling, PhaseState, Ruling, RulingKind, RulingLift, StoreError, Timestamp,
};

use crate::TestStorage;
use crate::common::{SMALL, Shape, finished, key};

/// A league of nine with some matches, where every entrant has a bot.
async fn started_ledger(storage: &impl TestStorage, matches: u64) -> Box<dyn Ledger> {
    let ledger = storage.create(2).await;
    for entrant in 0..9 {
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
    append(&*ledger, 0..matches).await;
    ledger
}

async fn append(ledger: &dyn Ledger, numbers: std::ops::Range<u64>) {
    let batch: Vec<_> = numbers.map(|number| finished(key(0, 0, number), ALL)).collect();
    ledger.append(&batch, None).await.unwrap();
}

/// All entrants play in every match.
const ALL: Shape = Shape { seats: 9, ..SMALL };
const DISQUALIFY_FOUR: RulingKind = RulingKind::Disqualify(Entrant(4));

fn ruling(kind: RulingKind, reason: &str) -> NewRuling {
    NewRuling { kind, reason: reason.to_owned(), by: "Ada".to_owned(), at: Timestamp(50) }
}

fn lift(reason: &str) -> RulingLift {
    RulingLift { reason: reason.to_owned(), by: "Bob".to_owned(), at: Timestamp(60) }
}

pub async fn ruling_is_stored_and_can_be_lifted_once(storage: &impl TestStorage) {
    let ledger = started_ledger(storage, 20).await;
    assert_eq!(ledger.rulings().await.unwrap(), []);
    let void = RulingKind::Void(key(0, 0, 7));
    let reason = "x".repeat(499) + "\u{20ac}";
    assert_eq!(ledger.add_ruling(&ruling(void, "the power was cut")).await.unwrap(), 1);
    assert_eq!(ledger.add_ruling(&ruling(DISQUALIFY_FOUR, &reason)).await.unwrap(), 2);
    ledger.lift_ruling(1, &lift("it was not")).await.unwrap();
    // The same decision again is another ruling.
    assert_eq!(ledger.add_ruling(&ruling(void, "it was after all")).await.unwrap(), 3);
    let stored = |id, kind, reason: &str, lifted| Ruling {
        id,
        kind,
        reason: reason.to_owned(),
        by: "Ada".to_owned(),
        at: Timestamp(50),
        lifted,
    };
    let all = [
        stored(1, void, "the power was cut", Some(lift("it was not"))),
        stored(2, DISQUALIFY_FOUR, &reason, None),
        stored(3, void, "it was after all", None),
    ];
    assert_eq!(storage.open().await.rulings().await.unwrap(), all);
    assert_eq!(all.iter().map(Ruling::is_in_force).collect::<Vec<_>>(), [false, true, true]);
    // The stored matches have not changed.
    assert!(ledger.find(key(0, 0, 7)).await.unwrap().is_some());
    assert_eq!(ledger.counts(0).await.unwrap().matches, 20);
    assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
}

pub async fn invalid_rulings_are_rejected_with_a_clear_message(storage: &impl TestStorage) {
    let ledger = started_ledger(storage, 20).await;
    let void = RulingKind::Void(key(0, 0, 7));
    ledger.add_ruling(&ruling(void, "the power was cut")).await.unwrap();
    ledger.add_ruling(&ruling(DISQUALIFY_FOUR, "it reads the others' files")).await.unwrap();
    let long = "x".repeat(501);
    for (kind, reason, expected) in [
        (void, "", "a ruling needs a reason"),
        (void, " \t", "a ruling needs a reason"),
        (void, &*long, "the reason has 501 characters; the maximum is 500"),
        (void, "two\nlines", "a line break or another control character"),
        (void, "once more", "match 1.1.8 is already void, by ruling 1"),
        (DISQUALIFY_FOUR, "once more", "entrant 5 is already disqualified, by ruling 2"),
        (RulingKind::Void(key(0, 0, 20)), "why not", "match 1.1.21 was not played"),
        (RulingKind::Void(key(7, 0, 0)), "why not", "match 8.1.1 was not played"),
        (RulingKind::Disqualify(Entrant(9)), "why not", "there is no entrant 10"),
    ] {
        assert_rejected(&ledger.add_ruling(&ruling(kind, reason)).await.unwrap_err(), expected);
    }
    let unnamed = NewRuling { by: " ".to_owned(), ..ruling(void, "why not") };
    assert_rejected(
        &ledger.add_ruling(&unnamed).await.unwrap_err(),
        "a ruling needs the name of the decider",
    );
    assert_rejected(&ledger.lift_ruling(2, &lift("")).await.unwrap_err(), "a ruling needs a reason");
    assert_rejected(&ledger.lift_ruling(3, &lift("why not")).await.unwrap_err(), "there is no ruling 3");
    ledger.lift_ruling(2, &lift("it does not")).await.unwrap();
    assert_rejected(
        &ledger.lift_ruling(2, &lift("it does not")).await.unwrap_err(),
        "ruling 2 is already lifted",
    );
    assert_eq!(ledger.rulings().await.unwrap().len(), 2);
}

fn assert_rejected(error: &StoreError, expected: &str) {
    let text = error.to_string();
    assert!(
        error.kind() == ErrorKind::Usage && text.contains(expected) && text.contains("\nhint: "),
        "{text}"
    );
}

pub async fn phase_stores_the_rulings_at_start_and_publication(storage: &impl TestStorage) {
    let ledger = started_ledger(storage, 20).await;
    ledger.add_ruling(&ruling(RulingKind::Void(key(0, 0, 7)), "the power was cut")).await.unwrap();
    ledger.add_ruling(&ruling(DISQUALIFY_FOUR, "it reads the others' files")).await.unwrap();
    let table = Digest([1; 32]);
    for stale in [&[][..], &[1], &[1, 2, 3]] {
        let error = ledger.publish_phase(0, table, stale, Timestamp(70)).await.unwrap_err();
        assert!(matches!(error, StoreError::RulingsChanged { phase: 0 }), "{error}");
    }
    ledger.publish_phase(0, table, &[1, 2], Timestamp(70)).await.unwrap();
    ledger.lift_ruling(1, &lift("it was not")).await.unwrap();
    // Publishing the same table again changes nothing, even if rulings changed since.
    ledger.publish_phase(0, table, &[1, 2], Timestamp(80)).await.unwrap();
    ledger.close_phase(0, Timestamp(81)).await.unwrap();
    ledger.start_phase(1, Timestamp(82)).await.unwrap();
    ledger.lift_ruling(2, &lift("it does not")).await.unwrap();
    ledger.start_phase(1, Timestamp(83)).await.unwrap();
    let phases = storage.open().await.phases().await.unwrap();
    let rulings =
        |phase: usize| (phases[phase].rulings_at_start.clone(), phases[phase].rulings_at_publication.clone());
    assert_eq!((phases[0].state, rulings(0)), (PhaseState::Closed, (vec![], vec![1, 2])));
    assert_eq!((phases[1].state, rulings(1)), (PhaseState::Running, (vec![2], vec![])));
}

pub async fn matches_that_ended_during_a_disqualification_stay_forfeited(storage: &impl TestStorage) {
    let ledger = started_ledger(storage, 3).await;
    assert_eq!(ledger.forfeits(0).await.unwrap(), []);
    ledger.add_ruling(&ruling(DISQUALIFY_FOUR, "it reads the others' files")).await.unwrap();
    assert_eq!(ledger.forfeits(0).await.unwrap(), [], "matches that ended before do not count");
    append(&*ledger, 3..5).await;
    ledger.lift_ruling(1, &lift("it does not")).await.unwrap();
    append(&*ledger, 5..7).await;
    let expected = [3, 4].map(|number| (key(0, 0, number), Entrant(4)));
    assert_eq!(ledger.forfeits(0).await.unwrap(), expected);
    // Only for this entrant, and only in its own matches.
    ledger.add_ruling(&ruling(RulingKind::Disqualify(Entrant(8)), "so does this one")).await.unwrap();
    let small = finished(key(0, 0, 7), Shape { entrants: 2, seats: 2, ..SMALL });
    ledger.append(&[small], None).await.unwrap();
    append(&*ledger, 8..9).await;
    let all = storage.open().await.forfeits(0).await.unwrap();
    assert_eq!(all, [expected[0], expected[1], (key(0, 0, 8), Entrant(8))]);
    assert_eq!(ledger.forfeits(1).await.unwrap(), []);
}
