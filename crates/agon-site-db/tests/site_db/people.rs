//! Accounts, sessions, API tokens, invitations, the audit log, settings.

use agon_core::ErrorKind;
use agon_site_db::{
    AccountId, AuditFilter, InvitationId, MAX_TOKENS, NewAuditEntry, NewInvitation, NewSession, NewToken,
    PageRequest, Role, SESSION_IDLE_TIMEOUT_MS, SESSION_TOTAL_TIMEOUT_MS, SecretString, SignUpGrant, SiteDb,
    SiteDbError, TokenId,
};
use agon_store::Timestamp;

use super::{account, hash, new_account, open_site_db, run};

const MINUTE: i64 = 60_000;

async fn sign_in(site_db: &SiteDb, account: AccountId, token: &str, at: i64) {
    let csrf = SecretString::new(format!("csrf of {token}"));
    let agent = "Mozilla/5.0 ".repeat(40);
    site_db
        .create_session(&NewSession { token: hash(token), account, csrf, agent, at: Timestamp(at) })
        .await
        .unwrap();
}

async fn is_signed_in(site_db: &SiteDb, token: &str, at: i64) -> bool {
    site_db.find_session(hash(token), Timestamp(at)).await.unwrap().is_some()
}

fn token(account: AccountId, text: &str, expires: Option<Timestamp>) -> NewToken {
    NewToken { account, label: format!("for {text}"), token: hash(text), expires, at: Timestamp(1_000) }
}

fn invitation(code: &str, uses: u32) -> NewInvitation {
    NewInvitation {
        code: hash(code),
        role: Role::Author,
        note: "for the maths club".to_owned(),
        by: None,
        expires: Timestamp(100_000),
        uses,
        at: Timestamp(1_000),
    }
}

#[test]
fn account_is_found_by_any_spelling_of_its_name() {
    run(async {
        let site_db = open_site_db().await;
        let zoe = account(&site_db, "Zoe\u{308}", Role::Author).await;
        assert_eq!((zoe.name.as_str(), zoe.role, zoe.created), ("Zoë", Role::Author, Timestamp(1_000)));
        for name in ["Zoë", "ZOË", "zoe\u{308}", " zoë "] {
            assert_eq!(site_db.account_by_name(name).await.unwrap().as_ref(), Some(&zoe), "{name}");
        }
        for name in ["Zoe", "", "\u{202e}", &"x".repeat(10_000)] {
            assert_eq!(site_db.account_by_name(name).await.unwrap(), None, "{name}");
        }
        let taken =
            site_db.create_account(&new_account("ＺＯË", SignUpGrant::Open(Role::Author))).await.unwrap_err();
        assert!(matches!(taken, SiteDbError::Taken { what: "name" }), "{taken}");
        let error =
            site_db.create_account(&new_account(" x", SignUpGrant::Open(Role::Author))).await.unwrap_err();
        assert!(
            matches!(error, SiteDbError::Invalid { field: "name", .. }) && error.kind() == ErrorKind::Usage
        );
        let known = site_db.credentials("zoë").await.unwrap().unwrap();
        assert_eq!(known.password_hash.expose(), "argon:Zoe\u{308}");
        assert!(!format!("{known:?}").contains("argon"), "{known:?}");
        assert_eq!(site_db.account(zoe.id).await.unwrap(), zoe);
        let missing = site_db.account(AccountId(99)).await.unwrap_err();
        assert!(matches!(missing, SiteDbError::NotFound { what: "account" }), "{missing}");
    });
}

#[test]
fn accounts_are_listed_in_pages_newest_first() {
    run(async {
        let site_db = open_site_db().await;
        for number in 0..7 {
            account(&site_db, &format!("n{number}"), Role::Spectator).await;
        }
        let (mut page, mut names, mut parts) = (PageRequest { after: None, limit: 3 }, Vec::new(), 0);
        loop {
            let part = site_db.accounts(page).await.unwrap();
            parts += 1;
            names.extend(part.items.into_iter().map(|account| account.name));
            if parts == 1 {
                account(&site_db, "came in between", Role::Spectator).await;
            }
            page.after = part.next;
            if page.after.is_none() {
                break;
            }
        }
        assert_eq!((names.join(" ").as_str(), parts), ("n6 n5 n4 n3 n2 n1 n0", 3));
        let whole = site_db.accounts(PageRequest { after: None, limit: 8 }).await.unwrap();
        assert_eq!((whole.items.len(), whole.next), (8, None));
        assert_eq!(site_db.accounts(PageRequest { after: None, limit: 0 }).await.unwrap().items.len(), 1);
    });
}

#[test]
fn last_organiser_cannot_be_demoted_or_disabled() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Organiser).await.id;
        let bob = account(&site_db, "Bob", Role::Organiser).await.id;
        assert_eq!(site_db.count_organisers().await.unwrap(), 2);
        assert_eq!(site_db.set_role(ada, Role::Author).await.unwrap().role, Role::Author);
        for error in [
            site_db.set_role(bob, Role::Spectator).await.unwrap_err(),
            site_db.set_disabled(bob, true, Timestamp(5)).await.unwrap_err(),
        ] {
            assert_eq!(error.to_string(), "Bob is the last organiser");
            assert!(matches!(error, SiteDbError::Conflict { .. }));
        }
        assert_eq!(site_db.set_role(bob, Role::Organiser).await.unwrap().role, Role::Organiser);
        // A disabled organiser does not count.
        site_db.set_role(ada, Role::Organiser).await.unwrap();
        assert_eq!(site_db.set_disabled(ada, true, Timestamp(5)).await.unwrap().disabled, Some(Timestamp(5)));
        assert_eq!(site_db.count_organisers().await.unwrap(), 1);
        assert!(site_db.set_disabled(bob, true, Timestamp(6)).await.is_err());
        // And may be demoted, because another organiser remains.
        site_db.set_role(ada, Role::Author).await.unwrap();
        assert_eq!(site_db.account(ada).await.unwrap().disabled, Some(Timestamp(5)));
        let missing = site_db.set_role(AccountId(99), Role::Author).await.unwrap_err();
        assert!(matches!(missing, SiteDbError::NotFound { .. }), "{missing}");
    });
}

#[test]
fn disabled_account_is_signed_out_until_the_next_sign_in() {
    run(async {
        let site_db = open_site_db().await;
        let (ada, bob) = (
            account(&site_db, "Ada", Role::Author).await.id,
            account(&site_db, "Bob", Role::Author).await.id,
        );
        sign_in(&site_db, ada, "a", 1_000).await;
        sign_in(&site_db, bob, "b", 1_000).await;
        site_db.create_token(&token(ada, "ta", None)).await.unwrap();
        site_db.create_token(&token(bob, "tb", None)).await.unwrap();
        site_db.set_disabled(ada, true, Timestamp(2_000)).await.unwrap();
        let no_session = NewSession {
            token: hash("a2"),
            account: ada,
            csrf: SecretString::new(""),
            agent: String::new(),
            at: Timestamp(2_001),
        };
        assert!(matches!(site_db.create_session(&no_session).await, Err(SiteDbError::Conflict { .. })));
        assert!(matches!(
            site_db.create_token(&token(ada, "ta2", None)).await,
            Err(SiteDbError::Conflict { .. })
        ));
        for enabled in [false, true] {
            if enabled {
                assert_eq!(site_db.set_disabled(ada, false, Timestamp(3_000)).await.unwrap().disabled, None);
            }
            assert!(!is_signed_in(&site_db, "a", 4_000).await);
            assert!(site_db.find_token(hash("ta"), Timestamp(4_000)).await.unwrap().is_none());
            assert!(is_signed_in(&site_db, "b", 4_000).await);
            assert!(site_db.find_token(hash("tb"), Timestamp(4_000)).await.unwrap().is_some());
        }
        assert_eq!(site_db.tokens_of(ada).await.unwrap()[0].revoked, Some(Timestamp(2_000)));
    });
}

#[test]
fn new_password_ends_all_other_sessions() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        let bob = account(&site_db, "Bob", Role::Author).await.id;
        for token in ["here", "phone", "stolen"] {
            sign_in(&site_db, ada, token, 1_000).await;
        }
        sign_in(&site_db, bob, "bob", 1_000).await;
        site_db.set_password_hash(ada, &SecretString::new("new"), Some(hash("here"))).await.unwrap();
        assert_eq!(site_db.password_hash(ada).await.unwrap().expose(), "new");
        let left = [("here", true), ("phone", false), ("stolen", false), ("bob", true)];
        for (token, stays) in left {
            assert_eq!(is_signed_in(&site_db, token, 2_000).await, stays, "{token}");
        }
        site_db.set_password_hash(ada, &SecretString::new("newer"), None).await.unwrap();
        assert!(!is_signed_in(&site_db, "here", 2_000).await);
        assert!(site_db.set_password_hash(AccountId(99), &SecretString::new("x"), None).await.is_err());
    });
}

#[test]
fn session_expiry_moves_with_use_up_to_a_maximum() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await;
        sign_in(&site_db, ada.id, "t", 0).await;
        let find = |at| site_db.find_session(hash("t"), Timestamp(at));
        let (session, whose) = find(MINUTE - 1).await.unwrap().unwrap();
        assert_eq!(whose, ada);
        assert_eq!(
            (session.seen, session.expires),
            (Timestamp(0), Timestamp(SESSION_IDLE_TIMEOUT_MS)),
            "less than a minute"
        );
        assert_eq!(session.agent.chars().count(), 200);
        assert_eq!(session.csrf.expose(), "csrf of t");
        assert!(!format!("{session:?}").contains("csrf of"), "{session:?}");
        find(MINUTE).await.unwrap().unwrap();
        let (session, _) = find(MINUTE + 1).await.unwrap().unwrap();
        assert_eq!(
            (session.seen, session.expires),
            (Timestamp(MINUTE), Timestamp(MINUTE + SESSION_IDLE_TIMEOUT_MS))
        );
        // A clock that was set back changes nothing.
        assert_eq!(find(-5).await.unwrap().unwrap().0.seen, Timestamp(MINUTE));
        assert!(find(MINUTE + SESSION_IDLE_TIMEOUT_MS).await.unwrap().is_none(), "not used for 14 days");
        // A session that is used every week ends after 90 days.
        let week = SESSION_IDLE_TIMEOUT_MS / 2;
        let mut last = MINUTE;
        while find(last + week).await.unwrap().is_some() {
            last += week;
        }
        assert!(last < SESSION_TOTAL_TIMEOUT_MS && last + week >= SESSION_TOTAL_TIMEOUT_MS, "{last}");
        assert_eq!(find(last).await.unwrap().unwrap().0.expires, Timestamp(SESSION_TOTAL_TIMEOUT_MS));
        assert!(site_db.find_session(hash("another"), Timestamp(1)).await.unwrap().is_none());
    });
}

#[test]
fn sessions_are_ended_and_expired_ones_deleted() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        for (token, at) in [("old", 0), ("a", 50_000), ("b", 50_000), ("c", 50_000)] {
            sign_in(&site_db, ada, token, at).await;
        }
        assert_eq!(site_db.sweep_sessions(Timestamp(SESSION_IDLE_TIMEOUT_MS)).await.unwrap(), 1);
        assert!(!is_signed_in(&site_db, "old", 1).await, "deleted, not only expired");
        site_db.end_session(hash("a")).await.unwrap();
        site_db.end_session(hash("a")).await.unwrap();
        assert!(!is_signed_in(&site_db, "a", 50_001).await && is_signed_in(&site_db, "b", 50_001).await);
        assert_eq!(site_db.end_sessions_of(ada).await.unwrap(), 2);
        assert!(!is_signed_in(&site_db, "b", 50_001).await);
    });
}

#[test]
fn tokens_are_valid_until_they_expire_or_are_revoked() {
    run(async {
        let site_db = open_site_db().await;
        let (ada, bob) =
            (account(&site_db, "Ada", Role::Author).await, account(&site_db, "Bob", Role::Author).await);
        let stored = site_db.create_token(&token(ada.id, "t", Some(Timestamp(500_000)))).await.unwrap();
        assert_eq!((stored.label.as_str(), stored.used), ("for t", None));
        let find = |at| site_db.find_token(hash("t"), Timestamp(at));
        let (found, whose) = find(2_000).await.unwrap().unwrap();
        assert_eq!((found.used, whose), (Some(Timestamp(2_000)), ada.clone()));
        // The first use is written at once, later ones once a minute.
        assert_eq!(find(2_000 + MINUTE - 1).await.unwrap().unwrap().0.used, Some(Timestamp(2_000)));
        assert_eq!(find(2_000 + MINUTE).await.unwrap().unwrap().0.used, Some(Timestamp(2_000 + MINUTE)));
        assert_eq!(site_db.tokens_of(ada.id).await.unwrap()[0].used, Some(Timestamp(2_000 + MINUTE)));
        assert!(find(500_000).await.unwrap().is_none(), "expired");
        let others = site_db.revoke_token(bob.id, stored.id, Timestamp(7)).await.unwrap_err();
        assert!(matches!(others, SiteDbError::NotFound { what: "token" }), "{others}");
        assert!(site_db.revoke_token(ada.id, TokenId(99), Timestamp(7)).await.is_err());
        site_db.revoke_token(ada.id, stored.id, Timestamp(7)).await.unwrap();
        let again = site_db.revoke_token(ada.id, stored.id, Timestamp(8)).await.unwrap();
        assert_eq!(again.revoked, Some(Timestamp(7)));
        assert!(find(2_000).await.unwrap().is_none(), "revoked");

        for (label, expires) in
            [("", None), (" ", None), (&*"x".repeat(61), None), ("x", Some(Timestamp(1_000)))]
        {
            let new = NewToken { label: label.to_owned(), expires, ..token(ada.id, "other", None) };
            let error = site_db.create_token(&new).await.unwrap_err();
            assert!(matches!(error, SiteDbError::Invalid { .. }), "{error}");
        }
        for number in 0..MAX_TOKENS {
            site_db.create_token(&token(ada.id, &format!("{number}"), None)).await.unwrap();
        }
        let more = site_db.create_token(&token(ada.id, "more", None)).await.unwrap_err();
        assert!(matches!(more, SiteDbError::TooMany { limit: MAX_TOKENS }), "{more}");
        assert_eq!(site_db.tokens_of(ada.id).await.unwrap()[0].label, format!("for {}", MAX_TOKENS - 1));
        assert!(site_db.tokens_of(bob.id).await.unwrap().is_empty());
    });
}

#[test]
fn invitation_allows_its_number_of_sign_ups_with_its_role() {
    run(async {
        let site_db = open_site_db().await;
        let made = site_db.create_invitation(&invitation("code", 2)).await.unwrap();
        let sign_up = async |name: &str, code: &str, at| {
            let mut new = new_account(name, SignUpGrant::Invited(hash(code)));
            new.at = Timestamp(at);
            site_db.create_account(&new).await
        };
        let left = async || site_db.find_invitation(hash("code")).await.unwrap().unwrap().uses_left;
        let ada = sign_up("Ada", "code", 2_000).await.unwrap();
        assert_eq!((ada.role, ada.invitation), (Role::Author, Some(made.id)));
        assert_eq!(left().await, 1);
        // A failed sign-up consumes no use.
        assert!(matches!(sign_up("ADA", "code", 2_000).await, Err(SiteDbError::Taken { .. })));
        assert!(matches!(sign_up("", "code", 2_000).await, Err(SiteDbError::Invalid { .. })));
        assert!(matches!(
            sign_up("Bob", "wrong", 2_000).await,
            Err(SiteDbError::NotFound { what: "invitation" })
        ));
        assert_eq!(
            sign_up("Bob", "code", 100_000).await.unwrap_err().to_string(),
            "the invitation has expired"
        );
        assert_eq!(left().await, 1);
        sign_up("Bob", "code", 99_999).await.unwrap();
        assert_eq!(
            sign_up("Cy", "code", 2_000).await.unwrap_err().to_string(),
            "the invitation is already used"
        );

        let other = site_db.create_invitation(&invitation("other", 5)).await.unwrap();
        site_db.revoke_invitation(other.id, Timestamp(50)).await.unwrap();
        assert_eq!(
            site_db.revoke_invitation(other.id, Timestamp(60)).await.unwrap().revoked,
            Some(Timestamp(50))
        );
        assert_eq!(
            sign_up("Cy", "other", 2_000).await.unwrap_err().to_string(),
            "the invitation was revoked"
        );
        assert!(site_db.revoke_invitation(InvitationId(99), Timestamp(1)).await.is_err());
        let ids: Vec<_> = site_db
            .invitations(PageRequest::default())
            .await
            .unwrap()
            .items
            .iter()
            .map(|one| one.id)
            .collect();
        assert_eq!(ids, [other.id, made.id]);
        assert!(site_db.find_invitation(hash("none")).await.unwrap().is_none());
    });
}

#[test]
fn invalid_invitations_are_rejected() {
    run(async {
        let site_db = open_site_db().await;
        for (field, new) in [
            ("uses", NewInvitation { uses: 0, ..invitation("c", 1) }),
            ("uses", NewInvitation { uses: 10_001, ..invitation("c", 1) }),
            ("expires", NewInvitation { expires: Timestamp(1_000), ..invitation("c", 1) }),
            ("note", NewInvitation { note: "x".repeat(201), ..invitation("c", 1) }),
        ] {
            let error = site_db.create_invitation(&new).await.unwrap_err();
            assert!(
                matches!(error, SiteDbError::Invalid { field: actual, .. } if actual == field),
                "{error}"
            );
        }
        let missing = NewInvitation { by: Some(AccountId(99)), ..invitation("c", 1) };
        assert!(matches!(site_db.create_invitation(&missing).await, Err(SiteDbError::NotFound { .. })));
        site_db.create_invitation(&invitation("c", 1)).await.unwrap();
        assert!(matches!(
            site_db.create_invitation(&invitation("c", 1)).await,
            Err(SiteDbError::Taken { .. })
        ));
    });
}

#[test]
fn audit_log_is_listed_newest_first_and_filtered() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Organiser).await.id;
        let entry = |number: i64| NewAuditEntry {
            at: Timestamp(number),
            account: (number % 2 == 0).then_some(ada),
            action: if number % 3 == 0 { "game.void" } else { "bot.disqualify" }.to_owned(),
            competition: (number < 6).then(|| "cup".to_owned()),
            subject: format!("match {number}"),
            reason: "the board was \"wrong\"".to_owned(),
            detail: r#"{"phase":1}"#.to_owned(),
        };
        for number in 0..12 {
            site_db.append_audit(&entry(number)).await.unwrap();
        }
        let asked = async |filter: AuditFilter| -> Vec<i64> {
            let (mut page, mut found) = (PageRequest { after: None, limit: 2 }, Vec::new());
            loop {
                let part = site_db.audit(&filter, page).await.unwrap();
                found.extend(part.items.iter().map(|entry| entry.entry.at.0));
                page.after = part.next;
                if page.after.is_none() {
                    return found;
                }
            }
        };
        let all = AuditFilter::default();
        assert_eq!(asked(all.clone()).await, (0..12).rev().collect::<Vec<_>>());
        assert_eq!(asked(AuditFilter { account: Some(ada), ..all.clone() }).await, [10, 8, 6, 4, 2, 0]);
        let void = Some("game.void".to_owned());
        assert_eq!(asked(AuditFilter { action: void.clone(), ..all.clone() }).await, [9, 6, 3, 0]);
        let competition = Some("cup".to_owned());
        assert_eq!(asked(AuditFilter { competition: competition.clone(), ..all }).await, [5, 4, 3, 2, 1, 0]);
        assert_eq!(asked(AuditFilter { account: Some(ada), action: void, competition }).await, [0]);
        let first =
            site_db.audit(&AuditFilter::default(), PageRequest { after: Some(2), limit: 5 }).await.unwrap();
        assert_eq!(first.items[0].entry, entry(0));

        for new in [
            NewAuditEntry { action: "No Word".to_owned(), ..entry(1) },
            NewAuditEntry { reason: "x".repeat(1_001), ..entry(1) },
            NewAuditEntry { account: Some(AccountId(99)), ..entry(2) },
        ] {
            assert!(site_db.append_audit(&new).await.unwrap_err().kind() == ErrorKind::Usage);
        }
        let broken =
            site_db.append_audit(&NewAuditEntry { detail: "{".to_owned(), ..entry(1) }).await.unwrap_err();
        assert!(broken.kind() != ErrorKind::Usage, "an error of the server: {broken}");
    });
}

#[test]
fn settings_are_set_changed_and_removed() {
    run(async {
        let site_db = open_site_db().await;
        assert_eq!(site_db.setting("site.name").await.unwrap(), None);
        for value in ["Agon", "Our own"] {
            site_db.set_setting("site.name", Some(value)).await.unwrap();
            assert_eq!(site_db.setting("site.name").await.unwrap().as_deref(), Some(value));
        }
        site_db.set_setting("sign_up", Some("open")).await.unwrap();
        let all = site_db.settings().await.unwrap();
        let all: Vec<_> = all.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(all, [("sign_up", "open"), ("site.name", "Our own")]);
        site_db.set_setting("sign_up", None).await.unwrap();
        assert_eq!(site_db.setting("sign_up").await.unwrap(), None);
        for key in ["", "Site Name", &"x".repeat(65)] {
            assert!(matches!(site_db.set_setting(key, Some("x")).await, Err(SiteDbError::Invalid { .. })));
        }
    });
}
