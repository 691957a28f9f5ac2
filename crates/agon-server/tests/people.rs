//! Profiles, teams, notifications, comments, search and new passwords by an organiser's link, through the API.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests")]

mod common;

use agon_site_db::{NotificationKind, Role};
use common::{Answer, Client, PASSWORD, Site};
use serde_json::{Value, json};

const BOT: &[u8] = b"class Mine:\n    pass\n";

/// An organiser, two authors and an open competition with a limit of one bot per person.
struct OpenCup {
    site: Site,
    organiser: Client,
    ada: Client,
    bob: Client,
}

impl OpenCup {
    async fn open() -> Self {
        let site = Site::new().await;
        let organiser = site.person("organiser", Role::Organiser).await;
        let (ada, bob) = (site.person("Ada", Role::Author).await, site.person("Bob", Role::Author).await);
        let made = json!({"game": "connect-five", "name": "Cup", "id": "cup", "house": ["random", "tactician"], "per_contributor": 1});
        let made = organiser.post("competitions", made).await;
        assert_eq!(made.status, 201, "{}", made.json);
        organiser.post("competitions/cup/actions", json!({"action": "open"})).await;
        Self { site, organiser, ada, bob }
    }

    /// A team of Ada and Bob that Ada owns.
    async fn team(&self) -> i64 {
        let made = self.ada.post("teams", json!({"name": "Reds", "about": ""})).await;
        assert_eq!(made.status, 201, "{}", made.json);
        let id = made.json["id"].as_i64().unwrap();
        let invited = self.ada.post(&format!("teams/{id}/invitations"), json!({"account": "bob"})).await;
        assert_eq!(invited.status, 201, "{}", invited.json);
        let joined = self.bob.post(&format!("team-invitations/{}", invited.json["id"]), json!({})).await;
        assert_eq!(joined.status, 200, "{}", joined.json);
        id
    }
}

/// Submits a new bot for a team.
async fn submit_for(client: &Client, name: &str, team: i64) -> Answer {
    let mut body = String::new();
    for (field, value) in [("name", name.to_owned()), ("team", team.to_string())] {
        body += &format!("--b\r\nContent-Disposition: form-data; name=\"{field}\"\r\n\r\n{value}\r\n");
    }
    body += "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"bot.py\"\r\n\r\n";
    let mut body = body.into_bytes();
    body.extend_from_slice(BOT);
    body.extend_from_slice(b"\r\n--b--\r\n");
    let mut request = client.request("POST", "competitions/cup/bots");
    request.headers_mut().insert("content-type", "multipart/form-data; boundary=b".parse().unwrap());
    *request.body_mut() = body.into();
    client.ask(request).await
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn profile_shows_what_the_person_says_and_hides_bots_on_request() {
    let cup = OpenCup::open().await;
    let profile =
        json!({"shown": "Ada L.", "about": "Engines", "link": "https://example.org", "list_bots": false});
    assert_eq!(cup.ada.put("me/profile", profile).await.status, 200);
    let seen = cup.site.anonymous().get("people/ADA").await.json;
    assert_eq!(
        (&seen["name"], &seen["shown"], &seen["mine"]),
        (&json!("Ada"), &json!("Ada L."), &json!(false))
    );
    assert_eq!((&seen["about"], &seen["bots"]), (&json!("Engines"), &Value::Null));
    assert!(!seen.to_string().contains("address"), "no mail address: {seen}");
    let own = cup.ada.get("people/Ada").await.json;
    assert_eq!((&own["mine"], &own["bots"]), (&json!(true), &json!([])));
    for (field, wrong) in [
        ("shown", json!({"shown": "Bob", "about": "", "link": null, "list_bots": true})),
        ("link", json!({"shown": "", "about": "", "link": "javascript:x", "list_bots": true})),
        ("about", json!({"shown": "", "about": "x".repeat(501), "link": null, "list_bots": true})),
    ] {
        let refused = cup.ada.put("me/profile", wrong).await;
        assert_eq!(refused.json["error"]["field"], field, "{}", refused.json);
    }
    let account = cup.site.app.site_db.account_by_name("Ada").await.unwrap().unwrap();
    cup.organiser.patch(&format!("accounts/{}", account.id), json!({"disabled": true})).await;
    assert_eq!(cup.site.anonymous().get("people/Ada").await.status, 404);
    assert_eq!(cup.organiser.get("people/Ada").await.status, 200);
}

#[tokio::test]
async fn members_of_a_team_manage_its_bots_and_others_do_not() {
    let cup = OpenCup::open().await;
    let team = cup.team().await;
    let eve = cup.site.person("Eve", Role::Author).await;
    let made = submit_for(&cup.ada, "Engine", team).await;
    assert_eq!(made.status, 201, "{}", made.json);
    let (bot, submission) = (made.json["bot"].clone(), made.json["id"].as_str().unwrap().to_owned());
    let see = format!("submissions/{submission}");
    assert_eq!(cup.bob.get(&see).await.status, 200);
    assert_eq!(eve.get(&see).await.status, 404);
    let mine = cup.bob.get("me/bots").await.json;
    assert_eq!(
        (names(&mine["items"]), &mine["items"][0]["contributor"]),
        (vec!["Engine"], &json!("Reds")),
        "{mine}"
    );
    let marks = format!("competitions/cup/bots/{bot}/marks");
    let ai = json!({"marks": [{"mark": "AI"}]});
    assert_eq!(eve.put(&marks, ai.clone()).await.status, 403);
    assert_eq!(cup.bob.put(&marks, ai.clone()).await.status, 200);
    // A new version keeps the team.
    let versions = format!("competitions/cup/bots/{bot}/versions");
    assert_eq!(cup.bob.submit(&versions, "Other", BOT).await.json["error"]["field"], "name");
    // Bob leaves: the bot is the team's.
    let left = cup.bob.delete(&format!("teams/{team}/members/{}", cup.bob.id)).await;
    assert_eq!(left.status, 204, "{}", left.json);
    assert_eq!(cup.bob.get(&see).await.status, 404);
    assert_eq!(cup.bob.put(&marks, ai).await.status, 403);
    assert_eq!(names(&cup.bob.get("me/bots").await.json["items"]), [""; 0]);
    assert_eq!(cup.bob.delete(&format!("competitions/cup/bots/{bot}")).await.status, 403);
    assert_eq!(cup.ada.delete(&format!("competitions/cup/bots/{bot}")).await.status, 204);
}

#[tokio::test]
async fn team_gives_no_more_bots_than_the_limit_of_each_member() {
    let cup = OpenCup::open().await;
    let team = cup.team().await;
    assert_eq!(submit_for(&cup.ada, "Engine", team).await.status, 201);
    for client in [&cup.ada, &cup.bob] {
        let refused = client.submit("competitions/cup/bots", "Second", BOT).await;
        assert_eq!(refused.code(), "too_many", "{}", refused.json);
    }
    // Leaving frees no place, and a team of strangers is no team of the caller.
    cup.bob.delete(&format!("teams/{team}/members/{}", cup.bob.id)).await;
    assert_eq!(cup.bob.submit("competitions/cup/bots", "Second", BOT).await.code(), "too_many");
    let eve = cup.site.person("Eve", Role::Author).await;
    assert_eq!(submit_for(&eve, "Third", team).await.json["error"]["field"], "team");
}

#[tokio::test]
async fn team_link_works_for_everyone_who_has_it_and_its_number_does_not() {
    let cup = OpenCup::open().await;
    let team = cup.team().await;
    let made = cup.ada.post(&format!("teams/{team}/invitations"), json!({"account": null})).await.json;
    let code = made["link"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let eve = cup.site.person("Eve", Role::Author).await;
    assert_eq!(eve.post(&format!("team-invitations/{}", made["id"]), json!({})).await.status, 404);
    let seen = cup.site.anonymous().get(&format!("team-links/{code}")).await.json;
    assert_eq!((&seen["team"]["name"], &seen["link"]), (&json!("Reds"), &Value::Null));
    let joined = eve.post(&format!("team-links/{code}/accept"), json!({})).await.json;
    assert_eq!(names(&joined["members"]), ["Ada", "Bob", "Eve"]);
    assert_eq!(
        (&joined["mine"], &joined["owner"], &joined["invitations"]),
        (&json!(true), &json!(false), &json!([]))
    );
    // Only the owner removes members and names another owner.
    assert_eq!(eve.delete(&format!("teams/{team}/members/{}", cup.bob.id)).await.status, 409);
    assert_eq!(cup.ada.delete(&format!("teams/{team}/members/{}", cup.ada.id)).await.status, 409);
    let owner = cup.ada.put(&format!("teams/{team}/owner"), json!({"account": eve.id})).await;
    assert_eq!(owner.json["owner"], false, "{}", owner.json);
    assert_eq!(eve.delete(&format!("teams/{team}/members/{}", cup.ada.id)).await.status, 204);
    assert_eq!(names(&cup.ada.get("me/teams").await.json["teams"]), [""; 0]);
}

#[tokio::test]
async fn invitation_to_a_team_and_answer_to_a_comment_notify_the_person() {
    let cup = OpenCup::open().await;
    cup.team().await;
    let first = cup.ada.post("competitions/cup/comments", json!({"text": "Good luck!"})).await;
    assert_eq!(first.status, 201, "{}", first.json);
    let answer = json!({"text": "Thanks!", "parent": first.json["id"]});
    assert_eq!(cup.bob.post("competitions/cup/comments", answer).await.status, 201);
    let own = json!({"text": "Bye!", "parent": first.json["id"]});
    cup.ada.post("competitions/cup/comments", own).await;
    let unread = |client: &Client| {
        let client = client.clone();
        async move { client.get("me/notifications/unread").await.json["unread"].clone() }
    };
    assert_eq!((unread(&cup.ada).await, unread(&cup.bob).await), (json!(1), json!(1)));
    let told = cup.bob.get("me/notifications").await.json;
    assert_eq!(
        (&told["items"][0]["kind"], &told["items"][0]["text"], &told["items"][0]["link"]),
        (&json!("team_invitation"), &json!("Ada invites you to the team Reds."), &json!("/me/teams"))
    );
    let told = cup.ada.get("me/notifications").await.json;
    assert_eq!(
        (&told["items"][0]["kind"], &told["items"][0]["link"]),
        (&json!("comment_reply"), &json!("/c/cup"))
    );
    let read = json!({"up_to": told["items"][0]["id"]});
    assert_eq!(cup.ada.post("me/notifications/read", read).await.json["unread"], 0);
    assert_eq!(cup.ada.post("me/notifications/read", json!({})).await.status, 422);
}

#[tokio::test]
async fn notification_that_is_switched_off_is_not_shown_and_frequent_ones_come_once_an_hour() {
    let cup = OpenCup::open().await;
    let notice = |topic: &str| agon_server::notify::Notice {
        kind: NotificationKind::Overtaken,
        topic: topic.to_owned(),
        link: "/c/cup".to_owned(),
        text: format!("{topic} was overtaken."),
    };
    let account = agon_site_db::AccountId(cup.ada.id);
    for topic in ["bot/1", "bot/1", "bot/2"] {
        agon_server::notify::send(&cup.site.app, account, &notice(topic)).await;
    }
    assert_eq!(cup.ada.get("me/notifications/unread").await.json["unread"], 2, "one for each bot");
    let off = json!({"settings": [{"kind": "overtaken", "channel": "site", "enabled": false}]});
    let settings = cup.ada.put("me/notifications/settings", off).await.json;
    let stored = settings["settings"].as_array().unwrap().iter();
    let overtaken =
        stored.filter(|one| one["kind"] == "overtaken" && one["channel"] == "site").last().unwrap();
    assert_eq!(overtaken["enabled"], false);
    agon_server::notify::send(&cup.site.app, account, &notice("bot/3")).await;
    assert_eq!(cup.ada.get("me/notifications/unread").await.json["unread"], 2);
    for (field, wrong) in [
        ("kind", json!({"settings": [{"kind": "x", "channel": "site", "enabled": false}]})),
        ("channel", json!({"settings": [{"kind": "overtaken", "channel": "x", "enabled": false}]})),
    ] {
        let refused = cup.ada.put("me/notifications/settings", wrong).await;
        assert_eq!(refused.json["error"]["field"], field, "{}", refused.json);
    }
}

#[tokio::test]
async fn comment_can_be_hidden_with_a_reason_and_comments_can_be_switched_off() {
    let cup = OpenCup::open().await;
    let made = cup.ada.post("competitions/cup/comments", json!({"text": "Rude words"})).await.json;
    let path = format!("comments/{}", made["id"]);
    let rude = json!({"reason": "rude"});
    assert_eq!(cup.ada.post(&format!("{path}/reports"), rude.clone()).await.status, 409);
    assert_eq!(cup.bob.post(&format!("{path}/reports"), rude.clone()).await.status, 204);
    assert_eq!(cup.bob.patch(&path, json!({"text": "x"})).await.status, 403);
    assert_eq!(cup.bob.delete(&path).await.status, 403);
    let reported = cup.organiser.get("comments/reported").await.json;
    assert_eq!(reported["items"][0]["reasons"], json!(["rude"]), "{reported}");
    assert_eq!(cup.organiser.put(&format!("{path}/hidden"), rude).await.status, 200);
    let text = |answer: Answer| answer.json["items"][0]["text"].clone();
    assert_eq!(text(cup.bob.get("competitions/cup/comments").await), "");
    assert_eq!(text(cup.ada.get("competitions/cup/comments").await), "Rude words");
    assert_eq!(cup.bob.get("competitions/cup/comments").await.json["items"][0]["hidden"], "rude");
    assert_eq!(cup.organiser.get("comments/reported").await.json["items"], json!([]));
    let log = cup.organiser.get("audit").await.json.to_string();
    assert!(log.contains("comment.hide"), "{log}");
    for (switch, back) in [("competitions/cup/comments", true), ("admin/comments", true)] {
        assert_eq!(cup.organiser.put(switch, json!({"on": false})).await.status, 200);
        let page = cup.bob.get("competitions/cup/comments").await.json;
        assert_eq!((&page["open"], &page["items"]), (&json!(false), &json!([])));
        assert_eq!(cup.bob.post("competitions/cup/comments", json!({"text": "x"})).await.status, 409);
        cup.organiser.put(switch, json!({"on": back})).await;
    }
    for (status, wrong) in [
        (422, json!({"text": ""})),
        (422, json!({"text": "x".repeat(2_001)})),
        (422, json!({"text": "x", "subject": "moon"})),
        (404, json!({"text": "x", "subject": "bot/99999"})),
        (409, json!({"text": "x", "subject": "game/1/1-1/1"})),
        (404, json!({"text": "x", "parent": 99_999})),
    ] {
        let refused = cup.bob.post("competitions/cup/comments", wrong.clone()).await;
        assert_eq!(refused.status, status, "{wrong}: {}", refused.json);
    }
}

#[tokio::test]
async fn search_finds_people_teams_competitions_and_games_and_hides_drafts() {
    let cup = OpenCup::open().await;
    cup.team().await;
    let draft = json!({"game": "connect-five", "name": "Adagio", "id": "adagio"});
    assert_eq!(cup.organiser.post("competitions", draft).await.status, 201);
    let found = async |client: &Client, query: &str| -> Vec<(String, String)> {
        let body = client.get(&format!("search?{query}")).await.json;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        body["items"].as_array().unwrap().iter().map(|one| (text(&one["kind"]), text(&one["link"]))).collect()
    };
    let pair = |kind: &str, link: &str| (kind.to_owned(), link.to_owned());
    assert_eq!(found(&cup.bob, "q=ada").await, [pair("person", "/u/Ada")]);
    let all = found(&cup.organiser, "q=ada").await;
    assert!(all.contains(&pair("competition", "/c/adagio")), "{all:?}");
    assert_eq!(found(&cup.bob, "q=reds").await.first().map(|one| one.0.clone()).as_deref(), Some("team"));
    assert_eq!(found(&cup.bob, "q=five&kind=game").await, [pair("game", "/games/connect-five")]);
    assert_eq!(found(&cup.bob, "q=cup&kind=competition").await, [pair("competition", "/c/cup")]);
    assert_eq!(found(&cup.bob, "q=").await, []);
    assert_eq!(cup.bob.get("search?q=x&kind=moon").await.json["error"]["field"], "kind");
    assert_eq!(cup.bob.get(&format!("search?q={}", "x".repeat(101))).await.json["error"]["field"], "q");
}

#[tokio::test]
async fn organiser_creates_a_password_link_that_works_once_and_ends_all_sessions() {
    let cup = OpenCup::open().await;
    let path = format!("accounts/{}/password-reset", cup.ada.id);
    let made = cup.organiser.post(&path, json!({})).await;
    assert_eq!(made.status, 201, "{}", made.json);
    let code = made.json["link"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let new = "an entirely new password";
    let short =
        cup.site.anonymous().post("password-resets/use", json!({"code": code, "password": "short"})).await;
    assert_eq!(short.json["error"]["field"], "password", "{}", short.json);
    let done = cup.site.anonymous().post("password-resets/use", json!({"code": code, "password": new})).await;
    assert_eq!(done.status, 204, "{}", done.json);
    assert_eq!(cup.ada.get("me/tokens").await.status, 401, "the session has ended");
    let again =
        cup.site.anonymous().post("password-resets/use", json!({"code": code, "password": PASSWORD})).await;
    assert_eq!(again.status, 404);
    let mut ada = cup.site.anonymous();
    assert_eq!(ada.sign_in("Ada", new).await.status, 200);
    let log = cup.organiser.get("audit").await.json.to_string();
    assert!(log.contains("account.password-link") && !log.contains(&code), "{log}");
    let other = cup.site.person("second organiser", Role::Organiser).await;
    let refused = other.post(&format!("accounts/{}/password-reset", cup.organiser.id), json!({})).await;
    assert_eq!(refused.status, 409);
}

#[tokio::test]
async fn private_site_hides_people_but_accepts_links_of_mails() {
    let site = Site::with(|config| config.private = true).await;
    let ada = site.person("Ada", Role::Author).await;
    let visitor = site.anonymous();
    for path in ["people/Ada", "search?q=ada", "teams/1", "team-links/x"] {
        assert_eq!(visitor.get(path).await.status, 401, "{path}");
    }
    assert_eq!(ada.get("people/Ada").await.status, 200);
    assert_eq!(visitor.post("mail/verify", json!({"code": "x"})).await.status, 404);
    let use_link = json!({"code": "x", "password": PASSWORD});
    assert_eq!(visitor.post("password-resets/use", use_link).await.status, 404);
}
