//! The competition, its phases and its bots.

use agon_core::record::Digest;
use agon_league::Entrant;
use agon_store::{ConfigVersion, PhaseState, SecretSeed, StoreError, NewBotVersion, Timestamp};

use crate::{Home, common};

pub async fn the_founding_is_kept_and_the_seed_hidden_until_it_is_revealed(home: &impl Home) {
    let ledger = home.create(2).await;
    let founding = common::founding(2);
    let kept = home.open().await.competition().await.unwrap();
    assert_eq!(
        (&kept.name, &kept.game, kept.rules, &kept.engine),
        (&founding.name, &founding.game, 1, &founding.engine)
    );
    assert_eq!(kept.editions, [founding.edition]);
    // printf %s 'nobody knows' | sha256sum
    let commitment = "sha256:03982e2adb2925b16d9a1a591a0665a8db33153c21d9fc1895a016da460d35cd";
    assert_eq!(kept.commitment.to_string(), commitment);
    assert_eq!(kept.revealed, None);
    assert!(!format!("{kept:?}").contains("nobody"));
    assert!(!format!("{:?}", founding.secret).contains("nobody"));
    assert_eq!(ledger.secret().await.unwrap(), SecretSeed::new("nobody knows"));

    ledger.reveal(Timestamp(77)).await.unwrap();
    ledger.reveal(Timestamp(99)).await.unwrap();
    let revealed = ledger.competition().await.unwrap().revealed;
    assert_eq!(revealed, Some((SecretSeed::new("nobody knows"), Timestamp(77))));
}

pub async fn a_changed_file_is_kept_beside_the_first(home: &impl Home) {
    let ledger = home.create(1).await;
    let first = common::founding(1).edition;
    let later = ConfigVersion { file: "other".to_owned(), normal: "{}".to_owned(), at: Timestamp(2_000) };
    ledger.amend(&ConfigVersion { at: Timestamp(1_500), ..first.clone() }).await.unwrap();
    ledger.amend(&later).await.unwrap();
    ledger.amend(&ConfigVersion { at: Timestamp(3_000), ..later.clone() }).await.unwrap();
    assert_eq!(ledger.competition().await.unwrap().editions, [first.clone(), later.clone()]);
    let back = ConfigVersion { at: Timestamp(4_000), ..first.clone() };
    ledger.amend(&back).await.unwrap();
    assert_eq!(ledger.competition().await.unwrap().editions, [first, later, back]);
}

pub async fn a_phase_only_moves_on(home: &impl Home) {
    let ledger = home.create(2).await;
    let table = Digest([7; 32]);
    let is_refused =
        |error: StoreError| matches!(error, StoreError::Phase { phase: 1, .. }) && error.is_wrong_use();

    assert!(is_refused(ledger.publish(1, table, &[], Timestamp(1)).await.unwrap_err()));
    assert!(is_refused(ledger.close(1, Timestamp(1)).await.unwrap_err()));
    ledger.start(1, Timestamp(2)).await.unwrap();
    ledger.start(1, Timestamp(3)).await.unwrap();
    assert!(is_refused(ledger.close(1, Timestamp(1)).await.unwrap_err()));
    ledger.publish(1, table, &[], Timestamp(4)).await.unwrap();
    ledger.publish(1, table, &[], Timestamp(5)).await.unwrap();
    assert!(is_refused(ledger.publish(1, Digest([8; 32]), &[], Timestamp(6)).await.unwrap_err()));
    assert!(is_refused(ledger.start(1, Timestamp(6)).await.unwrap_err()));
    ledger.close(1, Timestamp(7)).await.unwrap();
    ledger.close(1, Timestamp(8)).await.unwrap();
    assert!(is_refused(ledger.start(1, Timestamp(9)).await.unwrap_err()));
    assert!(is_refused(ledger.publish(1, Digest([8; 32]), &[], Timestamp(9)).await.unwrap_err()));

    let phases = home.open().await.phases().await.unwrap();
    assert_eq!(phases.len(), 2);
    assert_eq!((phases[0].state, phases[0].table, phases[0].started), (PhaseState::Waiting, None, None));
    assert_eq!((phases[1].state, phases[1].table), (PhaseState::Closed, Some(table)));
    let times = (phases[1].started, phases[1].published, phases[1].closed);
    assert_eq!(times, (Some(Timestamp(2)), Some(Timestamp(4)), Some(Timestamp(7))));
}

pub async fn a_phase_that_is_not_there_is_said_to_be_so(home: &impl Home) {
    let ledger = home.create(2).await;
    let said = |error: StoreError| {
        assert!(
            error.to_string().starts_with("there is no phase 3: the competition has 2\nhint: "),
            "{error}"
        );
    };
    said(ledger.start(2, Timestamp(1)).await.unwrap_err());
    said(ledger.counts(2).await.unwrap_err());
    said(ledger.progress(2).await.unwrap_err());
    let batch = [common::finished(common::key(2, 0, 0), common::SMALL)];
    said(ledger.append(&batch, None).await.unwrap_err());
}

pub async fn bots_are_kept_by_version(home: &impl Home) {
    let ledger = home.create(3).await;
    let bot = |entrant: u32, hash: &str, from_phase| NewBotVersion {
        entrant: Entrant(entrant),
        hash: hash.to_owned(),
        spec: format!("bots/{entrant}.py"),
        commit: (entrant == 1).then(|| "c0ffee".to_owned()),
        archive: (entrant == 1).then(|| hash.as_bytes().to_vec()),
        from_phase,
        at: Timestamp(from_phase.into()),
    };
    assert_eq!(ledger.submit(&bot(1, "a", 0)).await.unwrap(), 1);
    assert_eq!(ledger.submit(&bot(0, "x", 0)).await.unwrap(), 1);
    assert_eq!(ledger.submit(&bot(1, "a", 0)).await.unwrap(), 1, "the same again");
    ledger.start(0, Timestamp(9)).await.unwrap();
    assert_eq!(ledger.submit(&bot(1, "a", 0)).await.unwrap(), 1, "the same again while it plays");
    let late = ledger.submit(&bot(1, "b", 0)).await.unwrap_err();
    assert!(matches!(late, StoreError::Phase { phase: 0, state: PhaseState::Running, .. }), "{late}");
    assert_eq!(ledger.submit(&bot(1, "b", 1)).await.unwrap(), 2);
    assert_eq!(ledger.submit(&bot(1, "a", 2)).await.unwrap(), 3, "back to an older one");
    assert_eq!(ledger.submit(&bot(0, "x", 2)).await.unwrap(), 1, "the latest plays on");

    let ledger = home.open().await;
    let bots = ledger.bots().await.unwrap();
    let listed: Vec<_> =
        bots.iter().map(|bot| (bot.entrant.0, bot.version, &*bot.hash, bot.from_phase)).collect();
    assert_eq!(listed, [(0, 1, "x", 0), (1, 1, "a", 0), (1, 2, "b", 1), (1, 3, "a", 2)]);
    assert_eq!((bots[0].commit.as_deref(), bots[1].commit.as_deref()), (None, Some("c0ffee")));
    assert_eq!((&*bots[1].spec, bots[2].at), ("bots/1.py", Timestamp(1)));
    assert_eq!(bots[1].archive, Some(SecretSeed::new("a").commitment()));
    assert_eq!(ledger.archive(Entrant(1), 2).await.unwrap().as_deref(), Some(&b"b"[..]));
    assert_eq!(ledger.archive(Entrant(1), 3).await.unwrap().as_deref(), Some(&b"a"[..]));
    assert_eq!(ledger.archive(Entrant(0), 1).await.unwrap(), None);
    assert_eq!(ledger.archive(Entrant(5), 1).await.unwrap(), None);
}

pub async fn one_plays_at_a_time(home: &impl Home) {
    let first = home.create(1).await;
    let second = home.open().await;
    let claim = first.claim().await.unwrap();
    let refused = second.claim().await.unwrap_err();
    assert!(refused.is_wrong_use());
    let StoreError::Running { pid, host, .. } = &refused else { panic!("{refused}") };
    assert_eq!(*pid, std::process::id());
    assert!(refused.to_string().contains(&format!("by process {pid} on {host}\nhint: ")), "{refused}");
    drop(claim);
    let claim = second.claim().await.unwrap();
    assert!(first.claim().await.is_err());
    drop(claim);
    drop(first.claim().await.unwrap());
}
