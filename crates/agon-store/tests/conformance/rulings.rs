//! What the organiser decided.

use agon_core::record::Digest;
use agon_league::Entrant;
use agon_store::{Ledger, Lifted, NewRuling, PhaseState, Ruling, RulingKind, StoreError, NewBotVersion, Timestamp};

use crate::Home;
use crate::common::{SMALL, Shape, finished, key};

/// A league of nine with some matches, all bots handed in.
async fn begun(home: &impl Home, matches: u64) -> Box<dyn Ledger> {
    let ledger = home.create(2).await;
    for entrant in 0..9 {
        let bot = NewBotVersion {
            entrant: Entrant(entrant),
            hash: "sha256:1".to_owned(),
            spec: "house:left".to_owned(),
            commit: None,
            archive: None,
            from_phase: 0,
            at: Timestamp(1),
        };
        ledger.submit(&bot).await.unwrap();
    }
    ledger.start(0, Timestamp(2)).await.unwrap();
    append(&*ledger, 0..matches).await;
    ledger
}

async fn append(ledger: &dyn Ledger, numbers: std::ops::Range<u64>) {
    let batch: Vec<_> = numbers.map(|number| finished(key(0, 0, number), ALL)).collect();
    ledger.append(&batch, None).await.unwrap();
}

/// Everybody plays in every match.
const ALL: Shape = Shape { seats: 9, ..SMALL };
const GHOST: RulingKind = RulingKind::Disqualify(Entrant(4));

fn ruling(kind: RulingKind, reason: &str) -> NewRuling {
    NewRuling { kind, reason: reason.to_owned(), by: "Ada".to_owned(), at: Timestamp(50) }
}

fn lifted(reason: &str) -> Lifted {
    Lifted { reason: reason.to_owned(), by: "Bob".to_owned(), at: Timestamp(60) }
}

pub async fn a_ruling_is_kept_and_can_be_lifted_once(home: &impl Home) {
    let ledger = begun(home, 20).await;
    assert_eq!(ledger.rulings().await.unwrap(), []);
    let void = RulingKind::Void(key(0, 0, 7));
    let reason = "x".repeat(499) + "\u{20ac}";
    assert_eq!(ledger.rule(&ruling(void, "the power was cut")).await.unwrap(), 1);
    assert_eq!(ledger.rule(&ruling(GHOST, &reason)).await.unwrap(), 2);
    ledger.lift(1, &lifted("it was not")).await.unwrap();
    // Decided anew, it is another ruling.
    assert_eq!(ledger.rule(&ruling(void, "it was after all")).await.unwrap(), 3);
    let kept = |id, kind, reason: &str, lifted| Ruling {
        id,
        kind,
        reason: reason.to_owned(),
        by: "Ada".to_owned(),
        at: Timestamp(50),
        lifted,
    };
    let all = [
        kept(1, void, "the power was cut", Some(lifted("it was not"))),
        kept(2, GHOST, &reason, None),
        kept(3, void, "it was after all", None),
    ];
    assert_eq!(home.open().await.rulings().await.unwrap(), all);
    assert_eq!(all.iter().map(Ruling::is_in_force).collect::<Vec<_>>(), [false, true, true]);
    // Nothing that was played has changed.
    assert!(ledger.find(key(0, 0, 7)).await.unwrap().is_some());
    assert_eq!(ledger.counts(0).await.unwrap().matches, 20);
    assert_eq!(ledger.check().await.unwrap(), Vec::<String>::new());
}

pub async fn what_cannot_be_ruled_is_refused_in_clear_words(home: &impl Home) {
    let ledger = begun(home, 20).await;
    let void = RulingKind::Void(key(0, 0, 7));
    ledger.rule(&ruling(void, "the power was cut")).await.unwrap();
    ledger.rule(&ruling(GHOST, "it reads the others' files")).await.unwrap();
    let long = "x".repeat(501);
    for (kind, reason, says) in [
        (void, "", "a ruling needs a reason"),
        (void, " \t", "a ruling needs a reason"),
        (void, &*long, "the reason has 501 characters, 500 are the most"),
        (void, "two\nlines", "a line end or another control character"),
        (void, "once more", "match 1.1.8 is void already, by ruling 1"),
        (GHOST, "once more", "entrant 5 is disqualified already, by ruling 2"),
        (RulingKind::Void(key(0, 0, 20)), "why not", "match 1.1.21 was not played"),
        (RulingKind::Void(key(7, 0, 0)), "why not", "match 8.1.1 was not played"),
        (RulingKind::Disqualify(Entrant(9)), "why not", "there is no entrant 10"),
    ] {
        refused(&ledger.rule(&ruling(kind, reason)).await.unwrap_err(), says);
    }
    let nobody = NewRuling { by: " ".to_owned(), ..ruling(void, "why not") };
    refused(&ledger.rule(&nobody).await.unwrap_err(), "a ruling needs the name of who decides");
    refused(&ledger.lift(2, &lifted("")).await.unwrap_err(), "a ruling needs a reason");
    refused(&ledger.lift(3, &lifted("why not")).await.unwrap_err(), "there is no ruling 3");
    ledger.lift(2, &lifted("it does not")).await.unwrap();
    refused(&ledger.lift(2, &lifted("it does not")).await.unwrap_err(), "ruling 2 was lifted already");
    assert_eq!(ledger.rulings().await.unwrap().len(), 2);
}

fn refused(error: &StoreError, says: &str) {
    let text = error.to_string();
    assert!(error.is_wrong_use() && text.contains(says) && text.contains("\nhint: "), "{text}");
}

pub async fn a_phase_knows_the_rulings_it_began_and_was_published_under(home: &impl Home) {
    let ledger = begun(home, 20).await;
    ledger.rule(&ruling(RulingKind::Void(key(0, 0, 7)), "the power was cut")).await.unwrap();
    ledger.rule(&ruling(GHOST, "it reads the others' files")).await.unwrap();
    let table = Digest([1; 32]);
    for stale in [&[][..], &[1], &[1, 2, 3]] {
        let told = ledger.publish(0, table, stale, Timestamp(70)).await.unwrap_err();
        assert!(matches!(told, StoreError::Ruled { phase: 0 }), "{told}");
    }
    ledger.publish(0, table, &[1, 2], Timestamp(70)).await.unwrap();
    ledger.lift(1, &lifted("it was not")).await.unwrap();
    // Saying again what was published changes nothing, whatever was decided since.
    ledger.publish(0, table, &[1, 2], Timestamp(80)).await.unwrap();
    ledger.close(0, Timestamp(81)).await.unwrap();
    ledger.start(1, Timestamp(82)).await.unwrap();
    ledger.lift(2, &lifted("it does not")).await.unwrap();
    ledger.start(1, Timestamp(83)).await.unwrap();
    let phases = home.open().await.phases().await.unwrap();
    let under = |phase: usize| (phases[phase].started_under.clone(), phases[phase].published_under.clone());
    assert_eq!((phases[0].state, under(0)), (PhaseState::Closed, (vec![], vec![1, 2])));
    assert_eq!((phases[1].state, under(1)), (PhaseState::Running, (vec![2], vec![])));
}

pub async fn what_ended_under_a_ruling_is_forfeited_whatever_comes_later(home: &impl Home) {
    let ledger = begun(home, 3).await;
    assert_eq!(ledger.forfeits(0).await.unwrap(), []);
    ledger.rule(&ruling(GHOST, "it reads the others' files")).await.unwrap();
    assert_eq!(ledger.forfeits(0).await.unwrap(), [], "what had ended before");
    append(&*ledger, 3..5).await;
    ledger.lift(1, &lifted("it does not")).await.unwrap();
    append(&*ledger, 5..7).await;
    let expected = [3, 4].map(|number| (key(0, 0, number), Entrant(4)));
    assert_eq!(ledger.forfeits(0).await.unwrap(), expected);
    // Nobody else, and only where it played.
    ledger.rule(&ruling(RulingKind::Disqualify(Entrant(8)), "so does this one")).await.unwrap();
    let small = finished(key(0, 0, 7), Shape { entrants: 2, seats: 2, ..SMALL });
    ledger.append(&[small], None).await.unwrap();
    append(&*ledger, 8..9).await;
    let all = home.open().await.forfeits(0).await.unwrap();
    assert_eq!(all, [expected[0], expected[1], (key(0, 0, 8), Entrant(8))]);
    assert_eq!(ledger.forfeits(1).await.unwrap(), []);
}
