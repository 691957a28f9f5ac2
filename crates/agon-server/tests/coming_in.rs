//! Signing up, in and out; sessions, CSRF, tokens, invitations; rate limits.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]

mod common;

use std::time::Duration;

use agon_server::SignUp;
use agon_server::config::{Rate, RateLimits};
use agon_site_db::{NewSession, Role, SESSION_IDLE_TIMEOUT_MS, SecretString, token_hash};
use agon_store::Timestamp;
use axum::body::Body;
use axum::http::header;
use common::{Answer, PASSWORD, Site};
use serde_json::json;

#[tokio::test]
async fn user_signs_up_out_and_in_again() {
    let site = Site::new().await;
    let mut ada = site.anonymous();
    assert_eq!(ada.get("site").await.json["me"], json!(null));
    let answer = ada.sign_up("Ada Lovelace", None).await;
    assert_eq!(answer.status, 201, "{}", answer.json);
    assert_eq!(answer.json["me"]["role"], "author");
    let cookie = answer.header("set-cookie");
    for part in ["agon_session=", "; Path=/", "; HttpOnly", "; SameSite=Lax", "; Max-Age="] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "without TLS the browser would reject a Secure cookie");
    let seen = ada.get("site").await;
    assert_eq!((&seen.json["me"]["name"], &seen.json["csrf"]), (&json!("Ada Lovelace"), &json!(ada.csrf)));
    let old = ada.clone();
    let out = ada.delete("session").await;
    assert_eq!((out.status.as_u16(), &out.json["me"]), (200, &json!(null)));
    assert!(out.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(old.get("site").await.json["me"], json!(null), "the session still exists after the sign-out");
    let back = ada.sign_in("ada LOVELACE", PASSWORD).await;
    assert_eq!((back.status.as_u16(), &back.json["me"]["name"]), (200, &json!("Ada Lovelace")));
}

#[tokio::test]
async fn session_cookie_with_tls_is_secure_and_bound_to_the_host() {
    let site = Site::with(|config| {
        config.public_url = Some("https://agon.example.org".to_owned());
        config.sign_up = SignUp::Open;
    })
    .await;
    let answer = site.anonymous().sign_up("Ada", None).await;
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("__Host-agon_session=") && cookie.ends_with("; Secure"), "{cookie}");
    assert!(answer.header("strict-transport-security").contains("max-age"));
    let mut ada = site.anonymous();
    ada.cookie = Some(cookie.split(';').next().unwrap().to_owned());
    assert_eq!(ada.get("site").await.json["me"]["name"], "Ada");
    ada.cookie = ada.cookie.map(|cookie| cookie.replace("__Host-", ""));
    assert_eq!(ada.get("site").await.json["me"], json!(null), "a cookie without the prefix is accepted");
}

#[tokio::test]
async fn wrong_password_and_unknown_name_give_the_same_error() {
    let site = Site::new().await;
    site.anonymous().sign_up("Ada", None).await;
    let wrong = site.anonymous().sign_in("Ada", "not the password").await;
    let unknown = site.anonymous().sign_in("Grace", "not the password").await;
    assert_eq!((wrong.status.as_u16(), &wrong.json["error"]["field"]), (401, &json!("password")));
    let without_id = |answer: &Answer| {
        let mut body = answer.json.clone();
        assert!(body["error"].as_object_mut().unwrap().remove("request_id").is_some(), "{body}");
        (answer.status, body)
    };
    assert_eq!(without_id(&wrong), without_id(&unknown));
    assert!(wrong.header("set-cookie").is_empty());
    for bad in [
        json!({"name": "Ada"}),
        json!({"name": "Ada", "password": 1}),
        json!({"name": "Ada", "password": "x", "more": 1}),
        json!([]),
    ] {
        assert_eq!(site.anonymous().post("session", bad).await.code(), "invalid");
    }
}

#[tokio::test]
async fn sign_in_creates_a_new_session_and_ends_the_previous_one() {
    let site = Site::new().await;
    let mut ada = site.anonymous();
    ada.sign_up("Ada", None).await;
    let before = ada.clone();
    let mut planted = site.anonymous();
    planted.cookie = Some("agon_session=planted-by-an-attacker".to_owned());
    planted.sign_in("Ada", PASSWORD).await;
    assert_ne!(
        planted.cookie.as_deref(),
        Some("agon_session=planted-by-an-attacker"),
        "the browser chose the session id"
    );
    ada.sign_in("Ada", PASSWORD).await;
    assert_ne!((&ada.cookie, &ada.csrf), (&before.cookie, &before.csrf));
    assert_eq!(before.get("site").await.json["me"], json!(null));
    assert_eq!(planted.get("site").await.json["me"]["name"], "Ada", "the session of another browser ended");
}

#[tokio::test]
async fn unused_session_expires() {
    let site = Site::new().await;
    let account = site.account("Ada", Role::Author).await;
    for (token, age, me) in [
        ("fresh", SESSION_IDLE_TIMEOUT_MS - 60_000, json!("Ada")),
        ("stale", SESSION_IDLE_TIMEOUT_MS + 1, json!(null)),
    ] {
        let session = NewSession {
            token: token_hash(token),
            account: account.id,
            csrf: SecretString::new("csrf"),
            agent: String::new(),
            at: Timestamp(Timestamp::now().0 - age),
        };
        site.app.site_db.create_session(&session).await.unwrap();
        let mut client = site.anonymous();
        client.cookie = Some(format!("other=1; agon_session={token}"));
        assert_eq!(client.get("site").await.json["me"]["name"], me, "{token}");
    }
}

#[tokio::test]
async fn changes_require_the_csrf_token_of_the_session() {
    let site = Site::new().await;
    let ada = site.person("Ada", Role::Author).await;
    let body = || json!({"label": "laptop"});
    let mut forged = ada.clone();
    for csrf in [None, Some(""), Some("csrf of Adb"), Some("csrf of Ada and more")] {
        forged.csrf = csrf.map(str::to_owned);
        let answer = forged.post("me/tokens", body()).await;
        assert_eq!((answer.status.as_u16(), answer.code()), (403, "csrf"), "{csrf:?}");
    }
    let grace = site.person("Grace", Role::Author).await;
    forged.csrf = grace.csrf;
    assert_eq!(forged.post("me/tokens", body()).await.code(), "csrf", "another session's");
    assert_eq!(forged.get("me/tokens").await.status, 200, "reading needs no CSRF token");
    for (name, value) in
        [("sec-fetch-site", "cross-site"), ("origin", "https://evil.example.org"), ("origin", "null")]
    {
        assert_eq!(
            ada.clone().header(name, value).post("me/tokens", body()).await.code(),
            "cross_site",
            "{name}"
        );
        let forced = site.anonymous().header(name, value).sign_in("Ada", PASSWORD).await;
        assert_eq!(forced.code(), "cross_site", "a sign-in from another site is accepted: {name}");
        assert_eq!(site.anonymous().header(name, value).sign_up("New", None).await.code(), "cross_site");
    }
    let ours = ada
        .header("host", "agon.test")
        .header("origin", "http://agon.test")
        .header("sec-fetch-site", "same-origin");
    assert_eq!(ours.post("me/tokens", body()).await.status, 201);
}

#[tokio::test]
async fn body_must_be_declared_json_within_the_limit() {
    let site = Site::new().await;
    let ada = site.person("Ada", Role::Author).await;
    for (kind, body, status, code) in [
        ("text/plain", r#"{"label":"x"}"#.to_owned(), 415, "not_json"),
        ("application/x-www-form-urlencoded", "label=x".to_owned(), 415, "not_json"),
        ("application/json", r#"{"label":"x""#.to_owned(), 400, "not_json"),
        ("application/json", r#"{"label":"x"} {}"#.to_owned(), 400, "not_json"),
        ("application/json", "\u{0}".to_owned(), 400, "not_json"),
        ("application/json", r#"{"label":"#.to_owned() + &"[".repeat(60_000), 422, "invalid"),
        ("application/json", format!(r#"{{"label":"{}"}}"#, "x".repeat(64 * 1024)), 413, "too_large"),
        ("application/json", format!(r#"{{"label":"{}"}}"#, "x".repeat(61)), 422, "invalid"),
        ("application/json; charset=utf-8", r#"{"label":"x"}"#.to_owned(), 201, ""),
    ] {
        let mut request = ada.request("POST", "me/tokens");
        request.headers_mut().insert(header::CONTENT_TYPE, kind.parse().unwrap());
        *request.body_mut() = Body::from(body.clone());
        let answer = ada.ask(request).await;
        assert_eq!(
            (answer.status.as_u16(), answer.code()),
            (status, code),
            "{kind}: {}",
            &body[..body.len().min(40)]
        );
    }
}

#[tokio::test]
async fn api_token_works_until_it_is_revoked() {
    let site = Site::new().await;
    let account = site.account("Ada", Role::Author).await;
    let ada = site.signed_in(&account).await;
    let made = ada.post("me/tokens", json!({"label": "laptop"})).await.json;
    let mut program = site.anonymous();
    program.token = made["token"].as_str().map(str::to_owned);
    assert!(program.token.as_ref().unwrap().starts_with("agon_"));
    assert_eq!(program.get("site").await.json["me"]["name"], "Ada");
    assert_eq!(program.get("site").await.json["csrf"], json!(null));
    let listed = ada.get("me/tokens").await.json;
    assert_eq!(listed["items"][0]["label"], "laptop");
    assert!(listed["items"][0].get("token").is_none(), "the token is shown again");
    assert_eq!(
        program.post("me/tokens", json!({"label": "more"})).await.status,
        403,
        "a token can create tokens"
    );
    assert_eq!(
        program.put("me/password", json!({"old": PASSWORD, "new": "another long one"})).await.status,
        403
    );
    let path = format!("me/tokens/{}", made["id"]);
    assert_eq!(ada.delete(&path).await.status, 204);
    let refused = program.get("site").await;
    assert_eq!((refused.status.as_u16(), refused.code()), (401, "bad_token"));
    assert_eq!(ada.get("me/tokens").await.json["items"], json!([]));
}

#[tokio::test]
async fn new_password_ends_all_other_sessions() {
    let site = Site::new().await;
    let (mut here, mut there) = (site.anonymous(), site.anonymous());
    here.sign_up("Ada", None).await;
    there.sign_in("Ada", PASSWORD).await;
    let wrong = here.put("me/password", json!({"old": "not the old one", "new": "another long one"})).await;
    assert_eq!(
        (wrong.status.as_u16(), wrong.code(), &wrong.json["error"]["field"]),
        (403, "wrong_password", &json!("old"))
    );
    let weak = here.put("me/password", json!({"old": PASSWORD, "new": "short"})).await;
    assert_eq!((weak.status.as_u16(), &weak.json["error"]["field"]), (422, &json!("new")));
    assert_eq!(
        here.put("me/password", json!({"old": PASSWORD, "new": "another long one"})).await.status,
        200
    );
    assert_eq!(here.get("site").await.json["me"]["name"], "Ada");
    assert_eq!(there.get("site").await.json["me"], json!(null));
    assert_eq!(there.sign_in("Ada", PASSWORD).await.status, 401);
    assert_eq!(there.sign_in("Ada", "another long one").await.status, 200);
}

#[tokio::test]
async fn invitation_allows_its_number_of_sign_ups() {
    let site = Site::with(|config| config.limits = RateLimits::generous()).await;
    let boss = site.person("Boss", Role::Organiser).await;
    assert_eq!(site.anonymous().sign_up("Ada", None).await.code(), "invitation");
    assert_eq!(site.anonymous().sign_up("Ada", Some("no such code")).await.status, 404);
    let made =
        boss.post("invitations", json!({"role": "spectator", "note": "friends", "uses": 1, "days": 2})).await;
    assert_eq!(made.status, 201, "{}", made.json);
    let code = made.json["code"].as_str().unwrap().to_owned();
    let seen = site.anonymous().get(&format!("invitations/{code}")).await.json;
    assert_eq!((&seen["role"], &seen["left"], &seen["note"]), (&json!("spectator"), &json!(1), &json!("")));
    let mut ada = site.anonymous();
    assert_eq!(ada.sign_up("Ada", Some(&code)).await.json["me"]["role"], "spectator");
    assert_eq!(site.anonymous().sign_up("Grace", Some(&code)).await.status, 409);
    let listed = boss.get("invitations").await.json;
    assert_eq!((&listed["items"][0]["left"], &listed["items"][0]["note"]), (&json!(0), &json!("friends")));
    assert!(listed["items"][0].get("code").is_none());
    let other = boss.post("invitations", json!({"role": "author"})).await.json;
    assert_eq!(boss.delete(&format!("invitations/{}", other["id"])).await.status, 204);
    assert_eq!(site.anonymous().sign_up("Grace", other["code"].as_str()).await.status, 409);
    for bad in
        [json!({"role": "king"}), json!({"role": "author", "days": 0}), json!({"role": "author", "uses": 0})]
    {
        assert_eq!(boss.post("invitations", bad).await.status, 422);
    }
    let done: Vec<String> = boss.get("audit").await.json["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| format!("{} {}", item["by"], item["action"]))
        .collect();
    assert_eq!(
        done,
        [r#""Boss" "invitation.revoke""#, r#""Boss" "invitation.make""#, r#""Boss" "invitation.make""#]
    );
}

#[tokio::test]
async fn account_names_are_unique_in_any_spelling() {
    let site = Site::new().await;
    site.anonymous().sign_up("Ada", None).await;
    let taken = site.anonymous().sign_up("ADA", None).await;
    assert_eq!(
        (taken.status.as_u16(), taken.code(), &taken.json["error"]["field"]),
        (409, "taken", &json!("name"))
    );
    for bad in ["", " Bob", "a\u{202e}b", "a\nb", &"x".repeat(41)] {
        let answer = site.anonymous().sign_up(bad, None).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.json["error"]["field"]),
            (422, &json!("name")),
            "{bad:?}"
        );
    }
    let weak = site.anonymous().post("accounts", json!({"name": "Grace", "password": "password123"})).await;
    assert_eq!((weak.status.as_u16(), &weak.json["error"]["field"]), (422, &json!("password")));
}

#[tokio::test]
async fn disabled_account_is_signed_out_at_once() {
    let site = Site::new().await;
    let boss = site.person("Boss", Role::Organiser).await;
    let mut ada = site.anonymous();
    ada.sign_up("Ada", None).await;
    let token = ada.post("me/tokens", json!({"label": "x"})).await.json["token"].as_str().unwrap().to_owned();
    let path = format!("accounts/{}", ada.id);
    assert_eq!(boss.patch(&path, json!({"disabled": true})).await.json["disabled"], true);
    assert_eq!(ada.get("site").await.json["me"], json!(null));
    let mut program = site.anonymous();
    program.token = Some(token);
    assert_eq!(program.get("site").await.status, 401);
    let refused = site.anonymous().sign_in("Ada", PASSWORD).await;
    assert_eq!((refused.status.as_u16(), refused.code()), (403, "disabled"));
    boss.patch(&path, json!({"disabled": false, "role": "spectator"})).await;
    assert_eq!(ada.sign_in("Ada", PASSWORD).await.json["me"]["role"], "spectator");
    assert_eq!(
        boss.patch(&format!("accounts/{}", boss.id), json!({"role": "author"})).await.status,
        409,
        "the last organiser was disabled"
    );
}

#[tokio::test]
async fn sign_ups_are_limited_by_address() {
    let rate = Rate { burst: 2, every: Duration::from_hours(1) };
    let site = Site::with(|config| {
        config.limits = RateLimits { sign_up: rate, ..RateLimits::generous() };
        config.sign_up = SignUp::Open;
        config.proxies = 1;
    })
    .await;
    let from = |address: &str| site.anonymous().header("x-forwarded-for", address);
    from("192.0.2.7").sign_up("One", None).await;
    from("192.0.2.7").sign_up("Two", None).await;
    assert_eq!(from("192.0.2.7").sign_up("Three", None).await.status, 429);
    assert_eq!(
        from("6.6.6.6, 192.0.2.7").sign_up("Three", None).await.status,
        429,
        "a longer X-Forwarded-For avoids the limit"
    );
    assert_eq!(from("192.0.2.8").sign_up("Three", None).await.status, 201);
}

#[tokio::test]
async fn changes_are_limited_by_account() {
    let rate = Rate { burst: 3, every: Duration::from_hours(1) };
    let site =
        Site::with(|config| config.limits = RateLimits { changes: rate, ..RateLimits::generous() }).await;
    let (ada, grace) = (site.person("Ada", Role::Author).await, site.person("Grace", Role::Author).await);
    for _ in 0..3 {
        assert_eq!(ada.post("me/tokens", json!({"label": "x"})).await.status, 201);
    }
    assert_eq!(ada.post("me/tokens", json!({"label": "x"})).await.status, 429);
    assert_eq!(ada.get("me/tokens").await.status, 200, "reading is not limited");
    assert_eq!(grace.post("me/tokens", json!({"label": "x"})).await.status, 201);
}
