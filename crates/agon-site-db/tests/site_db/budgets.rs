//! Shares of accounts: check time, disk space, and clients that have signed in before.

use agon_site_db::{
    AccountId, CompetitionState, DiskQuota, EntrantId, KNOWN_CLIENT_TIMEOUT_MS, Role, SiteDb, SiteDbError,
    SubmissionId, SubmissionState, SubmissionVerdict, name_key,
};
use agon_store::Timestamp;

use super::{account, competition, enter, hash, new_submission, open_site_db, run};

async fn queue(site_db: &SiteDb, entrant: EntrantId, account: AccountId) -> SubmissionId {
    site_db.enqueue(&new_submission(entrant, account), CompetitionState::ALL).await.unwrap().id
}

fn refused_at(at: i64) -> SubmissionVerdict {
    SubmissionVerdict {
        state: SubmissionState::Refused,
        report: None,
        folder: None,
        trials: vec![vec![1; 100]],
        at: Timestamp(at),
    }
}

#[test]
fn account_with_many_submissions_does_not_delay_other_accounts() {
    run(async {
        let site_db = open_site_db().await;
        let (ada, bob) = (
            account(&site_db, "Ada", Role::Author).await.id,
            account(&site_db, "Bob", Role::Author).await.id,
        );
        competition(&site_db, "cup", None).await;
        let mut of_ada = Vec::new();
        for name in ["One", "Two", "Three", "Four"] {
            let entrant = enter(&site_db, "cup", ada, name).await.id;
            of_ada.push(queue(&site_db, entrant, ada).await);
        }
        let entrant = enter(&site_db, "cup", bob, "Late").await.id;
        let of_bob = queue(&site_db, entrant, bob).await;
        let next =
            async |at, most| site_db.claim_next_fairly(Timestamp(at), most).await.unwrap().map(|one| one.id);
        assert_eq!(next(1_000, 1).await.as_ref(), Some(&of_ada[0]));
        assert_eq!(
            next(1_000, 1).await.as_ref(),
            Some(&of_bob),
            "the last upload is the first of its account"
        );
        assert_eq!(next(1_000, 1).await, None, "one check at a time for each account");
        site_db.finish(&of_ada[0], &refused_at(61_000)).await.unwrap();
        site_db.finish(&of_bob, &refused_at(2_000)).await.unwrap();
        // Both wait again. The account that used less time comes first.
        let again = queue(&site_db, entrant, bob).await;
        assert_eq!(next(62_000, 1).await.as_ref(), Some(&again));
        assert_eq!(next(62_000, 1).await.as_ref(), Some(&of_ada[1]));
        site_db.finish(&again, &refused_at(63_000)).await.unwrap();
        // An hour later nothing counts any more, and the order of upload decides.
        site_db.finish(&of_ada[1], &refused_at(63_000)).await.unwrap();
        let last = queue(&site_db, entrant, bob).await;
        assert_eq!(next(63_000 + 3_600_000, 1).await.as_ref(), Some(&of_ada[2]));
        assert_eq!(next(63_000 + 3_600_000, 1).await.as_ref(), Some(&last));
    });
}

#[test]
fn disk_quota_holds_for_an_account_and_for_the_site() {
    run(async {
        let site_db = open_site_db().await;
        let (ada, bob) = (
            account(&site_db, "Ada", Role::Author).await.id,
            account(&site_db, "Bob", Role::Author).await.id,
        );
        competition(&site_db, "cup", None).await;
        let (of_ada, of_bob) =
            (enter(&site_db, "cup", ada, "A").await.id, enter(&site_db, "cup", bob, "B").await.id);
        let quota = DiskQuota { per_account: 100, total: 150 };
        let add = async |entrant, account, bytes| {
            let new = new_submission(entrant, account);
            site_db.enqueue_within(&new, CompetitionState::ALL, bytes, quota).await.map(|one| one.id)
        };
        let first = add(of_ada, ada, 60).await.unwrap();
        add(of_ada, ada, 40).await.unwrap();
        let refused = add(of_ada, ada, 1).await.unwrap_err();
        assert!(matches!(
            refused,
            SiteDbError::QuotaExceeded { of_site: false, used: 100, more: 1, limit: 100 }
        ));
        let refused = add(of_bob, bob, 51).await.unwrap_err();
        assert!(matches!(
            refused,
            SiteDbError::QuotaExceeded { of_site: true, used: 100, more: 51, limit: 150 }
        ));
        assert_eq!(site_db.count_queued().await.unwrap(), 2, "a refused submission was queued");
        add(of_bob, bob, 50).await.unwrap();
        assert_eq!(site_db.disk_bytes(None).await.unwrap(), 150);
        site_db.set_disk_bytes(&first, 10).await.unwrap();
        assert_eq!(site_db.disk_bytes(Some(ada)).await.unwrap(), 50);
        assert!(site_db.unmeasured_submissions().await.unwrap().is_empty());
    });
}

#[test]
fn submissions_of_an_earlier_version_are_listed_for_measuring() {
    use sqlx::{Connection as _, SqliteConnection};
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        competition(&site_db, "cup", None).await;
        let entrant = enter(&site_db, "cup", ada, "One").await.id;
        let (refused, accepted) = (queue(&site_db, entrant, ada).await, queue(&site_db, entrant, ada).await);
        site_db.claim_next(Timestamp(1)).await.unwrap().unwrap();
        site_db.finish(&refused, &refused_at(2)).await.unwrap();
        site_db.claim_next(Timestamp(3)).await.unwrap().unwrap();
        let folder = Some("bots/1".to_owned());
        let verdict = SubmissionVerdict { state: SubmissionState::Accepted, folder, ..refused_at(4) };
        site_db.finish(&accepted, &verdict).await.unwrap();
        assert!(site_db.unmeasured_submissions().await.unwrap().is_empty());
        let mut old = SqliteConnection::connect(site_db.path().to_str().unwrap()).await.unwrap();
        sqlx::raw_sql("DELETE FROM submission_disk").execute(&mut old).await.unwrap();
        let found = site_db.unmeasured_submissions().await.unwrap();
        assert_eq!(found.iter().map(|one| &one.id).collect::<Vec<_>>(), [&accepted], "only one has files");
        assert_eq!((found[0].competition.as_str(), found[0].entrant), ("cup", entrant));
        site_db.set_disk_bytes(&accepted, 77).await.unwrap();
        assert_eq!(site_db.disk_bytes(Some(ada)).await.unwrap(), 77);
        assert!(site_db.unmeasured_submissions().await.unwrap().is_empty());
    });
}

#[test]
fn trial_records_of_old_rejected_submissions_are_pruned() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        competition(&site_db, "cup", None).await;
        let entrant = enter(&site_db, "cup", ada, "One").await.id;
        let mut ids = Vec::new();
        for _ in 0..4 {
            let id = queue(&site_db, entrant, ada).await;
            site_db.claim_next(Timestamp(1)).await.unwrap().unwrap();
            site_db.finish(&id, &refused_at(2)).await.unwrap();
            site_db.set_disk_bytes(&id, 100).await.unwrap();
            ids.push(id);
        }
        let pruned = site_db.prune_trials(ada, 2).await.unwrap();
        assert_eq!(pruned.iter().map(|one| &one.id).collect::<Vec<_>>(), [&ids[1], &ids[0]]);
        assert!(site_db.prune_trials(ada, 2).await.unwrap().is_empty());
        let mut kept = Vec::new();
        for id in &ids {
            kept.push(site_db.count_trials(id).await.unwrap());
        }
        assert_eq!(kept, [0, 0, 1, 1]);
        assert_eq!(site_db.disk_bytes(Some(ada)).await.unwrap(), 200);
    });
}

#[test]
fn known_clients_belong_to_one_account_and_are_forgotten() {
    run(async {
        let site_db = open_site_db().await;
        let (ada, bob) = (
            account(&site_db, "Ada", Role::Author).await.id,
            account(&site_db, "Bob", Role::Author).await.id,
        );
        let known = async |account, client: &str, at| {
            site_db.is_known_client(account, hash(client), Timestamp(at)).await.unwrap()
        };
        assert!(!known(ada, "laptop", 1).await);
        site_db.remember_clients(ada, &[hash("laptop"), hash("home")], Timestamp(1_000)).await.unwrap();
        assert!(known(ada, "laptop", 2_000).await && known(ada, "home", 2_000).await);
        assert!(!known(bob, "laptop", 2_000).await);
        assert!(!known(ada, "laptop", 1_000 + KNOWN_CLIENT_TIMEOUT_MS).await);
        for number in 0..70 {
            let client = hash(&format!("client {number}"));
            site_db
                .remember_clients(ada, &[client, hash("laptop")], Timestamp(3_000 + number))
                .await
                .unwrap();
        }
        assert!(known(ada, "laptop", 4_000).await, "a client in use was forgotten");
        assert!(!known(ada, "home", 4_000).await && !known(ada, "client 0", 4_000).await);
        assert!(known(ada, "client 69", 4_000).await);
    });
}

#[test]
fn name_key_is_equal_for_all_spellings_of_an_account() {
    assert_eq!(name_key(" ADA  Lovelace"), name_key("ada lovelace"));
    assert_eq!(name_key("K"), name_key("\u{212a}"), "the Kelvin sign");
    assert_ne!(name_key("ada"), name_key("adb"));
    assert!(name_key(&"x".repeat(100_000)).len() < 100);
}
