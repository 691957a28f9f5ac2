//! Marks of entrants.

use agon_site_db::{MAX_MARKS, Role, SiteDbError, StoredMark};

use super::{account, competition, enter, open_site_db, run};

fn mark(mark: &str, note: Option<&str>, by_organiser: bool) -> StoredMark {
    StoredMark { mark: mark.to_owned(), note: note.map(str::to_owned), by_organiser }
}

#[test]
fn marks_are_replaced_and_listed_by_competition() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await;
        competition(&site_db, "cup", None).await;
        competition(&site_db, "other", None).await;
        let one = enter(&site_db, "cup", ada.id, "One").await;
        let two = enter(&site_db, "cup", ada.id, "Two").await;
        let far = enter(&site_db, "other", ada.id, "Far").await;
        let ai = mark("AI", Some("wrote it"), false);
        site_db.set_marks(one.id, std::slice::from_ref(&ai)).await.unwrap();
        site_db.set_marks(two.id, &[mark("exploit", None, true)]).await.unwrap();
        site_db.set_marks(far.id, &[mark("late", None, true)]).await.unwrap();
        let listed = site_db.marks("cup").await.unwrap();
        assert_eq!(listed, [(one.id, ai), (two.id, mark("exploit", None, true))]);
        site_db.set_marks(one.id, &[]).await.unwrap();
        assert_eq!(site_db.marks_of(one.id).await.unwrap(), []);
    });
}

#[test]
fn author_changes_only_the_authors_own_marks() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await;
        competition(&site_db, "cup", None).await;
        let bot = enter(&site_db, "cup", ada.id, "One").await;
        let exploit = mark("exploit", Some("seen in game 3"), true);
        site_db.set_marks(bot.id, &[mark("AI", None, false), exploit.clone()]).await.unwrap();
        site_db.set_author_marks(bot.id, &[mark("ai", Some("all"), false)], true).await.unwrap();
        let marks = site_db.marks_of(bot.id).await.unwrap();
        assert_eq!(marks, [mark("ai", Some("all"), false), exploit.clone()]);
        site_db.set_author_marks(bot.id, &[mark("exploit", None, false)], true).await.unwrap();
        assert_eq!(site_db.marks_of(bot.id).await.unwrap(), marks, "the organiser's mark stays as it is");
        site_db.set_author_marks(bot.id, &[], false).await.unwrap();
        assert_eq!(site_db.marks_of(bot.id).await.unwrap(), [exploit]);
    });
}

#[test]
fn marks_that_a_table_cannot_show_are_rejected() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await;
        competition(&site_db, "cup", None).await;
        let bot = enter(&site_db, "cup", ada.id, "One").await;
        let long = "x".repeat(201);
        let many: Vec<StoredMark> = (0..=MAX_MARKS).map(|n| mark(&format!("m{n}"), None, true)).collect();
        for wrong in [
            vec![mark("", None, true)],
            vec![mark(" AI", None, true)],
            vec![mark("a (b)", None, true)],
            vec![mark("a\nb", None, true)],
            vec![mark(&long, None, true)],
            vec![mark("AI", Some(&long), true)],
            vec![mark("AI", None, true), mark("ai", None, true)],
            many,
        ] {
            let result = site_db.set_marks(bot.id, &wrong).await;
            assert!(matches!(result, Err(SiteDbError::Invalid { .. })), "{wrong:?}: {result:?}");
        }
        assert_eq!(site_db.marks_of(bot.id).await.unwrap(), []);
    });
}
