//! Accounts, sessions, API tokens, invitations, the audit log, settings.

use agon_store::Timestamp;
use agon_store::site_db::{
    AccountId, SignUpGrant, AuditFilter, SecretString, InvitationId, NewAuditEntry, NewInvitation, NewSession, NewToken,
    SiteDb, SiteDbError, PageRequest, Role, SESSION_ABSOLUTE, SESSION_SLIDING, TOKENS, TokenId,
};

use super::{account, hash, newcomer, office, run};

const MINUTE: i64 = 60_000;

async fn sign_in(office: &SiteDb, account: AccountId, token: &str, at: i64) {
    let csrf = SecretString::new(format!("csrf of {token}"));
    let agent = "Mozilla/5.0 ".repeat(40);
    office
        .create_session(&NewSession { token: hash(token), account, csrf, agent, at: Timestamp(at) })
        .await
        .unwrap();
}

async fn is_in(office: &SiteDb, token: &str, at: i64) -> bool {
    office.find_session(hash(token), Timestamp(at)).await.unwrap().is_some()
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
fn an_account_is_found_however_its_name_is_written() {
    run(async {
        let office = office().await;
        let zoe = account(&office, "Zoe\u{308}", Role::Author).await;
        assert_eq!((zoe.name.as_str(), zoe.role, zoe.created), ("Zoë", Role::Author, Timestamp(1_000)));
        for name in ["Zoë", "ZOË", "zoe\u{308}", " zoë "] {
            assert_eq!(office.account_by_name(name).await.unwrap().as_ref(), Some(&zoe), "{name}");
        }
        for name in ["Zoe", "", "\u{202e}", &"x".repeat(10_000)] {
            assert_eq!(office.account_by_name(name).await.unwrap(), None, "{name}");
        }
        let taken =
            office.create_account(&newcomer("ＺＯË", SignUpGrant::Open(Role::Author))).await.unwrap_err();
        assert!(matches!(taken, SiteDbError::Taken { what: "name" }), "{taken}");
        let refused =
            office.create_account(&newcomer(" x", SignUpGrant::Open(Role::Author))).await.unwrap_err();
        assert!(matches!(refused, SiteDbError::Invalid { field: "name", .. }) && refused.is_wrong_use());
        let known = office.credentials("zoë").await.unwrap().unwrap();
        assert_eq!(known.password_hash.expose(), "argon:Zoe\u{308}");
        assert!(!format!("{known:?}").contains("argon"), "{known:?}");
        assert_eq!(office.account(zoe.id).await.unwrap(), zoe);
        let nobody = office.account(AccountId(99)).await.unwrap_err();
        assert!(matches!(nobody, SiteDbError::NotFound { what: "account" }), "{nobody}");
    });
}

#[test]
fn accounts_are_listed_in_parts_newest_first() {
    run(async {
        let office = office().await;
        for number in 0..7 {
            account(&office, &format!("n{number}"), Role::Spectator).await;
        }
        let (mut page, mut names, mut parts) = (PageRequest { after: None, limit: 3 }, Vec::new(), 0);
        loop {
            let part = office.accounts(page).await.unwrap();
            parts += 1;
            names.extend(part.items.into_iter().map(|account| account.name));
            if parts == 1 {
                account(&office, "came in between", Role::Spectator).await;
            }
            page.after = part.next;
            if page.after.is_none() {
                break;
            }
        }
        assert_eq!((names.join(" ").as_str(), parts), ("n6 n5 n4 n3 n2 n1 n0", 3));
        let whole = office.accounts(PageRequest { after: None, limit: 8 }).await.unwrap();
        assert_eq!((whole.items.len(), whole.next), (8, None));
        assert_eq!(office.accounts(PageRequest { after: None, limit: 0 }).await.unwrap().items.len(), 1);
    });
}

#[test]
fn the_last_organiser_stays() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Organiser).await.id;
        let bob = account(&office, "Bob", Role::Organiser).await.id;
        assert_eq!(office.count_organisers().await.unwrap(), 2);
        assert_eq!(office.set_role(ada, Role::Author).await.unwrap().role, Role::Author);
        for refused in [
            office.set_role(bob, Role::Spectator).await.unwrap_err(),
            office.set_disabled(bob, true, Timestamp(5)).await.unwrap_err(),
        ] {
            assert_eq!(refused.to_string(), "Bob is the last organiser");
            assert!(matches!(refused, SiteDbError::Conflict { .. }));
        }
        assert_eq!(office.set_role(bob, Role::Organiser).await.unwrap().role, Role::Organiser);
        // One who is disabled does not count.
        office.set_role(ada, Role::Organiser).await.unwrap();
        assert_eq!(office.set_disabled(ada, true, Timestamp(5)).await.unwrap().disabled, Some(Timestamp(5)));
        assert_eq!(office.count_organisers().await.unwrap(), 1);
        assert!(office.set_disabled(bob, true, Timestamp(6)).await.is_err());
        // And may be demoted, for others are left.
        office.set_role(ada, Role::Author).await.unwrap();
        assert_eq!(office.account(ada).await.unwrap().disabled, Some(Timestamp(5)));
        let nobody = office.set_role(AccountId(99), Role::Author).await.unwrap_err();
        assert!(matches!(nobody, SiteDbError::NotFound { .. }), "{nobody}");
    });
}

#[test]
fn who_is_disabled_is_out_and_stays_out_until_the_next_sign_in() {
    run(async {
        let office = office().await;
        let (ada, bob) =
            (account(&office, "Ada", Role::Author).await.id, account(&office, "Bob", Role::Author).await.id);
        sign_in(&office, ada, "a", 1_000).await;
        sign_in(&office, bob, "b", 1_000).await;
        office.create_token(&token(ada, "ta", None)).await.unwrap();
        office.create_token(&token(bob, "tb", None)).await.unwrap();
        office.set_disabled(ada, true, Timestamp(2_000)).await.unwrap();
        let no_session = NewSession {
            token: hash("a2"),
            account: ada,
            csrf: SecretString::new(""),
            agent: String::new(),
            at: Timestamp(2_001),
        };
        assert!(matches!(office.create_session(&no_session).await, Err(SiteDbError::Conflict { .. })));
        assert!(matches!(
            office.create_token(&token(ada, "ta2", None)).await,
            Err(SiteDbError::Conflict { .. })
        ));
        for enabled in [false, true] {
            if enabled {
                assert_eq!(office.set_disabled(ada, false, Timestamp(3_000)).await.unwrap().disabled, None);
            }
            assert!(!is_in(&office, "a", 4_000).await);
            assert!(office.find_token(hash("ta"), Timestamp(4_000)).await.unwrap().is_none());
            assert!(is_in(&office, "b", 4_000).await);
            assert!(office.find_token(hash("tb"), Timestamp(4_000)).await.unwrap().is_some());
        }
        assert_eq!(office.tokens_of(ada).await.unwrap()[0].revoked, Some(Timestamp(2_000)));
    });
}

#[test]
fn a_new_password_ends_all_other_sessions() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Author).await.id;
        let bob = account(&office, "Bob", Role::Author).await.id;
        for token in ["here", "phone", "stolen"] {
            sign_in(&office, ada, token, 1_000).await;
        }
        sign_in(&office, bob, "bob", 1_000).await;
        office.set_password_hash(ada, &SecretString::new("new"), Some(hash("here"))).await.unwrap();
        assert_eq!(office.password_hash(ada).await.unwrap().expose(), "new");
        let left = [("here", true), ("phone", false), ("stolen", false), ("bob", true)];
        for (token, stays) in left {
            assert_eq!(is_in(&office, token, 2_000).await, stays, "{token}");
        }
        office.set_password_hash(ada, &SecretString::new("newer"), None).await.unwrap();
        assert!(!is_in(&office, "here", 2_000).await);
        assert!(office.set_password_hash(AccountId(99), &SecretString::new("x"), None).await.is_err());
    });
}

#[test]
fn a_session_slides_and_ends() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Author).await;
        sign_in(&office, ada.id, "t", 0).await;
        let find = |at| office.find_session(hash("t"), Timestamp(at));
        let (session, whose) = find(MINUTE - 1).await.unwrap().unwrap();
        assert_eq!(whose, ada);
        assert_eq!((session.seen, session.expires), (Timestamp(0), Timestamp(SESSION_SLIDING)), "not yet a minute");
        assert_eq!(session.agent.chars().count(), 200);
        assert_eq!(session.csrf.expose(), "csrf of t");
        assert!(!format!("{session:?}").contains("csrf of"), "{session:?}");
        find(MINUTE).await.unwrap().unwrap();
        let (session, _) = find(MINUTE + 1).await.unwrap().unwrap();
        assert_eq!((session.seen, session.expires), (Timestamp(MINUTE), Timestamp(MINUTE + SESSION_SLIDING)));
        // A clock that was put back does nothing.
        assert_eq!(find(-5).await.unwrap().unwrap().0.seen, Timestamp(MINUTE));
        assert!(find(MINUTE + SESSION_SLIDING).await.unwrap().is_none(), "not used for 14 days");
        // Used each week it ends after 90 days.
        let week = SESSION_SLIDING / 2;
        let mut last = MINUTE;
        while find(last + week).await.unwrap().is_some() {
            last += week;
        }
        assert!(last < SESSION_ABSOLUTE && last + week >= SESSION_ABSOLUTE, "{last}");
        assert_eq!(find(last).await.unwrap().unwrap().0.expires, Timestamp(SESSION_ABSOLUTE));
        assert!(office.find_session(hash("another"), Timestamp(1)).await.unwrap().is_none());
    });
}

#[test]
fn sessions_are_ended_and_swept() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Author).await.id;
        for (token, at) in [("old", 0), ("a", 50_000), ("b", 50_000), ("c", 50_000)] {
            sign_in(&office, ada, token, at).await;
        }
        assert_eq!(office.sweep_sessions(Timestamp(SESSION_SLIDING)).await.unwrap(), 1);
        assert!(!is_in(&office, "old", 1).await, "gone, not only expired");
        office.end_session(hash("a")).await.unwrap();
        office.end_session(hash("a")).await.unwrap();
        assert!(!is_in(&office, "a", 50_001).await && is_in(&office, "b", 50_001).await);
        assert_eq!(office.end_sessions_of(ada).await.unwrap(), 2);
        assert!(!is_in(&office, "b", 50_001).await);
    });
}

#[test]
fn tokens_are_good_until_they_expire_or_are_revoked() {
    run(async {
        let office = office().await;
        let (ada, bob) =
            (account(&office, "Ada", Role::Author).await, account(&office, "Bob", Role::Author).await);
        let kept = office.create_token(&token(ada.id, "t", Some(Timestamp(500_000)))).await.unwrap();
        assert_eq!((kept.label.as_str(), kept.used), ("for t", None));
        let find = |at| office.find_token(hash("t"), Timestamp(at));
        let (found, whose) = find(2_000).await.unwrap().unwrap();
        assert_eq!((found.used, whose), (Some(Timestamp(2_000)), ada.clone()));
        // Written down at once, then once a minute.
        assert_eq!(find(2_000 + MINUTE - 1).await.unwrap().unwrap().0.used, Some(Timestamp(2_000)));
        assert_eq!(find(2_000 + MINUTE).await.unwrap().unwrap().0.used, Some(Timestamp(2_000 + MINUTE)));
        assert_eq!(office.tokens_of(ada.id).await.unwrap()[0].used, Some(Timestamp(2_000 + MINUTE)));
        assert!(find(500_000).await.unwrap().is_none(), "expired");
        let others = office.revoke_token(bob.id, kept.id, Timestamp(7)).await.unwrap_err();
        assert!(matches!(others, SiteDbError::NotFound { what: "token" }), "{others}");
        assert!(office.revoke_token(ada.id, TokenId(99), Timestamp(7)).await.is_err());
        office.revoke_token(ada.id, kept.id, Timestamp(7)).await.unwrap();
        let again = office.revoke_token(ada.id, kept.id, Timestamp(8)).await.unwrap();
        assert_eq!(again.revoked, Some(Timestamp(7)));
        assert!(find(2_000).await.unwrap().is_none(), "revoked");

        for (label, expires) in [("", None), (" ", None), (&*"x".repeat(61), None), ("x", Some(Timestamp(1_000)))]
        {
            let new = NewToken { label: label.to_owned(), expires, ..token(ada.id, "other", None) };
            let refused = office.create_token(&new).await.unwrap_err();
            assert!(matches!(refused, SiteDbError::Invalid { .. }), "{refused}");
        }
        for number in 0..TOKENS {
            office.create_token(&token(ada.id, &format!("{number}"), None)).await.unwrap();
        }
        let more = office.create_token(&token(ada.id, "more", None)).await.unwrap_err();
        assert!(matches!(more, SiteDbError::TooMany { limit: TOKENS }), "{more}");
        assert_eq!(office.tokens_of(ada.id).await.unwrap()[0].label, format!("for {}", TOKENS - 1));
        assert!(office.tokens_of(bob.id).await.unwrap().is_empty());
    });
}

#[test]
fn an_invitation_lets_so_many_in_as_what_it_says() {
    run(async {
        let office = office().await;
        let made = office.create_invitation(&invitation("code", 2)).await.unwrap();
        let come = async |name: &str, code: &str, at| {
            let mut new = newcomer(name, SignUpGrant::Invited(hash(code)));
            new.at = Timestamp(at);
            office.create_account(&new).await
        };
        let left = async || office.find_invitation(hash("code")).await.unwrap().unwrap().uses_left;
        let ada = come("Ada", "code", 2_000).await.unwrap();
        assert_eq!((ada.role, ada.invitation), (Role::Author, Some(made.id)));
        assert_eq!(left().await, 1);
        // A name that is taken, or no name, costs no use.
        assert!(matches!(come("ADA", "code", 2_000).await, Err(SiteDbError::Taken { .. })));
        assert!(matches!(come("", "code", 2_000).await, Err(SiteDbError::Invalid { .. })));
        assert!(matches!(
            come("Bob", "wrong", 2_000).await,
            Err(SiteDbError::NotFound { what: "invitation" })
        ));
        assert_eq!(come("Bob", "code", 100_000).await.unwrap_err().to_string(), "the invitation has expired");
        assert_eq!(left().await, 1);
        come("Bob", "code", 99_999).await.unwrap();
        assert_eq!(
            come("Cy", "code", 2_000).await.unwrap_err().to_string(),
            "the invitation was used already"
        );

        let other = office.create_invitation(&invitation("other", 5)).await.unwrap();
        office.revoke_invitation(other.id, Timestamp(50)).await.unwrap();
        assert_eq!(office.revoke_invitation(other.id, Timestamp(60)).await.unwrap().revoked, Some(Timestamp(50)));
        assert_eq!(
            come("Cy", "other", 2_000).await.unwrap_err().to_string(),
            "the invitation was taken back"
        );
        assert!(office.revoke_invitation(InvitationId(99), Timestamp(1)).await.is_err());
        let ids: Vec<_> =
            office.invitations(PageRequest::default()).await.unwrap().items.iter().map(|one| one.id).collect();
        assert_eq!(ids, [other.id, made.id]);
        assert!(office.find_invitation(hash("none")).await.unwrap().is_none());
    });
}

#[test]
fn invitations_that_make_no_sense_are_refused() {
    run(async {
        let office = office().await;
        for (field, new) in [
            ("uses", NewInvitation { uses: 0, ..invitation("c", 1) }),
            ("uses", NewInvitation { uses: 10_001, ..invitation("c", 1) }),
            ("expires", NewInvitation { expires: Timestamp(1_000), ..invitation("c", 1) }),
            ("note", NewInvitation { note: "x".repeat(201), ..invitation("c", 1) }),
        ] {
            let refused = office.create_invitation(&new).await.unwrap_err();
            assert!(
                matches!(refused, SiteDbError::Invalid { field: said, .. } if said == field),
                "{refused}"
            );
        }
        let nobody = NewInvitation { by: Some(AccountId(99)), ..invitation("c", 1) };
        assert!(matches!(office.create_invitation(&nobody).await, Err(SiteDbError::NotFound { .. })));
        office.create_invitation(&invitation("c", 1)).await.unwrap();
        assert!(matches!(
            office.create_invitation(&invitation("c", 1)).await,
            Err(SiteDbError::Taken { .. })
        ));
    });
}

#[test]
fn the_audit_log_is_read_newest_first_by_what_is_asked() {
    run(async {
        let office = office().await;
        let ada = account(&office, "Ada", Role::Organiser).await.id;
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
            office.append_audit(&entry(number)).await.unwrap();
        }
        let asked = async |filter: AuditFilter| -> Vec<i64> {
            let (mut page, mut found) = (PageRequest { after: None, limit: 2 }, Vec::new());
            loop {
                let part = office.audit(&filter, page).await.unwrap();
                found.extend(part.items.iter().map(|entry| entry.what.at.0));
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
        let cup = Some("cup".to_owned());
        assert_eq!(asked(AuditFilter { competition: cup.clone(), ..all }).await, [5, 4, 3, 2, 1, 0]);
        assert_eq!(asked(AuditFilter { account: Some(ada), action: void, competition: cup }).await, [0]);
        let first = office.audit(&AuditFilter::default(), PageRequest { after: Some(2), limit: 5 }).await.unwrap();
        assert_eq!(first.items[0].what, entry(0));

        for new in [
            NewAuditEntry { action: "No Word".to_owned(), ..entry(1) },
            NewAuditEntry { reason: "x".repeat(1_001), ..entry(1) },
            NewAuditEntry { account: Some(AccountId(99)), ..entry(2) },
        ] {
            assert!(office.append_audit(&new).await.unwrap_err().is_wrong_use());
        }
        let broken = office.append_audit(&NewAuditEntry { detail: "{".to_owned(), ..entry(1) }).await.unwrap_err();
        assert!(!broken.is_wrong_use(), "a mistake of the server: {broken}");
    });
}

#[test]
fn settings_are_made_changed_and_unmade() {
    run(async {
        let office = office().await;
        assert_eq!(office.setting("site.name").await.unwrap(), None);
        for value in ["Agon", "Our own"] {
            office.set_setting("site.name", Some(value)).await.unwrap();
            assert_eq!(office.setting("site.name").await.unwrap().as_deref(), Some(value));
        }
        office.set_setting("sign_up", Some("open")).await.unwrap();
        let all = office.settings().await.unwrap();
        let all: Vec<_> = all.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(all, [("sign_up", "open"), ("site.name", "Our own")]);
        office.set_setting("sign_up", None).await.unwrap();
        assert_eq!(office.setting("sign_up").await.unwrap(), None);
        for key in ["", "Site Name", &"x".repeat(65)] {
            assert!(matches!(office.set_setting(key, Some("x")).await, Err(SiteDbError::Invalid { .. })));
        }
    });
}
