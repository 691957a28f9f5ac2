//! Competitions, their entrants, and what is handed in.

use agon_store::Timestamp;
use agon_store::site_db::{
    MAX_CHECK_ATTEMPTS, AccountId, SubmissionVerdict, CompetitionPatch, EntrantId, UploadLimits, NewCompetition, NewEntrant, NewSubmission, SubmissionFilter,
    SiteDb, SiteDbError, Origin, PageRequest, Requeued, Role, CompetitionFilter, CompetitionState, Submission, SubmissionId,
    SubmissionState, TRIALS_BYTES,
};

use super::{account, competition, enter, entering, handing_in, hash, office, run};

fn draft(id: &str) -> NewCompetition {
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

fn house(competition: &str, name: &str) -> NewEntrant {
    let bot = Some("house:greedy".to_owned());
    NewEntrant { account: None, bot, ..entering(competition, AccountId(0), name) }
}

fn accepted() -> SubmissionVerdict {
    SubmissionVerdict {
        state: SubmissionState::Accepted,
        report: Some(r#"{"ok":true}"#.to_owned()),
        folder: Some("bots/x/1".to_owned()),
        trials: vec![vec![1; 10], vec![2; 20]],
        at: Timestamp(6_000),
    }
}

fn refused() -> SubmissionVerdict {
    let report = Some(r#"{"ok":false}"#.to_owned());
    SubmissionVerdict { state: SubmissionState::Refused, report, folder: None, trials: Vec::new(), at: Timestamp(6_000) }
}

/// Hands in, has it checked with this end.
async fn checked(office: &SiteDb, new: &NewSubmission, end: &SubmissionVerdict) -> Submission {
    let queued = office.enqueue(new, CompetitionState::ALL).await.unwrap();
    assert_eq!((queued.state, queued.version), (SubmissionState::Queued, None));
    let claimed = office.claim_next(Timestamp(5_000)).await.unwrap().unwrap();
    assert_eq!((&claimed.id, claimed.state), (&queued.id, SubmissionState::Checking));
    assert_eq!((claimed.started, claimed.attempts), (Some(Timestamp(5_000)), 1));
    office.finish(&queued.id, end).await.unwrap()
}

#[test]
fn a_competition_is_kept_as_it_was_given() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Organiser).await.id;
        let new = NewCompetition {
            by: Some(ada),
            limits: UploadLimits { per_contributor: Some(2), max_bytes: Some(u64::MAX) },
            ..draft("autumn-cup")
        };
        let kept = office.create_competition(&new).await.unwrap();
        assert_eq!((kept.id.as_str(), kept.name.as_str()), ("autumn-cup", "The autumn-cup"));
        assert_eq!((kept.origin, kept.state, kept.public), (Origin::File, CompetitionState::Draft, false));
        assert_eq!(kept.limits, UploadLimits { per_contributor: Some(2), max_bytes: Some(i64::MAX as u64) });
        assert_eq!((kept.by, kept.created, kept.seated, &kept.message), (Some(ada), Timestamp(1), None, &None));
        assert_eq!(office.competition("autumn-cup").await.unwrap(), kept);
        let taken = office.create_competition(&new).await.unwrap_err();
        assert!(matches!(taken, SiteDbError::Taken { what: "id" }), "{taken}");
        for (field, id, name) in
            [("id", "Autumn", "x"), ("id", "../x", "x"), ("name", "x", ""), ("name", "x", "a\nb")]
        {
            let new = NewCompetition { name: name.to_owned(), ..draft(id) };
            let refused = office.create_competition(&new).await.unwrap_err();
            assert!(
                matches!(refused, SiteDbError::Invalid { field: said, .. } if said == field),
                "{refused}"
            );
        }
        let none = office.competition("winter-cup").await.unwrap_err();
        assert!(matches!(none, SiteDbError::NotFound { what: "competition" }), "{none}");

        let limits = UploadLimits { per_contributor: None, max_bytes: Some(5) };
        let edit = CompetitionPatch { public: Some(true), limits: Some(limits), ..CompetitionPatch::default() };
        let edited = office.edit_competition("autumn-cup", &[CompetitionState::Draft], &edit).await.unwrap();
        assert_eq!(edited, office.competition("autumn-cup").await.unwrap());
        assert_eq!((edited.name.as_str(), edited.public, edited.limits), ("The autumn-cup", true, limits));
        assert!(office.edit_competition("autumn-cup", &[CompetitionState::Open], &edit).await.is_err());
    });
}

#[test]
fn competitions_are_listed_newest_first() {
    run(async {
        let office = office().await;
        for number in 0..5 {
            let new = NewCompetition { public: number % 2 == 0, ..draft(&format!("c{number}")) };
            office.create_competition(&new).await.unwrap();
        }
        let listed = async |shown| {
            let mut page = PageRequest { after: None, limit: 2 };
            let mut ids = String::new();
            loop {
                let part = office.competitions(shown, page).await.unwrap();
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
fn a_competition_moves_on_only_from_where_it_is() {
    run(async {
        let office = office().await;
        competition(&office, "cup", None).await;
        let closed = office.set_state("cup", &[CompetitionState::Open], CompetitionState::Closed, None).await.unwrap();
        assert_eq!(closed.state, CompetitionState::Closed);
        let late =
            office.set_state("cup", &[CompetitionState::Open, CompetitionState::Draft], CompetitionState::Closed, None).await.unwrap_err();
        assert_eq!(late.to_string(), "the competition is closed, not open or draft");
        let failed = office.set_state("cup", CompetitionState::ALL, CompetitionState::Failed, Some("no bots")).await.unwrap();
        assert_eq!(failed.message.as_deref(), Some("no bots"));
        office.set_message("cup", Some(&"x".repeat(5_000))).await.unwrap();
        assert_eq!(office.competition("cup").await.unwrap().message.unwrap().len(), 4_000);
        let running = office.set_state("cup", &[CompetitionState::Failed], CompetitionState::Running, None).await.unwrap();
        assert_eq!(running.message, None);
        assert!(office.set_state("none", CompetitionState::ALL, CompetitionState::Over, None).await.is_err());
        assert!(office.set_message("none", None).await.is_err());
    });
}

#[test]
fn only_a_draft_without_submissions_is_deleted() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Author).await.id;
        office.create_competition(&draft("cup")).await.unwrap();
        office.add_entrant(&house("cup", "Greedy"), CompetitionState::ALL).await.unwrap();
        office.set_state("cup", CompetitionState::ALL, CompetitionState::Open, None).await.unwrap();
        assert!(matches!(office.delete_competition("cup").await, Err(SiteDbError::Conflict { .. })));
        let entrant = enter(&office, "cup", ada, "Ada's").await;
        office.enqueue(&handing_in(entrant.id, ada), CompetitionState::ALL).await.unwrap();
        office.set_state("cup", CompetitionState::ALL, CompetitionState::Draft, None).await.unwrap();
        let kept = office.delete_competition("cup").await.unwrap_err();
        assert_eq!(kept.to_string(), "bots were handed in for the competition");

        office.create_competition(&draft("other")).await.unwrap();
        office.add_entrant(&house("other", "Greedy"), CompetitionState::ALL).await.unwrap();
        office.delete_competition("other").await.unwrap();
        assert!(matches!(office.delete_competition("other").await, Err(SiteDbError::NotFound { .. })));
        assert_eq!(office.entrants("cup").await.unwrap().len(), 2);
        assert!(office.entrants("other").await.is_err());
    });
}

#[test]
fn entrants_have_names_of_their_own_and_a_limit() {
    run(async {
        let office = office().await;
        let (ada, bob) =
            (account(&office, "Ada", Role::Author).await.id, account(&office, "Bob", Role::Author).await.id);
        competition(&office, "cup", Some(2)).await;
        competition(&office, "other", Some(2)).await;
        let add = async |new: NewEntrant| office.add_entrant(&new, &[CompetitionState::Open]).await;
        let first = add(entering("cup", ada, "Painter")).await.unwrap();
        assert_eq!((first.competition.as_str(), first.account, first.number), ("cup", Some(ada), None));
        assert!(matches!(
            add(entering("cup", bob, "PAINTER")).await,
            Err(SiteDbError::Taken { what: "name" })
        ));
        add(entering("other", bob, "Painter")).await.unwrap();
        add(entering("cup", ada, "Second")).await.unwrap();
        assert!(matches!(add(entering("cup", ada, "Third")).await, Err(SiteDbError::TooMany { limit: 2 })));
        add(entering("other", ada, "Third")).await.unwrap();
        // House bots are nobody's and have no limit.
        for name in ["h1", "h2", "h3"] {
            assert_eq!(add(house("cup", name)).await.unwrap().bot.as_deref(), Some("house:greedy"));
        }
        let nothing = add(NewEntrant { bot: None, ..house("cup", "h4") }).await.unwrap_err();
        assert!(matches!(nothing, SiteDbError::Invalid { field: "bot", .. }), "{nothing}");
        // Who withdraws makes room and leaves the name.
        let gone = office.withdraw(first.id, Timestamp(9)).await.unwrap();
        assert_eq!(gone.withdrawn, Some(Timestamp(9)));
        assert_eq!(office.withdraw(first.id, Timestamp(10)).await.unwrap().withdrawn, Some(Timestamp(9)));
        let back = add(entering("cup", ada, "painter")).await.unwrap();
        assert_ne!(back.id, first.id);
        assert_eq!(office.entrant(back.id).await.unwrap(), back);
        assert_eq!(office.entrant_by_name("cup", "PAINTER").await.unwrap(), Some(back));
        assert_eq!(office.entrant_by_name("cup", "nobody").await.unwrap(), None);
        assert_eq!(office.entrants("cup").await.unwrap().len(), 6);
        office.set_state("cup", CompetitionState::ALL, CompetitionState::Closed, None).await.unwrap();
        assert!(matches!(add(entering("cup", bob, "Late")).await, Err(SiteDbError::Conflict { .. })));
        assert!(matches!(add(entering("none", bob, "Lost")).await, Err(SiteDbError::NotFound { .. })));
        assert!(matches!(
            add(entering("other", AccountId(99), "X")).await,
            Err(SiteDbError::NotFound { .. })
        ));
        assert!(office.entrant(EntrantId(99)).await.is_err());
    });
}

#[test]
fn whoever_can_play_is_seated_without_a_gap() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Author).await.id;
        competition(&office, "other", None).await;
        office.add_entrant(&house("other", "Elsewhere"), CompetitionState::ALL).await.unwrap();
        competition(&office, "cup", None).await;
        let gone = enter(&office, "cup", ada, "Gone").await;
        let plays = enter(&office, "cup", ada, "Plays").await;
        let refused_bot = enter(&office, "cup", ada, "Refused").await;
        enter(&office, "cup", ada, "Sent nothing").await;
        office.add_entrant(&house("cup", "Greedy"), CompetitionState::ALL).await.unwrap();
        checked(&office, &handing_in(gone.id, ada), &accepted()).await;
        checked(&office, &handing_in(plays.id, ada), &accepted()).await;
        checked(&office, &handing_in(refused_bot.id, ada), &refused()).await;
        office.withdraw(gone.id, Timestamp(9)).await.unwrap();

        let seated = office.assign_numbers("cup", Timestamp(10)).await.unwrap();
        let shown: Vec<_> = seated.iter().map(|one| (one.name.as_str(), one.number)).collect();
        assert_eq!(shown, [("Plays", Some(0)), ("Greedy", Some(1))]);
        assert_eq!(office.assign_numbers("cup", Timestamp(11)).await.unwrap(), seated);
        assert_eq!(office.competition("cup").await.unwrap().seated, Some(Timestamp(10)));
        let late = office.add_entrant(&house("cup", "Late"), CompetitionState::ALL).await.unwrap_err();
        assert_eq!(late.to_string(), "the competition has started");
        assert!(office.withdraw(plays.id, Timestamp(12)).await.is_err());
        assert_eq!(office.entrants("other").await.unwrap()[0].number, None);

        office.clear_numbers("cup").await.unwrap();
        office.withdraw(plays.id, Timestamp(12)).await.unwrap();
        let seated = office.assign_numbers("cup", Timestamp(13)).await.unwrap();
        let shown: Vec<_> = seated.iter().map(|one| (one.name.as_str(), one.number)).collect();
        assert_eq!(shown, [("Greedy", Some(0))]);
    });
}

#[test]
fn a_submission_is_checked_and_gets_its_version() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Author).await.id;
        competition(&office, "cup", None).await;
        let entrant = enter(&office, "cup", ada, "Painter").await.id;
        let name = format!("a\u{7}\n{}", "x".repeat(300));
        let first = NewSubmission { file: name, ..handing_in(entrant, ada) };
        let kept = checked(&office, &first, &refused()).await;
        assert_eq!((kept.version, kept.state, kept.attempts), (None, SubmissionState::Refused, 1));
        assert_eq!((kept.file.len(), kept.bytes, kept.hash), (198, 4_000, hash("upload")));
        assert_eq!(kept.report.as_deref(), Some(r#"{"ok":false}"#));
        assert_eq!((kept.created, kept.finished), (Timestamp(4_000), Some(Timestamp(6_000))));
        let second = checked(&office, &handing_in(entrant, ada), &accepted()).await;
        let third = checked(&office, &handing_in(entrant, ada), &accepted()).await;
        assert_eq!((second.version, third.version), (Some(1), Some(2)));
        assert_eq!(office.submission(&third.id).await.unwrap(), third);
        assert_eq!(office.trials(&third.id).await.unwrap(), [vec![1; 10], vec![2; 20]]);
        assert!(office.trials(&kept.id).await.unwrap().is_empty());
        let again = office.finish(&third.id, &refused()).await.unwrap_err();
        assert_eq!(again.to_string(), "the submission is accepted, not checking");
        let none = SubmissionId::parse("0123456789abcdef").unwrap();
        assert!(matches!(office.submission(&none).await, Err(SiteDbError::NotFound { what: "submission" })));
        assert!(office.finish(&none, &refused()).await.is_err());
        let twice = office.enqueue(&NewSubmission { id: third.id, ..first }, CompetitionState::ALL).await.unwrap_err();
        assert!(matches!(twice, SiteDbError::Taken { .. }), "{twice}");
    });
}

#[test]
fn ends_of_a_check_that_make_no_sense_are_refused() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Author).await.id;
        competition(&office, "cup", None).await;
        let entrant = enter(&office, "cup", ada, "Painter").await.id;
        let id = office.enqueue(&handing_in(entrant, ada), CompetitionState::ALL).await.unwrap().id;
        assert!(matches!(office.finish(&id, &accepted()).await, Err(SiteDbError::Conflict { .. })), "queued");
        office.claim_next(Timestamp(1)).await.unwrap().unwrap();
        for (field, end) in [
            ("state", SubmissionVerdict { state: SubmissionState::Queued, ..accepted() }),
            ("folder", SubmissionVerdict { folder: None, ..accepted() }),
            ("folder", SubmissionVerdict { folder: Some("/etc".to_owned()), ..accepted() }),
            ("folder", SubmissionVerdict { folder: Some("a/../../b".to_owned()), ..accepted() }),
            ("trials", SubmissionVerdict { trials: vec![vec![0; TRIALS_BYTES / 2 + 1]; 2], ..accepted() }),
        ] {
            let refused = office.finish(&id, &end).await.unwrap_err();
            assert!(
                matches!(refused, SiteDbError::Invalid { field: said, .. } if said == field),
                "{refused}"
            );
        }
        let broken = SubmissionVerdict { report: Some("no JSON".to_owned()), ..accepted() };
        assert!(!office.finish(&id, &broken).await.unwrap_err().is_wrong_use());
        let whole = SubmissionVerdict { trials: vec![vec![0; TRIALS_BYTES]], ..accepted() };
        assert_eq!(office.finish(&id, &whole).await.unwrap().version, Some(1));
        office.set_state("cup", CompetitionState::ALL, CompetitionState::Over, None).await.unwrap();
        let late =
            office.enqueue(&handing_in(entrant, ada), &[CompetitionState::Open, CompetitionState::Waiting]).await.unwrap_err();
        assert_eq!(late.to_string(), "the competition is over, not open or waiting");
        office.withdraw(entrant, Timestamp(9)).await.unwrap();
        let gone = office.enqueue(&handing_in(entrant, ada), CompetitionState::ALL).await.unwrap_err();
        assert_eq!(gone.to_string(), "Painter has withdrawn");
    });
}

#[test]
fn the_queue_goes_in_order_and_one_of_an_entrant_at_a_time() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Author).await.id;
        competition(&office, "cup", None).await;
        let one = enter(&office, "cup", ada, "One").await.id;
        let two = enter(&office, "cup", ada, "Two").await.id;
        let mut ids = Vec::new();
        for entrant in [one, one, two] {
            ids.push(office.enqueue(&handing_in(entrant, ada), CompetitionState::ALL).await.unwrap().id);
        }
        assert_eq!(office.count_queued().await.unwrap(), 3);
        let next = async || office.claim_next(Timestamp(1)).await.unwrap().map(|next| next.id);
        assert_eq!(next().await.as_ref(), Some(&ids[0]));
        assert_eq!(next().await.as_ref(), Some(&ids[2]), "the second of One waits for the first");
        assert_eq!(next().await, None);
        assert_eq!(office.count_queued().await.unwrap(), 1);
        office.finish(&ids[0], &accepted()).await.unwrap();
        assert_eq!(next().await.as_ref(), Some(&ids[1]));
        assert_eq!(next().await, None);
    });
}

#[test]
fn checks_that_were_cut_off_wait_again_but_not_for_ever() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Author).await.id;
        competition(&office, "cup", None).await;
        let one = enter(&office, "cup", ada, "One").await.id;
        let two = enter(&office, "cup", ada, "Two").await.id;
        let first = office.enqueue(&handing_in(one, ada), CompetitionState::ALL).await.unwrap().id;
        let second = office.enqueue(&handing_in(two, ada), CompetitionState::ALL).await.unwrap().id;
        assert_eq!(office.requeue_checking(Timestamp(5)).await.unwrap(), Requeued::default());
        for attempt in 1..=MAX_CHECK_ATTEMPTS {
            let claimed = office.claim_next(Timestamp(6)).await.unwrap().unwrap();
            assert_eq!((&claimed.id, claimed.attempts), (&first, attempt), "at its old place");
            let given_up = attempt == MAX_CHECK_ATTEMPTS;
            let became = office.requeue_checking(Timestamp(7)).await.unwrap();
            assert_eq!(became, Requeued { queued: (!given_up).into(), broke: given_up.into() });
        }
        let broke = office.submission(&first).await.unwrap();
        assert_eq!((broke.state, broke.finished), (SubmissionState::Broke, Some(Timestamp(7))));
        assert_eq!(office.claim_next(Timestamp(8)).await.unwrap().unwrap().id, second);
    });
}

#[test]
fn submissions_are_listed_by_whose_they_are() {
    run(async {
        let office = office().await;
        let (ada, bob) =
            (account(&office, "Ada", Role::Author).await.id, account(&office, "Bob", Role::Author).await.id);
        competition(&office, "cup", None).await;
        competition(&office, "other", None).await;
        let places = [("cup", ada), ("cup", bob), ("other", ada)];
        let mut entrants = Vec::new();
        for (competition, account) in places {
            entrants.push(enter(&office, competition, account, &format!("E{}", account.0)).await.id);
        }
        let mut ids: Vec<Vec<SubmissionId>> = vec![Vec::new(); 3];
        let mut all = Vec::new();
        for _ in 0..3 {
            for (place, (_, account)) in places.into_iter().enumerate() {
                let new = handing_in(entrants[place], account);
                ids[place].insert(0, new.id.clone());
                all.insert(0, new.id.clone());
                office.enqueue(&new, CompetitionState::ALL).await.unwrap();
            }
        }
        let listed = async |of| {
            let (mut page, mut found) = (PageRequest { after: None, limit: 2 }, Vec::new());
            loop {
                let part = office.submissions(of, page).await.unwrap();
                found.extend(part.items.into_iter().map(|one| one.id));
                page.after = part.next;
                if page.after.is_none() {
                    return found;
                }
            }
        };
        assert_eq!(listed(SubmissionFilter::Everybody).await, all);
        assert_eq!(listed(SubmissionFilter::Entrant(entrants[0])).await, ids[0]);
        assert_eq!(listed(SubmissionFilter::Account(bob)).await, ids[1]);
        assert_eq!(listed(SubmissionFilter::Competition("other")).await, ids[2]);
        assert_eq!(listed(SubmissionFilter::Competition("cup")).await.len(), 6);
        assert_eq!(listed(SubmissionFilter::Account(ada)).await.len(), 6);
        assert!(listed(SubmissionFilter::Competition("none")).await.is_empty());
    });
}

#[test]
fn the_latest_accepted_version_plays() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Author).await.id;
        competition(&office, "cup", None).await;
        let one = enter(&office, "cup", ada, "One").await.id;
        let two = enter(&office, "cup", ada, "Two").await.id;
        let gone = enter(&office, "cup", ada, "Gone").await.id;
        for (entrant, from_phase, end) in [
            (two, 0, accepted()),
            (one, 0, accepted()),
            (one, 0, accepted()),
            (one, 1, accepted()),
            (one, 1, refused()),
            (gone, 0, accepted()),
        ] {
            let new = NewSubmission { from_phase, ..handing_in(entrant, ada) };
            checked(&office, &new, &end).await;
        }
        office.withdraw(gone, Timestamp(9)).await.unwrap();
        let plays = async |phase| {
            let found = office.accepted_for_phase("cup", phase).await.unwrap();
            found.iter().map(|one| (one.entrant, one.version.unwrap())).collect::<Vec<_>>()
        };
        assert_eq!(plays(0).await, [(one, 2), (two, 1)]);
        assert_eq!(plays(1).await, [(one, 3), (two, 1)]);
        assert!(office.accepted_for_phase("none", 0).await.unwrap().is_empty());
    });
}

#[test]
fn ids_of_submissions_are_drawn_and_read() {
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
