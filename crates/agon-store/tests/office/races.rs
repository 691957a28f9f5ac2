//! Sixteen tasks in one office: whatever they race for, as many win as there is room for. Half of them have a handle of their own,
//! as another process would.

use std::collections::BTreeSet;
use std::future::Future;

use agon_store::Timestamp;
use agon_store::site_db::{
    SignUpGrant, SubmissionVerdict, SecretString, NewInvitation, NewSession, SiteDb, SiteDbError, PageRequest, Role, CompetitionState,
    SubmissionState,
};

use super::{account, competition, enter, entering, handing_in, hash, newcomer, office, run};

const TASKS: usize = 16;

/// Has every task do its part at once; what each of them got.
async fn race<F, T>(office: &SiteDb, part: impl Fn(SiteDb, usize) -> F) -> Vec<T>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let other = SiteDb::open(office.path()).await.unwrap();
    let parts: Vec<_> = (0..TASKS)
        .map(|task| tokio::spawn(part(if task % 2 == 0 { office.clone() } else { other.clone() }, task)))
        .collect();
    let mut got = Vec::new();
    for part in parts {
        got.push(part.await.unwrap());
    }
    got
}

fn won<T>(got: &[Result<T, SiteDbError>]) -> usize {
    got.iter().filter(|one| one.is_ok()).count()
}

#[test]
fn one_of_many_gets_a_name() {
    run(async {
        let office = office().await;
        let names = ["Straße", "STRASSE", "strasse", "Strasse"];
        let got = race(&office, |office, task| async move {
            office.create_account(&newcomer(names[task % 4], SignUpGrant::Open(Role::Author))).await
        })
        .await;
        assert_eq!(won(&got), 1);
        for lost in got.into_iter().filter_map(Result::err) {
            assert!(matches!(lost, SiteDbError::Taken { what: "name" }), "{lost}");
        }
        assert_eq!(office.accounts(PageRequest::default()).await.unwrap().items.len(), 1);
    });
}

#[test]
fn an_invitation_is_used_as_often_as_it_says() {
    run(async {
        let office = office().await;
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
            office.create_invitation(&new).await.unwrap();
            let got = race(&office, move |office, task| async move {
                let name = format!("guest {uses} {task}");
                office.create_account(&newcomer(&name, SignUpGrant::Invited(code))).await
            })
            .await;
            assert_eq!(won(&got), uses as usize);
            for lost in got.into_iter().filter_map(Result::err) {
                assert_eq!(lost.to_string(), "the invitation was used already");
            }
            assert_eq!(office.find_invitation(code).await.unwrap().unwrap().uses_left, 0);
        }
        assert_eq!(office.accounts(PageRequest::default()).await.unwrap().items.len(), 6);
    });
}

#[test]
fn nobody_has_more_entrants_than_allowed() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Author).await.id;
        competition(&office, "cup", Some(2)).await;
        let got = race(&office, move |office, task| async move {
            office.add_entrant(&entering("cup", ada, &format!("bot {task}")), &[CompetitionState::Open]).await
        })
        .await;
        assert_eq!(won(&got), 2);
        for lost in got.into_iter().filter_map(Result::err) {
            assert!(matches!(lost, SiteDbError::TooMany { limit: 2 }), "{lost}");
        }
        assert_eq!(office.entrants("cup").await.unwrap().len(), 2);
    });
}

#[test]
fn one_organiser_starts_a_competition_and_one_organiser_is_left() {
    run(async {
        let office = office().await;
        competition(&office, "cup", None).await;
        let got = race(&office, |office, _| async move {
            office.set_state("cup", &[CompetitionState::Open], CompetitionState::Running, None).await
        })
        .await;
        assert_eq!(won(&got), 1);

        let mut organisers = Vec::new();
        for number in 0..TASKS {
            organisers.push(account(&office, &format!("o{number}"), Role::Organiser).await.id);
        }
        let got = race(&office, |office, task| {
            let id = organisers[task];
            async move {
                if task % 3 == 0 {
                    office.set_disabled(id, true, Timestamp(5)).await
                } else {
                    office.set_role(id, Role::Author).await
                }
            }
        })
        .await;
        assert_eq!(won(&got), TASKS - 1);
        assert_eq!(office.count_organisers().await.unwrap(), 1);
    });
}

/// Everybody uploads and checks at the same time.
#[test]
fn every_submission_is_checked_once_and_versions_have_no_gap() {
    const EACH: usize = 4;
    run(async {
        let office = office().await;
        competition(&office, "cup", None).await;
        let mut entrants = Vec::new();
        for number in 0..4 {
            let author = account(&office, &format!("a{number}"), Role::Author).await.id;
            entrants.push((enter(&office, "cup", author, &format!("e{number}")).await.id, author));
        }
        let checked = race(&office, |office, task| {
            let (entrant, author) = entrants[task % 4];
            async move {
                let mut checked = Vec::new();
                for round in 0..EACH {
                    office.enqueue(&handing_in(entrant, author), &[CompetitionState::Open]).await.unwrap();
                    if round % 2 == 0 {
                        checked.extend(check_next(&office).await);
                    }
                }
                while let Some(done) = check_next(&office).await {
                    checked.push(done);
                }
                checked
            }
        })
        .await;
        let mut all: Vec<_> = checked.into_iter().flatten().collect();
        // The last of an entrant may have stood behind one that was being checked.
        while let Some(done) = check_next(&office).await {
            all.push(done);
        }
        assert_eq!(all.len(), TASKS * EACH);
        let ids: BTreeSet<_> = all.iter().map(|(id, _)| id.clone()).collect();
        assert_eq!(ids.len(), TASKS * EACH, "each once");
        assert_eq!(office.count_queued().await.unwrap(), 0);
        for (entrant, _) in entrants {
            let page = PageRequest { after: None, limit: 200 };
            let found = office.submissions(agon_store::site_db::SubmissionFilter::Entrant(entrant), page).await.unwrap();
            let versions: Vec<_> = found.items.iter().map(|one| one.version.unwrap() as usize).collect();
            assert_eq!(versions, (1..=4 * EACH).rev().collect::<Vec<_>>(), "later uploads, later versions");
        }
    });
}

async fn check_next(office: &SiteDb) -> Option<(String, Option<u32>)> {
    let claimed = office.claim_next(Timestamp(5_000)).await.unwrap()?;
    tokio::task::yield_now().await;
    let end = SubmissionVerdict {
        state: SubmissionState::Accepted,
        report: None,
        folder: Some(format!("bots/{}", claimed.id)),
        trials: vec![vec![7; 100]],
        at: Timestamp(6_000),
    };
    let done = office.finish(&claimed.id, &end).await.unwrap();
    Some((done.id.to_string(), done.version))
}

/// A browser that goes away drops what its request was doing. Nothing half done stays, and the next one is served.
#[test]
fn requests_that_are_dropped_leave_nothing_half_done() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Author).await.id;
        for round in 0..60_u64 {
            let token = hash(&format!("{round}"));
            let new = NewSession {
                token,
                account: ada,
                csrf: SecretString::new("c"),
                agent: String::new(),
                at: Timestamp(1_000),
            };
            let patience = std::time::Duration::from_micros(round * 20);
            let done = tokio::time::timeout(patience, office.create_session(&new)).await;
            let kept = office.find_session(token, Timestamp(1_001)).await.unwrap().is_some();
            if let Ok(session) = done {
                session.unwrap();
                assert!(kept, "what was acknowledged is there");
            }
        }
        account(&office, "Bob", Role::Author).await;
    });
}
