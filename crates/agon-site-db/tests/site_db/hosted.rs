//! Competitions, entrants and submissions.

use agon_core::ErrorKind;
use agon_site_db::{
    AccountId, CompetitionFilter, CompetitionPatch, CompetitionState, EntrantId, MAX_CHECK_ATTEMPTS,
    MAX_TRIALS_BYTES, NewCompetition, NewEntrant, NewSubmission, Origin, PageRequest, RequeueCounts, Role,
    SiteDb, SiteDbError, Submission, SubmissionFilter, SubmissionId, SubmissionState, SubmissionVerdict,
    UploadLimits,
};
use agon_store::Timestamp;

use super::{account, competition, enter, hash, new_entrant, new_submission, open_site_db, run};

fn draft_competition(id: &str) -> NewCompetition {
    NewCompetition {
        id: id.to_owned(),
        name: format!("The {id}"),
        game: "solitude".to_owned(),
        file: format!("{id}.toml"),
        origin: Origin::File,
        state: CompetitionState::Draft,
        public: false,
        limits: UploadLimits::default(),
        preset: String::new(),
        by: None,
        at: Timestamp(1),
    }
}

fn house_bot(competition: &str, name: &str) -> NewEntrant {
    let bot = Some("house:greedy".to_owned());
    NewEntrant { account: None, bot, ..new_entrant(competition, AccountId(0), name) }
}

fn accepted_verdict() -> SubmissionVerdict {
    SubmissionVerdict {
        state: SubmissionState::Accepted,
        report: Some(r#"{"ok":true}"#.to_owned()),
        folder: Some("bots/x/1".to_owned()),
        trials: vec![vec![1; 10], vec![2; 20]],
        at: Timestamp(6_000),
    }
}

fn refused_verdict() -> SubmissionVerdict {
    let report = Some(r#"{"ok":false}"#.to_owned());
    SubmissionVerdict {
        state: SubmissionState::Refused,
        report,
        folder: None,
        trials: Vec::new(),
        at: Timestamp(6_000),
    }
}

/// Adds a submission and stores this verdict for it.
async fn submit_and_check(site_db: &SiteDb, new: &NewSubmission, end: &SubmissionVerdict) -> Submission {
    let queued = site_db.enqueue(new, CompetitionState::ALL).await.unwrap();
    assert_eq!((queued.state, queued.version), (SubmissionState::Queued, None));
    let claimed = site_db.claim_next(Timestamp(5_000)).await.unwrap().unwrap();
    assert_eq!((&claimed.id, claimed.state), (&queued.id, SubmissionState::Checking));
    assert_eq!((claimed.started, claimed.attempts), (Some(Timestamp(5_000)), 1));
    site_db.finish(&queued.id, end).await.unwrap()
}

#[test]
fn competition_is_stored_as_given_and_can_be_edited() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Organiser).await.id;
        let new = NewCompetition {
            by: Some(ada),
            limits: UploadLimits { per_contributor: Some(2), max_bytes: Some(u64::MAX) },
            ..draft_competition("autumn-cup")
        };
        let stored = site_db.create_competition(&new).await.unwrap();
        assert_eq!((stored.id.as_str(), stored.name.as_str()), ("autumn-cup", "The autumn-cup"));
        assert_eq!(
            (stored.origin, stored.state, stored.public),
            (Origin::File, CompetitionState::Draft, false)
        );
        assert_eq!(
            stored.limits,
            UploadLimits { per_contributor: Some(2), max_bytes: Some(i64::MAX as u64) }
        );
        assert_eq!(
            (stored.by, stored.created, stored.numbers_assigned, &stored.message),
            (Some(ada), Timestamp(1), None, &None)
        );
        assert_eq!(site_db.competition("autumn-cup").await.unwrap(), stored);
        let taken = site_db.create_competition(&new).await.unwrap_err();
        assert!(matches!(taken, SiteDbError::Taken { what: "id" }), "{taken}");
        for (field, id, name) in
            [("id", "Autumn", "x"), ("id", "../x", "x"), ("name", "x", ""), ("name", "x", "a\nb")]
        {
            let new = NewCompetition { name: name.to_owned(), ..draft_competition(id) };
            let error = site_db.create_competition(&new).await.unwrap_err();
            assert!(
                matches!(error, SiteDbError::Invalid { field: actual, .. } if actual == field),
                "{error}"
            );
        }
        let none = site_db.competition("winter-cup").await.unwrap_err();
        assert!(matches!(none, SiteDbError::NotFound { what: "competition" }), "{none}");

        let limits = UploadLimits { per_contributor: None, max_bytes: Some(5) };
        let edit =
            CompetitionPatch { public: Some(true), limits: Some(limits), ..CompetitionPatch::default() };
        let edited = site_db.edit_competition("autumn-cup", &[CompetitionState::Draft], &edit).await.unwrap();
        assert_eq!(edited, site_db.competition("autumn-cup").await.unwrap());
        assert_eq!((edited.name.as_str(), edited.public, edited.limits), ("The autumn-cup", true, limits));
        assert!(site_db.edit_competition("autumn-cup", &[CompetitionState::Open], &edit).await.is_err());
    });
}

#[test]
fn competitions_are_listed_newest_first() {
    run(async {
        let site_db = open_site_db().await;
        for number in 0..5 {
            let new = NewCompetition { public: number % 2 == 0, ..draft_competition(&format!("c{number}")) };
            site_db.create_competition(&new).await.unwrap();
        }
        let listed = async |shown| {
            let mut page = PageRequest { after: None, limit: 2 };
            let mut ids = String::new();
            loop {
                let part = site_db.competitions(shown, page).await.unwrap();
                part.items.iter().for_each(|one| ids += &one.id);
                page.after = part.next;
                if page.after.is_none() {
                    return ids;
                }
            }
        };
        assert_eq!(listed(CompetitionFilter::All).await, "c4c3c2c1c0");
        assert_eq!(listed(CompetitionFilter::Public).await, "c4c2c0");
    });
}

#[test]
fn competition_state_changes_only_from_expected_states() {
    run(async {
        let site_db = open_site_db().await;
        competition(&site_db, "cup", None).await;
        let closed = site_db
            .set_state("cup", &[CompetitionState::Open], CompetitionState::Closed, None)
            .await
            .unwrap();
        assert_eq!(closed.state, CompetitionState::Closed);
        let late = site_db
            .set_state(
                "cup",
                &[CompetitionState::Open, CompetitionState::Draft],
                CompetitionState::Closed,
                None,
            )
            .await
            .unwrap_err();
        assert_eq!(late.to_string(), "the competition is closed, not open or draft");
        let failed = site_db
            .set_state("cup", CompetitionState::ALL, CompetitionState::Failed, Some("no bots"))
            .await
            .unwrap();
        assert_eq!(failed.message.as_deref(), Some("no bots"));
        site_db.set_message("cup", Some(&"x".repeat(5_000))).await.unwrap();
        assert_eq!(site_db.competition("cup").await.unwrap().message.unwrap().len(), 4_000);
        let running = site_db
            .set_state("cup", &[CompetitionState::Failed], CompetitionState::Running, None)
            .await
            .unwrap();
        assert_eq!(running.message, None);
        assert!(
            site_db.set_state("none", CompetitionState::ALL, CompetitionState::Finished, None).await.is_err()
        );
        assert!(site_db.set_message("none", None).await.is_err());
    });
}

#[test]
fn delete_works_only_for_a_draft_without_submissions() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        site_db.create_competition(&draft_competition("cup")).await.unwrap();
        site_db.add_entrant(&house_bot("cup", "Greedy"), CompetitionState::ALL).await.unwrap();
        site_db.set_state("cup", CompetitionState::ALL, CompetitionState::Open, None).await.unwrap();
        assert!(matches!(site_db.delete_competition("cup").await, Err(SiteDbError::Conflict { .. })));
        let entrant = enter(&site_db, "cup", ada, "Ada's").await;
        site_db.enqueue(&new_submission(entrant.id, ada), CompetitionState::ALL).await.unwrap();
        site_db.set_state("cup", CompetitionState::ALL, CompetitionState::Draft, None).await.unwrap();
        let stored = site_db.delete_competition("cup").await.unwrap_err();
        assert_eq!(stored.to_string(), "the competition has submissions");

        site_db.create_competition(&draft_competition("other")).await.unwrap();
        site_db.add_entrant(&house_bot("other", "Greedy"), CompetitionState::ALL).await.unwrap();
        site_db.delete_competition("other").await.unwrap();
        assert!(matches!(site_db.delete_competition("other").await, Err(SiteDbError::NotFound { .. })));
        assert_eq!(site_db.entrants("cup").await.unwrap().len(), 2);
        assert!(site_db.entrants("other").await.is_err());
    });
}

#[test]
fn entrants_have_unique_names_and_a_limit_per_account() {
    run(async {
        let site_db = open_site_db().await;
        let (ada, bob) = (
            account(&site_db, "Ada", Role::Author).await.id,
            account(&site_db, "Bob", Role::Author).await.id,
        );
        competition(&site_db, "cup", Some(2)).await;
        competition(&site_db, "other", Some(2)).await;
        let add = async |new: NewEntrant| site_db.add_entrant(&new, &[CompetitionState::Open]).await;
        let first = add(new_entrant("cup", ada, "Painter")).await.unwrap();
        assert_eq!((first.competition.as_str(), first.account, first.number), ("cup", Some(ada), None));
        assert!(matches!(
            add(new_entrant("cup", bob, "PAINTER")).await,
            Err(SiteDbError::Taken { what: "name" })
        ));
        add(new_entrant("other", bob, "Painter")).await.unwrap();
        add(new_entrant("cup", ada, "Second")).await.unwrap();
        assert!(matches!(
            add(new_entrant("cup", ada, "Third")).await,
            Err(SiteDbError::TooMany { limit: 2 })
        ));
        add(new_entrant("other", ada, "Third")).await.unwrap();
        // House bots have no owner and no limit.
        for name in ["h1", "h2", "h3"] {
            assert_eq!(add(house_bot("cup", name)).await.unwrap().bot.as_deref(), Some("house:greedy"));
        }
        let nothing = add(NewEntrant { bot: None, ..house_bot("cup", "h4") }).await.unwrap_err();
        assert!(matches!(nothing, SiteDbError::Invalid { field: "bot", .. }), "{nothing}");
        // Withdrawing frees the name and a place.
        let gone = site_db.withdraw(first.id, Timestamp(9)).await.unwrap();
        assert_eq!(gone.withdrawn, Some(Timestamp(9)));
        assert_eq!(site_db.withdraw(first.id, Timestamp(10)).await.unwrap().withdrawn, Some(Timestamp(9)));
        let back = add(new_entrant("cup", ada, "painter")).await.unwrap();
        assert_ne!(back.id, first.id);
        assert_eq!(site_db.entrant(back.id).await.unwrap(), back);
        assert_eq!(site_db.entrant_by_name("cup", "PAINTER").await.unwrap(), Some(back));
        assert_eq!(site_db.entrant_by_name("cup", "missing").await.unwrap(), None);
        assert_eq!(site_db.entrants("cup").await.unwrap().len(), 6);
        site_db.set_state("cup", CompetitionState::ALL, CompetitionState::Closed, None).await.unwrap();
        assert!(matches!(add(new_entrant("cup", bob, "Late")).await, Err(SiteDbError::Conflict { .. })));
        assert!(matches!(add(new_entrant("none", bob, "Lost")).await, Err(SiteDbError::NotFound { .. })));
        assert!(matches!(
            add(new_entrant("other", AccountId(99), "X")).await,
            Err(SiteDbError::NotFound { .. })
        ));
        assert!(site_db.entrant(EntrantId(99)).await.is_err());
    });
}

#[test]
fn entrants_that_can_play_get_numbers_without_gaps() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        competition(&site_db, "other", None).await;
        site_db.add_entrant(&house_bot("other", "Elsewhere"), CompetitionState::ALL).await.unwrap();
        competition(&site_db, "cup", None).await;
        let gone = enter(&site_db, "cup", ada, "Gone").await;
        let plays = enter(&site_db, "cup", ada, "Plays").await;
        let refused_bot = enter(&site_db, "cup", ada, "Refused").await;
        enter(&site_db, "cup", ada, "Sent nothing").await;
        site_db.add_entrant(&house_bot("cup", "Greedy"), CompetitionState::ALL).await.unwrap();
        submit_and_check(&site_db, &new_submission(gone.id, ada), &accepted_verdict()).await;
        submit_and_check(&site_db, &new_submission(plays.id, ada), &accepted_verdict()).await;
        submit_and_check(&site_db, &new_submission(refused_bot.id, ada), &refused_verdict()).await;
        site_db.withdraw(gone.id, Timestamp(9)).await.unwrap();

        let seated = site_db.assign_numbers("cup", Timestamp(10)).await.unwrap();
        let shown: Vec<_> = seated.iter().map(|one| (one.name.as_str(), one.number)).collect();
        assert_eq!(shown, [("Plays", Some(0)), ("Greedy", Some(1))]);
        assert_eq!(site_db.assign_numbers("cup", Timestamp(11)).await.unwrap(), seated);
        assert_eq!(site_db.competition("cup").await.unwrap().numbers_assigned, Some(Timestamp(10)));
        let late = site_db.add_entrant(&house_bot("cup", "Late"), CompetitionState::ALL).await.unwrap_err();
        assert_eq!(late.to_string(), "the competition has started");
        assert!(site_db.withdraw(plays.id, Timestamp(12)).await.is_err());
        assert_eq!(site_db.entrants("other").await.unwrap()[0].number, None);

        site_db.clear_numbers("cup").await.unwrap();
        site_db.withdraw(plays.id, Timestamp(12)).await.unwrap();
        let seated = site_db.assign_numbers("cup", Timestamp(13)).await.unwrap();
        let shown: Vec<_> = seated.iter().map(|one| (one.name.as_str(), one.number)).collect();
        assert_eq!(shown, [("Greedy", Some(0))]);
    });
}

#[test]
fn accepted_submission_gets_a_version() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        competition(&site_db, "cup", None).await;
        let entrant = enter(&site_db, "cup", ada, "Painter").await.id;
        let name = format!("a\u{7}\n{}", "x".repeat(300));
        let first = NewSubmission { file: name, ..new_submission(entrant, ada) };
        let stored = submit_and_check(&site_db, &first, &refused_verdict()).await;
        assert_eq!((stored.version, stored.state, stored.attempts), (None, SubmissionState::Refused, 1));
        assert_eq!((stored.file.len(), stored.bytes, stored.hash), (198, 4_000, hash("upload")));
        assert_eq!(stored.report.as_deref(), Some(r#"{"ok":false}"#));
        assert_eq!((stored.created, stored.finished), (Timestamp(4_000), Some(Timestamp(6_000))));
        let second = submit_and_check(&site_db, &new_submission(entrant, ada), &accepted_verdict()).await;
        let third = submit_and_check(&site_db, &new_submission(entrant, ada), &accepted_verdict()).await;
        assert_eq!((second.version, third.version), (Some(1), Some(2)));
        assert_eq!(site_db.submission(&third.id).await.unwrap(), third);
        assert_eq!(site_db.trials(&third.id).await.unwrap(), [vec![1; 10], vec![2; 20]]);
        assert!(site_db.trials(&stored.id).await.unwrap().is_empty());
        let again = site_db.finish(&third.id, &refused_verdict()).await.unwrap_err();
        assert_eq!(again.to_string(), "the submission is accepted, not checking");
        let none = SubmissionId::parse("0123456789abcdef").unwrap();
        assert!(matches!(site_db.submission(&none).await, Err(SiteDbError::NotFound { what: "submission" })));
        assert!(site_db.finish(&none, &refused_verdict()).await.is_err());
        let twice = site_db
            .enqueue(&NewSubmission { id: third.id, ..first }, CompetitionState::ALL)
            .await
            .unwrap_err();
        assert!(matches!(twice, SiteDbError::Taken { .. }), "{twice}");
    });
}

#[test]
fn invalid_verdicts_are_rejected() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        competition(&site_db, "cup", None).await;
        let entrant = enter(&site_db, "cup", ada, "Painter").await.id;
        let id = site_db.enqueue(&new_submission(entrant, ada), CompetitionState::ALL).await.unwrap().id;
        assert!(
            matches!(site_db.finish(&id, &accepted_verdict()).await, Err(SiteDbError::Conflict { .. })),
            "queued"
        );
        site_db.claim_next(Timestamp(1)).await.unwrap().unwrap();
        for (field, end) in [
            ("state", SubmissionVerdict { state: SubmissionState::Queued, ..accepted_verdict() }),
            ("folder", SubmissionVerdict { folder: None, ..accepted_verdict() }),
            ("folder", SubmissionVerdict { folder: Some("/etc".to_owned()), ..accepted_verdict() }),
            ("folder", SubmissionVerdict { folder: Some("a/../../b".to_owned()), ..accepted_verdict() }),
            (
                "trials",
                SubmissionVerdict {
                    trials: vec![vec![0; MAX_TRIALS_BYTES / 2 + 1]; 2],
                    ..accepted_verdict()
                },
            ),
        ] {
            let error = site_db.finish(&id, &end).await.unwrap_err();
            assert!(
                matches!(error, SiteDbError::Invalid { field: actual, .. } if actual == field),
                "{error}"
            );
        }
        let broken = SubmissionVerdict { report: Some("no JSON".to_owned()), ..accepted_verdict() };
        assert_eq!(site_db.finish(&id, &broken).await.unwrap_err().kind(), ErrorKind::Internal);
        let whole = SubmissionVerdict { trials: vec![vec![0; MAX_TRIALS_BYTES]], ..accepted_verdict() };
        assert_eq!(site_db.finish(&id, &whole).await.unwrap().version, Some(1));
        site_db.set_state("cup", CompetitionState::ALL, CompetitionState::Finished, None).await.unwrap();
        let late = site_db
            .enqueue(&new_submission(entrant, ada), &[CompetitionState::Open, CompetitionState::Waiting])
            .await
            .unwrap_err();
        assert_eq!(late.to_string(), "the competition is over, not open or waiting");
        site_db.withdraw(entrant, Timestamp(9)).await.unwrap();
        let gone = site_db.enqueue(&new_submission(entrant, ada), CompetitionState::ALL).await.unwrap_err();
        assert_eq!(gone.to_string(), "Painter has withdrawn");
    });
}

#[test]
fn queue_is_in_order_with_one_check_per_entrant_at_a_time() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        competition(&site_db, "cup", None).await;
        let one = enter(&site_db, "cup", ada, "One").await.id;
        let two = enter(&site_db, "cup", ada, "Two").await.id;
        let mut ids = Vec::new();
        for entrant in [one, one, two] {
            ids.push(site_db.enqueue(&new_submission(entrant, ada), CompetitionState::ALL).await.unwrap().id);
        }
        assert_eq!(site_db.count_queued().await.unwrap(), 3);
        let next = async || site_db.claim_next(Timestamp(1)).await.unwrap().map(|next| next.id);
        assert_eq!(next().await.as_ref(), Some(&ids[0]));
        assert_eq!(next().await.as_ref(), Some(&ids[2]), "the second of One waits for the first");
        assert_eq!(next().await, None);
        assert_eq!(site_db.count_queued().await.unwrap(), 1);
        site_db.finish(&ids[0], &accepted_verdict()).await.unwrap();
        assert_eq!(next().await.as_ref(), Some(&ids[1]));
        assert_eq!(next().await, None);
    });
}

#[test]
fn interrupted_checks_are_queued_again_up_to_a_maximum() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        competition(&site_db, "cup", None).await;
        let one = enter(&site_db, "cup", ada, "One").await.id;
        let two = enter(&site_db, "cup", ada, "Two").await.id;
        let first = site_db.enqueue(&new_submission(one, ada), CompetitionState::ALL).await.unwrap().id;
        let second = site_db.enqueue(&new_submission(two, ada), CompetitionState::ALL).await.unwrap().id;
        assert_eq!(site_db.requeue_checking(Timestamp(5)).await.unwrap(), RequeueCounts::default());
        for attempt in 1..=MAX_CHECK_ATTEMPTS {
            let claimed = site_db.claim_next(Timestamp(6)).await.unwrap().unwrap();
            assert_eq!((&claimed.id, claimed.attempts), (&first, attempt), "at its old position");
            let given_up = attempt == MAX_CHECK_ATTEMPTS;
            let became = site_db.requeue_checking(Timestamp(7)).await.unwrap();
            assert_eq!(became, RequeueCounts { queued: (!given_up).into(), given_up: given_up.into() });
        }
        let broke = site_db.submission(&first).await.unwrap();
        assert_eq!((broke.state, broke.finished), (SubmissionState::CheckFailed, Some(Timestamp(7))));
        assert_eq!(site_db.claim_next(Timestamp(8)).await.unwrap().unwrap().id, second);
    });
}

#[test]
fn submissions_are_listed_by_filter() {
    run(async {
        let site_db = open_site_db().await;
        let (ada, bob) = (
            account(&site_db, "Ada", Role::Author).await.id,
            account(&site_db, "Bob", Role::Author).await.id,
        );
        competition(&site_db, "cup", None).await;
        competition(&site_db, "other", None).await;
        let places = [("cup", ada), ("cup", bob), ("other", ada)];
        let mut entrants = Vec::new();
        for (competition, account) in places {
            entrants.push(enter(&site_db, competition, account, &format!("E{}", account.0)).await.id);
        }
        let mut ids: Vec<Vec<SubmissionId>> = vec![Vec::new(); 3];
        let mut all = Vec::new();
        for _ in 0..3 {
            for (place, (_, account)) in places.into_iter().enumerate() {
                let new = new_submission(entrants[place], account);
                ids[place].insert(0, new.id.clone());
                all.insert(0, new.id.clone());
                site_db.enqueue(&new, CompetitionState::ALL).await.unwrap();
            }
        }
        let listed = async |of| {
            let (mut page, mut found) = (PageRequest { after: None, limit: 2 }, Vec::new());
            loop {
                let part = site_db.submissions(of, page).await.unwrap();
                found.extend(part.items.into_iter().map(|one| one.id));
                page.after = part.next;
                if page.after.is_none() {
                    return found;
                }
            }
        };
        assert_eq!(listed(SubmissionFilter::All).await, all);
        assert_eq!(listed(SubmissionFilter::Entrant(entrants[0])).await, ids[0]);
        assert_eq!(listed(SubmissionFilter::Account(bob)).await, ids[1]);
        assert_eq!(listed(SubmissionFilter::Competition("other")).await, ids[2]);
        assert_eq!(listed(SubmissionFilter::Competition("cup")).await.len(), 6);
        assert_eq!(listed(SubmissionFilter::Account(ada)).await.len(), 6);
        assert!(listed(SubmissionFilter::Competition("none")).await.is_empty());
    });
}

#[test]
fn accepted_for_phase_returns_the_latest_accepted_versions() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        competition(&site_db, "cup", None).await;
        let one = enter(&site_db, "cup", ada, "One").await.id;
        let two = enter(&site_db, "cup", ada, "Two").await.id;
        let gone = enter(&site_db, "cup", ada, "Gone").await.id;
        for (entrant, from_phase, end) in [
            (two, 0, accepted_verdict()),
            (one, 0, accepted_verdict()),
            (one, 0, accepted_verdict()),
            (one, 1, accepted_verdict()),
            (one, 1, refused_verdict()),
            (gone, 0, accepted_verdict()),
        ] {
            let new = NewSubmission { from_phase, ..new_submission(entrant, ada) };
            submit_and_check(&site_db, &new, &end).await;
        }
        site_db.withdraw(gone, Timestamp(9)).await.unwrap();
        let plays = async |phase| {
            let found = site_db.accepted_for_phase("cup", phase).await.unwrap();
            found.iter().map(|one| (one.entrant, one.version.unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(plays(0).await, [(one, 2), (two, 1)]);
        assert_eq!(plays(1).await, [(one, 3), (two, 1)]);
        assert!(site_db.accepted_for_phase("none", 0).await.unwrap().is_empty());
    });
}

#[test]
fn submission_ids_are_random_and_parse_strictly() {
    let ids: std::collections::HashSet<_> = (0..1_000).map(|_| SubmissionId::random().unwrap()).collect();
    assert_eq!(ids.len(), 1_000);
    for id in ids {
        assert_eq!(SubmissionId::parse(id.as_str()), Some(id));
    }
    for text in
        ["", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "../../etc/passwd", "０123456789abc"]
    {
        assert_eq!(SubmissionId::parse(text), None, "{text}");
    }
}
