//! Competition data, phases and bots.

use agon_core::record::Digest;
use agon_core::{ErrorKind, SelfDescription};
use agon_league::Entrant;
use agon_store::{ConfigVersion, NewBotVersion, PhaseState, SecretSeed, StoreError, Timestamp};

use crate::{TestStorage, common};

pub async fn new_ledger_is_stored_and_hides_the_seed_until_it_is_revealed(storage: &impl TestStorage) {
    let ledger = storage.create(2).await;
    let new_ledger = common::new_ledger(2);
    let stored = storage.open().await.competition().await.unwrap();
    assert_eq!(
        (&stored.name, &stored.game, stored.rules, &stored.engine),
        (&new_ledger.name, &new_ledger.game, 1, &new_ledger.engine)
    );
    assert_eq!(stored.config_versions, [new_ledger.config]);
    // printf %s 'unguessable words' | sha256sum
    let commitment = "sha256:12b536ea1749956468802a6efa7ad551973876a080257267214de0550b450065";
    assert_eq!(stored.commitment.to_string(), commitment);
    assert_eq!(stored.revealed, None);
    assert!(!format!("{stored:?}").contains("unguessable"));
    assert!(!format!("{:?}", new_ledger.secret).contains("unguessable"));
    assert_eq!(ledger.secret_seed().await.unwrap(), SecretSeed::new("unguessable words"));

    ledger.reveal_seed(Timestamp(77)).await.unwrap();
    ledger.reveal_seed(Timestamp(99)).await.unwrap();
    let revealed = ledger.competition().await.unwrap().revealed;
    assert_eq!(revealed, Some((SecretSeed::new("unguessable words"), Timestamp(77))));
}

pub async fn changed_config_is_stored_in_addition_to_the_first(storage: &impl TestStorage) {
    let ledger = storage.create(1).await;
    let first = common::new_ledger(1).config;
    let later = ConfigVersion { text: "other".to_owned(), normalised: "{}".to_owned(), at: Timestamp(2_000) };
    ledger.add_config_version(&ConfigVersion { at: Timestamp(1_500), ..first.clone() }).await.unwrap();
    ledger.add_config_version(&later).await.unwrap();
    ledger.add_config_version(&ConfigVersion { at: Timestamp(3_000), ..later.clone() }).await.unwrap();
    assert_eq!(ledger.competition().await.unwrap().config_versions, [first.clone(), later.clone()]);
    let back = ConfigVersion { at: Timestamp(4_000), ..first.clone() };
    ledger.add_config_version(&back).await.unwrap();
    assert_eq!(ledger.competition().await.unwrap().config_versions, [first, later, back]);
}

pub async fn phase_state_only_moves_forward(storage: &impl TestStorage) {
    let ledger = storage.create(2).await;
    let table = Digest([7; 32]);
    let is_rejected = |error: StoreError| {
        matches!(error, StoreError::WrongPhaseState { phase: 1, .. }) && error.kind() == ErrorKind::Usage
    };

    assert!(is_rejected(ledger.publish_phase(1, table, &[], Timestamp(1)).await.unwrap_err()));
    assert!(is_rejected(ledger.close_phase(1, Timestamp(1)).await.unwrap_err()));
    ledger.start_phase(1, Timestamp(2)).await.unwrap();
    ledger.start_phase(1, Timestamp(3)).await.unwrap();
    assert!(is_rejected(ledger.close_phase(1, Timestamp(1)).await.unwrap_err()));
    ledger.publish_phase(1, table, &[], Timestamp(4)).await.unwrap();
    ledger.publish_phase(1, table, &[], Timestamp(5)).await.unwrap();
    assert!(is_rejected(ledger.publish_phase(1, Digest([8; 32]), &[], Timestamp(6)).await.unwrap_err()));
    assert!(is_rejected(ledger.start_phase(1, Timestamp(6)).await.unwrap_err()));
    ledger.close_phase(1, Timestamp(7)).await.unwrap();
    ledger.close_phase(1, Timestamp(8)).await.unwrap();
    assert!(is_rejected(ledger.start_phase(1, Timestamp(9)).await.unwrap_err()));
    assert!(is_rejected(ledger.publish_phase(1, Digest([8; 32]), &[], Timestamp(9)).await.unwrap_err()));

    let phases = storage.open().await.phases().await.unwrap();
    assert_eq!(phases.len(), 2);
    assert_eq!((phases[0].state, phases[0].table_hash, phases[0].started), (PhaseState::Waiting, None, None));
    assert_eq!((phases[1].state, phases[1].table_hash), (PhaseState::Closed, Some(table)));
    let times = (phases[1].started, phases[1].published, phases[1].closed);
    assert_eq!(times, (Some(Timestamp(2)), Some(Timestamp(4)), Some(Timestamp(7))));
}

pub async fn missing_phase_is_reported(storage: &impl TestStorage) {
    let ledger = storage.create(2).await;
    let assert_no_such_phase = |error: StoreError| {
        assert!(
            error.to_string().starts_with("there is no phase 3: the competition has 2\nhint: "),
            "{error}"
        );
    };
    assert_no_such_phase(ledger.start_phase(2, Timestamp(1)).await.unwrap_err());
    assert_no_such_phase(ledger.counts(2).await.unwrap_err());
    assert_no_such_phase(ledger.progress(2).await.unwrap_err());
    let batch = [common::finished(common::key(2, 0, 0), common::SMALL)];
    assert_no_such_phase(ledger.append(&batch, None).await.unwrap_err());
}

pub async fn bots_are_stored_by_version(storage: &impl TestStorage) {
    let ledger = storage.create(3).await;
    let bot = |entrant: u32, hash: &str, from_phase| NewBotVersion {
        entrant: Entrant(entrant),
        hash: hash.to_owned(),
        spec: format!("bots/{entrant}.py"),
        commit: (entrant == 1).then(|| "c0ffee".to_owned()),
        archive: (entrant == 1).then(|| hash.as_bytes().to_vec()),
        from_phase,
        at: Timestamp(from_phase.into()),
        says: SelfDescription::new((entrant == 1).then_some(hash), None),
    };
    assert_eq!(ledger.add_bot_version(&bot(1, "a", 0)).await.unwrap(), 1);
    assert_eq!(ledger.add_bot_version(&bot(0, "x", 0)).await.unwrap(), 1);
    assert_eq!(ledger.add_bot_version(&bot(1, "a", 0)).await.unwrap(), 1, "the same bot again");
    ledger.start_phase(0, Timestamp(9)).await.unwrap();
    assert_eq!(
        ledger.add_bot_version(&bot(1, "a", 0)).await.unwrap(),
        1,
        "the same bot again while the phase runs"
    );
    let late = ledger.add_bot_version(&bot(1, "b", 0)).await.unwrap_err();
    assert!(
        matches!(late, StoreError::WrongPhaseState { phase: 0, state: PhaseState::Running, .. }),
        "{late}"
    );
    assert_eq!(ledger.add_bot_version(&bot(1, "b", 1)).await.unwrap(), 2);
    assert_eq!(ledger.add_bot_version(&bot(1, "a", 2)).await.unwrap(), 3, "back to an older bot");
    assert_eq!(ledger.add_bot_version(&bot(0, "x", 2)).await.unwrap(), 1, "the latest bot stays");

    let ledger = storage.open().await;
    let bots = ledger.bot_versions().await.unwrap();
    let listed: Vec<_> =
        bots.iter().map(|bot| (bot.entrant.0, bot.version, &*bot.hash, bot.from_phase)).collect();
    assert_eq!(listed, [(0, 1, "x", 0), (1, 1, "a", 0), (1, 2, "b", 1), (1, 3, "a", 2)]);
    assert_eq!((bots[0].commit.as_deref(), bots[1].commit.as_deref()), (None, Some("c0ffee")));
    let says: Vec<_> = bots.iter().map(|bot| bot.says.name.as_deref()).collect();
    assert_eq!(says, [None, Some("a"), Some("b"), Some("a")], "what each version says about itself");
    assert_eq!((&*bots[1].spec, bots[2].at), ("bots/1.py", Timestamp(1)));
    assert_eq!(bots[1].archive, Some(SecretSeed::new("a").commitment()));
    assert_eq!(ledger.bot_archive(Entrant(1), 2).await.unwrap().as_deref(), Some(&b"b"[..]));
    assert_eq!(ledger.bot_archive(Entrant(1), 3).await.unwrap().as_deref(), Some(&b"a"[..]));
    assert_eq!(ledger.bot_archive(Entrant(0), 1).await.unwrap(), None);
    assert_eq!(ledger.bot_archive(Entrant(5), 1).await.unwrap(), None);
}

pub async fn run_lock_is_held_by_one_process_at_a_time(storage: &impl TestStorage) {
    let first = storage.create(1).await;
    let second = storage.open().await;
    let run_lock = first.acquire_run_lock().await.unwrap();
    let error = second.acquire_run_lock().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let StoreError::AlreadyRunning { pid, host, .. } = &error else { panic!("{error}") };
    assert_eq!(*pid, std::process::id());
    assert!(error.to_string().contains(&format!("in process {pid} on {host}\nhint: ")), "{error}");
    drop(run_lock);
    let run_lock = second.acquire_run_lock().await.unwrap();
    assert!(first.acquire_run_lock().await.is_err());
    drop(run_lock);
    drop(first.acquire_run_lock().await.unwrap());
}
