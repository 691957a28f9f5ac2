//! Sixteen concurrent tasks: exactly the allowed number of them succeeds. Half of them use another handle,
//! as another process would.

use std::collections::BTreeSet;
use std::future::Future;

use agon_site_db::{
    CompetitionState, NewInvitation, NewSession, PageRequest, Role, SecretString, SignUpGrant, SiteDb,
    SiteDbError, SubmissionState, SubmissionVerdict,
};
use agon_store::Timestamp;

use super::{account, competition, enter, hash, new_account, new_entrant, new_submission, open_site_db, run};

const TASKS: usize = 16;

/// Runs all tasks at once and returns their results.
async fn race<F, T>(site_db: &SiteDb, part: impl Fn(SiteDb, usize) -> F) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let other = SiteDb::open(site_db.path()).await.unwrap();
    let parts: Vec<_> = (0..TASKS)
        .map(|task| tokio::spawn(part(if task % 2 == 0 { site_db.clone() } else { other.clone() }, task)))
        .collect();
    let mut results = Vec::new();
    for part in parts {
        results.push(part.await.unwrap());
    }
    results
}

fn count_successes<T>(results: &[Result<T, SiteDbError>]) -> usize {
    results.iter().filter(|one| one.is_ok()).count()
}

#[test]
fn one_of_many_concurrent_sign_ups_gets_a_name() {
    run(async {
        let site_db = open_site_db().await;
        let names = ["Straße", "STRASSE", "strasse", "Strasse"];
        let results = race(&site_db, |site_db, task| async move {
            site_db.create_account(&new_account(names[task % 4], SignUpGrant::Open(Role::Author))).await
        })
        .await;
        assert_eq!(count_successes(&results), 1);
        for lost in results.into_iter().filter_map(Result::err) {
            assert!(matches!(lost, SiteDbError::Taken { what: "name" }), "{lost}");
        }
        assert_eq!(site_db.accounts(PageRequest::default()).await.unwrap().items.len(), 1);
    });
}

#[test]
fn invitation_is_used_at_most_its_number_of_uses() {
    run(async {
        let site_db = open_site_db().await;
        for uses in [1, 5] {
            let code = hash(&format!("{uses}"));
            let new = NewInvitation {
                code,
                role: Role::Author,
                note: String::new(),
                by: None,
                expires: Timestamp(9_000),
                uses,
                at: Timestamp(1),
            };
            site_db.create_invitation(&new).await.unwrap();
            let results = race(&site_db, move |site_db, task| async move {
                let name = format!("guest {uses} {task}");
                site_db.create_account(&new_account(&name, SignUpGrant::Invited(code))).await
            })
            .await;
            assert_eq!(count_successes(&results), uses as usize);
            for lost in results.into_iter().filter_map(Result::err) {
                assert_eq!(lost.to_string(), "the invitation is already used");
            }
            assert_eq!(site_db.find_invitation(code).await.unwrap().unwrap().uses_left, 0);
        }
        assert_eq!(site_db.accounts(PageRequest::default()).await.unwrap().items.len(), 6);
    });
}

#[test]
fn account_never_exceeds_its_entrant_limit() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        competition(&site_db, "cup", Some(2)).await;
        let results = race(&site_db, move |site_db, task| async move {
            site_db
                .add_entrant(&new_entrant("cup", ada, &format!("bot {task}")), &[CompetitionState::Open])
                .await
        })
        .await;
        assert_eq!(count_successes(&results), 2);
        for lost in results.into_iter().filter_map(Result::err) {
            assert!(matches!(lost, SiteDbError::TooMany { limit: 2 }), "{lost}");
        }
        assert_eq!(site_db.entrants("cup").await.unwrap().len(), 2);
    });
}

#[test]
fn one_organiser_starts_a_competition_and_one_organiser_remains() {
    run(async {
        let site_db = open_site_db().await;
        competition(&site_db, "cup", None).await;
        let results = race(&site_db, |site_db, _| async move {
            site_db.set_state("cup", &[CompetitionState::Open], CompetitionState::Running, None).await
        })
        .await;
        assert_eq!(count_successes(&results), 1);

        let mut organisers = Vec::new();
        for number in 0..TASKS {
            organisers.push(account(&site_db, &format!("o{number}"), Role::Organiser).await.id);
        }
        let results = race(&site_db, |site_db, task| {
            let id = organisers[task];
            async move {
                if task % 3 == 0 {
                    site_db.set_disabled(id, true, Timestamp(5)).await
                } else {
                    site_db.set_role(id, Role::Author).await
                }
            }
        })
        .await;
        assert_eq!(count_successes(&results), TASKS - 1);
        assert_eq!(site_db.count_organisers().await.unwrap(), 1);
    });
}

/// All tasks upload and check at the same time.
#[test]
fn every_submission_is_checked_once_and_versions_have_no_gaps() {
    const EACH: usize = 4;
    run(async {
        let site_db = open_site_db().await;
        competition(&site_db, "cup", None).await;
        let mut entrants = Vec::new();
        for number in 0..4 {
            let author = account(&site_db, &format!("a{number}"), Role::Author).await.id;
            entrants.push((enter(&site_db, "cup", author, &format!("e{number}")).await.id, author));
        }
        let checked = race(&site_db, |site_db, task| {
            let (entrant, author) = entrants[task % 4];
            async move {
                let mut checked = Vec::new();
                for round in 0..EACH {
                    site_db
                        .enqueue(&new_submission(entrant, author), &[CompetitionState::Open])
                        .await
                        .unwrap();
                    if round % 2 == 0 {
                        checked.extend(check_next(&site_db).await);
                    }
                }
                while let Some(done) = check_next(&site_db).await {
                    checked.push(done);
                }
                checked
            }
        })
        .await;
        let mut all: Vec<_> = checked.into_iter().flatten().collect();
        // The last submission of an entrant may have waited for a running check.
        while let Some(done) = check_next(&site_db).await {
            all.push(done);
        }
        assert_eq!(all.len(), TASKS * EACH);
        let ids: BTreeSet<_> = all.iter().map(|(id, _)| id.clone()).collect();
        assert_eq!(ids.len(), TASKS * EACH, "each once");
        assert_eq!(site_db.count_queued().await.unwrap(), 0);
        for (entrant, _) in entrants {
            let page = PageRequest { after: None, limit: 200 };
            let found =
                site_db.submissions(agon_site_db::SubmissionFilter::Entrant(entrant), page).await.unwrap();
            let versions: Vec<_> = found.items.iter().map(|one| one.version.unwrap() as usize).collect();
            assert_eq!(versions, (1..=4 * EACH).rev().collect::<Vec<_>>(), "later uploads, later versions");
        }
    });
}

async fn check_next(site_db: &SiteDb) -> Option<(String, Option<u32>)> {
    let claimed = site_db.claim_next(Timestamp(5_000)).await.unwrap()?;
    tokio::task::yield_now().await;
    let end = SubmissionVerdict {
        state: SubmissionState::Accepted,
        report: None,
        folder: Some(format!("bots/{}", claimed.id)),
        trials: vec![vec![7; 100]],
        at: Timestamp(6_000),
    };
    let done = site_db.finish(&claimed.id, &end).await.unwrap();
    Some((done.id.to_string(), done.version))
}

/// A disconnected browser cancels its request. The change is then complete or absent, and later requests work.
#[test]
fn cancelled_requests_leave_no_partial_changes() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        for round in 0..60_u64 {
            let token = hash(&format!("{round}"));
            let new = NewSession {
                token,
                account: ada,
                csrf: SecretString::new("c"),
                agent: String::new(),
                at: Timestamp(1_000),
            };
            let timeout = std::time::Duration::from_micros(round * 20);
            let done = tokio::time::timeout(timeout, site_db.create_session(&new)).await;
            let stored = site_db.find_session(token, Timestamp(1_001)).await.unwrap().is_some();
            if let Ok(session) = done {
                session.unwrap();
                assert!(stored, "acknowledged sessions are stored");
            }
        }
        account(&site_db, "Bob", Role::Author).await;
    });
}
