//! Played games, challenges and practice ladders.

use agon_site_db::{
    AccountId, ChallengeId, ChallengeState, EntrantId, NewChallenge, NewPracticePlayer, OpenChallengeLimits,
    PageRequest, PlayedGameFilter, PlayedGameId, PlayedGameQuota, PlayedGameRow, PlayedGameViewer,
    PlayedKind, PlayedSeat, PracticePair, PracticeRating, PracticeScore, Role, SiteDb, SiteDbError,
    Submission, SubmissionState, SubmissionVerdict,
};
use agon_store::Timestamp;

use super::{account, competition, enter, new_submission, open_site_db, run};

const ALL: PlayedGameFilter<'static> = PlayedGameFilter {
    viewer: PlayedGameViewer::Organiser,
    kind: None,
    game: None,
    competition: None,
    entrant: None,
};
const LIMITS: OpenChallengeLimits = OpenChallengeLimits { per_account: 2, per_hour: 5, total: 3 };

fn played(kind: PlayedKind, bytes: u64) -> PlayedGameRow {
    let seat = |name: &str| PlayedSeat { name: name.to_owned(), ..PlayedSeat::default() };
    PlayedGameRow {
        id: PlayedGameId::random().unwrap(),
        kind,
        game: "some-game".to_owned(),
        competition: None,
        challenge: None,
        number: 0,
        owner: None,
        settings: "{}".to_owned(),
        seed: u64::MAX - 5,
        outcome: "{\"seats\":[]}".to_owned(),
        bytes,
        started: Timestamp(5_000),
        ended: Timestamp(6_000),
        seats: vec![seat("One"), PlayedSeat { house: Some("random".to_owned()), ..seat("random") }],
    }
}

fn challenge(account: AccountId, at: i64) -> NewChallenge {
    NewChallenge {
        id: ChallengeId::random().unwrap(),
        account,
        game: "some-game".to_owned(),
        competition: None,
        bots: "[]".to_owned(),
        settings: "{}".to_owned(),
        games: 20,
        at: Timestamp(at),
    }
}

async fn accepted(site_db: &SiteDb, entrant: EntrantId, account: AccountId) -> Submission {
    let new = new_submission(entrant, account);
    site_db.enqueue(&new, agon_site_db::CompetitionState::ALL).await.unwrap();
    site_db.claim_next(Timestamp(5_000)).await.unwrap().unwrap();
    let verdict = SubmissionVerdict {
        state: SubmissionState::Accepted,
        report: None,
        folder: Some("bots/x".to_owned()),
        trials: Vec::new(),
        at: Timestamp(6_000),
    };
    site_db.finish(&new.id, &verdict).await.unwrap()
}

#[test]
fn played_game_is_stored_with_its_seats_and_listed_for_those_who_may_see_it() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await;
        let bob = account(&site_db, "Bob", Role::Author).await;
        competition(&site_db, "cup", None).await;
        let bot = enter(&site_db, "cup", ada.id, "One").await;
        let mut own = PlayedGameRow { owner: Some(bob.id), ..played(PlayedKind::Challenge, 10) };
        own.seats[0].entrant = Some(bot.id);
        own.seats[0].account = Some(ada.id);
        let practice =
            PlayedGameRow { competition: Some("cup".to_owned()), ..played(PlayedKind::Practice, 10) };
        for game in [&own, &practice, &played(PlayedKind::Person, 10)] {
            site_db.add_played_game(game).await.unwrap();
        }
        assert_eq!(site_db.played_game(&own.id).await.unwrap(), own);
        assert!(matches!(site_db.add_played_game(&own).await, Err(SiteDbError::Taken { .. })));
        let count = |filter: PlayedGameFilter<'static>| {
            let site_db = &site_db;
            async move { site_db.played_games(filter, PageRequest::default()).await.unwrap().items.len() }
        };
        let seen_by = |viewer| PlayedGameFilter { viewer, ..ALL };
        assert_eq!(count(ALL).await, 3);
        assert_eq!(count(seen_by(PlayedGameViewer::Visitor)).await, 1, "practice of a public competition");
        assert_eq!(count(seen_by(PlayedGameViewer::Account(ada.id))).await, 2, "her bot took part");
        assert_eq!(count(seen_by(PlayedGameViewer::Account(bob.id))).await, 2, "he had it played");
        assert_eq!(count(PlayedGameFilter { kind: Some(PlayedKind::Person), ..ALL }).await, 1);
        assert_eq!(count(PlayedGameFilter { entrant: Some(bot.id), ..ALL }).await, 1);
        assert_eq!(count(PlayedGameFilter { game: Some("other"), ..ALL }).await, 0);
        let page = site_db.played_games(ALL, PageRequest { after: None, limit: 2 }).await.unwrap();
        assert_eq!((page.items.len(), page.items[1].seats.len()), (2, 2));
        let rest = site_db.played_games(ALL, PageRequest { after: page.next, limit: 2 }).await.unwrap();
        assert_eq!((rest.items, rest.next), (vec![own], None));
    });
}

#[test]
fn prune_removes_practice_games_first_and_keeps_results_of_others() {
    run(async {
        let site_db = open_site_db().await;
        let mut ids = Vec::new();
        for kind in [PlayedKind::Person, PlayedKind::Challenge, PlayedKind::Practice, PlayedKind::Practice] {
            let game = played(kind, 100);
            site_db.add_played_game(&game).await.unwrap();
            ids.push(game.id);
        }
        let quota = |bytes| PlayedGameQuota { bytes, practice_games: 10, other_games: 10 };
        assert!(site_db.prune_played_games(quota(400)).await.unwrap().is_empty());
        assert_eq!(site_db.prune_played_games(quota(350)).await.unwrap(), [ids[2].clone()], "the oldest");
        assert_eq!(
            site_db.prune_played_games(quota(150)).await.unwrap(),
            [ids[3].clone(), ids[1].clone()],
            "practice, then challenges"
        );
        assert_eq!(
            (site_db.played_bytes().await.unwrap(), site_db.played_games_with_files().await.unwrap()),
            (100, vec![ids[0].clone()])
        );
        assert_eq!(site_db.played_game(&ids[1]).await.unwrap().bytes, 0, "its result stays");
        let few = PlayedGameQuota { bytes: 1_000, practice_games: 1, other_games: 2 };
        assert_eq!(site_db.prune_played_games(few).await.unwrap(), [ids[2].clone()]);
        assert!(matches!(site_db.played_game(&ids[2]).await, Err(SiteDbError::NotFound { .. })));
    });
}

#[test]
fn challenges_are_limited_by_account_hour_and_site() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await;
        let bob = account(&site_db, "Bob", Role::Spectator).await;
        let first = site_db.add_challenge(&challenge(ada.id, 0), LIMITS).await.unwrap();
        site_db.add_challenge(&challenge(ada.id, 0), LIMITS).await.unwrap();
        let over = site_db.add_challenge(&challenge(ada.id, 0), LIMITS).await;
        assert!(matches!(over, Err(SiteDbError::TooMany { limit: 2 })), "{over:?}");
        site_db.add_challenge(&challenge(bob.id, 0), LIMITS).await.unwrap();
        let full = site_db.add_challenge(&challenge(bob.id, 0), LIMITS).await;
        assert!(matches!(full, Err(SiteDbError::Conflict { .. })), "{full:?}");
        let ended = |state| site_db.end_challenge(&first.id, state, None, Timestamp(9));
        assert_eq!(ended(ChallengeState::Cancelled).await.unwrap().state, ChallengeState::Cancelled);
        assert_eq!(ended(ChallengeState::Done).await.unwrap().state, ChallengeState::Cancelled, "it stays");
        let generous = OpenChallengeLimits { per_account: 100, total: 100, ..LIMITS };
        for _ in 0..3 {
            site_db.add_challenge(&challenge(ada.id, 10), generous).await.unwrap();
        }
        let often = site_db.add_challenge(&challenge(ada.id, 20), generous).await;
        assert!(matches!(often, Err(SiteDbError::Conflict { .. })), "{often:?}");
        site_db.add_challenge(&challenge(ada.id, 4_000_000), generous).await.unwrap();
        let listed = site_db.challenges(Some(ada.id), PageRequest::default()).await.unwrap().items;
        assert_eq!((listed.len(), listed.last().unwrap().id.clone()), (6, first.id));
    });
}

#[test]
fn claims_take_turns_and_survive_a_restart() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await;
        let bob = account(&site_db, "Bob", Role::Author).await;
        let limits = OpenChallengeLimits { per_account: 9, per_hour: 9, total: 9 };
        let one = site_db.add_challenge(&challenge(ada.id, 1), limits).await.unwrap();
        let two = site_db.add_challenge(&challenge(ada.id, 2), limits).await.unwrap();
        let three = site_db.add_challenge(&challenge(bob.id, 3), limits).await.unwrap();
        assert_eq!(site_db.count_challenges_before(&three).await.unwrap(), 2);
        let claim = || async { site_db.claim_next_challenge(Timestamp(50)).await.unwrap().map(|one| one.id) };
        assert_eq!(claim().await, Some(one.id.clone()));
        assert_eq!(claim().await, Some(three.id.clone()), "the other account comes first");
        assert_eq!(claim().await, Some(two.id.clone()));
        assert_eq!(claim().await, None);
        // A challenge that has had a turn goes behind the others.
        for number in 0..10 {
            let game =
                PlayedGameRow { challenge: Some(one.id.clone()), number, ..played(PlayedKind::Challenge, 1) };
            site_db.add_played_game(&game).await.unwrap();
        }
        assert_eq!(site_db.requeue_challenges().await.unwrap(), 3);
        assert_eq!(site_db.count_queued_challenges().await.unwrap(), 3);
        assert_eq!(claim().await, Some(two.id));
        assert_eq!(claim().await, Some(three.id));
        assert_eq!(claim().await, Some(one.id.clone()));
        let games = site_db.challenge_games(&one.id).await.unwrap();
        assert_eq!(games.iter().map(|game| game.number).collect::<Vec<_>>(), (0..10).collect::<Vec<_>>());
        site_db.requeue_challenge(&one.id).await.unwrap();
        let now = site_db.challenge(&one.id).await.unwrap();
        assert_eq!((now.state, now.started), (ChallengeState::Queued, Some(Timestamp(50))));
    });
}

#[test]
fn bots_are_open_to_others_only_if_the_author_allows_it() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await;
        competition(&site_db, "cup", None).await;
        let one = enter(&site_db, "cup", ada.id, "One").await;
        let two = enter(&site_db, "cup", ada.id, "Two").await;
        let version = accepted(&site_db, one.id, ada.id).await;
        accepted(&site_db, two.id, ada.id).await;
        let open = |own| {
            let site_db = &site_db;
            async move {
                let found = site_db.practice_bots(Some("colour-battle"), own, 10).await.unwrap();
                found.into_iter().map(|bot| bot.entrant.name).collect::<Vec<_>>()
            }
        };
        assert!(open(None).await.is_empty());
        assert_eq!(open(Some(ada.id)).await, ["One", "Two"]);
        site_db.set_practice_allowed(one.id, true).await.unwrap();
        assert_eq!(open(None).await, ["One"]);
        let found = site_db.practice_bots(None, None, 10).await.unwrap();
        assert_eq!(found[0].submission, version.id);
        assert_eq!(found[0].contributor.as_deref(), Some("Ada"));
        assert!(site_db.entrant(one.id).await.unwrap().practice);
        site_db.withdraw(one.id, Timestamp(7_000)).await.unwrap();
        assert!(open(None).await.is_empty() && site_db.latest_version(one.id).await.unwrap().is_none());
    });
}

#[test]
fn ladder_sums_results_and_marks_replaced_versions() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await;
        competition(&site_db, "cup", None).await;
        let bot = enter(&site_db, "cup", ada.id, "One").await;
        let first = accepted(&site_db, bot.id, ada.id).await;
        let uploaded = |submission: &Submission| NewPracticePlayer {
            submission: Some(submission.id.clone()),
            house: None,
            role: String::new(),
        };
        let house =
            NewPracticePlayer { submission: None, house: Some("random".to_owned()), role: String::new() };
        let joining = [house.clone(), uploaded(&first)];
        let players = site_db.add_practice_players("cup", &joining).await.unwrap();
        assert_eq!(site_db.add_practice_players("cup", &joining).await.unwrap(), players, "only once");
        let (a, b) = (players[0].id, players[1].id);
        assert_eq!(
            (players[1].name.as_str(), players[1].version, players[1].account),
            ("One", Some(1), Some(ada.id))
        );
        let score = |player, beaten, letter| PracticeScore { player, beaten, faults: 1, letter };
        let pair = PracticePair { a, b, games: 1, won: 0.5 };
        for _ in 0..25 {
            site_db.add_practice_results(&[score(a, 0.5, 'D'), score(b, 0.5, 'W')], &[pair]).await.unwrap();
        }
        let reversed = PracticePair { a: b, b: a, ..pair };
        assert!(site_db.add_practice_results(&[], &[reversed]).await.is_err());
        site_db
            .set_practice_ratings(&[PracticeRating { player: b, rating: 1600.0, error: 40.0 }])
            .await
            .unwrap();
        site_db.set_practice_failed(a, Some("gone")).await.unwrap();
        assert_eq!(
            site_db.practice_pairs("cup").await.unwrap(),
            [PracticePair { games: 25, won: 12.5, ..pair }]
        );
        let second = accepted(&site_db, bot.id, ada.id).await;
        let players = site_db.add_practice_players("cup", &[uploaded(&second)]).await.unwrap();
        assert_eq!(players.iter().map(|one| one.is_replaced).collect::<Vec<_>>(), [false, true, false]);
        let old = &players[1];
        assert_eq!((old.games, old.faults, old.form.as_str()), (25, 25, "W".repeat(20).as_str()));
        assert_eq!(
            (old.rating, old.error, players[0].failed.as_deref()),
            (Some(1600.0), Some(40.0), Some("gone"))
        );
        assert!((old.beaten - 12.5).abs() < 1e-9 && (old.beaten_squares - 6.25).abs() < 1e-9);
        let versions = site_db.practice_versions(bot.id).await.unwrap();
        assert_eq!(versions.iter().map(|one| one.version).collect::<Vec<_>>(), [Some(1), Some(2)]);
        assert!(site_db.has_practice_ladder("cup").await.unwrap());
        for on in [false, false, true] {
            site_db.set_practice_ladder("cup", on).await.unwrap();
            assert_eq!(site_db.has_practice_ladder("cup").await.unwrap(), on);
        }
    });
}
