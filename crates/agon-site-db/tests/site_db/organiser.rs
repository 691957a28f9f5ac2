//! Freezes of standings, and drafts of bots.

use agon_site_db::{DraftKey, MAX_DRAFT_BYTES, MAX_DRAFTS, Role, SiteDbError, StandingsFreeze};
use agon_store::Timestamp;

use crate::{account, competition, open_site_db, run};

#[test]
fn freeze_is_stored_until_another_one_replaces_it() {
    run(async {
        let site_db = open_site_db().await;
        competition(&site_db, "cup", None).await;
        assert_eq!(site_db.standings_freeze("cup").await.unwrap(), None);
        let freeze = StandingsFreeze { since: Timestamp(5), revealed: 0, lifted: None };
        site_db.set_standings_freeze("cup", freeze).await.unwrap();
        assert_eq!(site_db.standings_freeze("cup").await.unwrap(), Some(freeze));
        let lifted = StandingsFreeze { revealed: 3, lifted: Some(Timestamp(9)), ..freeze };
        site_db.set_standings_freeze("cup", lifted).await.unwrap();
        assert_eq!(site_db.standings_freeze("cup").await.unwrap(), Some(lifted));
        assert!(site_db.set_standings_freeze("no-such", freeze).await.is_err());
        site_db
            .set_state(
                "cup",
                &[agon_site_db::CompetitionState::Open],
                agon_site_db::CompetitionState::Draft,
                None,
            )
            .await
            .unwrap();
        site_db.delete_competition("cup").await.unwrap();
        assert_eq!(site_db.standings_freeze("cup").await.unwrap(), None, "it belongs to the competition");
    });
}

#[test]
fn draft_changes_only_from_its_latest_revision() {
    run(async {
        let site_db = open_site_db().await;
        competition(&site_db, "cup", None).await;
        let author = account(&site_db, "Ada", Role::Author).await;
        let key = DraftKey { account: author.id, competition: "cup".to_owned(), bot: 0 };
        assert_eq!(site_db.bot_draft(&key).await.unwrap(), None);
        let first = site_db.put_bot_draft(&key, "[1]", 0, Timestamp(1)).await.unwrap();
        assert_eq!((first.revision, first.files.as_str()), (1, "[1]"));
        let second = site_db.put_bot_draft(&key, "[2]", 1, Timestamp(2)).await.unwrap();
        assert_eq!(second.revision, 2);
        for old in [0, 1, 3] {
            let refused = site_db.put_bot_draft(&key, "[3]", old, Timestamp(3)).await.unwrap_err();
            assert!(matches!(refused, SiteDbError::Conflict { .. }), "{refused}");
        }
        assert_eq!(site_db.bot_draft(&key).await.unwrap(), Some(second));
        let other = DraftKey { bot: 7, ..key.clone() };
        assert_eq!(site_db.bot_draft(&other).await.unwrap(), None, "each bot has its own");
        site_db.delete_bot_draft(&key).await.unwrap();
        site_db.delete_bot_draft(&key).await.unwrap();
        assert_eq!(site_db.bot_draft(&key).await.unwrap(), None);
    });
}

#[test]
fn drafts_are_limited_in_size_and_number() {
    run(async {
        let site_db = open_site_db().await;
        competition(&site_db, "cup", None).await;
        let author = account(&site_db, "Ada", Role::Author).await;
        let key = |bot: u32| DraftKey { account: author.id, competition: "cup".to_owned(), bot: bot.into() };
        let large = "x".repeat(MAX_DRAFT_BYTES + 1);
        let refused = site_db.put_bot_draft(&key(0), &large, 0, Timestamp(1)).await.unwrap_err();
        assert!(matches!(refused, SiteDbError::Invalid { field: "files", .. }), "{refused}");
        for bot in 0..MAX_DRAFTS {
            site_db.put_bot_draft(&key(bot), "[]", 0, Timestamp(1)).await.unwrap();
        }
        let refused = site_db.put_bot_draft(&key(MAX_DRAFTS), "[]", 0, Timestamp(1)).await.unwrap_err();
        assert!(matches!(refused, SiteDbError::TooMany { .. }), "{refused}");
        // A draft that is there can still be changed.
        site_db.put_bot_draft(&key(3), "[4]", 1, Timestamp(2)).await.unwrap();
    });
}
