//! Links of mails, notifications, the mail queue, webhooks.

use agon_site_db::{
    AccountId, LinkPurpose, MAX_DELIVERY_ATTEMPTS, MAX_MAIL_ATTEMPTS, MAX_NOTIFICATIONS,
    MAX_WEBHOOK_FAILURES, MAX_WEBHOOKS, NewAccountLink, NewMail, NewNotification, NewSession, NewWebhook,
    NotificationChannel, NotificationKind, PageRequest, Role, SecretString, SiteDb, SiteDbError,
};
use agon_store::Timestamp;

use super::{account, competition, hash, open_site_db, run};

const NOW: Timestamp = Timestamp(1_000_000);
const HOUR: i64 = 3_600_000;

fn link(account: AccountId, code: &str, purpose: LinkPurpose, address: Option<&str>) -> NewAccountLink {
    NewAccountLink {
        code: hash(code),
        account,
        purpose,
        address: address.map(str::to_owned),
        expires: Timestamp(NOW.0 + HOUR),
        at: NOW,
    }
}

#[test]
fn address_is_verified_only_by_its_own_link() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        site_db.set_mail_address(ada, Some("ada@example.org")).await.unwrap();
        assert_eq!(site_db.accounts_with_mail("ada@example.org").await.unwrap(), []);
        let verify = LinkPurpose::VerifyMail;
        site_db.create_account_link(&link(ada, "one", verify, Some("ada@example.org"))).await.unwrap();
        assert!(site_db.verify_mail(hash("one"), Timestamp(NOW.0 + HOUR)).await.is_err(), "it has expired");
        // Another address ends the links of the first.
        site_db.set_mail_address(ada, Some("new@example.org")).await.unwrap();
        assert!(site_db.verify_mail(hash("one"), NOW).await.is_err());
        site_db.create_account_link(&link(ada, "two", verify, Some("new@example.org"))).await.unwrap();
        assert!(site_db.reset_password(hash("two"), &SecretString::new("x"), NOW).await.is_err());
        assert_eq!(site_db.verify_mail(hash("two"), NOW).await.unwrap(), ada);
        assert!(site_db.verify_mail(hash("two"), NOW).await.is_err(), "it was used");
        let found = site_db.accounts_with_mail("NEW@example.org").await.unwrap();
        assert_eq!(found.iter().map(|account| account.id).collect::<Vec<_>>(), [ada]);
        for wrong in ["", "a", "a@b", "a@b.org\r\nBcc: c@d.org"] {
            assert!(matches!(
                site_db.set_mail_address(ada, Some(wrong)).await,
                Err(SiteDbError::Invalid { .. })
            ));
        }
        site_db.set_mail_address(ada, None).await.unwrap();
        assert_eq!(site_db.mail_address(ada).await.unwrap(), None);
    });
}

#[test]
fn password_link_works_once_and_ends_all_sessions_and_other_links() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        let session = NewSession {
            token: hash("session"),
            account: ada,
            csrf: SecretString::new("csrf"),
            agent: String::new(),
            at: NOW,
        };
        site_db.create_session(&session).await.unwrap();
        let reset = LinkPurpose::ResetPassword;
        for code in ["one", "two"] {
            site_db.create_account_link(&link(ada, code, reset, None)).await.unwrap();
        }
        assert_eq!(site_db.account_of_link(hash("one"), reset, NOW).await.unwrap(), ada);
        let hash_of_new = SecretString::new("argon:new");
        assert_eq!(site_db.reset_password(hash("one"), &hash_of_new, NOW).await.unwrap(), ada);
        assert_eq!(site_db.password_hash(ada).await.unwrap(), hash_of_new);
        assert!(site_db.find_session(hash("session"), NOW).await.unwrap().is_none());
        for code in ["one", "two", "three"] {
            assert!(site_db.reset_password(hash(code), &hash_of_new, NOW).await.is_err(), "{code}");
        }
        site_db.create_account_link(&link(ada, "four", reset, None)).await.unwrap();
        site_db.set_disabled(ada, true, NOW).await.unwrap();
        assert!(site_db.reset_password(hash("four"), &hash_of_new, NOW).await.is_err(), "it is disabled");
    });
}

fn notification(account: AccountId, topic: &str, at: i64) -> NewNotification {
    NewNotification {
        account,
        kind: NotificationKind::Overtaken,
        text: format!("about {topic}"),
        link: "/c/cup".to_owned(),
        topic: topic.to_owned(),
        shown: true,
        at: Timestamp(at),
    }
}

#[test]
fn notifications_are_listed_counted_and_read() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        let bob = account(&site_db, "Bob", Role::Author).await.id;
        let first = site_db.add_notification(&notification(ada, "one", 1)).await.unwrap();
        let second = site_db.add_notification(&notification(ada, "two", 2)).await.unwrap();
        site_db.add_notification(&notification(bob, "three", 3)).await.unwrap();
        let hidden = NewNotification { shown: false, ..notification(ada, "four", 4) };
        site_db.add_notification(&hidden).await.unwrap();
        assert_eq!(site_db.count_unread(ada).await.unwrap(), 2);
        let listed = site_db.notifications(ada, PageRequest::default()).await.unwrap().items;
        assert_eq!(listed.iter().map(|one| one.id).collect::<Vec<_>>(), [second, first]);
        assert_eq!(site_db.mark_read(bob, second, true, NOW).await.unwrap(), 0, "it is Ada's");
        assert_eq!(site_db.mark_read(ada, second, true, NOW).await.unwrap(), 1);
        assert_eq!(site_db.count_unread(ada).await.unwrap(), 1);
        site_db.mark_read(ada, second, false, NOW).await.unwrap();
        assert_eq!(site_db.count_unread(ada).await.unwrap(), 0);
        let kind = NotificationKind::Overtaken;
        assert!(site_db.is_notified_since(ada, kind, "four", Timestamp(3)).await.unwrap());
        assert!(!site_db.is_notified_since(ada, kind, "four", Timestamp(4)).await.unwrap());
        assert!(
            !site_db.is_notified_since(ada, NotificationKind::Crashed, "four", Timestamp(0)).await.unwrap()
        );
        for wrong in ["https://example.org", "//example.org", "c/cup", "/a\nb"] {
            let wrong = NewNotification { link: wrong.to_owned(), ..notification(ada, "x", 5) };
            assert!(site_db.add_notification(&wrong).await.is_err());
        }
    });
}

#[test]
fn oldest_notifications_are_removed_beyond_the_limit() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        for at in 0..MAX_NOTIFICATIONS + 3 {
            site_db.add_notification(&notification(ada, &at.to_string(), at)).await.unwrap();
        }
        assert_eq!(site_db.count_unread(ada).await.unwrap(), MAX_NOTIFICATIONS as u64);
        let newest = site_db.notifications(ada, PageRequest::default()).await.unwrap().items;
        assert_eq!(newest[0].created, Timestamp(MAX_NOTIFICATIONS + 2));
    });
}

#[test]
fn channel_choices_replace_the_usual_ones() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        let (kind, mail) = (NotificationKind::CheckDone, NotificationChannel::Mail);
        assert!(site_db.wants(ada, kind, mail).await.unwrap());
        assert!(!site_db.wants(ada, NotificationKind::Overtaken, mail).await.unwrap());
        site_db.set_channel_choices(ada, &[(kind, mail, false)]).await.unwrap();
        assert!(!site_db.wants(ada, kind, mail).await.unwrap());
        assert!(site_db.wants(ada, kind, NotificationChannel::Site).await.unwrap());
        site_db.set_channel_choices(ada, &[(kind, mail, true)]).await.unwrap();
        site_db.turn_off_channel(ada, mail).await.unwrap();
        for &kind in NotificationKind::ALL {
            assert!(!site_db.wants(ada, kind, mail).await.unwrap(), "{kind}");
        }
    });
}

fn mail(account: AccountId, subject: &str, digest: bool) -> NewMail {
    NewMail {
        account,
        address: "ada@example.org".to_owned(),
        subject: subject.to_owned(),
        body: format!("{subject}\n"),
        digest,
        at: NOW,
    }
}

async fn due_subjects(site_db: &SiteDb, now: i64, per_hour: u32) -> Vec<String> {
    let due = site_db.due_mails(Timestamp(now), per_hour).await.unwrap();
    due.into_iter().map(|one| one.mail.subject).collect()
}

#[test]
fn notification_mails_are_sent_together_and_limited_per_hour_and_links_are_not() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        for subject in ["one", "two"] {
            site_db.queue_mail(&mail(ada, subject, true)).await.unwrap();
        }
        site_db.queue_mail(&mail(ada, "link", false)).await.unwrap();
        assert_eq!(due_subjects(&site_db, NOW.0, 1).await, ["link"], "links come first");
        let due = site_db.due_mails(NOW, 1).await.unwrap();
        site_db.mails_sent(&due, NOW).await.unwrap();
        assert_eq!(due_subjects(&site_db, NOW.0, 1).await, ["one", "two"]);
        let due = site_db.due_mails(NOW, 1).await.unwrap();
        site_db.mails_sent(&due, NOW).await.unwrap();
        site_db.queue_mail(&mail(ada, "three", true)).await.unwrap();
        assert_eq!(due_subjects(&site_db, NOW.0 + 1, 1).await, [""; 0], "one mail was sent in this hour");
        assert_eq!(due_subjects(&site_db, NOW.0 + 1, 2).await, ["three"]);
        assert_eq!(due_subjects(&site_db, NOW.0 + HOUR + 1, 1).await, ["three"]);
    });
}

#[test]
fn mail_that_fails_waits_longer_and_is_given_up_in_the_end() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        site_db.queue_mail(&mail(ada, "one", true)).await.unwrap();
        for attempt in 1..=i64::from(MAX_MAIL_ATTEMPTS) {
            let now = NOW.0 + attempt * 1_000;
            let due = site_db.due_mails(Timestamp(now), 4).await.unwrap();
            assert_eq!(i64::from(due[0].attempts), attempt - 1);
            let removed = site_db.mails_failed(&due, Timestamp(now + 1_000), false).await.unwrap();
            assert_eq!(removed, attempt == i64::from(MAX_MAIL_ATTEMPTS));
            assert_eq!(due_subjects(&site_db, now, 4).await, [""; 0], "it waits");
        }
        assert_eq!(site_db.count_queued_mails().await.unwrap(), 0);
        site_db.queue_mail(&mail(ada, "two", true)).await.unwrap();
        let due = site_db.due_mails(NOW, 4).await.unwrap();
        assert!(site_db.mails_failed(&due, NOW, true).await.unwrap(), "the server refuses it for good");
        assert_eq!(site_db.next_mail_due().await.unwrap(), None);
    });
}

fn webhook(account: AccountId, competition: Option<&str>) -> NewWebhook {
    NewWebhook {
        account,
        competition: competition.map(str::to_owned),
        url: "https://example.org/hook".to_owned(),
        secret: SecretString::new("secret"),
        at: NOW,
    }
}

#[test]
fn deliveries_go_to_the_webhooks_of_the_account_or_of_the_competition() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Organiser).await.id;
        let bob = account(&site_db, "Bob", Role::Author).await.id;
        competition(&site_db, "cup", None).await;
        let own = site_db.create_webhook(&webhook(ada, None)).await.unwrap();
        let of_cup = site_db.create_webhook(&webhook(ada, Some("cup"))).await.unwrap();
        assert!(site_db.create_webhook(&webhook(ada, Some("none"))).await.is_err());
        assert_eq!(site_db.queue_deliveries(Some(bob), None, "{}", NOW).await.unwrap(), 0);
        assert_eq!(site_db.queue_deliveries(Some(ada), None, "{\"a\":1}", NOW).await.unwrap(), 1);
        assert_eq!(site_db.queue_deliveries(None, Some("cup"), "{\"b\":1}", NOW).await.unwrap(), 1);
        let due = site_db.due_deliveries(NOW).await.unwrap();
        let shown: Vec<(i64, &str)> = due.iter().map(|one| (one.webhook.id, one.body.as_str())).collect();
        assert_eq!(shown, [(own.id, "{\"a\":1}"), (of_cup.id, "{\"b\":1}")]);
        site_db.delivery_done(&due[0]).await.unwrap();
        assert!(site_db.delete_webhook(bob, of_cup.id).await.is_err());
        site_db.delete_webhook(ada, of_cup.id).await.unwrap();
        assert_eq!(site_db.due_deliveries(NOW).await.unwrap(), []);
        for _ in 1..MAX_WEBHOOKS {
            site_db.create_webhook(&webhook(ada, None)).await.unwrap();
        }
        assert!(matches!(
            site_db.create_webhook(&webhook(ada, None)).await,
            Err(SiteDbError::TooMany { .. })
        ));
    });
}

#[test]
fn webhook_is_disabled_after_repeated_failures() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        let hook = site_db.create_webhook(&webhook(ada, None)).await.unwrap();
        let mut failures = 0;
        while failures < MAX_WEBHOOK_FAILURES {
            site_db.queue_deliveries(Some(ada), None, "{}", NOW).await.unwrap();
            for attempt in 1..=MAX_DELIVERY_ATTEMPTS.min(MAX_WEBHOOK_FAILURES - failures) {
                let due = site_db.due_deliveries(NOW).await.unwrap();
                assert_eq!((due.len(), due[0].attempts), (1, attempt - 1));
                let disabled = site_db.delivery_failed(&due[0], "refused", NOW, NOW).await.unwrap();
                failures += 1;
                assert_eq!(disabled, failures == MAX_WEBHOOK_FAILURES);
            }
            assert_eq!(site_db.due_deliveries(NOW).await.unwrap(), [], "it was given up");
        }
        assert_eq!(site_db.queue_deliveries(Some(ada), None, "{}", NOW).await.unwrap(), 0);
        assert!(site_db.queue_test_delivery(ada, hook.id, "{}", NOW).await.is_err());
        let enabled = site_db.enable_webhook(ada, hook.id).await.unwrap();
        assert_eq!((enabled.failures, enabled.disabled), (0, None));
        site_db.queue_test_delivery(ada, hook.id, "{}", NOW).await.unwrap();
        let due = site_db.due_deliveries(NOW).await.unwrap();
        site_db.delivery_done(&due[0]).await.unwrap();
        assert_eq!(site_db.next_delivery_due().await.unwrap(), None);
    });
}
